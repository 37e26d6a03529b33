"""The fleet: the same researchers and PI on many machines. The only package that imports Temporal."""
