"""Compare the CPU seconds of eigensolvers on CCDR's graph.

    python benchmarks/bench_ccdr_solver.py [--dims 20] [--runs 5] [--quick]

The graph is that of the Landsat data in transductive mode if DDR_DATA names a folder with these
data, and otherwise that of a synthetic data set of the same size. The solvers take turns, and BLAS
uses one thread. Every solver must reach a residual |L u - lambda D u| below 1e-8; the table marks a
solver that does not with "(residual)". ddr's solver adds to `eigsh` a search for missed copies of
repeated eigenvalues.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg, splu
from tables import options, write
from threadpoolctl import threadpool_limits

from ddr_cli.numerics.eigen import laplacian_eigenpairs
from ddr_cli.numerics.neighbor_graphs import knn_graph, mean_squared_distance
from ddr_cli.numerics.neighbors import kneighbors

Solver = Callable[[sp.csr_array, int], tuple[np.ndarray, np.ndarray]]


def points() -> tuple[np.ndarray, np.ndarray, str]:
    for folder in os.environ.get("DDR_DATA", "").split(os.pathsep):
        path = Path(folder) / "landsat"
        if folder and (path / "sat.trn").is_file():
            train, test = np.loadtxt(path / "sat.trn"), np.loadtxt(path / "sat.tst")
            label = np.append(train[:, 36].astype(int), np.full(len(test), -1))
            return np.vstack([train, test])[:, :36], label, "Landsat"
    rng = np.random.default_rng(0)
    label = rng.integers(0, 6, 6435)
    X = 2 * rng.standard_normal((6, 36))[label] + rng.standard_normal((6435, 36)).cumsum(axis=1)
    label[4435:] = -1
    return X, label, "synthetic"


def joint_graph(W: sp.csr_array, label: np.ndarray, beta: float) -> sp.csr_array:
    classes = np.unique(label[label != -1])
    C = sp.csr_array((label[None] == classes[:, None]).astype(float))
    return sp.csr_array(sp.block_array([[None, C], [C.T, beta * W]]))


def scaled(G: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    root = np.sqrt(G.sum(axis=1))
    scaling = sp.diags_array(1 / root)
    return sp.csr_array(scaling @ G @ scaling), root


def shift_invert(G: sp.csr_array, m: int) -> tuple[np.ndarray, np.ndarray]:
    A, root = scaled(G)
    shifted = sp.csc_array(1.001 * sp.eye_array(A.shape[0]) - A)
    factors = splu(
        shifted,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0,
        options={"SymmetricMode": True},
    )
    inverse = LinearOperator(A.shape, matvec=factors.solve, dtype=float)
    values, vectors = eigsh(inverse, k=m + 1, v0=np.ones(A.shape[0]))
    order = np.argsort(-values)[1:]
    return 1 / values[order] - 0.001, vectors[:, order] / root[:, None]


def plain_arpack(G: sp.csr_array, m: int) -> tuple[np.ndarray, np.ndarray]:
    A, root = scaled(G)
    values, vectors = eigsh(A, k=m + 1, which="LA", v0=np.ones(A.shape[0]))
    return 1 - values[::-1][1:], vectors[:, ::-1][:, 1:] / root[:, None]


def block(G: sp.csr_array, m: int) -> tuple[np.ndarray, np.ndarray]:
    A, root = scaled(G)
    start = np.random.default_rng(0).standard_normal((A.shape[0], m))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values, vectors = lobpcg(A, start, Y=root[:, None], largest=True, tol=1e-10, maxiter=600)
    return 1 - values, vectors / root[:, None]


SOLVERS: dict[str, Solver] = {
    "ddr": laplacian_eigenpairs,
    "eigsh": plain_arpack,
    "shift-invert": shift_invert,
    "lobpcg": block,
}


def residual(G: sp.csr_array, values: np.ndarray, U: np.ndarray) -> float:
    degree = G.sum(axis=1)[:, None]
    return float(np.linalg.norm(degree * U * (1 - values) - G @ U, axis=0).max())


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--dims", type=int, default=20)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    X, label, name = points()
    betas, runs = ((0.5,), 1) if given.quick else ((0.01, 0.5, 10.0), given.runs)
    if given.quick:
        X, label = X[::10], label[::10]
    neighbors, rows = kneighbors(X, 12), []
    for weights, k, beta in product(("binary", "heat"), (4, 12), betas):
        epsilon = mean_squared_distance(neighbors, k)
        G = joint_graph(knn_graph(neighbors, k, weights=weights, epsilon=epsilon), label, beta)
        seconds: dict[str, list[float]] = {solver: [] for solver in SOLVERS}
        failed = set()
        for _ in range(runs):
            for solver, solve in SOLVERS.items():
                began = time.process_time()
                values, U = solve(G, given.dims)
                seconds[solver].append(time.process_time() - began)
                if not residual(G, values, U) < 1e-8:
                    failed.add(solver)
        row = {"data": name, "n": len(X), "weights": weights, "k": k, "beta": beta, "runs": runs}
        for solver, taken in seconds.items():
            row[solver] = f"{median(taken):.2f}{' (residual)' if solver in failed else ''}"
        rows.append(row)
        print(*row.values(), sep="  ", flush=True)
        write(rows, given, "ccdr_solver")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
