"""Methods against methods: a run's summary, paired differences, ranks across data sets."""
