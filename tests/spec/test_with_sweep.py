"""``ddr sweep`` sweeps any parameter of any spec."""

from __future__ import annotations

import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.core.positions import DocumentError
from ddr_cli.reducers.registry import Traits
from ddr_cli.spec import expand, load_spec, make_spec, parse_values, with_sweep


class _Declares:
    """A reducer that declares a grid for one of its two parameters."""

    def __init__(self, width: int = 1, depth: float = 2.0) -> None:
        self.width = width
        self.depth = depth

    def __ddr_traits__(self) -> Traits:
        return Traits(grids={"depth": (0.5, 5, 50.0)})


def test_the_sweep_replaces_the_specs_own(edit):
    base = load_spec(
        edit(("metrics: [error]", "metrics: [error]\npaper: {name: ccdr, artefact: fig2}"))
    )
    spec = with_sweep(base, {"n_components": [2, 5, 9]})
    assert spec.name == "x_sweep_n_components"
    assert spec.sweep == {"reducer.n_components": (2, 5, 9)}
    assert (spec.plot.x, spec.plot.y, spec.plot.interval) == ("reducer.n_components", "error", 0.8)
    assert spec.paper is None
    assert (spec.dataset, spec.split, spec.reducers) == (base.dataset, base.split, base.reducers)
    assert spec.path == base.path
    assert len(expand(spec)) == 10 * (3 + 1) * 2


def test_the_default_grid_is_the_one_that_the_reducer_declares(edit, offer):
    offer("REDUCERS", declares=_Declares)
    base = load_spec(edit(("- none", "- declares")))
    assert with_sweep(base, {"depth": None}).sweep == {"reducer.depth": (0.5, 5.0, 50.0)}
    with pytest.raises(InputError, match=r"reducer\.width.*--values"):
        with_sweep(base, {"width": None})


def test_ccdr_declares_a_grid_of_beta():
    spec = with_sweep(load_spec("digits_ccdr_beta"), {"beta": None})
    assert len(spec.sweep["reducer.beta"]) >= 5
    assert spec.title == "CCDR on the digits: error against beta"
    other = with_sweep(load_spec("landsat_ccdr_beta"), {"classifier.n_neighbors": [1, 3]})
    assert other.title == "CCDR on Landsat: error against classifier.n_neighbors"
    assert spec.plot.log is True


def test_declared_values_and_those_of_a_rule_are_the_same_values(edit, offer):
    class Thirds:
        def __init__(self, depth: float = 1.0) -> None:
            self.depth = depth

        def __ddr_traits__(self) -> Traits:
            return Traits(grids={"depth": tuple(10 ** (i / 3 - 1) for i in range(7))})

    offer("REDUCERS", thirds=Thirds)
    base = load_spec(edit(("- none", "- thirds")))
    by_rule = with_sweep(base, {"depth": {"log": [0.1, 10, 7]}})
    assert with_sweep(base, {"depth": None}).sweep == by_rule.sweep


@pytest.mark.parametrize(
    ("given", "key", "name"),
    [
        ("beta", "reducer.beta", "x_sweep_beta"),
        ("reducer.beta", "reducer.beta", "x_sweep_beta"),
        ("n_neighbors", "reducer.n_neighbors", "x_sweep_n_neighbors"),
        ("classifier.n_neighbors", "classifier.n_neighbors", "x_sweep_classifier_n_neighbors"),
        ("alpha", "classifier.alpha", "x_sweep_classifier_alpha"),
    ],
)
def test_a_bare_name_is_the_reducers_or_else_the_classifiers(edit, given, key, name):
    spec = with_sweep(load_spec(edit()), {given: [1, 2]})
    assert (list(spec.sweep), spec.name) == ([key], name)


def test_two_parameters_make_a_grid(edit):
    spec = with_sweep(load_spec(edit()), {"beta": {"log": (0.1, 10, 3)}, "n_components": (2, 3)})
    assert spec.sweep == {"reducer.beta": (0.1, 1.0, 10.0), "reducer.n_components": (2, 3)}
    assert spec.plot.x == "reducer.beta"
    assert spec.name == "x_sweep_beta_n_components"


def test_a_spec_without_a_file_can_be_swept():
    base = make_spec(dataset="iris", reducers=["none"], classifiers=["knn"])
    spec = with_sweep(base, {"n_neighbors": [1, 3]})
    assert spec.name == "iris_none_sweep_classifier_n_neighbors"
    assert len(expand(spec)) == 10 * 2


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "Name a parameter"),
        ({"betta": [1]}, r"x has no parameter 'betta'\. Did you mean 'reducer\.beta'\?"),
        ({"classifier.beta": [1]}, r"x has no parameter 'classifier\.beta'"),
        ({"split.seed": [1]}, r"x has no parameter 'split\.seed'.*reducer\.n_components"),
        ({"beta": [-1]}, r"--values of beta: sweep\.reducer\.beta: .*equal to 0"),
        ({"beta": ["a"]}, r"--values of beta: sweep\.reducer\.beta: .*a number"),
        ({"n_components": [0.5]}, "n_components .*whole number.* 0.5"),
        ({"beta": {"lag": [1, 2, 3]}}, "Did you mean 'log'"),
        ({"n_neighbors": [5000]}, "n_neighbors is 5000.*among 1797 samples"),
    ],
)
def test_an_impossible_sweep_is_refused(edit, params, message):
    with pytest.raises(InputError, match=message):
        with_sweep(load_spec(edit()), params)


def test_problems_of_a_sweep_name_the_option(edit):
    with pytest.raises(DocumentError) as caught:
        with_sweep(load_spec(edit()), {"beta": [1, -1, "x"]})
    head, text, negative = str(caught.value).splitlines()
    assert "sweep of x" in head
    for line, value in ((text, "'x'"), (negative, "-1")):
        assert line.startswith("  --values of beta: sweep.reducer.beta: ")
        assert value in line


@pytest.mark.parametrize(
    ("text", "grid"),
    [
        ("0.01,0.1,1", [0.01, 0.1, 1]),
        ("1e-2", [0.01]),
        ("binary, heat", ["binary", "heat"]),
        ("[1, 2]", [1, 2]),
        ("{log: [0.01, 10, 13]}", {"log": [0.01, 10, 13]}),
    ],
)
def test_values_of_the_command_line(text, grid):
    assert parse_values(text) == grid


@pytest.mark.parametrize("text", ["", "1,,2", "[1", "{", "{a: 1, a: 2}", "\udcff,&", "1]["])
def test_values_that_are_not_a_grid(text):
    with pytest.raises(InputError, match="is not a grid"):
        parse_values(text)
