"""Check three findings of the lite suite by another way, and write them into docs/findings.md.

    python benchmarks/second_routes.py [--out FOLDER] [--quick] [--page]

Nothing but the data comes from ddr: splits, tuning, methods and classifiers are scikit-learn's, and
CCDR is written here from its paper's equations. The suite's figures are read from its journals.
With `--page` nothing is computed: the page's tables are made anew from the CSV.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.linalg import eigh
from scipy.stats import mode
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.neighbors import (
    KNeighborsClassifier,
    NearestNeighbors,
    NeighborhoodComponentsAnalysis,
    kneighbors_graph,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables import RESULTS, folder, markdown, options, write

import ddr_cli

ROWS = Path("results/suite_lite")
PAGE = Path("docs/findings.md")
NAME = "second_routes"
SPLITS = 5
# With the suite's caps: its small sets and four with more points, which are standardised; and of
# spectra and gene expression some that it standardises and turns to principal components.
SETS: dict[str, tuple[float, float | None]] = {
    **dict.fromkeys(("balance", "breast_cancer", "glass", "ionosphere", "iris"), (0.5, None)),
    **dict.fromkeys(("sonar", "thyroid", "wine"), (0.5, None)),
    "vehicle": (300, 500),
    "segment": (210, 2100),
    "landsat": (300, 1000),
    "letter": (312, 1000),
    "pendigits": (300, 1000),
    "coffee": (28, 28),
    "olive_oil": (30, 30),
    "strawberry": (300, 600),
    "colon": (0.6, None),
    "golub": (38, 34),
    "srbct": (0.6, None),
}
# All there are: of n points n - 1, as the last is constant but for rounding.
ALL_THERE_ARE = ("coffee", "olive_oil", "colon", "golub", "srbct")
COMPONENTS = {"strawberry": 50, **dict.fromkeys(ALL_THERE_ARE, 1 - 1e-9)}
FINDINGS = {
    "kernel": ("laplacian_rls, tuned", "full_features"),
    "ccdr": ("ccdr, tuned", "none"),
    "lda": ("lda, default", "nca, tuned"),
}
"""By its name here: two entries of the suite, of whose errors a finding speaks."""
SEEN, RAW, FEW = "ccdr, points seen", "full_features, raw", "lda on 5 to 15 components"
BESIDE = {"ccdr": SEEN, "kernel": RAW, "lda": FEW}
"""What the second route alone tells: of points seen, and with other principal components."""
COLUMNS = ("finding", "dataset", "entry", "suite", "second")


class ClassCodes(TransformerMixin, BaseEstimator):
    """Regression on class codes with a graph: (J K + a I + m L K) c = J y; the values embed."""

    def __init__(self, kernel: str = "linear", alpha: float = 0.03, mu: float = 0.1) -> None:
        self.kernel, self.alpha, self.mu = kernel, alpha, mu

    def fit(self, X: Any, y: Any) -> Self:
        n, codes = len(X), 2.0 * (np.unique(y)[:, None] == y).T - 1
        d = kneighbors_graph(X, 10, mode="distance").toarray()
        weights = np.where(d > 0, np.exp(-(d**2) / (d[d > 0] ** 2).mean()), 0.0)
        W = np.maximum(weights, weights.T)
        L = np.diag(W.sum(axis=0)) - W
        self.more_ = {"gamma": 1 / X.var(axis=0).sum()} if self.kernel == "rbf" else {}
        self.X_, self.mean_ = X - X.mean(axis=0), X.mean(axis=0)
        K = pairwise_kernels(self.X_, metric=self.kernel, **self.more_)
        spread = np.diag(K).mean() - K.mean()
        J, rough = np.eye(n) - 1 / n, np.trace(L @ K)
        left = J @ K + self.alpha * spread * np.eye(n) + self.mu * n * spread / rough * L @ K
        self.dual_ = np.linalg.solve(left, J @ codes)
        return self

    def transform(self, X: Any) -> Any:
        return (
            pairwise_kernels(X - self.mean_, self.X_, metric=self.kernel, **self.more_) @ self.dual_
        )


class DenseCCDR(TransformerMixin, BaseEstimator):
    """CCDR by a dense solver: Eq. 15 for the points that are fitted, Eq. 20 for all others."""

    def __init__(self, width: int = 2, beta: float = 0.5) -> None:
        self.width, self.beta = width, beta

    def fit_transform(self, X: Any, y: Any) -> Any:
        C = (np.unique(y)[:, None] == y).astype(float)
        W = kneighbors_graph(X, 4).toarray()
        G = np.block([[np.zeros((len(C), len(C))), C], [C.T, self.beta * np.maximum(W, W.T)]])
        d = G.sum(axis=0)
        # Z D 1 = 0: the constant's eigenvalue, 0, becomes larger than any other.
        L = np.diag(d) - G + 3 * np.outer(d, d) / d.sum()
        values, U = eigh(L, np.diag(d), subset_by_index=[0, self.width - 1])
        self.points_, self.shrink_ = U[len(C) :], 1 - values
        self.near_ = NearestNeighbors(n_neighbors=4).fit(X)
        return self.points_

    def fit(self, X: Any, y: Any) -> Self:
        self.fit_transform(X, y)
        return self

    def transform(self, X: Any) -> Any:
        return self.points_[self.near_.kneighbors(X)[1]].mean(axis=1) / self.shrink_


def second(dataset: str, seed: int, n_features: int) -> dict[str, Any]:
    """Return the estimators of all entries."""
    before = [StandardScaler()]
    if dataset in COMPONENTS:
        before.append(PCA(COMPONENTS[dataset], random_state=seed))

    def with_3nn(*steps: Any) -> Any:
        return make_pipeline(*before, *steps, KNeighborsClassifier(3))

    def tuned(step: Any, **grid: Any) -> Any:
        name = type(step).__name__.lower()
        grids = {f"{name}__{key}": values for key, values in grid.items()}
        return GridSearchCV(with_3nn(step), grids, cv=3)

    forest = RandomForestClassifier(random_state=seed)
    nca = NeighborhoodComponentsAnalysis(random_state=seed)
    widths = sorted({min(m, n_features) for m in (2, 5, 12)})
    found = {
        "laplacian_rls, tuned": tuned(
            ClassCodes(), kernel=["linear", "rbf"], alpha=[0.001, 0.01, 0.1, 1.0]
        ),
        "full_features": make_pipeline(*before, forest),
        RAW: forest,
        "ccdr, tuned": tuned(DenseCCDR(), width=[1, 2, 3, 5, 8, 12, 20], beta=[0.1, 0.5]),
        "none": with_3nn(),
        "lda, default": with_3nn(LinearDiscriminantAnalysis()),
        "nca, tuned": tuned(nca, n_components=widths),
    }
    if dataset in COMPONENTS:
        before[1] = PCA(random_state=seed)
        fewer = {"pca__n_components": [5, 10, 15]}
        found[FEW] = GridSearchCV(with_3nn(LinearDiscriminantAnalysis()), fewer, cv=3)
    return found


def seen_error(search: GridSearchCV, y: Any) -> float:
    """Return the error of 3-NN among the embedded training points, each left out in turn."""
    embedding = search.best_estimator_[-2].points_
    near = NearestNeighbors(n_neighbors=3).fit(embedding).kneighbors(return_distance=False)
    return float(np.mean(mode(y[near], axis=1).mode != y))


def by_second_route(dataset: str, splits: int) -> dict[str, float]:
    """Return each entry's mean error over new splits of a data set."""
    data = ddr_cli.load_dataset(dataset)
    X, y = np.asarray(data.X, dtype=float), np.unique(data.y, return_inverse=True)[1]
    train, test = SETS[dataset]
    errors: dict[str, list[float]] = {}
    drawn = StratifiedShuffleSplit(splits, train_size=train, test_size=test, random_state=1)
    for seed, (fit, held_out) in enumerate(drawn.split(X, y)):
        for entry, estimator in second(dataset, seed, X.shape[1]).items():
            estimator.fit(X[fit], y[fit])
            error = 1 - estimator.score(X[held_out], y[held_out])
            errors.setdefault(entry, []).append(float(error))
            if entry.startswith("ccdr"):
                errors.setdefault(SEEN, []).append(seen_error(estimator, y[fit]))
    return {entry: float(np.mean(values)) for entry, values in errors.items()}


