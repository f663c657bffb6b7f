"""Each mistake in a spec is reported with its position, its key and a sentence, all at once."""

from __future__ import annotations

import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.core.positions import DocumentError
from ddr_cli.spec import load_spec

CCDR = "{name: ccdr, n_components: 9, n_neighbors: 4, mode: transductive}"
SPLIT = "{kind: fraction, train: 0.5, repeats: 10, seed: 0}"
GRID = "{log: [0.01, 10, 7]}"


N = "n_components: 9"
SWEEP = f"reducer.beta: {GRID}"
BETA = "sweep.reducer.beta"


def _named(name, kind):
    return f"mean '{name}'", f"'ddr list {kind}'"


def _lines(path):
    with pytest.raises(DocumentError) as caught:
        load_spec(path)
    head, *lines = str(caught.value).split("\n  ")
    assert head.startswith(f"{len(lines)} problem")
    assert "x.yaml" in head
    assert caught.value.exit_code == 2
    return lines


# Each case: the text to replace, its replacement, the position, and words of the message.
@pytest.mark.parametrize(
    "mistake",
    [
        ("title:", "titel:", "1:1: titel", "mean 'title'"),
        ("title:", "colour:", "1:1: colour", "dataset, split, "),
        ("title:", "name:", "1:1: name", "dataset, split, "),
        ("CCDR on the digits", "3", "1:8: title", "text", "3"),
        ("dataset: digits\n", "", "1:1: dataset", "needs dataset"),
        ("dataset: digits", "dataset:", "2:9: dataset", "needs dataset"),
        ("dataset: digits", "dataset: digit", "2:10: dataset", *_named("digits", "datasets"), "./"),
        ("dataset: digits", "dataset: {name: digits, every: 8}", "2:25: dataset.every", "'every'"),
        ("dataset: digits", "dataset: [digits]", "2:10: dataset", "name", "path", "list"),
        (
            "dataset: digits",
            "dataset: cards/mine.yaml",
            "2:10: dataset",
            "cards/mine.yaml is not a file",
        ),
        (SPLIT, "fraction", "3:8: split", "mapping", "'fraction'"),
        ("kind: fraction, ", "", "3:8: split.kind", "needs kind"),
        ("kind: fraction", "kind: fracton", "3:15: split.kind", "mean 'fraction'", "'kfold'"),
        ("train: 0.5, ", "", "3:8: split.train", "needs 'train'", "between 0 and 1"),
        ("train: 0.5", "train: 5", "3:32: split.train", "between 0 and 1", "is 5"),
        ("train: 0.5", "train: half", "3:32: split.train", "number", "'half'"),
        ("kind: fraction", "kind: labelled", "3:32: split.train", "total number", "is 0.5"),
        (
            *("kind: fraction, train: 0.5", "kind: per_class"),
            *("3:8: split.train", "needs 'train'", "per class"),
        ),
        (
            *("kind: fraction, train: 0.5", "kind: resample"),
            *("3:15: split.kind", "no predefined split", "`kind: fraction`"),
        ),
        ("seed: 0", "predefined: true", "3:62: split.predefined", "kind: resample"),
        ("repeats: 10", "repeats: 0", "3:46: split.repeats", "equal to 1", "is 0"),
        ("repeats: 10", "repeats: '10'", "3:46: split.repeats", "whole number", "'10'"),
        ("repeats: 10", "repeats: 10.0", "3:46: split.repeats", "whole number", "10.0"),
        ("seed: 0", "seed: true", "3:56: split.seed", "whole number", "true"),
        ("seed: 0", "seed: -1", "3:56: split.seed", "equal to 0", "-1"),
        ("seed: 0", "sed: 0", "3:50: split.sed", "mean 'seed'"),
        ("seed: 0", "seed: 0, seed: 1", "3:59: split.seed", "twice", "line 3, column 50"),
        (
            *("preprocess: []", "preprocess: [standardise]", "4:14: preprocess"),
            *_named("standardize", "preprocessors"),
        ),
        ("preprocess: []", "preprocess: pca", "4:13: preprocess", "list", "'pca'"),
        (CCDR, "{n_components: 9}", "6:5: reducer.name", "needs name"),
        ("name: ccdr", "name: 3", "6:12: reducer.name", "text", "3"),
        ("name: ccdr", "name: cdr", "6:12: reducer.name", *_named("ccdr", "reducers")),
        ("- none", "- non", "7:5: reducers", *_named("none", "reducers")),
        ("- none", "- [none]", "7:5: reducers", "a mapping", "a list"),
        (N, f"{N}, beta: -1", "6:41: reducer.beta", "equal to 0", "-1"),
        (N, f"{N}, beta: x", "6:41: reducer.beta", "number", "'x'"),
        (N, f"{N}, beta: '0.5'", "6:41: reducer.beta", "number", "'0.5'"),
        (N, f"{N}, beta: true", "6:41: reducer.beta", "number", "true"),
        (N, f"{N}, beta:", "6:40: reducer.beta", "number", "empty"),
        (N, f"{N}, betta: 1", "6:35: reducer.betta", "mean 'beta'"),
        (N, "n_components: 9.0", "6:32: reducer.n_components", "whole number", "9.0"),
        (N, f"{N}, weights: het", "6:44: reducer.weights", "mean 'heat'", "'binary'"),
        (
            *("mode: transductive", "mode: transduction", "6:57: reducer.mode"),
            *("mean 'transductive'", "'out_of_sample'"),
        ),
        (
            *("- none", "- {name: none, mode: transductive}", "7:24: reducer.mode"),
            "use mode: out_of_sample",
        ),
        ("- none", "- {name: none, label: 3}", "7:25: reducer.label", "text", "3"),
        ("n_neighbors: 4", "n_neighbors: 1797", "6:48: reducer.n_neighbors", "among 1797 samples"),
        ("n_neighbors: 3", "n_neighbors: 900", "9:30: classifier.n_neighbors", "among 899 samples"),
        ("name: knn", "name: kn", "9:12: classifier.name", *_named("knn", "classifiers")),
        (
            *("- linear", "- {name: linear, mode: transductive}", "10:20: classifier.mode"),
            "fit_intercept, alpha, label",
        ),
        ("- linear", "- linear\n  - linear", "11:5: classifiers", "linear", "twice", "remove one"),
        (
            "- linear",
            "- {name: linear, label: knn}",
            "10:27: classifier.label",
            "'knn'",
            "not unique",
        ),
        (GRID, "[0.1, -1, 1]", f"12:23: {BETA}", "equal to 0", "-1"),
        (GRID, "{linear: [-1, 1, 100]}", f"12:17: {BETA}", "equal to 0", "-1.0"),
        (GRID, "{log: [0, 1, 5]}", f"12:17: {BETA}", "above 0"),
        (GRID, "{lag: [1, 2, 5]}", f"12:17: {BETA}", "mean 'log'", "log, linear or range"),
        (GRID, "0.5", f"12:17: {BETA}", "list", "{log: [", "not 0.5"),
        (SWEEP, "reducer.betta: [1]", "12:3: sweep.reducer.betta", "mean 'beta'"),
        (SWEEP, "beta: [1]", "12:3: sweep.beta", "mean 'reducer.beta'"),
        (SWEEP, "split.seed: [1]", "12:3: sweep.split.seed", "split.train", "classifier.<"),
        (
            *(SWEEP, "reducer.beta: [1, 2]\n  reducer.mode: [transductive, both]"),
            *("13:32: sweep.reducer.mode", "'out_of_sample'", "'both'"),
        ),
        (
            *(SWEEP, "reducer.beta: [1, 2]\n  classifier.n_neighbors: [1, 900]"),
            *("13:27: sweep.classifier.n_neighbors", "900", "among 899 samples"),
        ),
        ("repeats: 10, seed: 0", "repeats: 100000", "12:3: sweep", "1600000", "300000"),
        ("metrics: [error]", "metrics: [error, acuracy]", "13:18: metrics", "mean 'accuracy'"),
        ("metrics: [error]", "metrics: [error, error]", "13:18: metrics", "'error'", "twice"),
        ("metrics: [error]", "metrics: error", "13:10: metrics", "list", "'error'"),
        ("x: reducer.beta", "x: reducer.n_components", "14:11: plot.x", "Use reducer.beta"),
        ("interval: 0.80", "interval: 80", "14:35: plot.interval", "less than 1", "80"),
        ("interval: 0.80", "y: accuracy", "14:28: plot.y", "'accuracy'", "Use error"),
        ("interval: 0.80", "colour: red", "14:25: plot.colour", "x, y, interval, log"),
        (
            *("metrics: [error]", "paper: {name: ccdr, artefact: fig22}"),
            *("13:31: paper.artefact", "mean 'fig2'"),
        ),
        ("metrics: [error]", "paper: {name: ccdr}", "13:8: paper.artefact", "needs artefact"),
    ],
)
def test_one_mistake(edit, mistake):
    old, new, place, *told = mistake
    (line,) = _lines(edit((old, new)))
    assert line.startswith(f"x.yaml:{place}: ")
    said = line.removeprefix(f"x.yaml:{place}: ")
    assert [words for words in told if words not in said] == []


