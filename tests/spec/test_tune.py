"""``tune:`` and grids of an item: their meaning, and errors with their positions."""

from itertools import islice

import numpy as np
import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.core.positions import DocumentError
from ddr_cli.spec import Spec, expand, load_spec, make_spec, with_sweep
from ddr_cli.spec.tune import drawn, thinned

RIGHT = """\
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 2, seed: 0}
reducers:
  - {name: ccdr, n_components: {grid: [1, 2, 3]}, beta: {log: [0.01, 1, 3]}}
  - none
classifiers:
  - {name: knn, n_neighbors: {grid: [1, 5]}}
tune: {folds: 3, budget: 16}
controls: []
"""


@pytest.fixture
def right(edit):
    return lambda *replacements: edit(*replacements, text=RIGHT)


def candidates(spec, reducer):
    """Return the values of the compared settings, in order."""
    tuning = next(c.tuning for c in expand(spec) if c.reducer.name == reducer and c.tuning)
    assert tuning is not None
    return [
        (*(a.params.get(name) for name in ("n_components", "beta")), b.params.get("n_neighbors"))
        for a, b in tuning.candidates
    ]


def test_each_method_is_run_at_its_default_and_tuned(right):
    spec = load_spec(right())
    cells = expand(spec)
    assert [(c.reducer.name, c.tuning is not None) for c in cells] == [
        ("ccdr", False), ("ccdr", True), ("none", False), ("none", True),
    ] * 2  # fmt: skip
    assert cells[0].reducer.params["n_components"] == 2  # the estimator's default
    assert spec.tune is not None
    assert (spec.tune.repeats, spec.tune.metric) == (1, "error")
    assert Spec.from_resolved(spec.resolved()) == spec.model_copy(update={"path": None})


def test_the_default_comes_first_then_the_grid_in_order(right):
    assert candidates(load_spec(right()), "none") == [(None, None, 5), (None, None, 1)]
    found = candidates(load_spec(right(("budget: 16", "budget: 19"))), "ccdr")
    grid = [(w, beta, k) for w in (1, 2, 3) for beta in (0.01, 0.1, 1.0) for k in (1, 5)]
    assert found == [(2, 0.5, 5), *grid]


@pytest.mark.parametrize("search", ["grid", "sobol"])
def test_no_method_has_more_settings_than_the_budget(right, search):
    for budget in (1, 2, 5, 16):
        change = ("folds: 3, budget: 16", f"budget: {budget}, search: {search}")
        found = candidates(load_spec(right(change)), "ccdr")
        assert found[0] == (2, 0.5, 5)
        assert len(found) <= budget
        assert len(set(found)) == len(found)
        if search == "sobol":
            assert len(found) == budget
            assert candidates(load_spec(right(change)), "ccdr") == found


def test_a_large_grid_is_thinned_evenly():
    assert thinned([20], 4) == [(2,), (7,), (12,), (17,)]
    assert thinned([20, 2], 8) == [(place, i) for place in (2, 7, 12, 17) for i in (0, 1)]
    # An axis with only one value left is not tuned and keeps the item's own value.
    assert thinned([3, 3, 3], 2) == [(0, None, None), (2, None, None)]


