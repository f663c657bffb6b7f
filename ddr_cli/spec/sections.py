"""The parts of a spec that need no estimator: texts, paper, split, metrics, plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.problems import as_clause, shown
from ddr_cli.evaluation.metrics import METRICS, RANKINGS
from ddr_cli.papers.schema import load_paper
from ddr_cli.spec.grids import is_geometric, is_positive
from ddr_cli.spec.model import EmbeddingsSpec, PaperRef, PlotSpec, SplitSpec
from ddr_cli.spec.reading import Reader

DEFAULT_REPEATS = 10
CATEGORIES = ("reducer", "classifier")


def read_text(reader: Reader, key: str, value: Any) -> str:
    """Return a text, or an empty one after noting that it is none."""
    if isinstance(value, str):
        return value.strip()
    reader.problem((key,), f"{key} must be text, but is {shown(value)}.")
    return ""


def read_paper(reader: Reader, raw: Any) -> PaperRef | None:
    """Return the artefact that the spec reproduces, which must be in its paper's file."""
    path = ("paper",)
    if raw is None or (values := reader.mapping(path, raw, "paper")) is None:
        return None
    reference = reader.model(path, PaperRef, values, "a paper reference")
    if reference is None:
        return None
    try:
        paper = load_paper(reference.name)
    except InputError as error:
        reader.problem((*path, "name"), as_clause(error))
        return None
    known = [artefact.id for artefact in paper.artefacts]
    if reference.artefact not in known:
        hint = did_you_mean(reference.artefact, known) or f" It has {', '.join(known)}."
        message = f"the paper '{paper.name}' has no artefact '{reference.artefact}'.{hint}"
        reader.problem((*path, "artefact"), message)
    return reference


def read_split(reader: Reader, raw: Any) -> SplitSpec | None:
    """Return how the data is divided; see `SplitSpec`."""
    values = reader.mapping(("split",), raw, "split")
    if values is None:
        return None
    repeats = 1 if values.get("kind") == "predefined" else DEFAULT_REPEATS
    return reader.model(("split",), SplitSpec, {"repeats": repeats, **values}, "split")


def read_embeddings(reader: Reader, raw: Any) -> EmbeddingsSpec | None:
    """Return which embeddings are kept; see `EmbeddingsSpec`."""
    path = ("embeddings",)
    if raw is None or (values := reader.mapping(path, raw, "embeddings")) is None:
        return None
    return reader.model(path, EmbeddingsSpec, values, "embeddings")


def read_metrics(reader: Reader, raw: Any) -> tuple[str, ...]:
    """Return the metrics, each known and named once."""
    path, known = ("metrics",), [*METRICS, *RANKINGS]
    if not isinstance(raw, list) or not raw:
        reader.problem(path, f"metrics must be a list such as [error], but is {shown(raw)}.")
        return ()
    for i, name in enumerate(raw):
        if not isinstance(name, str) or name not in known:
            hint = did_you_mean(name, known) if isinstance(name, str) else ""
            hint = hint or f" There are {', '.join(known)}."
            reader.problem((*path, i), f"there is no metric called {shown(name)}.{hint}")
        elif name in raw[:i]:
            reader.problem((*path, i), f"the metric '{name}' is listed twice.")
    return tuple(name for name in raw if isinstance(name, str))


def read_plot(
    reader: Reader,
    raw: Any,
    *,
    sweep: Mapping[str, Sequence[JsonValue]] | None,
    metrics: Sequence[str],
) -> PlotSpec | None:
    """Return what the figure shows.

    By default x is the parameter that is swept first (without a sweep, the reducer), y the first
    metric, and the axis of x logarithmic where the grid looks so.

    Parameters
    ----------
    reader : Reader
        Collects the problems.
    raw : Any
        The value of ``plot:``.
    sweep : mapping or None
        The values of the swept parameters; None if the sweep has a problem, as it can't be said
        then which axes there are.
    metrics : sequence of str
        The metrics.
    """
    path = ("plot",)
    values = reader.mapping(path, raw, "plot")
    if values is None:
        return None
    grids = sweep or {}
    axes = list(grids) or list(CATEGORIES)
    metric = metrics[0] if metrics else "error"
    defaults = {
        "x": axes[0],
        "y": metric,
        "log": is_geometric(grids.get(str(values.get("x", axes[0])), ())),
    }
    plot = reader.model(path, PlotSpec, {**defaults, **values}, "plot")
    if plot is None:
        return None
    if sweep is not None and plot.x not in axes:
        wanted = "a parameter that the spec sweeps" if sweep else "reducer or classifier"
        use = " or ".join(axes)
        reader.problem((*path, "x"), f"x must be {wanted}, but is '{plot.x}'. Use {use}.")
    elif sweep is not None and plot.log and not is_positive(grids.get(plot.x, ("",))):
        message = f"a logarithmic axis needs numbers above 0, and not all values of {plot.x} are."
        reader.problem((*path, "log"), message)
    if metrics and plot.y not in metrics:
        use = " or ".join(metrics)
        message = f"y must be a metric of the spec, but is '{plot.y}'. Use {use}."
        reader.problem((*path, "y"), message)
    return plot
