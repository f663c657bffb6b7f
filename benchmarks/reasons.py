"""Why a goal is not met, by its row in the tables: what limits it, and what was tried."""

REASONS = {
    "CCDR, n = 10,000": "Supervised UMAP was measured only up to 4,000 samples.",
    "nmmp_faces: share of fits and evaluation": "The measured fraction does not include the "
    "preprocessing, which runs once per split: PCA of 200 images of 10,304 pixels. In a profiled "
    "run of 51.3 s, PCA took 20.2 s, fits and evaluation 25.6 s, the parent process (plan, journal "
    "and figure) 3.4 s, the start of the worker 0.9 s, and the rest 1.3 s. Nearly all of PCA is "
    "the singular value decomposition. Eigenvectors of the 200 x 200 products would take a sixth "
    "of this time, but they would change the last digits.",
    "lfda_resplits_letter: share of fits and evaluation": "In a profiled run of 43.5 s, fits and "
    "evaluation took 38.5 s, the parent process (plan, journal and figure) 3.5 s, the start of the "
    "worker 1.2 s, and the rest 0.4 s. The parent and the workers must each load the libraries "
    "once, and this alone takes more than the 5 % that the goal allows.",
    "CCDR, 1,000,000 points": "Time and memory meet the goal, but the exponent does not: at "
    "constant recall, the number of samples compared per sample grows with n. A navigable graph, "
    "used before, took more than twice as long. We also tried products of whole cells with their "
    "neighbouring cells: for a subset of the queries, they took about as long at a recall lower by "
    "0.01. Coordinates in four bits gave no gain at 100,000 samples.",
    "report, 100,000 rows": "The machine was busy: importing scikit-learn took 1.84 s. When it "
    "took 1.55 s, the median of five reports was 3.87 s. Loading Matplotlib, pandas and `ddr` "
    "takes a third of the time, and the figure takes another third. The figure is redrawn even if "
    "no row has changed, because the plotting code may have changed.",
}
"""Works of the methods' table with their size; rows of the others as their tables name them."""