def test_all_mistakes_at_once_sorted_by_position(edit):
    path = edit(
        ("title:", "titel:"),
        ("dataset: digits", "dataset: digit"),
        ("repeats: 10", "repeats: x, repeats: 3"),
        ("n_components: 9", "n_components: 0, betta: 1"),
        ("mode: transductive", "mode: out"),
        ("name: knn", "name: kn"),
        ("0.80", "1"),
    )
    assert [line.split(": ")[:2] for line in _lines(path)] == [
        ["x.yaml:1:1", "titel"],
        ["x.yaml:2:10", "dataset"],
        ["x.yaml:3:46", "split.repeats"],
        ["x.yaml:3:49", "split.repeats"],
        ["x.yaml:6:32", "reducer.n_components"],
        ["x.yaml:6:35", "reducer.betta"],
        ["x.yaml:6:67", "reducer.mode"],
        ["x.yaml:9:12", "classifier.name"],
        ["x.yaml:14:35", "plot.interval"],
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is empty"),
        ("# only a comment\n", "is empty"),
        ("- a\n- b\n", "holds a list"),
        ("ccdr\n", "holds 'ccdr'"),
        ("3\n", "holds 3"),
    ],
)
def test_a_file_that_is_no_mapping(edit, text, what):
    with pytest.raises(InputError, match=f"dataset, split, reducers, classifiers.*{what}"):
        load_spec(edit(text=text))


