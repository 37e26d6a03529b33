"""The fleet: the same researchers and the same PI, run by Temporal on many machines. The only place that imports it."""
