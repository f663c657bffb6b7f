"""The identity of a trial: its data, its settings, and the code that computes it.

A trial's id is a hash of its data, of the settings that differ from their declared defaults, and of
the versions of what computes it. Two trials with one id have the same numbers to the last bit, so
rows of earlier runs can be kept. Everything that does not affect the numbers (names of files,
labels, order, number of jobs) is not part of the id. Nor are defaults: a new parameter with a
default changes no id, and a changed default requires a new version of its component.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, wraps
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

from ddr_cli.core.own_code import class_name, is_code
from ddr_cli.engine.plan.searches import TRANSDUCTIVE

if TYPE_CHECKING:
    from ddr_cli.core.registry import Registry
    from ddr_cli.rows.manifest import DataIdentity
    from ddr_cli.spec import Cell, Setting, Spec, SplitKey, Tuning


_T = TypeVar("_T")
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical_json(value: object) -> str:
    """Return JSON that is the same text for equal values: sorted keys, ``1.0`` written as ``1``."""
    return _ENCODER.encode(_plain(value))


def short_digest(text: str) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of `text`."""
    return sha256(text.encode()).hexdigest()[:16]


class TrialIds:
    """Makes the ids of a plan's trials, writing the JSON of each distinct component once.

    `fitted_width` returns the ``n_components`` at which a reducer's setting is fitted (among the
    candidates of the tuned setting whose text is given, if any), or None if it is the setting's
    own. The texts of a trial in different splits differ only in the split.
    """

    def __init__(
        self, spec: Spec, data: DataIdentity, fitted_width: Callable[[Setting, str], int | None]
    ) -> None:
        from ddr_cli.evaluation.evaluators import PREPROCESSORS

        self._spec = spec
        self._data_text = canonical_json(data.model_dump())
        self._fitted_width = fitted_width
        self._texts: dict[tuple[int, str, str], tuple[object, str]] = {}
        self._around_split: dict[object, tuple[str, str]] = {}
        versions = [getattr(step.factory, "version", 1) for step in spec.preprocess]
        self._steps = canonical_json(
            [
                self._dated(_component(PREPROCESSORS, step.name, version, step.params))
                for step, version in zip(spec.preprocess, versions, strict=True)
            ]
        )

    def of(self, cell: Cell) -> str:
        """Return a trial's id: the digest of the canonical JSON of the whole trial."""
        # The id() of a setting is faster to hash than the setting.
        addresses = id(cell.reducer), id(cell.evaluator), id(cell.tuning)
        kind = *addresses, cell.labels, cell.control
        around = self._around_split.get(kind)
        if around is None:
            # Write the keys in alphabetical order, as canonical JSON does.
            evaluator = self._text(cell.evaluator, described)
            tuning = "" if cell.tuning is None else f',"tuning":{self._tuning(cell.tuning)}'
            before = f'{{"classifier":{evaluator},{self._before_split(cell)}'
            around = self._around_split[kind] = (before, f"{tuning}}}")
        return short_digest(f"{around[0]}{self._split_text(cell.split)}{around[1]}")

    def of_embedding(self, cell: Cell) -> str:
        """Return the id of the embedding that a trial uses."""
        return short_digest(f"{{{self._before_split(cell)}{self._split_text(cell.split)}}}")

    def _split_text(self, split: SplitKey) -> str:
        text = self._texts.get((id(split), "", ""))
        if text is None:
            text = self._texts[id(split), "", ""] = (split, canonical_json(self._split(split)))
        return text[1]

    def _before_split(self, cell: Cell) -> str:
        control = f'"control":{canonical_json(cell.control)},' if cell.control else ""
        labels = "" if cell.labels is None else f'"labels":{cell.labels},'
        # Before November 2026, unlabelled samples came in file order: those trials have other ids.
        unlabelled = cell.reducer.mode == TRANSDUCTIVE or cell.labels is not None
        order = '"order":"drawn",' if unlabelled else ""
        # A tuned trial is refitted at the n_components it selects, whatever else the spec fits.
        reducer = self._text(cell.reducer, self._reducer if cell.tuning is None else described)
        return (
            f'{control}"data":{self._data_text},{labels}{order}"preprocess":{self._steps},'
            f'"reducer":{reducer},"split":'
        )

    def _text(self, thing: Any, describe: Callable[..., dict[str, Any]], tuned: str = "") -> str:
        key = id(thing), describe.__name__, tuned
        known = self._texts.get(key)
        if known is None:
            described = describe(thing, tuned) if tuned else describe(thing)
            known = self._texts[key] = (thing, canonical_json(self._dated(described)))
        return known[1]

    def _dated(self, component: dict[str, Any]) -> dict[str, Any]:
        version = self._spec.version_of(component["name"], component["version"])
        return component | {"version": version}

    def _split(self, split: SplitKey) -> dict[str, Any]:
        own = self._spec.split
        # The seed also drives the methods' own randomness, so it counts for any kind of split.
        described = {"kind": split.kind, "index": split.index, "seed": own.seed}
        if split.kind == "predefined":
            return described
        # The number of splits does not change any split. A file of splits counts by its content
        # (sha256), not by its path.
        left_out = {*described, "train", "repeats", "predefined", "file"}
        more = own.model_dump(mode="json", exclude_defaults=True, exclude=left_out)
        return {**described, "train": split.train or own.train, **more}

    def _tuning(self, tuning: Tuning) -> str:
        tuned = tuning.candidates[0][0].text
        candidates = ",".join(
            f"[{self._text(reducer, self._reducer, tuned)},{self._text(other, described)}]"
            for reducer, other in tuning.candidates
        )
        inner = {"folds": tuning.folds, "metric": tuning.metric, "repeats": tuning.repeats}
        return f'{{"candidates":[{candidates}],{canonical_json(inner)[1:]}'

    def _reducer(self, setting: Setting, tuned: str = "") -> dict[str, Any]:
        width = self._fitted_width(setting, tuned)
        return described(setting) | ({} if width is None else {"fitted_width": width})


def of_registered(make: Callable[[Setting], _T]) -> Callable[[Setting], _T]:
    """Keep what a function returns for a setting, unless it is of code that may change."""
    kept = cache(make)
    return wraps(make)(lambda setting: (make if is_code(setting.name) else kept)(setting))


@of_registered
def described(setting: Setting) -> dict[str, Any]:
    """Return the part of a trial's identity that a reducer or an evaluator is."""
    from ddr_cli.evaluation.evaluators import evaluator_registry
    from ddr_cli.reducers.registry import REDUCERS

    # Only reducers have a mode.
    registry = evaluator_registry(setting.name) if setting.mode is None else REDUCERS
    component = _component(registry, setting.name, setting.version, setting.params)
    return component if setting.mode is None else component | {"mode": setting.mode}


def _component(
    registry: Registry, name: str, version: int, params: Mapping[str, Any]
) -> dict[str, Any]:
    stated = differing(registry.load(name), params)
    described = {"name": class_name(name), "version": version, "params": stated}
    source = registry.get(name).source
    return {**described, "source": source} if source else described


def differing(factory: Callable[..., Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that differ from an estimator's defaults."""
    from ddr_cli.spec.estimators import usual

    defaults = usual(factory)
    return {
        key: value
        for key, value in params.items()
        if key not in defaults or canonical_json(value) != canonical_json(defaults[key])
    }


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
