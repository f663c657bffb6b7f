"""How much of a singular scatter matrix is used."""

from __future__ import annotations

import numpy as np
import pytest

from ddr_cli.numerics.regular_block import largest_regular_block

RNG = np.random.default_rng(0)


def condition_in_equal_units(S):
    unit = np.sqrt(np.diag(S))
    return np.linalg.cond(S / unit / unit[:, None])


@pytest.mark.parametrize("limit", [1.5, 1e2, 1e3, 1e9])
def test_it_is_the_largest_block_within_the_limit(limit):
    factor = RNG.normal(size=(14, 20)) * np.geomspace(100, 0.01, 20)
    S = factor.T @ factor
    within = [r for r in range(1, 15) if condition_in_equal_units(S[:r, :r]) <= limit]
    assert largest_regular_block(S, max_condition=limit) == max(within)


def test_a_regular_matrix_is_used_whole_whatever_its_units():
    factor = RNG.normal(size=(30, 4)) * [1e-6, 1.0, 1e3, 1e6]
    assert largest_regular_block(factor.T @ factor) == 4


def test_what_is_no_more_than_rounding_is_zero():
    assert largest_regular_block(np.diag([1e-14, 1e-15]), floor=1e-13) == 0
    assert largest_regular_block(np.diag([2.0, 1.0, 1e-14]), floor=1e-13) == 2
    assert largest_regular_block(np.zeros((0, 0))) == 0
