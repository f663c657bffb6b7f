"""A spec's trials: each combination once, in an order that does not depend on the machine."""

import pytest

from ddr_cli.spec import expand, load_spec

CCDR = "{name: ccdr, n_components: 9, n_neighbors: 4, mode: transductive}"
GRID = "reducer.beta: {log: [0.01, 10, 7]}"


def test_trials_come_by_split_then_reducer_then_classifier(edit):
    cells = expand(load_spec(edit((GRID, "reducer.beta: [1, 0.5]"), ("repeats: 10", "repeats: 2"))))
    seen = [
        (cell.split.name, cell.reducer.name, cell.reducer.params.get("beta"), cell.evaluator.name)
        for cell in cells
    ]
    settings = [("ccdr", 1.0), ("ccdr", 0.5), ("none", None)]
    assert seen == [
        (split, *setting, classifier)
        for split in ("fraction-0", "fraction-1")
        for setting in settings
        for classifier in ("knn", "linear")
    ]


def test_a_reducer_without_the_swept_parameter_is_not_multiplied(edit):
    cells = expand(load_spec(edit()))
    assert len(cells) == 10 * (7 + 1) * 2
    assert len({cell.reducer.label for cell in cells}) == 2


def test_the_last_named_parameter_varies_fastest(edit):
    sweep = "reducer.n_components: [2, 3]\n  reducer.beta: [1, 2]"
    cells = expand(load_spec(edit((GRID, sweep), (f"{CCDR}\n  - none", CCDR))))
    params = [(c.reducer.params["n_components"], c.reducer.params["beta"]) for c in cells[:8:2]]
    assert params == [(2, 1.0), (2, 2.0), (3, 1.0), (3, 2.0)]


def test_reducers_and_classifiers_are_swept_on_their_own(edit):
    sweep = f"{GRID}\n  classifier.n_neighbors: [1, 3, 5]"
    cells = expand(load_spec(edit((GRID, sweep))))
    assert len(cells) == 10 * (7 + 1) * (3 + 1)


def test_settings_carry_all_parameters_mode_and_version(edit):
    cell = expand(load_spec(edit()))[0]
    assert cell.reducer.mode == "transductive"
    assert {
        "beta": 0.01,
        "n_components": 9,
        "weights": "binary",
    }.items() <= cell.reducer.params.items()
    assert cell.evaluator.mode is None
    assert cell.reducer.version >= 1
    assert cell.evaluator.version >= 1


@pytest.mark.parametrize(
    ("split", "names"),
    [
        ("{kind: predefined}", ["predefined"]),
        ("{kind: resample, repeats: 2}", ["resample-0", "resample-1"]),
        (
            "{kind: resample, repeats: 2, predefined: true}",
            ["predefined", "resample-0", "resample-1"],
        ),
        ("{kind: per_class, train: 5, repeats: 1}", ["per_class-0"]),
        ("{kind: labelled, train: 60, repeats: 1}", ["labelled-0"]),
    ],
)
def test_splits_and_their_names(edit, split, names):
    path = edit(
        ("{kind: fraction, train: 0.5, repeats: 10, seed: 0}", split),
        ("dataset: digits", "dataset: landsat"),
    )
    cells = expand(load_spec(path))
    assert list(dict.fromkeys(cell.split.name for cell in cells)) == names
    kinds = {cell.split.name: (cell.split.kind, cell.split.index) for cell in cells}
    assert all(
        name == (kind if kind == "predefined" else f"{kind}-{index}")
        for name, (kind, index) in kinds.items()
    )


def test_items_that_differ_in_a_swept_parameter_alone_are_one(edit):
    path = edit((CCDR, "{name: ccdr, beta: 1}\n  - {name: ccdr, beta: 2}"))
    cells = expand(load_spec(path))
    assert len(cells) == 10 * (7 + 1) * 2
    assert {cell.reducer.label for cell in cells} == {"ccdr", "none"}


def test_repeated_values_of_a_sweep_are_run_once(edit):
    assert len(expand(load_spec(edit((GRID, "reducer.beta: [1, 1.0, 1e0]"))))) == 10 * (1 + 1) * 2


def test_the_mode_can_be_swept_where_a_reducer_has_both(edit):
    sweep = "reducer.mode: [transductive, out_of_sample]"
    cells = expand(load_spec(edit((GRID, sweep), ("x: reducer.beta", "x: reducer.mode"))))
    modes = [(cell.reducer.name, cell.reducer.mode) for cell in cells[:6:2]]
    assert modes == [("ccdr", "transductive"), ("ccdr", "out_of_sample"), ("none", "out_of_sample")]


def test_dimensions_stay_whole_numbers(edit):
    for rule in ("{linear: [1, 9, 5]}", "{range: [1, 9, 2]}", "[1, 3, 5, 7, 9]"):
        path = edit((GRID, f"reducer.n_components: {rule}"), ("x: reducer.beta, ", ""))
        spec = load_spec(path)
        assert spec.sweep["reducer.n_components"] == (1, 3, 5, 7, 9)
        assert all(type(v) is int for v in spec.sweep["reducer.n_components"])
