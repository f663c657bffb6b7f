"""Reproduce and extend benchmarks of supervised dimensionality reduction."""

__version__ = "0.1.0"
