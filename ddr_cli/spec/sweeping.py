"""``ddr sweep``: a spec turned into a sweep over one of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ddr_cli.core.document import Document
from ddr_cli.core.errors import InputError, nearest
from ddr_cli.core.marked_yaml import parse_value
from ddr_cli.core.problems import Place
from ddr_cli.evaluation.metrics import MEASURED
from ddr_cli.spec.build import build
from ddr_cli.spec.cells import Item, section_of
from ddr_cli.spec.components import settable_names
from ddr_cli.spec.estimators import PREFIXES, declared_grids, registry_of
from ddr_cli.spec.grids import rounded
from ddr_cli.spec.model import Spec

Grid = Sequence[Any] | Mapping[str, Any]
_SWEPT = ("reducer", "classifier")


def with_sweep(spec: Spec, params: Mapping[str, Grid | None]) -> Spec:
    """Return a spec that sweeps other parameters than it did.

    Parameters
    ----------
    spec : Spec
        Its sweep, axis and paper are replaced; all else stays.
    params : mapping
        What to sweep, in order. ``beta`` is the reducers' parameter of that name or, if none has
        it, the classifiers'; ``classifier.n_neighbors`` says which. A value is a grid (a list, or
        ``{"log": [0.01, 10, 13]}``), or None for the grid that the estimator declares.

    Returns
    -------
    Spec
        Named ``<name>_sweep_<parameter>``; a classifier's parameter as ``classifier_<parameter>``.

    Raises
    ------
    InputError
        If no reducer or classifier has the parameter, none declares a grid for it, or a value is
        wrong.
    """
    if not params:
        raise InputError("Name a parameter to sweep, such as --param beta.")
    grids: dict[str, Any] = {}
    places: dict[Any, tuple[Place, Place]] = {}
    for index, (given, grid) in enumerate(params.items()):
        key = _dotted(spec, given)
        grids[key] = _as_yaml(grid) if grid is not None else _declared(spec, key)
        param = Place.in_option(2 * index, f"--param {given}")
        values = Place.in_option(2 * index + 1, f"--values of {given}") if grid else param
        places["sweep", key] = (param, values)
    short = "_".join(key.removeprefix("reducer.").replace(".", "_") for key in grids)
    document = Document(f"the sweep of {spec.name}", _as_document(spec, grids), places)
    return build(document, name=f"{spec.name}_sweep_{short}", path=spec.path)


def parse_values(text: str) -> Grid:
    """Return the grid that ``--values`` gives: ``0.01,0.1,1`` or ``{log: [0.01, 10, 13]}``.

    Raises
    ------
    InputError
        If it is neither.
    """
    body = text if text.lstrip().startswith(("{", "[")) else f"[{text}]"
    try:
        grid, reason = parse_value(body), ""
    except InputError as error:
        grid, reason = None, f" ({error})"
    if isinstance(grid, list | dict) and grid:
        return grid
    raise InputError(
        f"--values {text} is no grid; write values as 0.01,0.1,1 or a rule as "
        f"'{{log: [0.01, 10, 13]}}'.{reason}"
    )


def _items(spec: Spec, prefix: str) -> Sequence[Item]:
    return spec.reducers if prefix == "reducer" else spec.evaluators


def _parameters(spec: Spec, prefix: str) -> list[str]:
    found = [
        name
        for item in _items(spec, prefix)
        for section in [section_of(item)]
        for name in settable_names(section, registry_of(section).load(item.name))
    ]
    return list(dict.fromkeys(found))


def _dotted(spec: Spec, given: str) -> str:
    known = {prefix: _parameters(spec, prefix) for prefix in _SWEPT}
    prefix, _, name = given.rpartition(".")
    for candidate in [prefix] if prefix else _SWEPT:
        if name in known.get(candidate, ()):
            return f"{candidate}.{name}"
    everything = [f"{candidate}.{name}" for candidate, names in known.items() for name in names]
    bare = {dotted.partition(".")[2]: dotted for dotted in reversed(everything)}
    meant = nearest(given, everything) or bare.get(nearest(name, bare) or "")
    raise InputError(
        f"{spec.name} has no parameter '{given}'."
        + (f" Did you mean '{meant}'?" if meant else "")
        + f" It has {', '.join(everything) or 'none'}."
    )


def _declared(spec: Spec, key: str) -> list[Any]:
    prefix, _, name = key.partition(".")
    declared: dict[str, Any] = {}
    for item in _items(spec, prefix):
        section = section_of(item)
        factory = registry_of(section).load(item.name)
        declared = {**declared_grids(section, factory, item.params), **declared}
    if name not in declared:
        others = f" (it has grids for {', '.join(declared)})" if declared else ""
        raise InputError(
            f"{spec.name} declares no grid for {key}{others}; give the values, "
            "such as --values 1,2,5."
        )
    # As a rule's values are, so that 13 values from 0.01 to 10 are the same 13 either way.
    return [rounded(value) for value in declared[name]]


def _as_document(spec: Spec, sweep: dict[str, Any]) -> dict[str, Any]:
    resolved = spec.resolved()
    lists = {
        section: [{**item.pop("params"), **item} for item in resolved[section]]
        for section in PREFIXES
        if resolved[section]
    }
    dataset = {**resolved["dataset"]["options"], "name": spec.dataset.name}
    kept = {key: resolved[key] for key in ("split", "embeddings")}
    if spec.classifiers:
        kept["metrics"] = [name for name in resolved["metrics"] if name not in MEASURED]
    plot = {key: resolved["plot"][key] for key in ("y", "interval")}
    keys = " and ".join(sweep)
    title = f"{spec.title}: {resolved['plot']['y']} against {keys}"
    description = f"The spec {spec.name}, swept over {keys}."
    texts = {"title": title, "description": description}
    return {**texts, **kept, **lists, "dataset": dataset, "sweep": sweep, "plot": plot}


def _as_yaml(grid: Grid) -> Any:
    if isinstance(grid, Mapping):
        return {key: list(v) if isinstance(v, tuple) else v for key, v in grid.items()}
    return list(grid)
