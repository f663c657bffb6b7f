"""What a reducer tells the engine about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
    transductive : bool
        ``fit_transform(X, y)`` places points with ``y == -1`` along with the labelled ones.
    out_of_sample : bool
        ``transform`` places points that ``fit`` has not seen.
    neighbors : bool
        ``fit`` takes ``neighbors=``, a `ddr_cli.numerics.neighbors.Neighbors` of X for at least
        `n_neighbors` neighbours, so that the search is done once for all fits of a split.
    supervised : bool
        ``fit`` uses y.
    grids : mapping of str to sequence
        The grid that ``ddr sweep --param`` uses when no values are given.
    paper : str or None
        The reference, as shown by ``ddr describe``.
    """

    version: int = 1
    nested: bool = False
    transductive: bool = False
    out_of_sample: bool = True
    neighbors: bool = False
    supervised: bool = True
    grids: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    paper: str | None = None


def get_traits(reducer: Any) -> Traits:
    """Return the traits of a reducer instance."""
    declare = getattr(reducer, "__ddr_traits__", None)
    return declare() if declare is not None else Traits()
