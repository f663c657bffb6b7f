"""Why a goal is not met, by its row in the tables."""

REASONS = {
    "LFDA, n = 5,000": "metric-learn's result is wrong there (residual 0.017). At n = 10,000 the "
    "ratio is 0.78.",
    "CCDR, n = 10,000": "Supervised UMAP was measured only up to 4,000 samples.",
    "CCDR, approximate neighbours, noise, n = 100,000": "The search finds 0.88 of the neighbours; "
    "the prototype finds 0.51. A lower effort would be as fast and find as few.",
    "nmmp_faces: share of fits and evaluation": "The fraction does not include the preprocessing: "
    "PCA of 10,304 pixels took 20 of 51 s. Eigenvectors of the 200 x 200 products would take a "
    "sixth of this time, but they would change the last digits.",
    "lfda_resplits_letter: share of fits and evaluation": "The parent and the worker must each "
    "load the libraries once. This alone takes more than the 5 % that the goal allows.",
    "report, from scratch": "Matplotlib draws 94 figures in 26 s of the time.",
    "suite page, from scratch": "Matplotlib draws 636 panels of 53 figures in more than half of "
    "the time; 110 leaderboards are computed.",
    "suite status": "Loading all methods takes 0.8 s, half of it scikit-learn's import of "
    "`scipy.stats`; the specs take 0.7 s, and the ids of 62,610 trials 1 s.",
    "suite status with costs": "As for `suite status`, and each journal is read for its times.",
    "suite table": "As for `suite status`, and the rows become one table.",
    "validate, all specs": "Importing the methods takes half of the time.",
}
"""Works of the methods' table with their size; rows of the others as their tables name them."""
