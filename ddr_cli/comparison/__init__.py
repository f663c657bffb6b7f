"""Comparisons of methods: a run's summary, paired differences, pairs across data sets."""
