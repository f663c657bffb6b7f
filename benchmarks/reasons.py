"""Why a goal is not met, by its row in the tables."""

REASONS = {
    "LFDA, n = 5,000": "LFDA of metric-learn is faster for n = 5,000, but computes a wrong result "
    "(residual 0.017). For n = 10,000, `ddr` takes 0.78 times as long as metric-learn.",
    "CCDR, n = 10,000": "We measured supervised UMAP, the peer of CCDR, only up to n = 4,000.",
    "CCDR, approximate neighbours, noise, n = 100,000": "The prototype is a short "
    "script that combines faiss's HNSW with ARPACK. The search of the prototype finds 51 % of the "
    "nearest neighbours; the search of `ddr` finds 88 % and takes longer. If we reduced the search "
    "effort of `ddr`, `ddr` would match the time and the recall of the prototype.",
    "nmmp_faces: share of fits and evaluation": "The share of fits and evaluation excludes the "
    "preprocessing: PCA of 10,304 pixels took 20 s of the 51 s of the run. PCA by the eigenvectors "
    "of the 200 x 200 Gram matrix would take a sixth of these 20 s, but would change the last "
    "digits of the results.",
    "lfda_resplits_letter: share of fits and evaluation": "The main process and the worker "
    "process each load the libraries once. Loading takes more than 5 % of the time of the run, "
    "but the goal leaves only 5 % for all work besides fits and evaluation.",
    "report, from scratch": "Drawing 94 figures with Matplotlib takes three quarters of the "
    "command's time.",
    "report, nothing new": "The command computes all summaries and verdicts again. It takes 3 to 4 "
    "times as long as importing the libraries.",
    "report, 100,000 rows, nothing new": "Importing the libraries takes more than half of the "
    "command's time.",
    "suite page, from scratch": "Six figures with one panel for each of 46 methods take about a "
    "quarter of the command's time, and 130 leaderboards take about a fifth.",
    "suite status": "Importing the methods and their libraries takes about two fifths of the "
    "command's time. Making the specs of 46 methods on each data set of each track, with the ids "
    "of 27,590 trials, takes most of the rest.",
    "suite status with costs": "The goal is missed for the same reasons as the goal of `suite "
    "status`; in addition, the command reads the times in each trial log.",
    "suite table, from scratch": "The goal is missed for the same reasons as the goal of `suite "
    "status`; in addition, the command collects all rows in one table.",
    "validate, all specs": "Importing the methods and their libraries takes more than "
    "half of the command's time.",
}
"""Works of the methods' table with their size; rows of the others as their tables name them."""
