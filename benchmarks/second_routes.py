"""Compute rows of lite without ddr's methods, and write the table of docs/second_route.md.

    python benchmarks/second_routes.py [--out FOLDER] [--quick] [--page]

ddr provides the samples, the splits, the inner folds and the list of settings. The preprocessing,
the methods, the selection and the classifier come from scikit-learn or from this file. `--page`
only writes the page's table, from the CSV file.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import solve
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.preprocessing import StandardScaler
from tables import RESULTS, options, with_table, write

import ddr_cli
from ddr_cli.core.extras import nothing_fitted
from ddr_cli.engine.work.draws import Draws
from ddr_cli.numerics.kernels import scale_factor
from ddr_cli.suite.definition import INDUCTIVE, load_suite
from ddr_cli.suite.remaining import folder_of, parts_of

PAGE = Path("docs/second_route.md")
NAME = "second_routes"
SPLITS = 1
METHODS = ("pca", "lda", "kernel_pca", "pls_da", "laplacian_rls")


def embed(method: str, given: dict[str, Any], X: Any, y: Any, queries: Any) -> tuple[Any, Any]:
    """Return the embeddings of the training and the test samples."""
    d = given.get("n_components")
    codes = (y[:, None] == np.unique(y)).astype(float)
    if method == "pca":
        fitted = PCA(d, svd_solver="full").fit(X)
    elif method == "lda":
        fitted = LinearDiscriminantAnalysis(n_components=d).fit(X, y)
    elif method == "kernel_pca":
        width = scale_factor(given["gamma"]) / X.var(axis=0).sum()
        fitted = KernelPCA(d, kernel="rbf", gamma=width, eigen_solver="dense").fit(X)
    elif method == "pls_da":
        fitted = PLSRegression(d, scale=False).fit(X, codes)
    else:
        return regression_on_codes(given, X, 2 * codes - 1, queries)
    return fitted.transform(X), fitted.transform(queries)


def regression_on_codes(given: dict[str, Any], X: Any, codes: Any, queries: Any) -> tuple[Any, Any]:
    """Return the outputs of linear Laplacian RLS, from its normal equations."""
    mean = X.mean(axis=0)
    Z, T, n = X - mean, queries - mean, len(X)
    near = kneighbors_graph(X, given["n_neighbors"], mode="distance").tocoo()
    W = np.zeros((n, n))
    W[near.row, near.col] = np.exp(-(near.data**2) / np.mean(near.data**2))
    W = np.maximum(W, W.T)
    smooth = Z.T @ (np.diag(W.sum(axis=0)) - W) @ Z
    spread = np.mean(np.sum(Z**2, axis=1))
    left = Z.T @ Z + given["alpha"] * spread * np.eye(Z.shape[1])
    if given["mu"]:
        left += given["mu"] * n * spread / np.trace(smooth) * smooth
    weights = solve(left, Z.T @ (codes - codes.mean(axis=0)), assume_a="pos")
    return Z @ weights, T @ weights


def errors(near: Any, y: Any, truth: Any) -> float:
    """Return the error of 3-NN; if all three neighbours differ in class, the nearest decides."""
    votes = y[near]
    second = np.where(votes[:, 1] == votes[:, 2], votes[:, 1], votes[:, 0])
    return float(np.mean(second != truth))


def score(method: str, given: dict[str, Any], data: Any, steps: Any, division: Any) -> float:
    """Return a setting's error on the test samples of a split or fold."""
    rows = division.rows[division.order]
    train, test = rows[: division.n_train], rows[division.n_train :]
    X, queries, y = data.X[train], data.X[test], data.y[train]
    for step in steps:
        if step.name == "standardize":
            fitted = StandardScaler().fit(X)
        else:
            most = step.params["n_components"]
            fitted = PCA(len(X) - 1 if most == "full" else most, svd_solver="full").fit(X)
        X, queries = fitted.transform(X), fitted.transform(queries)
    try:
        ours, theirs = embed(method, given, X, y, queries)
    except ValueError:  # A small fold allows fewer components.
        return np.inf
    near = NearestNeighbors(n_neighbors=3, algorithm="brute").fit(ours)
    return errors(near.kneighbors(theirs, return_distance=False), y, data.y[test])


def second_rows(part: Any, methods: Any, splits: int) -> Any:
    """Yield tuned and default rows of a data set, from the suite and from the second route."""
    data, found = ddr_cli.load_dataset(part.dataset), part.trials
    draws = Draws(part.plan, data)
    for key, fits in list(part.plan.fits.items())[:splits]:
        drawn = draws(key)
        for fit in fits:
            for trial, cell in fit.trials.items():
                method = cell.reducer.label
                if (
                    method not in methods
                    or cell.evaluator.name != "knn"
                    or trial not in found.index
                ):
                    continue
                row, tuning = found.loc[trial], cell.tuning
                params, inner = dict(cell.reducer.params), np.nan
                if tuning is not None:
                    folds = draws.divide(key, drawn, fit.labels, tuning)
                    settings = [dict(pair[0].params) for pair in tuning.candidates]
                    means = [
                        np.mean([score(method, each, data, part.spec.preprocess, f) for f in folds])
                        for each in settings
                    ]
                    best = int(np.argmin(np.round(means, 12)))
                    params, inner = settings[best], means[best]
                error = score(method, params, data, part.spec.preprocess, drawn.division)
                yield {
                    "dataset": part.dataset,
                    "split": key.index,
                    "method": method,
                    "tuned": tuning is not None,
                    "suite": row["error"],
                    "second": error,
                    "suite_inner": row.get("inner_score"),
                    "second_inner": inner,
                }


def with_rows(page: str, rows: pd.DataFrame) -> str:
    """Return the page with a summary of these rows in its table."""
    same = (rows["suite"] - rows["second"]).abs() < 1e-9
    rows = rows.assign(equal=same, difference=100 * (rows["suite"] - rows["second"]).abs())
    table = rows.groupby(["method", "tuned"], sort=False).agg(
        rows=("equal", "size"), equal=("equal", "sum"), largest=("difference", "max")
    )
    table = table.reset_index()
    table["tuned"] = table["tuned"].map({True: "tuned", False: "default"})
    table["largest"] = table["largest"].map("{:.2f}".format)
    table.columns = ["method", "setting", "rows", "equal errors", "largest difference (points)"]
    return with_table(page, "rows", table)


def measure(given: Any) -> None:
    """Compute the rows and write them."""
    with nothing_fitted():
        suite = load_suite("suites/lite.yaml")
        parts = parts_of(suite, folder_of(suite, Path("results")), tracks=[INDUCTIVE])
    rows: list[dict[str, Any]] = []
    for part in parts:
        if not given.quick or part.dataset == "iris":
            began = time.process_time()
            rows += second_rows(part, METHODS, SPLITS)
            print(f"{part.dataset}: {time.process_time() - began:.1f} CPU s", file=sys.stderr)
    write(rows, given, NAME)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--page", action="store_true", help="only write the page's table")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # Features may be collinear.
    if not given.page:
        measure(given)
    if not given.quick and given.out is None:
        rows = pd.read_csv(RESULTS / f"{NAME}.csv")
        PAGE.write_text(with_rows(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")


if __name__ == "__main__":
    main()
