"""Five kinds of chart, each of a tidy table; none knows what a run, a paper or a suite is."""
