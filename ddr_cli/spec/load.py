"""Creates specs: from a file or a shipped name, from Python values, or as a sweep of another."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ddr_cli.core.errors import InputError, did_you_mean, nearest
from ddr_cli.core.own_code import class_name, is_code, located, require_trust
from ddr_cli.core.positions import Document, Place, value_text
from ddr_cli.core.registry import shipped_yaml
from ddr_cli.core.validation import not_a_mapping, unknown_key, validated
from ddr_cli.core.yaml_loader import read_document
from ddr_cli.data.cards import load_card
from ddr_cli.evaluation.metrics import measured
from ddr_cli.spec.budgets import LABELS
from ddr_cli.spec.components import Context
from ddr_cli.spec.estimators import PREFIXES, did_you_mean_setting, setting
from ddr_cli.spec.model import KEYS, Spec
from ddr_cli.spec.overrides import apply_overrides
from ddr_cli.spec.read_components import record_of
from ddr_cli.spec.read_spec import ReadSpec
from ddr_cli.spec.sweeps import COMPONENTS, TRAIN, Grid, dotted_names, rounded

GivenItem = str | Mapping[str, Any]
"""An item of one of a spec's lists: a name, or a mapping with a name and parameters."""


def load_spec(
    path_or_name: str | Path, *, overrides: Sequence[str] = (), repeats: int | None = None
) -> Spec:
    """Return the spec in a file, or the shipped one of that name; an existing path has priority.

    `overrides` are ``name=value`` as for ``--set``, see `ddr_cli.spec.overrides`, and `repeats`
    sets ``split.repeats``. Raises InputError if there is no such spec or it can't be read, and
    DocumentError if it is not valid: with every problem, each with file, line and column.
    """
    path = find_yaml(str(path_or_name), "configs", "spec")
    document = read_document(path, name=setting)
    return _build(document, name=path.stem, path=path, overrides=overrides, repeats=repeats)


def make_spec(
    *,
    dataset: str | Mapping[str, Any],
    reducers: Sequence[GivenItem],
    name: str | None = None,
    path: Path | None = None,
    overrides: Sequence[str] = (),
    repeats: int | None = None,
    **parts: Any,
) -> Spec:
    """Return a spec that is not in a file; see `load_spec`. The `parts` are the keys of a spec.

    Relative paths start at the file `path`, if it is given. Without `split`, 10 splits are drawn:
    with the sizes of the predefined split if there is one, otherwise with half of the samples (or
    half of the groups, if there are groups) for training. The default `name` consists of the names
    of the data set and the reducers.
    """
    data = {"dataset": dataset, "split": parts.pop("split", None), "reducers": reducers, **parts}
    data = {key: _plain(value) for key, value in data.items() if value is not None}
    data.setdefault("split", _default_split(dataset))
    names = [item if isinstance(item, str) else item.get("name") for item in (dataset, *reducers)]
    stems = [re.sub(r"\.ya?ml$", "", class_name(str(stem))) for stem in names]
    made = re.sub(r"[^A-Za-z0-9.-]+", "_", "_".join(stems)).strip("_.")
    name = name or made or "unnamed"
    document = Document(f"the spec '{name}'", data, name=setting)
    return _build(document, name=name, path=path, overrides=overrides, repeats=repeats)


def with_sweep(spec: Spec, params: Mapping[str, Grid | None]) -> Spec:
    """Return a spec, ``<name>_sweep_<parameter>``, that sweeps other parameters.

    Its sweep, axis and paper are replaced; everything else stays. In `params`, ``beta`` is the
    reducers' parameter of that name or, if no reducer has it, the classifiers';
    ``classifier.n_neighbors`` is explicit; ``split.train`` is the size of the training set. A value
    is a grid (a list, or ``{"log": [0.01, 10, 13]}``), or None for the grid that the estimator
    declares. Raises InputError if nothing has the parameter, none declares a grid for it, or a
    value is wrong.
    """
    if not params:
        raise InputError("Name a parameter to sweep, such as --param beta.")
    grids: dict[str, Any] = {}
    places: dict[Any, tuple[Place, Place]] = {}
    for index, (given, grid) in enumerate(params.items()):
        key = _dotted(spec, given)
        grids[key] = _plain(grid) if grid is not None else _declared_grid(spec, key)
        param = Place.in_option(2 * index, f"--param {given}")
        values = Place.in_option(2 * index + 1, f"--values of {given}") if grid else param
        places["sweep", key] = (param, values)
    short = "_".join(key.removeprefix("reducer.").replace(".", "_") for key in grids)
    data = _as_document(spec, grids)
    document = Document(f"the sweep of {spec.name}", data, places, name=setting)
    return _build(document, name=f"{spec.name}_sweep_{short}", path=spec.path)


