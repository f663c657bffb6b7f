"""Why a goal is not met, by its row in the tables."""

REASONS = {
    "LFDA, n = 5,000": "For 5,000 samples, metric-learn is faster than `ddr`, but computes a "
    "wrong result (residual 0.017). For 10,000 samples, `ddr` takes 0.78 times as long as "
    "metric-learn.",
    "CCDR, n = 10,000": "We measured supervised UMAP, the peer of CCDR, only up to 4,000 samples.",
    "CCDR, approximate neighbours, noise, n = 100,000": "The prototype is a short script that "
    "combines faiss's HNSW with ARPACK. The prototype finds 51 % of the nearest neighbours; `ddr` "
    "finds 88 % and takes longer. With less search effort, `ddr` would match the time and the "
    "recall of the prototype.",
    "nmmp_faces: share of fits and evaluation": "Fits and evaluation do not include PCA of "
    "10,304 pixels, which takes 20 s of the 51 s of the run. PCA by the 200 x 200 Gram matrix "
    "would take a sixth of this time, but would change the last digits of the results.",
    "lfda_resplits_letter: share of fits and evaluation": "The goal leaves 5 % of the time for "
    "work other than fits and evaluation. Loading the libraries in the main process and the "
    "worker process takes more than 5 % of the time.",
    "report, from scratch": "Drawing 94 figures with Matplotlib takes three quarters of the "
    "command's time.",
    "report, nothing new": "The command computes all summaries and verdicts again. "
    "The whole command takes 3 to 4 times as long as importing the libraries.",
    "report, 100,000 rows, nothing new": "Importing the libraries takes more than half of the "
    "command's time.",
    "suite page, from scratch": "Six figures with one panel for each of 46 methods take about a "
    "quarter of the command's time, and 130 leaderboards take about a fifth.",
    "suite status, from scratch": "Importing the methods and their libraries takes about two "
    "fifths of the command's time. Making the specs of 46 methods on each data set of "
    "each track, with the ids of 27,590 trials, takes most of the rest.",
    "suite status with costs, from scratch": "The command does the same work as `suite status`, "
    "and also reads the times in each trial log.",
    "suite table, from scratch": "The command does the same work as `suite status`, and also "
    "collects all rows in one table.",
    "validate, all specs": "Importing the methods and their libraries takes more than "
    "half of the command's time.",
}
"""Works of the methods' table with their size; rows of the others as their tables name them."""
