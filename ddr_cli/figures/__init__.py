"""Figures, one kind of chart per module."""
