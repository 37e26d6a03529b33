"""Evaluation: researchers asked questions whose answers are known, and what they answered, measured."""