def find_yaml(text: str, folder: str, what: str) -> Path:
    """Return the path of a file from its path or, if it is shipped in `folder`, its name.

    Raises InputError, which suggests the most similar name, if there is none.
    """
    shipped = shipped_yaml(folder)
    hint = f"'ddr list {folder}' shows the shipped {what}s."
    if not text.isprintable():
        raise InputError(f"{text!r} is not the path of a {what}. {hint}")
    try:
        path = Path(text).expanduser()
        if path.is_file():
            return path
        is_name = text in shipped
        exists, is_folder = path.exists(), path.is_dir()
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(
            f"{value_text(text)} is not the path of a {what}: {error.args[-1]}. {hint}"
        ) from None
    if is_name:
        return shipped[text]
    if is_folder:
        raise InputError(f"{path} is a folder; name a {what} in this folder. {hint}")
    if exists:
        raise InputError(f"{text} is not a file; give the path of a {what}'s YAML file.")
    looks_like_path = len(path.parts) > 1 or path.suffix in (".yaml", ".yml")
    told = f"There is no {what} at {text}." if looks_like_path else f"There is no {what} '{text}'."
    raise InputError(f"{told}{_nearest(path, shipped, what)} {hint}")


def _nearest(path: Path, shipped: Mapping[str, Path], what: str) -> str:
    if path.stem in shipped:
        return f" The shipped {what} is called '{path.stem}'."
    files = sorted(path.parent.glob("*.y*ml"))
    beside = {found.stem: found.name for found in files if found.is_file()}
    file = beside.get(nearest(path.stem, beside) or "")
    near_name = nearest(path.stem, shipped)
    if near_name is not None and near_name != Path(file or "").stem:
        return did_you_mean(path.stem, shipped)
    return f" Did you mean '{path.parent / file}'?" if file else ""


def _build(
    document: Document,
    *,
    name: str,
    path: Path | None = None,
    overrides: Sequence[str] = (),
    repeats: int | None = None,
) -> Spec:
    """Return the spec that a document describes after the changes of the command line."""
    data = document.data
    if not isinstance(data, dict):
        raise not_a_mapping(document, ("dataset", "split", "reducers", "classifiers"))
    base = path.parent if path else None
    # Overrides load the components that the document names and may name others, so trust is checked
    # before and after them.
    _require_trust(data, base)
    if overrides:
        apply_overrides(document, overrides)
        _require_trust(data, base)
    if repeats is not None and isinstance(data.get("split"), dict):
        place = Place.in_option(len(overrides), f"--repeats {repeats}")
        document.put(("split", "repeats"), repeats, place)
    for key in data.keys() - set(KEYS):
        message = unknown_key(key, "a spec", KEYS)
        document.problems.append(document.problem((key,), message, key=True))
    # A key without a value counts as absent.
    given = {key: data[key] for key in data if key in KEYS and data[key] is not None}
    document.data = {**given, "name": name, "path": path}
    swept = frozenset(given["sweep"]) if isinstance(given.get("sweep"), dict) else frozenset()
    tuned = given.get("tune", "none") != "none"
    budgets = LABELS in given or TRAIN in swept
    context = Context(base=base, swept=swept, tuned=tuned, budgets=budgets)
    spec: Spec = record_of(validated(document, ReadSpec, "a spec", context))
    return spec