def by_suite(dataset: str) -> dict[str, float]:
    """Return each entry's mean error in a data set's journal, over its first splits."""
    files = (ROWS / dataset / name for name in ("trials.csv", "controls.csv"))
    rows = pd.concat([pd.read_csv(file, low_memory=False) for file in files])
    rows = rows[rows["split"].str.rsplit("-", n=1).str[-1].astype(int) < SPLITS]
    found = {}
    for entry in (entry for pair in FINDINGS.values() for entry in pair):
        method, _, how = entry.partition(", ")
        is_control = rows["control"].fillna("") == method
        is_method = (rows["reducer"] == method) & (rows["classifier"] == "knn")
        of = rows[is_control | (is_method & rows["control"].isna())]
        of = of[of["tuned"].notna() == (how == "tuned")]
        if len(of) != SPLITS or not (of["status"] == "ok").all():
            raise SystemExit(f"{dataset}: the suite has not {SPLITS} splits of {entry}")
        found[entry] = float(of["error"].mean())
    return found


def sides(rows: pd.DataFrame, first: str, other: str, route: str) -> tuple[pd.Series, list[Any]]:
    """Return the errors that an entry makes beyond another's by data set, and their summary."""
    errors = rows.pivot(index="dataset", columns="entry", values=route)
    beyond = (errors[first] - errors[other]).dropna().round(4)
    counts = [int((beyond < 0).sum()), int((beyond == 0).sum()), int((beyond > 0).sum())]
    return beyond, [len(beyond), *counts, f"{beyond.median():+.2f}"]


