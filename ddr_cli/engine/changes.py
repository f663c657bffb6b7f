"""What differs between the spec, data and code that made a folder's rows and those of a plan."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import class_name
from ddr_cli.engine.rows.journal import IDENTITY_COLUMNS

if TYPE_CHECKING:
    from ddr_cli.engine.plan.plan import Plan
    from ddr_cli.engine.rows.manifest import Manifest

# Keys of a spec that change no trial.
_COSMETIC = ("title", "description", "paper", "plot", "label", "name", "suite")
_COMPONENTS = [IDENTITY_COLUMNS.index(column) for column in ("reducer", "classifier")]


def differences(
    manifest: Manifest, rows: Collection[list[str]], outdated: Collection[str], plan: Plan
) -> list[str]:
    """Return what changed since the `outdated` of a folder's rows were made, a phrase each."""
    found = []
    if manifest.data and manifest.data.fingerprint != plan.data.fingerprint:
        found.append("the data's fingerprint")
    elif manifest.data and manifest.data.version != plan.data.version:
        found.append("the data set's version")
    before, now = _flat(_completed(manifest.spec)), _flat(plan.spec.resolved())
    found += [
        f"{key}: {before.get(key, 'nothing')} -> {now.get(key, 'nothing')}"
        for key in dict.fromkeys([*now, *before])
        if before.get(key) != now.get(key)
    ]
    if found:
        return found
    old = {row[i] for row in rows if row[0] in outdated for i in _COMPONENTS}
    same = {row[i] for row in rows if row[0] not in outdated for i in _COMPONENTS}
    # Where no row counts any more, any component may be the one that changed.
    names = sorted(class_name(name) for name in old - same) if same else []
    return [f"the version of {', '.join(names) or 'a reducer, classifier or data set'}"]


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
