"""Synthetic classes on a rolled sheet in three dimensions."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray

from ddr_cli.data.raw import RawData
from ddr_cli.data.synthetic_classes import shares

_Seed = Annotated[int, Ge(0)]
_NotNegative = Annotated[float, Ge(0)]

# The spiral runs from one and a half to four and a half half turns, as in the usual pictures.
_FIRST_ANGLE, _LAST_ANGLE = 1.5 * np.pi, 4.5 * np.pi


def swiss_roll(
    *,
    n_samples: Annotated[int, Ge(1)] = 800,
    n_classes: Annotated[int, Ge(1)] = 4,
    height: Annotated[float, Gt(0)] = 21.0,
    noise: _NotNegative = 0.0,
    random_state: _Seed = 0,
) -> RawData:
    """Generate a sheet rolled along the spiral r = t, its classes strips of equal arc length.

    Points are uniform on the sheet, not in the angle t.

    Parameters
    ----------
    n_samples : int
        Rows in all, equally many of each class (the first ones have one more if it doesn't divide).
    n_classes : int
        Into how many strips the sheet is cut.
    height : float
        Width of the sheet, along the second axis.
    noise : float
        Standard deviation of Gaussian noise added to all three coordinates.
    random_state : int
        Seed.
    """
    rng = np.random.default_rng(random_state)
    strip = np.repeat(np.arange(n_classes), shares(n_samples, n_classes))
    along = (strip + rng.uniform(size=n_samples)) / n_classes
    X = _roll(along, height * rng.uniform(size=n_samples))
    return RawData(X + noise * rng.normal(size=X.shape), strip + 1, feature_names=("x", "y", "z"))


def four_class_manifold(
    *,
    n_samples: Annotated[int, Ge(4)] = 400,
    height: Annotated[float, Gt(0)] = 21.0,
    noise: _NotNegative = 0.0,
    random_state: _Seed = 0,
) -> RawData:
    """Generate a rolled sheet cut into four patches, inner or outer, lower or upper (SSDE, Fig. 1).

    The paper names neither the surface nor the classes, only that it is the usual synthetic set;
    here every class borders on two others along the sheet, and inner and outer turns are near in
    space.

    Parameters
    ----------
    n_samples : int
        Rows in all, equally many of each class (the first ones have one more if it doesn't divide).
    height : float
        Width of the sheet, along the second axis.
    noise : float
        Standard deviation of Gaussian noise added to all three coordinates.
    random_state : int
        Seed.
    """
    rng = np.random.default_rng(random_state)
    patch = np.repeat(np.arange(4), shares(n_samples, 4))
    along = (patch // 2 + rng.uniform(size=n_samples)) / 2
    across = height * (patch % 2 + rng.uniform(size=n_samples)) / 2
    X = _roll(along, across)
    names = np.array(["inner-lower", "inner-upper", "outer-lower", "outer-upper"])
    return RawData(
        X + noise * rng.normal(size=X.shape), names[patch], feature_names=("x", "y", "z")
    )


def _roll(along: NDArray[np.float64], across: NDArray[np.float64]) -> NDArray[np.float64]:
    """Place points of the sheet in space, `along` being the share of the spiral's arc length."""
    angles = np.linspace(_FIRST_ANGLE, _LAST_ANGLE, 10_001)
    # Arc length of r = t from 0 to t: the integral of sqrt(1 + t^2).
    arc = 0.5 * (angles * np.sqrt(1 + angles**2) + np.arcsinh(angles))
    t = np.interp(arc[0] + along * (arc[-1] - arc[0]), arc, angles)
    return np.column_stack([t * np.cos(t), across, t * np.sin(t)])
