"""Shared fits and evaluations give each trial the same result as a run of its own."""

import pandas as pd

from ddr_cli.engine import read_trials, run_spec
from ddr_cli.reducers.registry import REDUCERS, get_traits
from ddr_cli.spec import make_spec

WIDTHS, BUDGETS, NEIGHBORS = (1, 2, 4), (2, 4), (1, 3)
ALONE = [(1, 2, 3), (2, 4, 1), (4, 4, 3), (2, 2, 3)]
# Methods with a whole search in each fit run faster with fewer steps.
FEW = {"max_iter": 5, "n_estimators": 5, "random_state": 0}
WHAT = ["reducer", "reducer.n_components", "classifier.n_neighbors", "labels", "split"]


def items():
    for entry in REDUCERS.entries():
        reducer = entry.load()()
        traits, params = get_traits(reducer), reducer.get_params()
        if entry.origin == "ddr" and not traits.library and traits.out_of_sample:
            few = {key: value for key, value in FEW.items() if key in params}
            yield {"name": entry.name, "mode": "out_of_sample", **few}


def rows(out, executor, widths, budgets, neighbors):
    spec = make_spec(
        name="_".join(map(str, (*widths, *budgets, *neighbors))),
        dataset="digits",
        reducers=[item for item in items() if item["name"] not in ("sde", "ssde", "slle")],
        classifiers=[{"name": "knn"}],
        sweep={"reducer.n_components": list(widths), "classifier.n_neighbors": list(neighbors)},
        labels=list(budgets),
        split={"kind": "per_class", "train": 4, "test": 20, "repeats": 1},
        preprocess=[{"name": "pca", "n_components": 8}],
        controls=[],
    )
    table = read_trials(run_spec(spec, out=out, executor=executor()).folder)
    found = table.set_index(WHAT)["error"]
    assert found.index.is_unique
    return found.sort_index()


def test_each_width_budget_and_classifier_is_as_in_a_run_of_its_own(tmp_path, one_after_the_other):
    shared = rows(tmp_path, one_after_the_other, WIDTHS, BUDGETS, NEIGHBORS)
    alone = pd.concat(
        rows(tmp_path, one_after_the_other, (width,), (budget,), (k,)) for width, budget, k in ALONE
    )
    alone = alone[~alone.index.duplicated()]
    pd.testing.assert_series_equal(shared.loc[alone.index], alone)
    # If all settings had the same errors, the comparison would show nothing.
    for name in WHAT[1:4]:
        assert shared.groupby(name).mean().nunique() > 1
