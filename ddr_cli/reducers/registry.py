"""The reducers by the names that specs use, and the traits that each declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from ddr_cli.core.registry import Registry, components

REDUCERS = Registry(
    "reducer", components("reducer", "ddr_cli.reducers"), "ddr.reducers", is_sealed=True
)


MaxComponents = Callable[[int, int, int], int]


def rank_of_centred(n_train: int, n_features: int, n_classes: int) -> int:  # noqa: ARG001
    """Return the largest rank of centred data."""
    return min(n_features, n_train - 1)


def one_less_than_classes(n_train: int, n_features: int, n_classes: int) -> int:
    """Return the largest rank of the class means."""
    return min(n_classes - 1, n_features, n_train - 1)


def one_less_than_points(n_train: int, n_features: int, n_classes: int) -> int:  # noqa: ARG001
    """Return the largest rank of a centred distance matrix."""
    return n_train - 1


@cache
def equal_ratios(first: float, last: float, n: int) -> tuple[float, ...]:
    """Return a geometric grid of n values."""
    import numpy as np

    return tuple(np.geomspace(first, last, n).tolist())


class AuthorCheck(NamedTuple):
    """A check by a method's authors: by whom, when, of what, and at which version."""

    by: str
    date: str
    what: str
    version: int


@dataclass(frozen=True)
class Traits:
    """What the engine may share between fits of a reducer, and its other properties.

    A reducer declares its traits in a method ``__ddr_traits__(self) -> Traits``, so they may depend
    on its parameters. A reducer without the method has the default traits.

    Parameters
    ----------
    version : int
        Raised by hand whenever the reducer's numbers change; part of a trial's identity.
    nested : bool
        The first m columns of a fit with more components are the fit with m components.
    shares_widths : bool
        The first m columns are not the fit with m components, but ``with_width(m)`` of a fit with
        more components equals the fit with m components to the last bit and costs less. Tuning over
        n_components uses it.
    transductive : bool
        ``fit_transform(X, y)`` embeds samples with ``y == -1`` together with the labelled ones. A
        supervised method that does so is semi-supervised: ``fit`` learns from such samples.
    out_of_sample : bool
        ``transform`` embeds samples that ``fit`` has not seen.
    neighbors : bool
        ``fit`` takes ``neighbors=``, a `ddr_cli.numerics.neighbors.Neighbors` of X for at least
        `n_neighbors` neighbours, so that one search serves all fits of a split.
    supervised : bool
        ``fit`` uses y.
    grids : mapping of str to sequence
        The default grid of each parameter, for tuning and for ``ddr sweep --param`` without values.
    grid_source : str
        Where the grids come from: the paper, a library, or "our choice".
    preprocess : tuple of str
        Preprocessing steps that its paper uses or that it needs, as in a spec.
    max_components : callable or None
        ``max_components(n_train, n_features, n_classes)`` is the largest possible `n_components`;
        data of lower rank may allow fewer. None means that it is unknown, or that the method has no
        `n_components`. For a transductive fit `n_train` includes the test samples.
    library : str or None
        An optional distribution that the method needs: a spec is rejected if it is not installed,
        and its version is kept in the manifest.
    checked : AuthorCheck or None
        What the method's authors have checked; None if nothing.
    """

    version: int = 1
    nested: bool = False
    shares_widths: bool = False
    transductive: bool = False
    out_of_sample: bool = True
    neighbors: bool = False
    supervised: bool = True
    grids: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    grid_source: str = "our choice"
    preprocess: tuple[str, ...] = ()
    max_components: MaxComponents | None = None
    library: str | None = None
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
        """Whether ``fit`` learns from labels, and from samples without one (``y == -1``)."""
        return self.supervised and self.transductive


def reference(reducer: Any) -> str | None:
    """Return the first reference in the docstring of a reducer's class."""
    first = r"^ *\.\. \[1\] (.*?)(?=\n *\n|\n *\.\. \[|\Z)"
    found = re.search(first, reducer.__doc__ or "", re.MULTILINE | re.DOTALL)
    return " ".join(found[1].split()) if found else None


def year(reducer: Any) -> int | None:
    """Return the year of the first publication that `reference` names, None without any."""
    found = re.search(r"(?<![:-])\b(?:19|20)\d\d\b(?!-)", reference(reducer) or "")
    return int(found[0]) if found else None


def get_traits(reducer: Any) -> Traits:
    """Return the traits that a reducer declares.

    Parameters
    ----------
    reducer : estimator
        An instance, not a class.

    Returns
    -------
    Traits
        Its traits, or the default traits if it declares none.
    """
    declare = getattr(reducer, "__ddr_traits__", None)
    return declare() if declare is not None else Traits()
