"""The intrinsic dimension of a data set's classes, estimated and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ddr_cli.core.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from rich.table import Table

    from ddr_cli.data import Dataset
    from ddr_cli.engine import Progress
    from ddr_cli.evaluation.dimension import DimensionEstimate

Graph = Literal["gmst", "knn"]

# All distances of a group are held at once, in several arrays: about 3 GB for so many points.
_MOST = 10_000
_HEADS = {"gmst": "GMST", "knn": "k-NN graph"}


@dataclass(frozen=True)
class GroupDimension:
    """The estimates for one class, or for all points.

    Parameters
    ----------
    name : str or None
        The class; None for all points.
    samples : int
        How many points it has.
    estimates : dict of str to DimensionEstimate
        By graph.
    reason : str or None
        Why there are none.
    """

    name: str | None
    samples: int
    estimates: dict[str, DimensionEstimate]
    reason: str | None = None


@dataclass(frozen=True)
class Dimensions:
    """The estimates for a data set.

    Parameters
    ----------
    dataset : str
        Its name.
    random_state : int
        The seed of every estimate.
    methods : sequence of {"gmst", "knn"}
    groups : list of GroupDimension
    """

    dataset: str
    random_state: int
    methods: Sequence[Graph]
    groups: list[GroupDimension]


def estimate_dimensions(
    dataset: Dataset,
    *,
    groups: Sequence[str | None] | None = None,
    methods: Sequence[Graph] = ("gmst", "knn"),
    random_state: int = 0,
    progress: Progress,
) -> Dimensions:
    """Estimate the intrinsic dimension of classes by geodesic entropic graphs.

    Parameters
    ----------
    dataset : Dataset
    groups : sequence of str or None, optional
        Names of classes, None for all points; each class if not given.
    methods : sequence of {"gmst", "knn"}
        See `ddr_cli.evaluation.dimension.estimate_dimension`.
    random_state : int, default=0
        Seed of every estimate, so that it doesn't depend on which others are wanted.
    progress : Progress
        Gets told of each estimate.

    Returns
    -------
    Dimensions

    Raises
    ------
    InputError
        If there is no such class, or no group has an estimate.
    """
    for name in groups or ():
        if name is not None and name not in dataset.target_names:
            raise InputError(
                f"{dataset.name} has no class '{name}'.{did_you_mean(name, dataset.target_names)} "
                f"It has {', '.join(dataset.target_names)}."
            )
    wanted = dataset.target_names if groups is None else groups
    progress.begin(dataset.name, len(wanted) * len(methods), 0)
    try:
        found = [_estimate(dataset, name, methods, random_state, progress) for name in wanted]
    finally:
        progress.end()
    if not any(group.estimates for group in found):
        reasons = "; ".join(f"{_shown(group.name)}: {group.reason}" for group in found)
        raise InputError(f"{dataset.name} has no estimate of a dimension. {reasons}")
    return Dimensions(dataset.name, random_state, methods, found)


def _estimate(
    dataset: Dataset,
    name: str | None,
    methods: Sequence[Graph],
    random_state: int,
    progress: Progress,
) -> GroupDimension:
    from ddr_cli.evaluation.dimension import estimate_dimension

    rows: Any = slice(None)
    if name is not None:
        rows = dataset.y == dataset.target_names.index(name)
    points: Any = dataset.X[rows]
    n = int(points.shape[0])
    estimates: dict[str, DimensionEstimate] = {}
    reason = None
    if n > _MOST:
        reason = f"{n} points are too many, at most {_MOST}: all their distances are held at once."
    elif n == 0:
        reason = "There are no points."
    for method in methods:
        if reason is None:
            dense = points.toarray() if hasattr(points, "toarray") else points
            try:
                estimates[method] = estimate_dimension(
                    dense, graph=method, random_state=random_state
                )
            except ValueError as error:
                reason = str(error)
        progress.advance(int(reason is None), int(reason is not None))
    return GroupDimension(name, n, estimates, reason)


def dimensions_table(found: Dimensions) -> Table:
    """Return the estimates as a table for the terminal."""
    from rich.table import Table

    table = Table(title=f"{found.dataset}: intrinsic dimension", title_justify="left")
    table.add_column("class")
    table.add_column("samples", justify="right")
    for method in found.methods:
        table.add_column(_HEADS[method], justify="right")
    parts = any(_parts(group) > 1 for group in found.groups)
    if parts:
        table.add_column("parts", justify="right")
    for group in found.groups:
        cells = [_range(group.estimates.get(method)) for method in found.methods]
        cells += [str(_parts(group) or "")] if parts else []
        table.add_row(_shown(group.name), str(group.samples), *cells)
    return table


def _range(estimate: DimensionEstimate | None) -> str:
    if estimate is None:
        return "-"
    low, high = estimate.dimensions.min(), estimate.dimensions.max()
    return f"{estimate.dimension:.1f} ({low:.1f} to {high:.1f})"


def _parts(group: GroupDimension) -> int:
    return group.estimates["gmst"].components if "gmst" in group.estimates else 0


def dimensions_notes(found: Dimensions) -> list[str]:
    """Return what the estimates rest on, and why some are missing, as sentences."""
    from ddr_cli.evaluation.dimension import DEFAULT_NEIGHBORS, DEFAULT_SIZES

    graphs = {
        "gmst": f"GMST: minimal spanning tree of geodesic distances over "
        f"{DEFAULT_NEIGHBORS['gmst']} neighbours",
        "knn": f"k-NN graph: {DEFAULT_NEIGHBORS['knn']} nearest neighbours",
    }
    first, last = DEFAULT_SIZES[0], DEFAULT_SIZES[-1]
    notes = [
        f"random_state {found.random_state}; median (and range) of the repetitions, each over "
        f"subsamples of {len(DEFAULT_SIZES)} sizes from {first:.0%} to {last:.0%} of the distinct "
        "points.",
        "; ".join(graphs[method] for method in found.methods) + ".",
    ]
    notes += [
        f"{_shown(group.name)}: {group.reason}"
        for group in found.groups
        if group.reason is not None
    ]
    return notes


def _shown(name: str | None) -> str:
    return "all points" if name is None else name
