"""The reducers by the names that specs use, and the traits that each declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from ddr_cli.core.registry import Registry, components

REDUCERS = Registry("reducer", components("reducer", "ddr_cli.reducers"), "ddr.reducers")


MaxComponents = Callable[[int, int, int], int]


def rank_of_centred(n_train: int, n_features: int, n_classes: int) -> int:  # noqa: ARG001
    """Return how many dimensions centred points span at most."""
    return min(n_features, n_train - 1)


def one_less_than_classes(n_train: int, n_features: int, n_classes: int) -> int:
    """Return how many dimensions the classes' means span at most."""
    return min(n_classes - 1, n_features, n_train - 1)


def one_less_than_points(n_train: int, n_features: int, n_classes: int) -> int:  # noqa: ARG001
    """Return how many dimensions the distances of points span at most."""
    return n_train - 1


@cache
def equal_ratios(first: float, last: float, n: int) -> tuple[float, ...]:
    """Return so many values of a grid, each as much times the one before."""
    import numpy as np

    return tuple(np.geomspace(first, last, n).tolist())


class AuthorCheck(NamedTuple):
    """What a method's authors have looked at: who, when, what, and at which version."""

    by: str
    date: str
    what: str
    version: int


@dataclass(frozen=True)
class Traits:
    """What the engine may share between fits of a reducer, and what it needs to know of it.

    A reducer states its traits in a method ``__ddr_traits__(self) -> Traits``, so they may depend
    on its parameters; one without the method gets the defaults.

    Parameters
    ----------
    version : int
        Raised by hand whenever the reducer's numbers change; part of a trial's identity.
    nested : bool
        The first m columns of a wider fit are the m-dimensional fit.
    shares_widths : bool
        They are not, but ``with_width(m)`` of a wider fit is the m-dimensional one, to the last
        bit, at less than its cost. Used where tuning compares widths.
    transductive : bool
        ``fit_transform(X, y)`` places points with ``y == -1`` along with the labelled ones. A
        supervised method that does is semi-supervised: ``fit`` learns from such points.
    out_of_sample : bool
        ``transform`` places points that ``fit`` has not seen.
    neighbors : bool
        ``fit`` takes ``neighbors=``, a `ddr_cli.numerics.neighbors.Neighbors` of X for at least
        `n_neighbors` neighbours, so that the search is done once for all fits of a split.
    supervised : bool
        ``fit`` uses y.
    grids : mapping of str to sequence
        The grid that ``ddr sweep --param`` uses when no values are given.
    preprocess : tuple of str
        Steps before it that its paper takes, or that it does badly without, as in a spec.
    max_components : callable or None
        ``max_components(n_train, n_features, n_classes)`` is the largest `n_components` that can be
        fitted to so many points; to points with fewer different directions it may be less. None
        says that it isn't known, or that there is no `n_components`. A transductive fit counts the
        test points in `n_train`.
    library : str or None
        A distribution beside ours that does the work: a spec that needs it is refused where it
        isn't installed, and its version is kept in the manifest.
    paper : str or None
        The reference, as shown by ``ddr describe``.
    checked : AuthorCheck or None
        What the method's authors have checked; None says that they have not.
    """

    version: int = 1
    nested: bool = False
    shares_widths: bool = False
    transductive: bool = False
    out_of_sample: bool = True
    neighbors: bool = False
    supervised: bool = True
    grids: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    preprocess: tuple[str, ...] = ()
    max_components: MaxComponents | None = None
    library: str | None = None
    paper: str | None = None
    checked: AuthorCheck | None = None

    @property
    def author_check(self) -> str:
        """What the method's authors have checked, in words."""
        if (found := self.checked) is None:
            return "not checked by the authors"
        text = f"checked by {found.by}, {found.date}: {found.what}"
        older = found.version != self.version
        return text + f" (version {found.version}, before its numbers changed)" * older

    @property
    def semi_supervised(self) -> bool:
        """Whether ``fit`` learns from labels, and from points without one (``y == -1``)."""
        return self.supervised and self.transductive


def get_traits(reducer: Any) -> Traits:
    """Return the traits of a reducer instance."""
    declare = getattr(reducer, "__ddr_traits__", None)
    return declare() if declare is not None else Traits()
