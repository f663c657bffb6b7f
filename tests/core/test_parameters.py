"""Parameters are checked against the signature, both in Python and in specs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
import pytest
from annotated_types import Ge

from ddr_cli.core.parameters import check_parameters, parameter_model


class Example:
    def __init__(
        self,
        n: Annotated[int, Ge(1)] = 2,
        width: Literal["mean"] | float = "mean",
        copy: Any = None,
    ) -> None:
        self.n = n
        self.width = width
        self.copy = copy


@pytest.mark.parametrize(
    "params", [{}, {"n": np.int64(3)}, {"width": 1}, {"width": np.float32(0.5)}, {"copy": True}]
)
def test_right_values_pass(params):
    check_parameters(Example(**params))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n": 0}, "Example: n=0 .*equal to 1"),
        ({"n": 2.0}, "n=2.0 .*integer"),
        ({"n": "2"}, "n='2'"),
        ({"n": True}, "n=True"),
        ({"width": "mode"}, "width='mode' .*'mean'.*number"),
    ],
)
def test_wrong_values_are_explained(params, message):
    with pytest.raises(ValueError, match=message):
        check_parameters(Example(**params))


def test_defaults_are_the_signatures():
    assert parameter_model(Example)().model_dump() == {"n": 2, "width": "mean", "copy": None}
