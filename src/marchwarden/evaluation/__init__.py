"""Measure researchers on questions with known answers."""