def _require_trust(data: Mapping[str, Any], base: Path | None) -> None:
    """Reject a document that names code which the user does not trust."""
    for section in PREFIXES:
        items = data.get(section)
        for item in items if isinstance(items, list) else ():
            name = item.get("name") if isinstance(item, dict) else item
            if isinstance(name, str) and is_code(name):
                require_trust(located(name, base))


def _default_split(dataset: str | Mapping[str, Any]) -> dict[str, Any]:
    name = dataset if isinstance(dataset, str) else dataset.get("name")
    half: dict[str, Any] = {"kind": "fraction", "train": 0.5}
    try:
        card = load_card(str(name))
    except (InputError, OSError, ValueError, RuntimeError):
        # A missing data set is reported together with all other mistakes.
        return half
    if card.split is not None:
        return {"kind": "resample"}
    return half | {"kind": "grouped"} if card.has_groups else half


def _plain(value: Any) -> Any:
    """Return a mapping, sequence or NumPy scalar as YAML would have read it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _dotted(spec: Spec, given: str) -> str:
    """Return the dotted name of the parameter that a user calls `given`."""
    known = [*dotted_names((*spec.reducers, *spec.evaluators)), TRAIN]
    for name in (given, *(f"{prefix}.{given}" for prefix in COMPONENTS)):
        if name in known:
            return name
    raise InputError(
        f"{spec.name} has no parameter '{given}'.{did_you_mean_setting(given, known)} "
        f"The parameters are {', '.join(known)}."
    )


def _declared_grid(spec: Spec, key: str) -> list[Any]:
    prefix, _, name = key.partition(".")
    declared: dict[str, Any] = {}
    for item in spec.reducers if prefix == "reducer" else spec.evaluators:
        declared = {**item.traits().grids, **declared}
    if name not in declared:
        others = f" (only for {', '.join(declared)})" if declared else ""
        raise InputError(
            f"{spec.name} has no default grid for {key}{others}; add one, such as --values 1,2,5."
        )
    # Rounded like the values of a grid rule, so that equal grids have equal values.
    return [rounded(value) for value in declared[name]]


def _as_document(spec: Spec, sweep: dict[str, Any]) -> dict[str, Any]:
    resolved = spec.resolved()
    lists = {
        section: [
            _as_item({**item, "name": own.name}, sweep, PREFIXES[section])
            for item, own in zip(resolved[section], getattr(spec, section), strict=True)
        ]
        for section in PREFIXES
        if resolved[section]
    }
    dataset = {**resolved["dataset"]["options"], "name": spec.dataset.name}
    kept = {key: resolved[key] for key in ("split", "labels", "embeddings", "tune")}
    kept = {key: value for key, value in kept.items() if value}
    kept["controls"] = list(spec.controls)
    if TRAIN in sweep:
        kept["split"] = {key: value for key, value in kept["split"].items() if key != "train"}
    if spec.classifiers:
        kept["metrics"] = [name for name in resolved["metrics"] if name not in measured()]
    plot = {key: resolved["plot"][key] for key in ("y", "interval")} | {"x": next(iter(sweep))}
    keys = " and ".join(key.removeprefix("reducer.") for key in sweep)
    # The title of the base spec may end with its own sweep; remove that.
    own = re.sub(r"[,:] [^,:]+ against .*$", "", spec.title)
    own = own or f"{', '.join(item.label for item in spec.reducers)} on {spec.dataset.name}"
    title = f"{own}: {resolved['plot']['y']} against {keys}"
    description = f"This spec is {spec.name} with a sweep over {keys}."
    texts = {"title": title, "description": description}
    return {**texts, **kept, **lists, "dataset": dataset, "sweep": sweep, "plot": plot}


def _as_item(item: dict[str, Any], sweep: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return an item as in a file; swept parameters no longer have a grid of the item's own."""
    grids = {
        name: {"grid": values}
        for name, values in item.pop("grids", {}).items()
        if f"{prefix}.{name}" not in sweep
    }
    params = item.pop("params")
    return {**params, **{key: value for key, value in item.items() if value}, **grids}
