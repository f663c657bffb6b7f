"""``--set name=value``: what it changes, and its error messages."""

import pytest

from ddr_cli.core.positions import DocumentError
from ddr_cli.spec import load_spec


def _param(spec, name):
    return [item.params.get(name) for item in spec.reducers]


def test_a_parameter_is_set_in_every_item_that_has_it(edit):
    path = edit(("- none", "- {name: ccdr, weights: heat}\n  - none"))
    spec = load_spec(path, overrides=["reducer.n_components=10", "classifier.n_neighbors=1"])
    assert _param(spec, "n_components") == [10, 10, None]
    assert spec.classifiers[0].params["n_neighbors"] == 1
    assert "reducer.beta" in spec.sweep


def test_an_item_that_is_just_a_name_takes_a_parameter(edit):
    spec = load_spec(edit(), overrides=["classifier.alpha=1"])
    assert [item.params.get("alpha") for item in spec.classifiers] == [None, 1.0]


def test_a_swept_parameter_that_is_set_is_swept_no_more(edit):
    spec = load_spec(edit(), overrides=["reducer.beta=1e-1"])
    assert spec.sweep == {}
    assert _param(spec, "beta") == [0.1, None]
    assert (spec.plot.x, spec.plot.log, spec.plot.interval) == ("reducer", False, 0.8)


def test_the_figure_moves_to_the_sweep_that_is_left(edit):
    path = edit(("reducer.beta: {log", "reducer.n_components: [2, 5]\n  reducer.beta: {log"))
    assert load_spec(path).plot.x == "reducer.beta"
    assert load_spec(path, overrides=["reducer.beta=1"]).plot.x == "reducer.n_components"


@pytest.mark.parametrize(
    ("override", "read", "value"),
    [
        ("sweep.reducer.beta=[0.1, 1]", lambda s: s.sweep, {"reducer.beta": (0.1, 1.0)}),
        ("sweep.reducer.beta={log: [1, 100, 3]}", lambda s: s.sweep["reducer.beta"], (1, 10, 100)),
        (
            "sweep.reducer.n_components={range: [1, 3, 1]}",
            lambda s: s.sweep["reducer.n_components"],
            (1, 2, 3),
        ),
        ("sweep=", lambda s: s.sweep, {}),
        ("sweep={reducer.n_neighbors: [2, 3]}", lambda s: s.plot.x, "reducer.n_neighbors"),
        ("dataset=iris", lambda s: s.dataset.name, "iris"),
        ("split.repeats=3", lambda s: s.split.repeats, 3),
        ("split.train=0.9", lambda s: s.split.train, 0.9),
        ("split={kind: per_class, train: 20}", lambda s: s.split.kind, "per_class"),
        ("title=CCDR: a study of [x]", lambda s: s.title, "CCDR: a study of [x]"),
        ("title=12", lambda s: s.title, "12"),
        ("plot.interval=0.95", lambda s: s.plot.interval, 0.95),
        ("metrics=[accuracy]", lambda s: s.plot.y, "accuracy"),
        ("preprocess=[standardize]", lambda s: s.preprocess[0].name, "standardize"),
        ("reducer.mode=out_of_sample", lambda s: s.reducers[0].mode, "out_of_sample"),
        ("reducer.mode=transductive", lambda s: s.reducers[1].mode, "out_of_sample"),
        (" split.seed = 7", lambda s: s.split.seed, 7),
    ],
)
def test_an_override_sets_a_value(edit, override, read, value):
    assert read(load_spec(edit(), overrides=[override])) == value


def test_a_preprocessing_step_takes_a_parameter(edit):
    path = edit(("preprocess: []", "preprocess: [standardize, pca]"))
    spec = load_spec(path, overrides=["preprocess.n_components=5"])
    assert spec.preprocess[1].params["n_components"] == 5


def test_the_last_of_two_overrides_counts(edit):
    path = edit()
    spec = load_spec(path, overrides=["reducer.beta=1", "sweep.reducer.beta=[2, 3]"])
    assert spec.sweep == {"reducer.beta": (2.0, 3.0)}
    spec = load_spec(path, overrides=["sweep.reducer.beta=[2, 3]", "reducer.beta=1"])
    assert spec.sweep == {}


def test_an_override_repairs_a_mistake_of_the_file(edit):
    path = edit(("n_components: 9", "n_components: x"))
    spec = load_spec(path, overrides=["reducer.n_components=3"])
    assert _param(spec, "n_components") == [3, None]


def test_repeats_stand_for_split_repeats(edit):
    assert load_spec(edit(), repeats=3).split.repeats == 3
    assert load_spec(edit(), overrides=["split.repeats=5"], repeats=3).split.repeats == 3


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("reducer.beta=x", "reducer.beta: ... number ... 'x'"),
        ("reducer.beta=-1", "reducer.beta: ... equal to 0 ... -1"),
        ("reducer.beta=", "reducer.beta: ... number ... empty"),
        ("reducer.betta=1", "reducer.betta: ... mean 'beta'"),
        ("classifier.k=1", "classifier.k: ... n_neighbors, ties, fit_intercept, alpha"),
        ("preprocess.n_components=1", "preprocess.n_components: ... none"),
        ("beta=1", "beta: ... mean 'reducer.beta'"),
        ("tilte=x", "tilte: ... mean 'title'"),
        ("qqqq=x", "qqqq: ... reducer.beta"),
        ("reducer.beta", "name=value ... reducer.beta=0.1"),
        ("=1", "name=value ... reducer.beta=0.1"),
        ("split.repeats=many", "split.repeats: ... whole number ... 'many'"),
        ("split.sed=1", "split.sed: ... mean 'seed'"),
        ("sweep.reducer.beta=[1, -1]", "sweep.reducer.beta: ... equal to 0 ... -1"),
        ("reducer.n_components=[1", "reducer.n_components: ... YAML ... ',' or ']'"),
        ("split={seed: 1, seed: 2}", "split: ... 'seed' ... twice ... column 2"),
        ("reducer.mode=both", "reducer.mode: ... 'transductive' ... 'out_of_sample' ... 'both'"),
        ("dataset.every=8", "dataset.every: ... 'digits' ... 'every'"),
    ],
)
def test_a_wrong_override_names_itself(edit, override, told):
    with pytest.raises(DocumentError) as caught:
        load_spec(edit(), overrides=[override])
    (line,) = str(caught.value).splitlines()[1:]
    assert line.startswith(f"  --set {override}: ")
    said = line.removeprefix(f"  --set {override}: ")
    assert [part for part in told.split(" ... ") if part not in said] == []


def test_problems_of_options_come_after_those_of_the_file(edit):
    path = edit(("name: knn", "name: kn"))
    with pytest.raises(DocumentError) as caught:
        load_spec(path, overrides=["reducer.n_components=x", "split.seed=y"], repeats=0)
    places = [problem.place.text for problem in caught.value.problems]
    assert places == [
        "x.yaml:9:12",
        "--set reducer.n_components=x",
        "--set split.seed=y",
        "--repeats 0",
    ]


def test_a_long_or_unprintable_override_is_shown_short(edit):
    with pytest.raises(DocumentError) as caught:
        load_spec(edit(), overrides=["reducer.beta=" + "x" * 500, "split.seed=\udcff"])
    assert max(map(len, str(caught.value).splitlines())) < 300
    str(caught.value).encode()
