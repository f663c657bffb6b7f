"""A valid spec becomes complete and canonical, and its resolved form gives the same spec again."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ddr_cli.core.errors import InputError
from ddr_cli.core.positions import DocumentError
from ddr_cli.core.registry import shipped_yaml
from ddr_cli.spec import Spec, expand, load_spec, make_spec

CCDR = "{name: ccdr, n_components: 9, n_neighbors: 4, mode: transductive}"


def test_the_spec_holds_what_the_file_says(edit):
    spec = load_spec(edit())
    assert (spec.name, spec.title, spec.description) == ("x", "CCDR on the digits", "")
    assert spec.dataset.name == "digits"
    split = spec.split
    assert (split.kind, split.train, split.repeats, split.seed) == ("fraction", 0.5, 10, 0)
    ccdr, none = spec.reducers
    assert (ccdr.name, ccdr.mode, ccdr.label) == ("ccdr", "transductive", "ccdr")
    assert (ccdr.params["n_components"], ccdr.params["n_neighbors"]) == (9, 4)
    assert (none.name, none.mode, none.params) == ("none", "out_of_sample", {})
    assert [item.name for item in spec.classifiers] == ["knn", "linear"]
    assert spec.sweep["reducer.beta"][::3] == (0.01, 0.316227766017, 10.0)
    assert spec.metrics == ("error",)
    assert (spec.plot.x, spec.plot.y, spec.plot.interval) == ("reducer.beta", "error", 0.8)


def test_all_parameters_are_there_with_their_defaults(edit):
    params = load_spec(edit()).reducers[0].params
    assert {"beta": 0.5, "weights": "binary", "epsilon": "mean"}.items() <= params.items()


def test_a_parameter_has_one_form_however_it_is_written(edit):
    texts = [
        json.dumps(load_spec(edit((CCDR, f"{{name: ccdr, beta: {beta}}}"))).resolved())
        for beta in ("1", "1.0", "1e0")
    ]
    assert '"beta": 1.0' in texts[0]
    assert len(set(texts)) == 1


def test_only_the_required_keys_are_needed(edit):
    spec = load_spec(
        edit(
            text="dataset: iris\nsplit: {kind: labelled, train: 30}\nreducers: [none]\n"
            "classifiers: [knn]\npreprocess:\nsweep:\nplot:\n"
        )
    )
    assert (spec.title, spec.paper, spec.preprocess, spec.sweep) == ("x", None, (), {})
    assert (spec.split.repeats, spec.split.seed, spec.split.predefined) == (10, 0, False)
    assert spec.metrics == ("error",)
    assert (spec.plot.x, spec.plot.y, spec.plot.interval, spec.plot.log) == (
        *("reducer", "error", 0.8),
        False,
    )


def test_the_figure_follows_the_sweep_unless_told(edit):
    plot = "plot: {x: reducer.beta, interval: 0.80}\n"
    assert load_spec(edit((plot, ""))).plot.model_dump() == {
        "x": "reducer.beta",
        "y": "error",
        "interval": 0.8,
        "log": True,
    }
    linear = load_spec(edit((plot, ""), ("{log: [0.01, 10, 7]}", "{range: [0, 5, 1]}")))
    assert linear.plot.log is False
    assert load_spec(edit(("0.80", "0.80, log: false"))).plot.log is False


def test_mode_defaults_to_what_the_reducer_can(edit, offer):
    class OnlyTransductive:
        def __ddr_traits__(self) -> object:
            from ddr_cli.reducers.registry import Traits

            return Traits(transductive=True, out_of_sample=False)

    offer("REDUCERS", only=OnlyTransductive)
    spec = load_spec(edit((CCDR, "{name: ccdr}"), ("- none", "- only")))
    assert [item.mode for item in spec.reducers] == ["out_of_sample", "transductive"]


@pytest.mark.parametrize(
    ("items", "labels"),
    [
        (["none", "{name: ccdr}"], ["none", "ccdr"]),
        (["{name: ccdr, weights: heat}", "{name: ccdr}"], ["ccdr (heat)", "ccdr (binary)"]),
        (
            ["{name: ccdr, n_components: 3}", "{name: ccdr, mode: transductive}", "none"],
            ["ccdr (n_components=3, out_of_sample)", "ccdr (n_components=2, transductive)", "none"],
        ),
        (["{name: ccdr, label: ours}", "{name: ccdr, weights: heat}"], ["ours", "ccdr (heat)"]),
        (
            ["{name: ccdr, beta: 1, weights: heat}", "{name: ccdr, beta: 2}"],
            ["ccdr (heat)", "ccdr (binary)"],
        ),
        (["{name: ccdr, beta: 1}", "{name: ccdr, beta: 2}"], ["ccdr", "ccdr #2"]),
    ],
)
def test_labels_are_unique_and_tell_items_apart(edit, items, labels):
    listed = "\n  - ".join(items)
    # The spec sweeps beta, so labels do not mention beta.
    spec = load_spec(edit((f"{CCDR}\n  - none", listed)))
    assert [item.label for item in spec.reducers] == labels


def test_a_card_path_is_relative_to_the_spec(edit, folder, monkeypatch):
    digits = shipped_yaml("datasets")["digits"].read_text(encoding="utf-8")
    (folder / "cards").mkdir()
    (folder / "cards" / "digits.yaml").write_text(digits, encoding="utf-8")
    path = folder / edit(("dataset: digits", "dataset: cards/digits.yaml"))
    monkeypatch.chdir(folder.parent)
    spec = load_spec(path)
    assert spec.dataset.name == "cards/digits.yaml"
    assert spec.card == folder / "cards" / "digits.yaml"
    assert str(folder) not in json.dumps(spec.resolved())


def test_every_shipped_spec_is_right():
    names = list(shipped_yaml("configs"))
    assert "digits_ccdr_beta" in names
    for name in names:
        spec = load_spec(name)
        assert spec.name == name
        assert len(expand(spec)) > 0
        again = Spec.from_resolved(spec.resolved())
        assert again == spec.model_copy(update={"path": None})


def test_resolved_is_plain_json_and_stays_as_it_is(edit):
    spec = load_spec(edit())
    resolved = json.loads(json.dumps(spec.resolved(), allow_nan=False))
    assert resolved == spec.resolved()
    assert Spec.from_resolved(resolved) == spec.model_copy(update={"path": None})
    assert expand(Spec.from_resolved(resolved)) == expand(spec)


_REDUCERS = st.one_of(
    st.just("none"),
    st.fixed_dictionaries(
        {"name": st.just("ccdr")},
        optional={
            "beta": st.floats(0, 1e9) | st.integers(0, 10),
            "n_components": st.integers(1, 50),
            "n_neighbors": st.integers(1, 8),
            "weights": st.sampled_from(["binary", "heat"]),
            "mode": st.sampled_from(["transductive", "out_of_sample"]),
            "label": st.text(st.characters(categories=["L"]), min_size=1),
        },
    ),
)
_TRAIN = {
    "per_class": st.integers(5, 49),
    "fraction": st.floats(0.1, 0.9),
    "labelled": st.integers(30, 100),
}
_SPLITS = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.just(kind), "train": train},
        optional={"repeats": st.integers(1, 9), "seed": st.integers(0, 2**40)},
    )
    for kind, train in _TRAIN.items()
)
_GRIDS = st.one_of(
    st.lists(st.floats(0, 100), min_size=1, max_size=5),
    st.builds(lambda n: {"log": [0.01, 10, n]}, st.integers(2, 9)),
)


@settings(deadline=None, max_examples=60)
@given(
    reducers=st.lists(_REDUCERS, min_size=1, max_size=3, unique_by=repr),
    split=_SPLITS,
    grid=_GRIDS,
    metrics=st.permutations(["error", "accuracy"]),
    title=st.text(st.characters(categories=["L", "N", "P", "Z"])),
)
def test_specs_survive_the_round_trip(reducers, split, grid, metrics, title):
    sweep = {"reducer.beta": grid} if any(item != "none" for item in reducers) else {}
    try:
        spec = make_spec(
            dataset="iris",
            reducers=reducers,
            classifiers=[{"name": "knn", "n_neighbors": 2}, {"name": "knn", "n_neighbors": 1}],
            split=split,
            sweep=sweep,
            metrics=metrics,
            title=title,
        )
    except DocumentError as error:
        # Different items can be equal after their defaults are filled in, share a label, or need
        # more dimensions than a small training set allows.
        refused = ("twice", "supports at most")
        assume(not all(any(s in p.message for s in refused) for p in error.problems))
        raise
    again = Spec.from_resolved(json.loads(json.dumps(spec.resolved())))
    assert again == spec
    assert again.resolved() == spec.resolved()
    assert expand(again) == expand(spec)
    assert len({item.label for item in spec.reducers}) == len(spec.reducers)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": []}, "metrics"),
        ({"unknown": 1}, "unknown"),
        ({"split": {"kind": "resample", "repeats": "3"}}, "split.repeats"),
        ({"title": ["a list"]}, "title"),
    ],
)
def test_a_wrong_resolved_spec_is_refused(edit, change, message):
    with pytest.raises(InputError, match=rf"not a resolved spec \({message}"):
        Spec.from_resolved({**load_spec(edit()).resolved(), **change})


def test_a_declared_grid_is_tuned_up_to_the_available_dimensions(edit):
    text = "dataset: iris\nsplit: {kind: kfold, folds: 3}\nreducers: [lda]\n"
    spec = load_spec(edit(text=text + "classifiers: [linear]\ntune: {budget: 4}\n"))
    tuned = next(cell for cell in expand(spec) if cell.tuning and cell.reducer.name == "lda")
    assert tuned.tuning is not None
    widths = {reducer.params["n_components"] for reducer, _ in tuned.tuning.candidates}
    assert widths <= {1, 2}
