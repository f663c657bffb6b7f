"""Why a goal is not met, by its row in the tables."""

REASONS = {
    "LFDA, n = 5,000": "For 5,000 samples, metric-learn is faster than `ddr`, but computes a wrong "
    "result (residual 0.017). For 10,000 samples, `ddr` takes 0.78 times as long as metric-learn.",
    "CCDR, n = 10,000": "We compare CCDR with supervised UMAP, but timed supervised UMAP only "
    "up to 4,000 samples.",
    "CCDR, approximate neighbours, noise, n = 100,000": "A prototype, a short script with "
    "faiss's HNSW and ARPACK, that finds as many neighbours takes longer than `ddr`. On this "
    "machine, `ddr` exceeds only the time limit.",
    "nmmp_faces: share of fits and evaluation": "Loading the libraries in the main process and the "
    "worker process, loading the images and drawing the figure take a fixed time, so short fits "
    "have a smaller share.",
    "lfda_resplits_letter: share of fits and evaluation": "Loading the libraries in the main "
    "process and the worker process, and drawing the figure, take a fixed time, so short fits have "
    "a smaller share.",
    "report, nothing new": "Without new rows, `ddr report` computes all summaries and verdicts "
    "again, and takes 3 to 4 times as long as importing the libraries.",
    "report, 100,000 rows, nothing new": "Importing the libraries and reading the trial log each "
    "take about a third of the time of `ddr report`.",
    "suite page, from scratch": "Drawing six figures with one panel for each of 46 methods takes "
    "about a quarter of the time of `ddr suite page`; computing 130 leaderboards takes about a "
    "sixth.",
    "suite status, from scratch": "Importing the methods and their libraries takes about two "
    "fifths of the time of `ddr status lite`. Most of the rest is spent on making the specs of 46 "
    "methods on each data set of each track, with the ids of 27,590 trials.",
    "suite status with costs, from scratch": "With `--hours`, `ddr status lite` also reads the "
    "times in each trial log.",
    "suite table, from scratch": "`ddr suite table` does the same work as `ddr status lite`, and "
    "also collects all rows in one table.",
}
"""Works of the methods' table with their size; rows of the others as their tables name them."""
