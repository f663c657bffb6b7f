"""Why a goal is not met, by its row in the tables."""

REASONS = {
    "LFDA, n = 5,000": "metric-learn's result is wrong there (residual 0.017). At n = 10,000 the "
    "ratio is 0.78.",
    "CCDR, n = 10,000": "Supervised UMAP was measured only up to 4,000 samples.",
    "CCDR, approximate neighbours, noise, n = 100,000": "The recall of our search is 0.88. "
    "The prototype, a short script that combines faiss's HNSW with ARPACK, has a recall of 0.51. "
    "At a lower effort, our search would match the prototype's time and recall.",
    "nmmp_faces: share of fits and evaluation": "The fraction does not include the preprocessing: "
    "PCA of 10,304 pixels took 20 of 51 s. Eigenvectors of the 200 x 200 products would take a "
    "sixth of this time, but they would change the last digits.",
    "lfda_resplits_letter: share of fits and evaluation": "The parent and the worker must each "
    "load the libraries once. This alone takes more than the 5 % that the goal allows.",
    "report, from scratch": "Matplotlib draws 94 figures in three quarters of the time.",
    "report, nothing new": "It takes 3.6 times as long as importing the libraries, which takes "
    "1.8 s on this machine and 1.3 s on the other.",
    "report, 100,000 rows, nothing new": "It takes 1.4 times as long as importing the libraries.",
    "suite page, from scratch": "Matplotlib draws a small panel for each method on each data set "
    "in more than half of the time; 110 leaderboards are computed.",
    "suite status": "About a fifth of the time are imports, nearly a third is the specs of 46 "
    "methods on each data set of each track, and 40 % the ids of 26,624 trials.",
    "suite status with costs": "As for `suite status`, and each journal is read for its times.",
    "suite table": "As for `suite status`, and the rows become one table.",
    "validate, all specs": "Importing the methods takes half of the time.",
}
"""Works of the methods' table with their size; rows of the others as their tables name them."""
