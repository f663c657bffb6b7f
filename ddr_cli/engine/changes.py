"""What has changed since a folder's rows were written: the spec, the data or the code."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ddr_cli.core.errors import InputError, counted
from ddr_cli.core.own_code import class_name, display_name
from ddr_cli.rows.folder import PREVIOUS
from ddr_cli.rows.manifest import read_manifest
from ddr_cli.spec.sweeps import COMPONENTS

if TYPE_CHECKING:
    from ddr_cli.engine.plan.plan import Plan
    from ddr_cli.rows.log import Line, Rows
    from ddr_cli.rows.manifest import Manifest
    from ddr_cli.spec import Setting

# Keys of a spec that change no trial.
_COSMETIC = ("title", "description", "paper", "plot", "label", "name", "suite")
_MOST_CHANGES = 3
_METHODS = ("reducers", "classifiers", "measures")


def names_of(*components: Setting) -> set[str]:
    """Return the names by which a command may refer to any of these components."""
    names = (
        (one.name, display_name(one.name), class_name(one.name), one.label) for one in components
    )
    return {name for found in names for name in found}


def refusal_of(there: Rows, plan: Plan, stale: set[str], names: frozenset[str]) -> str:
    """Return why stale rows prevent a run, or "" if all belong to the named components."""
    cells = plan.trials.values()
    components = {id(one): one for cell in cells for one in (cell.reducer, cell.evaluator)}
    named = {
        display_name(one.name) for one in components.values() if not names.isdisjoint(names_of(one))
    }
    rows = there.rows
    is_rescored = there.metrics != {plan.spec.metrics}
    splits = {split.name for split in plan.fits}
    # A run of fewer splits has no rows that could replace those of the other splits.
    if not is_rescored and all(
        row["split"] in splits and not named.isdisjoint(row[piece] for piece in COMPONENTS)
        for row in rows
        if row["trial_id"] in stale
    ):
        return ""
    folder, changes = there.folder, list[str]()
    with suppress(InputError):
        changes = what_changed(read_manifest(folder), rows, stale, plan)
    more = f" and {len(changes) - _MOST_CHANGES} more" if len(changes) > _MOST_CHANGES else ""
    why = f" (changed: {'; '.join(changes[:_MOST_CHANGES])}{more})" if changes else ""
    if len(changes) == 1 and changes[0].startswith("split.repeats: "):
        why = (
            f": the folder has more repeats than requested ({changes[0].partition(': ')[2]}); "
            "omit --repeats to keep all repeats"
        )
    kept = len(rows) - len(stale)
    rest = f", keeps the other {kept}" if kept else ""
    return (
        f"{folder} holds {counted(len(stale), 'row')} of another version of this spec{why}. "
        f"'--redo changed' moves these rows to {folder / PREVIOUS}/<time>{rest} and runs the "
        "missing trials. Alternatively, choose another folder with --out."
    )


def what_changed(
    manifest: Manifest, rows: Collection[Line], stale: Collection[str], plan: Plan
) -> list[str]:
    """Return what has changed since the `stale` rows of a folder were written, a phrase each."""
    found = []
    if manifest.data and manifest.data.fingerprint != plan.data.fingerprint:
        found.append("the data's fingerprint")
    elif manifest.data and manifest.data.version != plan.data.version:
        found.append("the data set's version")
    found += _differences(_by_name(_completed(manifest.spec)), _by_name(plan.spec.resolved()))
    if found:
        return found
    old = {row[piece] for row in rows if row["trial_id"] in stale for piece in COMPONENTS}
    same = {row[piece] for row in rows if row["trial_id"] not in stale for piece in COMPONENTS}
    # If all rows are stale, it is unknown which component changed.
    names = sorted(class_name(name) for name in old - same) if same else []
    return [f"the version of {', '.join(names) or 'a reducer, classifier or data set'}"]


def _differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return the differences between two specs; a removed or added method is one difference."""
    found = []
    for key in _METHODS:
        for name in [*old[key], *new[key]]:
            if (name in old[key]) != (name in new[key]):
                found.append(f"{key}.{name}: {'removed' if name in old[key] else 'added'}")
                old[key].pop(name, None)
                new[key].pop(name, None)
    before, now = _flat(old), _flat(new)
    return found + [
        f"{key}: {before.get(key, 'nothing')} -> {now.get(key, 'nothing')}"
        for key in dict.fromkeys([*now, *before])
        if before.get(key) != now.get(key)
    ]


def _completed(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a resolved spec with the keys and parameters added since, at their defaults."""
    from ddr_cli.spec.estimators import load_factory, usual
    from ddr_cli.spec.model import Spec

    with suppress(InputError):
        spec = Spec.from_resolved(spec).resolved()
    completed = dict(spec)
    for key in ("preprocess", "reducers", "classifiers", "measures"):
        completed[key] = []
        for one in spec.get(key) or ():
            params = dict(one.get("params", {}))
            with suppress(InputError):
                params = usual(load_factory(key, str(one.get("name")))) | params
            completed[key].append({**one, "params": params})
    return completed


def _by_name(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a resolved spec with its methods by name; their order changes no trial."""
    named = dict(spec)
    for key in _METHODS:
        named[key] = {}
        for item in spec.get(key) or ():
            name = display_name(str(item.get("name")))
            again = sum(other.partition(" #")[0] == name for other in named[key])
            named[key][f"{name} #{again + 1}" if again else name] = item
    return named


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
