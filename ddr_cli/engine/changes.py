"""What differs between the trials that a result folder holds and those of a plan."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ddr_cli.core.own_code import class_name, shown
from ddr_cli.engine.rows.journal import IDENTITY_COLUMNS

if TYPE_CHECKING:
    from ddr_cli.core.registry import Entry
    from ddr_cli.engine.plan.plan import Plan
    from ddr_cli.engine.rows.manifest import Manifest
    from ddr_cli.spec import Setting, Spec

# A column of the journal, and what stands in it.
Piece = tuple[str, str]

# Keys of a spec that change no trial.
_COSMETIC = ("title", "description", "paper", "plot", "label", "name", "suite")
_LISTS = {"reducers": "reducer", "classifiers": "classifier", "measures": "classifier"}
_PLACES = {column: IDENTITY_COLUMNS.index(column) for column in ("reducer", "classifier")}


@dataclass(frozen=True)
class Changes:
    """What has changed, in words, and the pieces whose new versions may be all of it."""

    told: tuple[str, ...]
    pieces: frozenset[Piece]

    @property
    def names(self) -> list[str]:
        """What the pieces are called."""
        return sorted({class_name(name) for _, name in self.pieces})


def changes_since(manifest: Manifest, rows: Iterable[list[str]], plan: Plan) -> Changes:
    """Return what changed since a folder's rows were made, some of which are not of the plan."""
    pieces = _changed_pieces(manifest, rows, plan)
    before, now = manifest.spec, plan.spec.resolved()
    told = _differences(before, now)
    # What a piece's entry says of its parameters changes with its code.
    only_pieces = not _differences(_without(before, pieces), _without(now, pieces))
    if manifest.data and manifest.data.fingerprint != plan.data.fingerprint:
        told.insert(0, "the data's fingerprint")
        only_pieces = False
    elif manifest.data and manifest.data.version != plan.data.version:
        told.insert(0, "the data set's version")
        only_pieces = False
    changes = Changes(tuple(told), pieces if only_pieces else frozenset())
    if not told:
        names = ", ".join(changes.names) or "a reducer, classifier or data set"
        return Changes((f"the version of {names}",), changes.pieces)
    return changes


def names_of(piece: Setting) -> set[str]:
    """Return what a piece may be called in a command."""
    return {piece.name, shown(piece.name), class_name(piece.name), piece.label}


def named_pieces(plan: Plan, names: Collection[str]) -> set[Piece]:
    """Return the pieces all of whose settings in a plan are among `names`."""
    settings = {
        (column, id(setting)): (column, setting)
        for trial in plan.trials.values()
        for column, setting in (("reducer", trial.reducer), ("classifier", trial.evaluator))
    }
    named: set[Piece] = set()
    others: set[Piece] = set()
    for column, setting in settings.values():
        found = others if names_of(setting).isdisjoint(names) else named
        found.add((column, shown(setting.name)))
    return named - others


def packages_of(spec: Spec) -> dict[str, str]:
    """Return the versions of packages and the hashes of files that provide a spec's pieces."""
    from ddr_cli.evaluation.registry import PREPROCESSORS

    entries = [entry for _, entry in _entries(spec)]
    entries += [PREPROCESSORS.get(piece.name) for piece in spec.preprocess]
    return {entry.origin: _version(entry) for entry in entries if entry.source}


def _entries(spec: Spec) -> list[tuple[Piece, Entry]]:
    from ddr_cli.evaluation.registry import evaluator_registry
    from ddr_cli.reducers.registry import REDUCERS

    found = [
        (("classifier", shown(one.name)), evaluator_registry(one.name).get(one.name))
        for one in spec.evaluators
    ]
    return found + [(("reducer", shown(one.name)), REDUCERS.get(one.name)) for one in spec.reducers]


def _version(entry: Entry) -> str:
    return entry.source.removeprefix(f"{entry.origin} ")


def _changed_pieces(manifest: Manifest, rows: Iterable[list[str]], plan: Plan) -> frozenset[Piece]:
    """Return the pieces whose changes explain every row that is not of the plan, or none.

    A piece with a row that counts still is what it was. Of pieces that others provide the manifest
    knows the version; for the rest, a row whose other piece is what it was tells.
    """
    same: set[Piece] = set()
    foreign: set[frozenset[Piece]] = set()
    for row in rows:
        pair = frozenset((column, row[place]) for column, place in _PLACES.items())
        if row[0] in plan.trials:
            same |= pair
        else:
            foreign.add(pair)
    known = {}
    if manifest.sessions and 0 <= manifest.sessions[-1].environment < len(manifest.environments):
        known = manifest.environments[manifest.sessions[-1].environment].packages
    changed = {
        piece
        for piece, entry in _entries(plan.spec)
        if entry.source and known.get(entry.origin, _version(entry)) != _version(entry)
    } - same
    changed |= {piece for pair in foreign if len(pair - same) == 1 for piece in pair - same}
    explained = all(not changed.isdisjoint(pair) for pair in foreign)
    return frozenset(changed) if explained else frozenset()


def _without(spec: dict[str, Any], pieces: Collection[Piece]) -> dict[str, Any]:
    """Return a resolved spec without the parameters of these pieces."""
    changed = {}
    for key, column in _LISTS.items():
        changed[key] = [
            {**one, "params": {}} if (column, shown(str(one.get("name")))) in pieces else one
            for one in spec.get(key) or ()
        ]
    return spec | changed


def _differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    old, new = _flat(before), _flat(now)
    return [
        f"{key}: {old.get(key, 'nothing')} -> {new.get(key, 'nothing')}"
        for key in dict.fromkeys([*new, *old])
        if old.get(key) != new.get(key)
    ]


def _flat(value: Any, prefix: str = "") -> dict[str, str]:
    if isinstance(value, dict):
        items = [(str(key), item) for key, item in value.items() if key not in _COSMETIC or prefix]
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        items = [(str(i), item) for i, item in enumerate(value)]
    else:
        return {prefix: str(value)}
    flat: dict[str, str] = {}
    for key, item in items:
        if key != "label":
            flat |= _flat(item, f"{prefix}.{key}" if prefix else key)
    return flat
