"""A trial's id changes with each setting that may change its numbers, and with no other."""

from __future__ import annotations

import copy
import typing

import pytest
import yaml

from ddr_cli.core.errors import DdrError
from ddr_cli.core.parameters import parameter_model
from ddr_cli.engine import make_plan
from ddr_cli.evaluation.evaluators import CLASSIFIERS, MEASURES, PREPROCESSORS
from ddr_cli.reducers.registry import REDUCERS, get_traits
from ddr_cli.spec import load_spec

SPEC = {
    "dataset": {"name": "iris", "source": "uci"},
    "split": {"kind": "fraction", "train": 0.4, "test": 20, "repeats": 2, "seed": 3},
    "preprocess": ["standardize", {"name": "pca", "n_components": 3, "whiten": False}],
    "reducers": [{"name": "ccdr", "n_components": 2, "beta": {"grid": [0.5, 2.0]}}],
    "classifiers": [{"name": "knn", "n_neighbors": {"grid": [1, 3]}}],
    "tune": {"folds": 3, "repeats": 1, "budget": 8, "metric": "error"},
    "metrics": ["error", "accuracy"],
    "labels": [8],
    "controls": [],
}
PREDEFINED = {
    "dataset": "landsat",
    "split": {"kind": "predefined", "seed": 0},
    "reducers": ["pca"],
    "classifiers": ["knn"],
}


@pytest.fixture
def ids(tmp_path):
    def of(document, name="spec", comment=""):
        path = tmp_path / f"{name}.yaml"
        path.write_text(comment + yaml.safe_dump(document, sort_keys=False))
        return set(make_plan(load_spec(path)).trials)

    return of


def changed(document, *keys_and_value):
    *keys, last, value = keys_and_value
    found = copy.deepcopy(document)
    place = found
    for key in keys:
        place = place[key]
    place[last] = value
    return found


# Every value of the spec above, with another valid value.
CHANGES = [
    (("dataset", "source"), "fisher"),
    (("split",), {"kind": "per_class", "train": 20, "repeats": 2, "seed": 3}),
    (("split", "train"), 0.5),
    (("split", "test"), 30),
    (("split", "seed"), 4),
    (("preprocess", 0), "log1p"),
    (("preprocess", 1, "n_components"), 4),
    (("preprocess", 1, "whiten"), True),
    (("preprocess",), ["standardize"]),
    (("preprocess",), list(reversed(SPEC["preprocess"]))),
    (("reducers",), [{"name": "laplacian_eigenmaps", "n_components": {"grid": [1, 2]}}]),
    (("reducers", 0, "n_components"), 1),
    (("reducers", 0, "beta"), {"grid": [0.5, 1.0]}),
    (("reducers", 0, "mode"), "transductive"),
    (("classifiers", 0, "n_neighbors"), {"grid": [1, 5]}),
    (("classifiers", 0, "ties"), "smallest_label"),
    (("tune", "folds"), 2),
    (("tune", "repeats"), 2),
    (("tune", "metric"), "accuracy"),
    (("labels",), [9]),
]


