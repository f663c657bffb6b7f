"""Find a spec, read it, change it as the command line says, and check it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ddr_cli.core.document import Document
from ddr_cli.core.errors import InputError, did_you_mean, nearest
from ddr_cli.core.marked_yaml import read_document
from ddr_cli.core.problems import Place, shown
from ddr_cli.core.resources import shipped_yaml
from ddr_cli.data.card import load_card
from ddr_cli.spec.build import build
from ddr_cli.spec.model import Spec
from ddr_cli.spec.overrides import apply_overrides
from ddr_cli.spec.rules import RULES

Item = str | Mapping[str, Any]
"""An item of a spec's list: a name, or a mapping with a name and parameters."""

_LIST_HINT = "'ddr list configs' shows the shipped ones."


def load_spec(
    path_or_name: str | Path, *, overrides: Sequence[str] = (), repeats: int | None = None
) -> Spec:
    """Return the spec in a file, or the shipped one of that name.

    Parameters
    ----------
    path_or_name : str or Path
        A path always wins over a name.
    overrides : sequence of str
        ``name=value`` as for ``--set``; see `ddr_cli.spec.overrides.apply_overrides`.
    repeats : int, optional
        Instead of ``split.repeats``.

    Raises
    ------
    InputError
        If there is no such spec or it can't be read; as a `DocumentError`, if it is wrong: every
        problem, each with file, line and column.
    """
    path = find_spec(str(path_or_name))
    document = read_document(path, RULES)
    given = list(overrides)
    apply_overrides(document, given)
    if repeats is not None and isinstance(document.data, dict):
        _set_repeats(document, repeats, len(given))
    return build(document, name=path.stem, path=path)


def make_spec(
    *,
    dataset: str | Mapping[str, Any],
    reducers: Sequence[Item],
    classifiers: Sequence[Item] = (),
    measures: Sequence[Item] = (),
    split: Mapping[str, Any] | None = None,
    preprocess: Sequence[Item] = (),
    sweep: Mapping[str, Any] | None = None,
    metrics: Sequence[str] | None = None,
    embeddings: Mapping[str, Any] | None = None,
    title: str | None = None,
    name: str | None = None,
    overrides: Sequence[str] = (),
    repeats: int | None = None,
) -> Spec:
    """Return a spec that is in no file.

    Parameters
    ----------
    dataset, reducers, classifiers, measures, split, preprocess, sweep, metrics, embeddings, title
        As in a file. Without `split`, the data set's own split is redrawn where it has one, and
        half of the points train where it has none, 10 times.
    name : str, optional
        The name of the spec; made of the data set's and the reducers' if not given.
    overrides, repeats
        As for `load_spec`.

    Raises
    ------
    InputError
        As `load_spec`.
    """
    data: dict[str, Any] = {
        "dataset": _plain(dataset),
        "split": _plain(split) if split is not None else _default_split(dataset),
        "preprocess": _plain(preprocess),
        "reducers": _plain(reducers),
        "sweep": _plain(sweep or {}),
    }
    optional = {
        "classifiers": classifiers,
        "measures": measures,
        "metrics": metrics,
        "embeddings": embeddings,
    }
    data |= {key: _plain(value) for key, value in optional.items() if value}
    names = [item if isinstance(item, str) else item.get("name") for item in (dataset, *reducers)]
    stems = [re.sub(r"\.ya?ml$", "", str(each)) for each in names]
    made = re.sub(r"[^A-Za-z0-9.-]+", "_", "_".join(stems)).strip("_.")
    if title is not None:
        data["title"] = title
    name = name or made or "unnamed"
    document = Document(f"the spec '{name}'", data)
    apply_overrides(document, list(overrides))
    if repeats is not None:
        _set_repeats(document, repeats, len(overrides))
    return build(document, name=name)


def find_spec(text: str) -> Path:
    """Return the path of a spec that is named by its path or, if shipped, its name.

    Raises
    ------
    InputError
        If there is none; the message names the nearest one.
    """
    shipped = shipped_yaml("configs")
    if not text.isprintable():
        raise InputError(f"{text!r} is no path of a spec. {_LIST_HINT}")
    try:
        path = Path(text).expanduser()
        if path.is_file():
            return path
        is_name = text in shipped
        exists, is_folder = path.exists(), path.is_dir()
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(
            f"{shown(text)} is no path of a spec: {error.args[-1]}. {_LIST_HINT}"
        ) from None
    if is_name:
        return shipped[text]
    if is_folder:
        raise InputError(f"{path} is a folder; name one spec in it. {_LIST_HINT}")
    if exists:
        raise InputError(f"{text} is not a regular file, so it can't be a spec.")
    looks_like_path = len(path.parts) > 1 or path.suffix in (".yaml", ".yml")
    what = f"There is no spec at {text}." if looks_like_path else f"There is no spec '{text}'."
    raise InputError(f"{what}{_nearest_spec(path, shipped)} {_LIST_HINT}")


def _nearest_spec(path: Path, shipped: Mapping[str, Path]) -> str:
    if path.stem in shipped:
        return f" The shipped spec is called '{path.stem}'."
    beside = [found for found in sorted(path.parent.glob("*.y*ml")) if found.is_file()]
    file = nearest(path.name, [found.name for found in beside])
    if file is None and not path.suffix:
        file = nearest(f"{path.name}.yaml", [found.name for found in beside])
    near_name = nearest(path.stem, shipped)
    if near_name is not None and near_name != Path(file or "").stem:
        return did_you_mean(path.stem, shipped)
    return f" Did you mean '{path.parent / file}'?" if file else ""


def _set_repeats(document: Document, repeats: int, index: int) -> None:
    if isinstance(document.data.get("split"), dict):
        place = Place.in_option(index, f"--repeats {repeats}")
        document.put(("split", "repeats"), repeats, place)


def _default_split(dataset: str | Mapping[str, Any]) -> dict[str, Any]:
    name = dataset if isinstance(dataset, str) else dataset.get("name")
    try:
        predefined = load_card(str(name)).split is not None
    except (InputError, OSError, ValueError, RuntimeError):
        # A data set that is not there is reported with everything else that is wrong.
        predefined = False
    return {"kind": "resample"} if predefined else {"kind": "fraction", "train": 0.5}


def _plain(value: Any) -> Any:
    """Return tuples as lists and any mapping as a dictionary, as YAML would have made them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value