def test_every_missing_part_is_named(edit):
    lines = sorted(_lines(edit(text="title: x\n")))
    keys = ["classifiers", "dataset", "reducers", "split"]
    assert [line.split(": ")[:2] for line in lines] == [["x.yaml:1:1", key] for key in keys]
    assert "classifier or measure" in lines[0]


def test_the_predefined_split_is_a_single_one(edit):
    change = ("dataset: digits", "dataset: landsat")
    path = edit(change, (SPLIT, "{kind: predefined, repeats: 5}"))
    (line,) = _lines(path)
    assert line.startswith("x.yaml:3:36: split.repeats: ")
    assert "'repeats' must be 1" in line
    for split in ("{kind: predefined}", "{kind: predefined, repeats: 1}"):
        assert load_spec(edit(change, (SPLIT, split))).split.repeats == 1


def test_more_points_than_a_class_has(edit):
    (line,) = _lines(edit(("kind: fraction, train: 0.5", "kind: per_class, train: 174")))
    assert line.startswith("x.yaml:3:33: split.train: ")
    assert "174" in line


def test_a_card_that_is_wrong_is_reported_where_it_is_named(edit):
    edit(text="name: mine\n", name="mine.yaml")
    lines = _lines(edit(("dataset: digits", "dataset: ./mine.yaml")))
    assert lines[0].startswith("x.yaml:2:10: dataset: ")
    assert "mine.yaml:" in lines[0].removeprefix("x.yaml")


class _Transductive:
    """A reducer whose abilities depend on a parameter."""

    def __init__(self, exact: bool = True) -> None:
        self.exact = exact

    def __ddr_traits__(self) -> object:
        from ddr_cli.reducers.registry import Traits

        return Traits(transductive=self.exact, out_of_sample=not self.exact)


def test_a_mode_must_be_possible_at_every_point_of_the_sweep(edit, offer):
    offer("REDUCERS", odd=_Transductive)
    path = edit(
        (CCDR, "{name: odd, exact: true}"),
        (f"reducer.beta: {GRID}", "reducer.exact: [true, false]"),
        ("x: reducer.beta, ", ""),
    )
    (line,) = _lines(path)
    assert line.startswith("x.yaml:6:5: reducer.mode: odd ")
    assert "use mode: out_of_sample" in line


class _Picky:
    """A third party's estimator without annotations, which checks in its constructor."""

    def __init__(self, size, power=1.0):
        if size == 13:
            raise RuntimeError("no 13")
        self.size = size
        self.power = power


@pytest.mark.parametrize(
    ("item", "line"),
    [
        ("picky", "10:5: classifiers: picky needs size"),
        ("{name: picky, sice: 3, size: 2}", "10:19: classifier.sice: picky has no 'sice'"),
        ("{name: picky, size: 13}", "10:5: classifiers: _Picky can't be "),
    ],
)
def test_third_party_estimators_are_checked_by_what_they_say(edit, offer, item, line):
    offer("CLASSIFIERS", picky=_Picky)
    (found,) = _lines(edit(("- linear", f"- {item}")))
    assert found.startswith(f"x.yaml:{line}")
