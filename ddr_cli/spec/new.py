"""`ddr new`: files to start with, for a method or a spec."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, get_args

from ddr_cli.core.atomic import atomic_write
from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import located
from ddr_cli.core.parameters import parameter_model
from ddr_cli.core.yaml_loader import flow
from ddr_cli.data.card import Card
from ddr_cli.data.cards import load_card
from ddr_cli.spec.cells import expand
from ddr_cli.spec.components import Context
from ddr_cli.spec.estimators import load_factory, registry_of, traits_of
from ddr_cli.spec.feasible import WIDTH, known_limits, needed_steps
from ddr_cli.spec.json_schema import FIRST_LINE, write_schema
from ddr_cli.spec.load import load_spec
from ddr_cli.spec.model import Control

_TEMPLATES = Path(__file__).with_name("templates")
_SPLITS = {
    "resample": "New random splits, with the set sizes of the predefined split.",
    "grouped": "Half of the groups form the training set, the other half the test set; each repeat "
    "draws new sets.",
    "fraction": "Half of the samples form the training set, the other half the test set; each "
    "repeat draws new sets.",
}


def write_method(name: str, *, force: bool = False) -> tuple[Path, Path, str]:
    """Write ``<name>.py`` and its test here; return both and the name of the method for specs."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError(f"'{name}' is not a Python identifier; use a name such as my_method.")
    code, test = Path(f"{name}.py"), Path(f"test_{name}.py")
    class_name = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    for path in (code, test):
        _refuse_existing(path, force)
    for path, template in ((code, "method.txt"), (test, "method_test.txt")):
        text = (_TEMPLATES / template).read_text(encoding="utf-8")
        for word, meant in {"CLASS": class_name, "MODULE": name, "TEST": test.name}.items():
            text = text.replace(word, meant)
        atomic_write(path, text)
    return code, test, f"./{code}:{class_name}"


def write_spec(
    name: str,
    *,
    dataset: str,
    reducers: Sequence[str],
    classifiers: Sequence[str],
    sweep: Mapping[str, Any],
    tuned: bool,
    force: bool = False,
) -> tuple[Path, int]:
    """Write ``<name>.yaml`` here, and the schema by which editors check it.

    Returns the path and the number of trials of the spec. Raises InputError if the file exists and
    must not be replaced, or if the spec would not be valid; the file is then unchanged.
    """
    path = Path(f"{name.removesuffix('.yaml')}.yaml")
    _refuse_existing(path, force)
    before = path.read_bytes() if path.exists() else None
    text = _spec_text(path, load_card(dataset), dataset, reducers, classifiers, sweep, tuned)
    atomic_write(path, text)
    try:
        spec = load_spec(path)
    except InputError:
        path.unlink() if before is None else atomic_write(path, before)
        raise
    write_schema(path.parent)
    return path, len(expand(spec))


def _refuse_existing(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise InputError(f"{path} already exists; use another name, or replace it with --force.")


def _spec_text(
    path: Path,
    card: Card,
    dataset: str,
    reducers: Sequence[str],
    classifiers: Sequence[str],
    sweep: Mapping[str, Any],
    tuned: bool,
) -> str:
    kind = "resample" if card.split else "grouped" if card.has_groups else "fraction"
    train = {} if card.split else {"train": 0.5}
    size = f"{card.expect.samples} x {card.expect.features}" if card.expect.samples else card.title
    title = f"{', '.join(each.rpartition(':')[2] for each in reducers)} on {card.name}"
    parts = {
        "PATH": str(path),
        "TITLE": flow(title),
        "DATASET": f"{flow(dataset)}  # {size}",
        "ABOUT_SPLIT": _SPLITS[kind],
        "SPLIT": flow({"kind": kind, **train, "repeats": 10, "seed": 0}),
        "STEPS": flow(needed_steps(card)),
        "CONTROLS": flow(list(get_args(Control))),
        "REDUCERS": "\n".join(
            _line("reducers", each, _width(each, card, sweep, tuned)) for each in reducers
        ),
        "CLASSIFIERS": "\n".join(_line("classifiers", each, {}) for each in classifiers),
        "SWEEP": "\n".join(f"  {key}: {flow(grid)}" for key, grid in sweep.items()),
    }
    sections = (_TEMPLATES / "spec.txt").read_text(encoding="utf-8").split("\n\n")
    left_out = ["sweep:"] * (not sweep) + ["tune:"] * (not tuned)
    kept = [each for each in sections if not any(f"\n{key}" in each for key in left_out)]
    return FIRST_LINE + "\n" + Template("\n\n".join(kept)).substitute(parts)


def possible_width(factory: Any, card: Card, wanted: int) -> int:
    """Return `wanted` components, or fewer if half of a data set's samples do not allow as many."""
    known = card.expect
    limits = known_limits(Context(expect=known, n_train=known.samples and known.samples // 2), ())
    most = limits.most(traits_of("reducers", factory, {WIDTH: wanted}), None)
    return wanted if most is None else max(1, min(wanted, most))


def _width(name: str, card: Card, sweep: Mapping[str, Any], tuned: bool) -> dict[str, Any]:
    """Return the n_components of a reducer; none if the spec sweeps it or can tune it."""
    factory = load_factory("reducers", located(name, None))
    field = parameter_model(factory).model_fields.get(WIDTH)
    if field is None or f"reducer.{WIDTH}" in sweep:
        return {}
    wanted = 2 if field.is_required() or field.default is None else field.default
    width = possible_width(factory, card, wanted) if isinstance(wanted, int) else wanted
    # A parameter that a spec sets is not tuned: set it only if the default is impossible.
    starts = not field.is_required() and field.default in (None, width)
    is_tuned = tuned and starts and WIDTH in traits_of("reducers", factory, {}).grids
    return {} if is_tuned else {WIDTH: width}


def _line(section: str, name: str, params: Mapping[str, Any]) -> str:
    text = flow({"name": name, **params}) if params else flow(name)
    summary = registry_of(section).get(name).summary
    return f"  - {text}" + (f"  # {summary}" if summary else "")