@pytest.mark.parametrize(("place", "value"), CHANGES, ids=lambda part: str(part))
def test_one_setting_makes_other_trials(ids, place, value):
    before, after = ids(SPEC), ids(changed(SPEC, *place, value))
    is_of_tuning = place[0] == "tune" or (isinstance(value, dict) and "grid" in value)
    # Settings of the tuning do not change the trials at default settings.
    same = before & after
    assert len(same) == (len(before) // 2 if is_of_tuning else 0)
    assert after - before


def test_the_seed_of_a_predefined_split_counts(ids):
    before = ids(PREDEFINED)
    assert not before & ids(changed(PREDEFINED, "split", "seed", 1))


def test_a_control_is_another_trial(ids):
    plain = {**SPEC, "tune": "none", "labels": ["all"]}
    plain = changed(plain, "reducers", 0, "beta", 1.0)
    plain = changed(plain, "classifiers", 0, "n_neighbors", 3)
    before, after = ids(plain), ids({**plain, "controls": ["shuffled_labels"]})
    assert before < after


def test_the_points_of_given_splits_count(ids, tmp_path):
    document = {**SPEC, "split": {"kind": "given", "file": "parts.csv"}, "labels": [5]}
    found = []
    for step in (2, 3):
        parts = ["test" if i % step == 0 else "train" for i in range(150)]
        (tmp_path / "parts.csv").write_text("part\n" + "\n".join(parts) + "\n")
        found.append(ids(document))
    assert not found[0] & found[1]


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Another title"},
        {"metrics": ["accuracy", "error"]},
        {"classifiers": [{"label": "nearest", **SPEC["classifiers"][0]}]},
        {"reducers": [{"label": "mine", **SPEC["reducers"][0]}]},
        {"reducers": [dict(reversed(SPEC["reducers"][0].items()))]},
        dict(reversed(SPEC.items())),
    ],
    ids=lambda change: next(iter(change)),
)
def test_names_and_order_make_no_other_trials(ids, change):
    document = {**SPEC, "tune": {**SPEC["tune"], "metric": "error"}}
    assert ids(document) == ids({**document, **change}, name="another", comment="# a comment\n")


def test_the_order_of_pieces_and_values_makes_no_other_trials(ids):
    document = {
        "dataset": "iris",
        "split": {"kind": "fraction", "train": 0.5, "repeats": 2},
        "reducers": ["pca", "lda", "nca"],
        "classifiers": ["knn", "linear"],
        "sweep": {"reducer.n_components": [1, 2], "classifier.n_neighbors": [1, 3]},
        "labels": [3, 5],
        "controls": [],
    }
    turned = {
        key: list(reversed(value)) if isinstance(value, list) else value
        for key, value in document.items()
    }
    turned["sweep"] = {key: values[::-1] for key, values in reversed(document["sweep"].items())}
    assert ids(document) == ids(turned)


# -- every parameter of every piece --------------------------------------------------------------


def others(factory, key, default):
    """Yield other values that a parameter may take than its default, the likeliest first."""
    hint = parameter_model(factory).model_fields[key].annotation
    words = [word for part in _parts(hint) for word in typing.get_args(part)]
    yield from (word for word in words if word != default)
    if isinstance(default, bool):
        yield not default
    elif isinstance(default, int | float):
        yield from (n for n in (default + 1, default / 2, 0.5, 2, 1) if n != default)
    else:
        yield from (1, 2, 0.5, True, 7)


def _parts(hint):
    if typing.get_origin(hint) is typing.Literal:
        yield hint
    for part in typing.get_args(hint) if typing.get_origin(hint) is not typing.Literal else ():
        yield from _parts(part)


PIECES = {
    (section, entry.name): entry
    for section, registry in (
        ("reducers", REDUCERS),
        ("classifiers", CLASSIFIERS),
        ("measures", MEASURES),
        ("preprocess", PREPROCESSORS),
    )
    for entry in registry.entries()
    if entry.origin == "ddr" and not (section == "reducers" and get_traits(entry.load()()).library)
}


@pytest.mark.parametrize(("section", "name"), PIECES)
def test_each_parameter_of_each_piece_counts(ids, section, name):
    factory = PIECES[section, name].load()
    base = {
        "dataset": "iris",
        "split": {"kind": "fraction", "train": 0.5, "repeats": 1},
        "reducers": ["none"],
        "classifiers": ["knn"],
        "controls": [],
    }
    if section == "measures":
        del base["classifiers"]

    def plan(**params):
        return ids({**base, section: [{"name": name, **params}]})

    try:
        before = plan()
        defaults = factory().get_params()
    except (DdrError, TypeError, AttributeError):
        pytest.skip("has no defaults, or iris nothing for it")
    for key, default in defaults.items():
        for value in others(factory, key, default):
            try:
                after = plan(**{key: value})
            except DdrError:
                continue
            assert not before & after, (key, value)
            break
