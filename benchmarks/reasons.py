"""Why a goal is not met, by its row in the tables: what limits it, and what was tried."""

REASONS = {
    "LMNN, d = 50, n = 1,000": "The steps go on until a gap of 1e-4 of the start's objective is "
    "proved; metric-learn stops where its objective no longer falls, and proves nothing. The proof "
    "takes most of the time.",
    "LMNN, d = 100, n = 5,000": "As at 1,000 points in 50 dimensions. Both ends are as low but for "
    "a hundred-thousandth.",
    "CCDR, n = 10,000": "Supervised UMAP was measured up to 4,000 points only.",
    "nmmp_faces: share of fits and evaluation": "What comes before the methods is not counted: PCA "
    "of 200 images of 10,304 pixels, once per split for all of them. Of 51.3 s in a run with marks "
    "it took 20.2, fits and evaluation 25.6, the parent with plan, journal and figure 3.4, the "
    "start of the worker 0.9, all else 1.3. Nearly all of PCA is the singular values; eigenvectors "
    "of the 200 x 200 products take a sixth of their time, but would change last digits.",
    "lfda_resplits_letter: share of fits and evaluation": "Of 43.5 s in a run with marks fits and "
    "evaluation took 38.5, the parent with plan, journal and figure 3.5, the start of the worker "
    "1.2, all else 0.4. To load the libraries once in the parent and once for the workers alone "
    "is more than the 5 % that are left.",
    "CCDR, 1,000,000 points": "Time and memory keep within the goal, the exponent does not: the "
    "points looked at for each grow with n at a recall that stays. A navigable graph, used before, "
    "took over twice as long. Products of whole cells with the cells near them were tried: on a "
    "sample of the queries they took about as long at a recall lower by 0.01. Coordinates in four "
    "bits were tried at 100,000 and gain nothing.",
    "report, 100,000 rows": "On a busy machine, where an import of scikit-learn took 1.84 s. Where "
    "it took 1.55, five reports had a median of 3.87. To load Matplotlib, pandas and ddr's modules "
    "is a third, and so is the figure. It is drawn anew also where no row has changed: nothing "
    "says for certain that the code which draws it has not.",
}
"""Works of the methods' table with their size; rows of the others as their tables name them."""
