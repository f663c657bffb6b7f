"""Compare the CPU time of tuned trials with that of scikit-learn's grid search.

    python benchmarks/bench_tuning.py [ccdr] [lfda] [nmmp] [--dataset landsat] [--splits 8]
                                      [--runs 1] [--quick]

Each method has 16 settings: 8 values of n_components times 2 values of another parameter. Both
programs compare them on 3 inner folds of the same outer splits, with one thread and one process.
scikit-learn runs `GridSearchCV` over a `Pipeline` of the same estimators on the same folds. It fits
each setting from scratch and refits the best one on the whole training set; the time of the search
and of its predictions counts. For ddr, the CPU time of `run_spec` counts as the manifest records
it, with the start of the process, the data, the splits and the default trials. Grid search has none
of these, so the script also measures the same run without tuning. "ratio" divides the time of the
grid search by the time that tuning adds; "ratio of the whole run" divides it by the whole time.

ddr and the grid search alternate, and the table has medians over `--runs`. A run takes minutes, so
one is the default. Both programs must select the same settings up to ties: the setting that ddr
selects must have the lowest error in the grid search.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from tables import options, write
from threadpoolctl import threadpool_limits

from ddr_cli.engine import Datasets, make_plan, read_manifest, run_spec
from ddr_cli.engine.work.draws import Draws
from ddr_cli.evaluation.evaluators import CLASSIFIERS
from ddr_cli.reducers.registry import REDUCERS
from ddr_cli.rows.log import parameter_text, read_rows
from ddr_cli.spec import Spec, make_spec

WIDTHS = [1, 2, 4, 6, 8, 10, 12, 14]
OTHERS: dict[str, tuple[str, list[Any]]] = {
    "ccdr": ("beta", [0.5, 1.0]),
    "lfda": ("n_neighbors", [5, 7]),
    "nmmp": ("n_neighbors_within", ["half", 10]),
}
CLASSIFIER, FIXED = "linear", {"alpha": 0.0}
PIECES = ("reducer", "classifier")

Errors = dict[tuple[str, ...], float]
"""The mean error on the inner folds, by the values of the tuned parameters."""


def spec_of(method: str, dataset: str, splits: int, *, tuned: bool = True) -> Spec:
    other, values = OTHERS[method]
    grids = {"n_components": {"grid": WIDTHS}, other: {"grid": values}}
    return make_spec(
        dataset=dataset,
        reducers=[{"name": method, **(grids if tuned else {})}],
        classifiers=[{"name": CLASSIFIER, **FIXED}],
        tune={"folds": 3, "budget": 16} if tuned else None,
        controls=[],
        name=method,
        repeats=splits,
    )


def by_engine(spec: Spec, datasets: Datasets) -> tuple[float, list[dict[str, str]]]:
    with tempfile.TemporaryDirectory() as out:
        folder = run_spec(spec, out=out, datasets=datasets).folder
        spent = read_manifest(folder).sessions[-1].cpu_seconds
        rows = read_rows(folder).to_dict("records")
    assert spent is not None
    return spent, [row for row in rows if row.get("tuned")]


def by_grid_search(
    spec: Spec, datasets: Datasets
) -> tuple[float, dict[str, dict[tuple[str, ...], float]]]:
    plan = make_plan(spec, datasets=datasets)
    data = datasets.load(spec, plan.data.options)
    draws, spent = Draws(plan, data), 0.0
    errors: dict[str, Errors] = {}
    for key, fits in plan.fits.items():
        drawn = draws(key)
        [tuning] = [fit.tuning for fit in fits if fit.tuning is not None]
        folds = draws.divide(key, drawn, None, tuning)
        place = {row: i for i, row in enumerate(drawn.split.train)}
        rows = [np.array([place[row] for row in fold.rows]) for fold in folds]
        cv = [(r[: fold.n_train], r[fold.n_train :]) for r, fold in zip(rows, folds, strict=True)]
        grid = [
            {
                f"{piece}__{name}": [value]
                for piece, setting in zip(PIECES, pair, strict=True)
                for name, value in setting.params.items()
            }
            for pair in tuning.candidates
        ]
        reducer = REDUCERS.load(tuning.candidates[0][0].name)()
        steps = [("reducer", reducer), ("classifier", CLASSIFIERS.load(CLASSIFIER)())]
        X, y = data.X[drawn.split.train], data.y[drawn.split.train]
        started = time.process_time()
        search = GridSearchCV(Pipeline(steps), grid, cv=cv, scoring="accuracy").fit(X, y)
        search.predict(data.X[drawn.split.test])
        spent += time.process_time() - started
        found = 1 - search.cv_results_["mean_test_score"]
        errors[key.name] = {
            _values(setting.params, setting.name): float(error)
            for (setting, _), error in zip(tuning.candidates, found, strict=True)
        }
    return spent, errors


def _values(params: Mapping[str, Any], method: str) -> tuple[str, ...]:
    """Return the values of the tuned parameters as the trial log writes them."""
    return tuple(parameter_text(params[name]) for name in ("n_components", OTHERS[method][0]))


def compare(method: str, dataset: str, splits: int, runs: int) -> dict[str, Any]:
    spec, datasets = spec_of(method, dataset, splits), Datasets()
    untuned = spec_of(method, dataset, splits, tuned=False)
    engine, defaults, searches, ties = [], [], [], 0
    for _ in range(runs):
        defaults.append(by_engine(untuned, datasets)[0])
        spent, rows = by_engine(spec, datasets)
        engine.append(spent)
        spent, errors = by_grid_search(spec, datasets)
        searches.append(spent)
        ties = 0
        for row in rows:
            own = {key.removeprefix("reducer."): value for key, value in row.items()}
            found = errors[row["split"]]
            least = min(found.values())
            if found[_values(own, method)] > least + 1e-9:
                raise SystemExit(f"{method}, {row['split']}: the grid search differs")
            ties += sum(error < least + 1e-9 for error in found.values()) > 1
    ours, default, theirs = median(engine), median(defaults), median(searches)
    return {
        "method": method,
        "data set": dataset,
        "outer splits": splits,
        "settings": int(rows[0]["tuned"]),
        "inner folds": 3,
        "ddr (s CPU)": round(ours, 1),
        "ddr without tuning (s CPU)": round(default, 1),
        "GridSearchCV (s CPU)": round(theirs, 1),
        "ratio": round(theirs / (ours - default), 1),
        "ratio of the whole run": round(theirs / ours, 1),
        "runs": runs,
        "splits with ties": ties,
    }


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("methods", nargs="*", choices=[*OTHERS, []], default=[])
    parser.add_argument("--dataset", default="landsat")
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--runs", type=int, default=1)
    given = parser.parse_args()
    dataset, splits = ("digits", 1) if given.quick else (given.dataset, given.splits)
    with threadpool_limits(1):
        rows = []
        for method in ["nmmp"] if given.quick else given.methods or OTHERS:
            rows.append(compare(method, dataset, splits, given.runs))
            print(pd.DataFrame(rows).to_string(index=False), flush=True)
            write(rows, given, "tuning")


if __name__ == "__main__":
    main()
