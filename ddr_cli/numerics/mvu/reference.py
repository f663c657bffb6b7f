"""Maximum variance unfolding by a general solver: the reference for tests of our solver.

The dual is solved, with one variable per bar and one matrix inequality; K is its multiplier. The
primal has a variable per entry of K and takes minutes where the dual takes seconds. Even so, the
solver factorises a matrix whose order is the number of entries of K, so it only suits small
problems.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
import scipy.linalg

from ddr_cli.numerics.mvu.framework import Framework
from ddr_cli.numerics.neighbors import Floats

MOST_NODES = 100  # 60 nodes take a quarter of a minute, 100 several minutes, 200 hours


def solve_cvxpy(framework: Framework) -> tuple[Floats, Floats]:
    """Return the Gram matrix K in scaled coordinates and the weights that Clarabel finds.

    K is positive semidefinite to the solver's tolerance. The solver's own status is not used: it
    may be ``optimal_inaccurate`` for a perfect solution and for a wrong one. The caller checks the
    gap.
    """
    if framework.n_nodes > MOST_NODES:
        raise ValueError(
            f"solver='cvxpy' takes at most {MOST_NODES} distinct samples, not {framework.n_nodes}; "
            "use solver='interior', which is just as exact."
        )
    # Importing cvxpy takes a second, and most solutions do not need it. Its types are incomplete.
    cvxpy: Any = import_module("cvxpy")
    basis = scipy.linalg.null_space(framework.known.T)
    r = basis.shape[1]
    bars = framework.incidence @ basis
    # Column e has the entries of the matrix b b' of bar e.
    matrices = (bars[:, :, None] * bars[:, None, :]).reshape(len(bars), r * r).T
    weights = cvxpy.Variable(len(bars))
    slack = cvxpy.reshape(matrices @ weights, (r, r), order="C") - np.eye(r)
    inequality = slack >> 0
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(weights)), [inequality])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about accuracy, which the caller checks
        try:
            problem.solve(solver=cvxpy.CLARABEL, max_threads=1)
        except cvxpy.SolverError as error:
            raise np.linalg.LinAlgError(f"Clarabel failed: {error}") from error
    if inequality.dual_value is None or weights.value is None:
        raise np.linalg.LinAlgError(f"Clarabel found no solution: {problem.status}.")
    inner = (inequality.dual_value + inequality.dual_value.T) / 2
    return basis @ inner @ basis.T, np.asarray(weights.value)
