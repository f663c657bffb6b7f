"""The rules that generate a sweep's values."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddr_cli.spec import make_spec
from ddr_cli.spec.sweeps import MAX_VALUES, GridError, grid_values, is_geometric


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ([3, 1, 2], [3, 1, 2]),
        (["binary", None, True, 1, 1.0, 1], ["binary", None, True, 1, 1.0]),
        ({"log": [0.01, 10, 4]}, [0.01, 0.1, 1.0, 10.0]),
        ({"log": [10, 0.01, 4]}, [10.0, 1.0, 0.1, 0.01]),
        (
            {"log": [0.01, 10, 7]},
            [0.01, 0.0316227766017, 0.1, 0.316227766017, 1.0, 3.16227766017, 10.0],
        ),
        ({"log": [1, 1000, 4]}, [1, 10, 100, 1000]),
        ({"log": [1, 10, 3]}, [1.0, 3.16227766017, 10.0]),
        ({"linear": [0, 1, 11]}, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
        ({"linear": [2, 10, 5]}, [2, 4, 6, 8, 10]),
        ({"linear": [2.0, 10, 5]}, [2.0, 4.0, 6.0, 8.0, 10.0]),
        ({"linear": [5, 5, 3]}, [5]),
        ({"range": [1, 20, 1]}, list(range(1, 21))),
        ({"range": [1, 6, 2]}, [1, 3, 5]),
        ({"range": [1, MAX_VALUES, 1]}, list(range(1, MAX_VALUES + 1))),
        ({"range": [6, 1, -2]}, [6, 4, 2]),
        ({"range": [0, 0.3, 0.1]}, [0.0, 0.1, 0.2, 0.3]),
        ({"range": [2**62, 2**62 + 2, 1]}, [2**62, 2**62 + 1, 2**62 + 2]),
    ],
)
def test_rules_and_their_values(rule, values):
    found = grid_values(rule)
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ([], "no values"),
        (3, "not 3"),
        ("log", "not 'log'"),
        ({}, "a mapping"),
        ({"log": [1, 2, 3], "linear": [1, 2, 3]}, "a mapping"),
        ({"lag": [1, 2, 3]}, "Did you mean 'log'"),
        ({"log": 3}, "three numbers"),
        ({"log": [1, 2]}, "three numbers"),
        ({"log": [1, "2", 3]}, "three numbers"),
        ({"log": [True, 2, 3]}, "three numbers"),
        ({"log": [0, 2, 3]}, "above 0"),
        ({"log": [-2, -1, 3]}, "above 0"),
        ({"log": [1, 2, 1]}, "2 or more"),
        ({"linear": [1, 2, 2.0]}, "2 or more"),
        ({"linear": [-1e308, 1e308, 3]}, "smaller numbers"),
        ({"linear": [0, 1, 10**12]}, "at most"),
        ({"range": [1, 2, 0]}, "never reach"),
        ({"range": [1, 2, -1]}, "never reach"),
        ({"range": [0, 1e300, 1e-300]}, "at most"),
        ({"range": [0, MAX_VALUES, 1]}, "at most"),
        (list(range(MAX_VALUES + 1)), "at most"),
    ],
)
def test_rules_that_make_no_grid(rule, message):
    with pytest.raises(GridError, match=message):
        grid_values(rule)


@given(
    st.floats(1e-6, 1e6, allow_subnormal=False),
    st.floats(1.001, 1e6),
    st.integers(2, 60),
    st.sampled_from(["log", "linear"]),
)
def test_ends_are_exact_and_steps_are_even(low, factor, n, form):
    high = low * factor
    values = grid_values({form: [low, high, n]})
    assert (values[0], values[-1], len(values)) == (low, high, n)
    scale = [math.log(value) for value in values] if form == "log" else values
    step = (scale[-1] - scale[0]) / (n - 1)
    for i, value in enumerate(scale):
        assert value == pytest.approx(scale[0] + i * step, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ([0.01, 0.1, 1.0], True),
        ([0.1, 0.5, 1, 5, 10], True),
        ([1, 2, 4, 8, 16], True),
        (range(1, 21), False),
        ([0.1, 1.0], False),
        ([1, 2, 4], False),
        ([0, 0.1, 1, 10], False),
        (["binary", "heat", "x"], False),
        ([True, 10, 100], False),
        ([], False),
    ],
)
def test_a_logarithmic_axis_is_for_numbers_in_ratios(values, answer):
    assert is_geometric(values) is answer


def test_a_parameter_with_a_value_in_the_spec_is_not_tuned():
    spec = make_spec(
        dataset="iris",
        tune={"folds": 3},
        reducers=["lda", {"name": "ccdr", "beta": 0.5}],
        classifiers=[{"name": "knn", "n_neighbors": 3}],
        sweep={"reducer.n_components": [1, 2]},
        controls=[],
    )
    assert [sorted(item.grids) for item in spec.reducers] == [[], ["n_neighbors", "weights"]]
    assert spec.classifiers[0].grids == {}
