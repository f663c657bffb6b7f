"""Every mistake in a spec has its place, the key and a sentence; all are reported at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.core.positions import DocumentError
from ddr_cli.spec import load_spec

CCDR = "{name: ccdr, n_components: 9, n_neighbors: 4, mode: transductive}"
SPLIT = "{kind: fraction, train: 0.5, repeats: 10, seed: 0}"
GRID = "{log: [0.01, 10, 7]}"
KEYS = (
    "title, description, paper, dataset, split, preprocess, controls, reducers, classifiers, "
    "measures, sweep, labels, metrics, tune, plot, embeddings"
)


def _lines(path: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        load_spec(path)
    head, *lines = str(caught.value).split("\n  ")
    n = len(lines)
    assert head == f"{n} problem{'' if n == 1 else 's'} in x.yaml:"
    assert caught.value.exit_code == 2
    return lines


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("title:", "titel:", "1:1: titel: a spec has no 'titel'. Did you mean 'title'?"),
        ("title:", "colour:", f"1:1: colour: a spec has no 'colour'; it takes {KEYS}."),
        ("title:", "name:", f"1:1: name: a spec has no 'name'; it takes {KEYS}."),
        ("CCDR on the digits", "3", "1:8: title: title must be text, but is 3."),
        ("dataset: digits\n", "", "1:1: dataset: a spec needs dataset."),
        ("dataset: digits", "dataset:", "2:9: dataset: a spec needs dataset."),
        (
            "dataset: digits",
            "dataset: digit",
            "2:10: dataset: there is no data set called 'digit'. Did you mean 'digits'? "
            "'ddr list datasets' shows all; name a card of your own by its path, ./NAME.yaml.",
        ),
        (
            "dataset: digits",
            "dataset: {name: digits, every: 8}",
            "2:25: dataset.every: the data set 'digits' has no option 'every'. It has none.",
        ),
        (
            "dataset: digits",
            "dataset: [digits]",
            "2:10: dataset: a data set is a name, the path of a card or a mapping with a name, "
            "but this is a list.",
        ),
        (
            "dataset: digits",
            "dataset: cards/mine.yaml",
            "2:10: dataset: there is no card at cards/mine.yaml.",
        ),
        (SPLIT, "fraction", "3:8: split: split must be a mapping, but is 'fraction'."),
        ("kind: fraction, ", "", "3:8: split.kind: split needs kind."),
        (
            "kind: fraction",
            "kind: fracton",
            "3:15: split.kind: kind must be 'predefined', 'resample', 'per_class', 'fraction', "
            "'labelled', 'kfold', 'grouped', 'given' or 'whole', but is 'fracton'. Did you mean "
            "'fraction'?",
        ),
        (
            "train: 0.5, ",
            "",
            "3:8: split.train: the split kind 'fraction' needs 'train', the share of the "
            "training points, between 0 and 1.",
        ),
        (
            "train: 0.5",
            "train: 5",
            "3:32: split.train: the split kind 'fraction' needs 'train', the share of the "
            "training points, between 0 and 1, but train is 5.",
        ),
        (
            "train: 0.5",
            "train: half",
            "3:32: split.train: train must be a number, but is 'half'.",
        ),
        (
            "kind: fraction",
            "kind: labelled",
            "3:32: split.train: the split kind 'labelled' needs 'train', the number of training "
            "points of all points, a whole number of 1 or more, but train is 0.5.",
        ),
        (
            "kind: fraction, train: 0.5",
            "kind: per_class",
            "3:8: split.train: the split kind 'per_class' needs 'train', the number of training "
            "points of each class, a whole number of 1 or more.",
        ),
        (
            "kind: fraction, train: 0.5",
            "kind: resample",
            "3:15: split.kind: digits has no predefined split, which the kind resample needs; "
            "use fraction, per_class or labelled.",
        ),
        (
            "seed: 0",
            "predefined: true",
            "3:62: split.predefined: predefined: true goes with kind: resample, but the kind is "
            "fraction.",
        ),
        (
            "repeats: 10",
            "repeats: 0",
            "3:46: split.repeats: repeats must be greater than or equal to 1, but is 0.",
        ),
        (
            "repeats: 10",
            "repeats: '10'",
            "3:46: split.repeats: repeats must be a whole number, but is '10'.",
        ),
        (
            "repeats: 10",
            "repeats: 10.0",
            "3:46: split.repeats: repeats must be a whole number, but is 10.0.",
        ),
        ("seed: 0", "seed: true", "3:56: split.seed: seed must be a whole number, but is true."),
        (
            "seed: 0",
            "seed: -1",
            "3:56: split.seed: seed must be greater than or equal to 0, but is -1.",
        ),
        ("seed: 0", "sed: 0", "3:50: split.sed: split has no 'sed'. Did you mean 'seed'?"),
        (
            "seed: 0",
            "seed: 0, seed: 1",
            "3:59: split.seed: the key 'seed' is given twice; the first is at line 3, column 50.",
        ),
        (
            "preprocess: []",
            "preprocess: [standardise]",
            "4:14: preprocess: there is no preprocessor called 'standardise'. Did you mean "
            "'standardize'? 'ddr list preprocessors' shows all.",
        ),
        (
            "preprocess: []",
            "preprocess: pca",
            "4:13: preprocess: preprocess must be a list, but is 'pca'.",
        ),
        (
            CCDR,
            "{n_components: 9}",
            "6:5: reducer.name: an item of reducers needs name.",
        ),
        (
            "name: ccdr",
            "name: 3",
            "6:12: reducer.name: name must be text, but is 3.",
        ),
        (
            "name: ccdr",
            "name: cdr",
            "6:12: reducer.name: there is no reducer called 'cdr'. Did you mean 'ccdr'? "
            "'ddr list reducers' shows all.",
        ),
        (
            "- none",
            "- non",
            "7:5: reducers: there is no reducer called 'non'. Did you mean 'none'? "
            "'ddr list reducers' shows all.",
        ),
        (
            "- none",
            "- [none]",
            "7:5: reducers: a reducer is a name or a mapping with a name, but this is a list.",
        ),
        (
            "n_components: 9",
            "n_components: 9, beta: -1",
            "6:41: reducer.beta: beta must be greater than or equal to 0, but is -1.",
        ),
        (
            "n_components: 9",
            "n_components: 9, beta: x",
            "6:41: reducer.beta: beta must be a number, but is 'x'.",
        ),
        (
            "n_components: 9",
            "n_components: 9, beta: '0.5'",
            "6:41: reducer.beta: beta must be a number, but is '0.5'.",
        ),
        (
            "n_components: 9",
            "n_components: 9, beta: true",
            "6:41: reducer.beta: beta must be a number, but is true.",
        ),
        (
            "n_components: 9",
            "n_components: 9, beta:",
            "6:40: reducer.beta: beta must be a number, but is empty.",
        ),
        (
            "n_components: 9",
            "n_components: 9, betta: 1",
            "6:35: reducer.betta: ccdr has no 'betta'. Did you mean 'beta'?",
        ),
        (
            "n_components: 9",
            "n_components: 9.0",
            "6:32: reducer.n_components: n_components must be a whole number, but is 9.0.",
        ),
        (
            "n_components: 9",
            "n_components: 9, weights: het",
            "6:44: reducer.weights: weights must be 'binary' or 'heat', but is 'het'. "
            "Did you mean 'heat'?",
        ),
        (
            "mode: transductive",
            "mode: transduction",
            "6:57: reducer.mode: mode must be 'transductive' or 'out_of_sample', but is "
            "'transduction'. Did you mean 'transductive'?",
        ),
        (
            "- none",
            "- {name: none, mode: transductive}",
            "7:24: reducer.mode: none can't be used with mode: transductive; "
            "use mode: out_of_sample.",
        ),
        (
            "- none",
            "- {name: none, label: 3}",
            "7:25: reducer.label: label must be text, but is 3.",
        ),
        (
            "n_neighbors: 4",
            "n_neighbors: 1797",
            "6:48: reducer.n_neighbors: n_neighbors is 1797, but ccdr has only 1797 points to look "
            "among.",
        ),
        (
            "n_neighbors: 3",
            "n_neighbors: 900",
            "9:30: classifier.n_neighbors: n_neighbors is 900, but knn has only 899 points to look "
            "among.",
        ),
        (
            "name: knn",
            "name: kn",
            "9:12: classifier.name: there is no classifier called 'kn'. Did you mean 'knn'? "
            "'ddr list classifiers' shows all.",
        ),
        (
            "- linear",
            "- {name: linear, mode: transductive}",
            "10:20: classifier.mode: linear has no 'mode'; it takes fit_intercept, alpha, label, "
            "only_on.",
        ),
        (
            "- linear",
            "- linear\n  - linear",
            "11:5: classifiers: linear is listed twice with the same parameters; drop one.",
        ),
        (
            "- linear",
            "- {name: linear, label: knn}",
            "10:27: classifier.label: the label 'knn' is used twice.",
        ),
        (
            GRID,
            "[0.1, -1, 1]",
            "12:23: sweep.reducer.beta: beta must be greater than or equal to 0, but is -1.",
        ),
        (
            GRID,
            "{linear: [-1, 1, 100]}",
            "12:17: sweep.reducer.beta: beta must be greater than or equal to 0, but is -1.0.",
        ),
        (GRID, "{log: [0, 1, 5]}", "12:17: sweep.reducer.beta: log needs two ends above 0."),
        (
            GRID,
            "{lag: [1, 2, 5]}",
            "12:17: sweep.reducer.beta: there is no grid called 'lag'. Did you mean 'log'? "
            "Write a list, log, linear or range.",
        ),
        (
            GRID,
            "0.5",
            "12:17: sweep.reducer.beta: a sweep takes a list of values, "
            "{log: [from, to, how many]}, {linear: [from, to, how many]} or "
            "{range: [from, to, step]}, but this is 0.5.",
        ),
        (
            f"reducer.beta: {GRID}",
            "reducer.betta: [1]",
            "12:3: sweep.reducer.betta: no reducer of this spec has a parameter 'betta'. "
            "Did you mean 'beta'?",
        ),
        (
            f"reducer.beta: {GRID}",
            "beta: [1]",
            "12:3: sweep.beta: a sweep names reducer.<parameter>, classifier.<parameter> or "
            "split.train, not 'beta'. Did you mean 'reducer.beta'?",
        ),
        (
            f"reducer.beta: {GRID}",
            "split.seed: [1]",
            "12:3: sweep.split.seed: a sweep names reducer.<parameter>, classifier.<parameter> or "
            "split.train, not 'split.seed'.",
        ),
        (
            f"reducer.beta: {GRID}",
            "reducer.beta: [1, 2]\n  reducer.mode: [transductive, both]",
            "13:32: sweep.reducer.mode: mode must be 'transductive' or 'out_of_sample', "
            "but is 'both'.",
        ),
        (
            f"reducer.beta: {GRID}",
            "reducer.beta: [1, 2]\n  classifier.n_neighbors: [1, 900]",
            "13:27: sweep.classifier.n_neighbors: n_neighbors is 900, but knn has only 899 points "
            "to look among.",
        ),
        (
            "repeats: 10, seed: 0",
            "repeats: 100000",
            "12:3: sweep: the spec has 1600000 trials, and 300000 is the most there can be.",
        ),
        (
            "metrics: [error]",
            "metrics: [error, acuracy]",
            "13:18: metrics: there is no metric called 'acuracy'. Did you mean 'accuracy'?",
        ),
        (
            "metrics: [error]",
            "metrics: [error, error]",
            "13:18: metrics: the metric 'error' is listed twice.",
        ),
        (
            "metrics: [error]",
            "metrics: error",
            "13:10: metrics: metrics must be a list, but is 'error'.",
        ),
        (
            "x: reducer.beta",
            "x: reducer.n_components",
            "14:11: plot.x: x must be a parameter that the spec sweeps, but is "
            "'reducer.n_components'. Use reducer.beta.",
        ),
        (
            "interval: 0.80",
            "interval: 80",
            "14:35: plot.interval: interval must be less than 1, but is 80.",
        ),
        (
            "interval: 0.80",
            "y: accuracy",
            "14:28: plot.y: y must be a metric of the spec, but is 'accuracy'. Use error.",
        ),
        (
            "interval: 0.80",
            "colour: red",
            "14:25: plot.colour: plot has no 'colour'; it takes x, y, interval, log.",
        ),
        (
            "metrics: [error]",
            "paper: {name: ccdr, artefact: fig22}",
            "13:31: paper.artefact: the paper 'ccdr' has no artefact 'fig22'. Did you mean 'fig2'?",
        ),
        (
            "metrics: [error]",
            "paper: {name: ccdr}",
            "13:8: paper.artefact: paper needs artefact.",
        ),
    ],
)
def test_one_mistake(edit: Callable[..., str], old: str, new: str, line: str) -> None:
    assert _lines(edit((old, new))) == [f"x.yaml:{line}"]


def test_all_mistakes_at_once_sorted_by_position(edit: Callable[..., str]) -> None:
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
def test_a_file_that_is_no_mapping(edit: Callable[..., str], text: str, what: str) -> None:
    with pytest.raises(InputError, match=f"dataset, split, reducers, classifiers.*{what}"):
        load_spec(edit(text=text))


def test_every_missing_part_is_named(edit: Callable[..., str]) -> None:
    needed = {key: key for key in ("dataset", "reducers", "split")}
    assert sorted(_lines(edit(text="title: x\n"))) == [
        f"x.yaml:1:1: {key}: a spec needs {what}."
        for key, what in ({"classifiers": "classifiers or measures"} | needed).items()
    ]


def test_the_predefined_split_is_a_single_one(edit: Callable[..., str]) -> None:
    change = ("dataset: digits", "dataset: landsat")
    path = edit(change, (SPLIT, "{kind: predefined, repeats: 5}"))
    assert _lines(path) == [
        "x.yaml:3:36: split.repeats: there is one predefined split, so repeats must be 1 or left "
        "out, but is 5."
    ]
    for split in ("{kind: predefined}", "{kind: predefined, repeats: 1}"):
        assert load_spec(edit(change, (SPLIT, split))).split.repeats == 1


def test_more_points_than_a_class_has(edit: Callable[..., str]) -> None:
    (line,) = _lines(edit(("kind: fraction, train: 0.5", "kind: per_class, train: 174")))
    assert line.startswith("x.yaml:3:33: split.train: ")
    assert "174" in line


def test_a_card_that_is_wrong_is_reported_where_it_is_named(edit: Callable[..., str]) -> None:
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


def test_a_mode_must_be_possible_at_every_point_of_the_sweep(
    edit: Callable[..., str], offer: Callable[..., None]
) -> None:
    offer("REDUCERS", odd=_Transductive)
    path = edit(
        (CCDR, "{name: odd, exact: true}"),
        (f"reducer.beta: {GRID}", "reducer.exact: [true, false]"),
        ("x: reducer.beta, ", ""),
    )
    assert _lines(path) == [
        "x.yaml:6:5: reducer.mode: odd can't be used with mode: transductive; "
        "use mode: out_of_sample."
    ]


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
        ("picky", "10:5: classifiers: picky needs size."),
        ("{name: picky, sice: 3, size: 2}", "10:19: classifier.sice: picky has no 'sice'. "),
        ("{name: picky, size: 13}", "10:5: classifiers: _Picky can't be made with these "),
    ],
)
def test_third_party_estimators_are_checked_by_what_they_say(
    edit: Callable[..., str], offer: Callable[..., None], item: str, line: str
) -> None:
    offer("CLASSIFIERS", picky=_Picky)
    (found,) = _lines(edit(("- linear", f"- {item}")))
    assert found.startswith(f"x.yaml:{line}")
