"""Modules that every layer may import: errors, the lazy registry, checks, shipped files."""
