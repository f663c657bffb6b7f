"""Why a goal is not met, by its row in the tables: what limits it, and what was tried."""

REASONS = {
    "LMNN, d = 50, n = 500": "The steps go on until a gap of 1e-4 of the start's objective is "
    "proved; metric-learn stops where its objective no longer falls, and proves nothing. Most of "
    "the time goes into the proof, when the objective is below metric-learn's already: at a gap of "
    "0.01, the other row, it is too. Newton's method on a step's dual was tried and took over ten "
    "times as long, as nearly all multipliers are at their bounds.",
    "LMNN, d = 50, n = 500: ddr, tol = 0.01": "The same.",
    "LMNN, d = 100, n = 5,000": "Nothing was run to both ends on the shared machine. To a gap of "
    "0.01 ours took 27.9 s of CPU and ended at 97,812; to the default's gap it was "
    "stopped after 112 s, with the proof to come. metric-learn passed that objective at iteration "
    "241; at iteration 278 it had taken 111 s, was at 97,797 and still fell.",
    "NMMP, n = 8,000": "The machine was shared with as many as 20 processes in this series.",
    "NMMP, n = 50,000": "The graph of one class is held twice while mutual neighbours are found.",
    "CCDR, n = 10,000": "Supervised UMAP was measured up to 4,000 points only.",
    "nmmp_faces: share of fits and evaluation": "Half of the run is what comes with a "
    "fit of 200 small images: the start of the processes, the splits, rows and figures among it. "
    "How it is made up was not measured.",
    "lfda_resplits_letter: share of fits and evaluation": "The rest is hardly more than a run of "
    "trials that do nothing costs: the start of the processes. It has stayed while fits became "
    "faster.",
    "CCDR, 1,000,000 points": "Time and memory keep within the goal, the exponent does not: the "
    "points looked at for each grow with n at a recall that stays. A navigable graph, used before, "
    "took over twice as long. Products of whole cells with the cells near them were tried: on a "
    "sample of the queries they took about as long at a recall lower by 0.01. Coordinates in four "
    "bits were tried at 100,000 and gain nothing.",
    "run of 50 trials that do next to nothing": "The parent and the server of its workers both "
    "import scikit-learn; pandas and the models of specs come on top.",
    "report, 100,000 rows": "On a nearly idle machine it was 4.4 to 4.6 s. Every figure is drawn "
    "anew, also where no row has changed.",
}
"""Works of the methods' table with their size; rows of the others as their tables name them."""