def block(rows: pd.DataFrame, finding: str) -> str:
    """Return the tables of a finding."""
    first, other = FINDINGS[finding]
    rows = rows[rows["finding"] == finding]
    here = rows[rows["second"].notna()]
    (_, everywhere), (a, ours), (b, theirs) = (
        sides(rows, first, other, "suite"),
        sides(here, first, other, "suite"),
        sides(here, first, other, "second"),
    )
    same = int((np.sign(a) == np.sign(b)).sum())
    columns = ["route", "data sets", "fewer errors", "equal", "more errors", "median difference"]
    told = [
        ["suite, all data sets", *everywhere],
        ["suite, data sets of the second route", *ours],
        [f"second route (same sign on {same})", *theirs],
    ]
    cells = here.assign(
        cell=[
            f"{one:.1f} / {two:.1f}" if pd.notna(one) else f"{two:.1f}"
            for one, two in zip(here["suite"], here["second"], strict=True)
        ]
    ).pivot(index="dataset", columns="entry", values="cell")
    order = [entry for entry in (first, other, BESIDE.get(finding)) if entry in cells]
    return "\n\n".join(
        [
            f"First method: {first}. Second method: {other}.",
            markdown(pd.DataFrame(told, columns=columns)),
            "Mean error in percent, suite / second route:",
            markdown(cells[order].reset_index()),
        ]
    )


def with_tables(page: str, rows: pd.DataFrame) -> str:
    """Return the page with the tables of all findings anew."""
    for finding in FINDINGS:
        begin, end = f"<!-- {finding} -->", f"<!-- end of {finding} -->"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n\n{block(rows, finding)}\n\n{end}{rest.partition(end)[2]}"
    return page


def measure(given: argparse.Namespace) -> None:
    rows, sets = [], sorted(folder.name for folder in ROWS.iterdir() if is_inductive(folder))
    for dataset in sets:
        checked = dataset in (["iris", "wine"] if given.quick else SETS)
        began, suite = time.process_time(), by_suite(dataset)
        other = by_second_route(dataset, 1 if given.quick else SPLITS) if checked else {}
        for finding, pair in FINDINGS.items():
            for entry in (*pair, BESIDE[finding]):
                if entry in suite or entry in other:
                    figures = [round(100 * of.get(entry, np.nan), 2) for of in (suite, other)]
                    row = [finding, dataset, entry, *figures]
                    rows.append(dict(zip(COLUMNS, row, strict=True)))
        if checked:
            print(f"{dataset}: {time.process_time() - began:.1f} CPU s", file=sys.stderr)
    write(rows, given, NAME)


def is_inductive(path: Path) -> bool:
    return path.is_dir() and "-" not in path.name


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--page", action="store_true", help="the page's tables alone, from the CSV")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # Of collinear features, and of steps not converged.
    if not given.page:
        measure(given)
    if folder(given) == RESULTS:
        rows = pd.read_csv(RESULTS / f"{NAME}.csv")
        PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")


if __name__ == "__main__":
    main()