@pytest.mark.parametrize("seed", range(5))
def test_drawn_settings_cover_every_axis_evenly(seed):
    first = list(islice(drawn([20, 7, 5, 2], seed), 16))
    assert first != list(islice(drawn([20, 7, 5, 2], seed + 1), 16))
    for axis, (size, least) in enumerate(((20, 12), (7, 7), (5, 5), (2, 2))):
        places = [point[axis] for point in first]
        assert len(set(places)) >= least
        assert max(np.bincount(places, minlength=size)) <= -(-16 // size) + 1


def test_without_grids_the_declared_ones_are_tuned_but_for_what_is_swept():
    spec = make_spec(
        dataset="landsat",
        reducers=["lda"],
        classifiers=["linear"],
        sweep={"classifier.alpha": [0.0]},
        tune={"budget": 30},
        controls=[],
    )
    # The default, which is the maximum for these classes, comes first; no value exceeds it.
    assert [width for width, *_ in candidates(spec, "lda")] == [5, 1, 2, 3, 4]


def test_without_tune_a_grid_is_a_sweep_of_its_item(right):
    spec = load_spec(right(("tune: {folds: 3, budget: 16}\n", "")))
    cells = [cell for cell in expand(spec) if cell.split.index == 0]
    assert len(cells) == (3 * 3 + 1) * 2
    assert list(spec.axes) == [
        "reducer.n_components", "reducer.beta", "classifier.n_neighbors",
    ]  # fmt: skip
    assert spec.plot.x == "reducer.n_components"
    assert [item.label for item in spec.reducers] == ["ccdr", "none"]


def test_a_grid_stands_instead_of_the_sweeps_values(right):
    spec = load_spec(
        right(
            ("tune: {folds: 3, budget: 16}", "sweep: {reducer.n_components: [1, 2, 3, 4]}"),
            ("  - none\n", "  - {name: lda, n_components: {grid: [1, 2]}}\n"),
        )
    )
    widths = {(c.reducer.name, c.reducer.params["n_components"]) for c in expand(spec)}
    assert widths == {*(("ccdr", w) for w in (1, 2, 3)), ("lda", 1), ("lda", 2)}
    again = with_sweep(spec, {"n_components": [2]})
    assert {c.reducer.params["n_components"] for c in expand(again)} == {2}


def test_tune_none_is_as_good_as_absent(right):
    off = load_spec(right(("tune: {folds: 3, budget: 16}", "tune: none")))
    assert off.tune is None


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("budget: 16", "budget: 0", "8:26: tune.budget: ... equal to 1 ... 0"),
        ("folds: 3", "folds: 1", "8:15: tune.folds: ... equal to 2 ... 1"),
        ("budget: 16", "search: gird", "8:26: tune.search: ... 'grid' or 'sobol'"),
        ("budget: 16", "bugdet: 16", "8:18: tune.bugdet: ... mean 'budget'"),
        ("{folds: 3, budget: 16}", "grid", "8:7: tune: ... mapping ... 'grid'"),
        ("budget: 16", "metric: acuracy", "8:26: tune.metric: ... 'acuracy' ... Use error"),
        ("grid: [1, 5]", "grid: []", "7:30: classifier.n_neighbors: ... no values"),
        (
            *("grid: [1, 2, 3]", "grid: 3"),
            "4:32: reducer.n_components: ... {log: [ ... not 3",
        ),
        ("grid: [1, 2, 3]", "grid: [1, 0, -1]", "4:32: reducer.n_components: ... equal to 1 ... 0"),
        ("beta: {log", "betta: {log", "4:51: reducer.betta: ... mean 'beta'"),
        (
            *("controls: []", "controls: []\nsweep: {reducer.beta: [1, 2]}"),
            "4:57: reducer.beta: ... tuning ... swept ... remove one",
        ),
        (
            *("  - none", "  - {name: ccdr, n_components: {grid: [1, 3]}, beta: 2.0}"),
            "5:5: reducers: ccdr ... twice ... (beta, n_components) ... list it once",
        ),
        (
            *(
                "classifiers:\n  - {name: knn, n_neighbors: {grid: [1, 5]}}",
                "measures: [same_class]",
            ),
            "7:7: tune: ... needs a classifier",
        ),
    ],
)
def test_one_mistake(right, old, new, told):
    with pytest.raises(DocumentError) as caught:
        load_spec(right((old, new)))
    (line,) = str(caught.value).split("\n  ")[1:]
    assert [part for part in f"x.yaml:{told}".split(" ... ") if part not in line] == []
    assert caught.value.exit_code == 2


def test_items_may_differ_in_what_is_not_tuned(right):
    item = "  - {name: ccdr, n_components: {grid: [1, 3]}, beta: {grid: [1, 2]}, weights: heat}"
    spec = load_spec(right(("  - none", item)))
    assert [each.label for each in spec.reducers] == ["ccdr (binary)", "ccdr (heat)"]


def test_a_metric_that_no_classifier_is_scored_by_is_refused_in_python():
    with pytest.raises(InputError, match="training_error"):
        make_spec(
            dataset="iris",
            reducers=["lda"],
            classifiers=["knn"],
            metrics=["training_error", "error"],
            tune={"metric": "training_error"},
        )


def test_a_class_of_one_training_point_is_refused_with_its_place(edit):
    text = """\
dataset: iris
split: {kind: per_class, train: 1}
reducers: [none]
classifiers: [linear]
tune: {folds: 2}
"""
    with pytest.raises(DocumentError) as caught:
        load_spec(edit(text=text))
    (line,) = str(caught.value).split("\n  ")[1:]
    assert line.startswith("x.yaml:5:15: tune.folds: ")
    assert "'setosa' has 1" in line
    assert "omit 'tune'" in line
