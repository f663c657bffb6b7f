"""Which method of a spec is the one to keep: named by hand, or the best of its run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.own_code import is_code, located, shown
from ddr_cli.engine.rows.journal import FILE_NAME, OK, parameter_text, read_rows
from ddr_cli.evaluation.metrics import get_scale
from ddr_cli.evaluation.registry import MEASURES

if TYPE_CHECKING:
    from ddr_cli.engine.plan.plan import Plan
    from ddr_cli.spec import Cell, Setting
    from ddr_cli.spec.components import Item

_PREDEFINED = "predefined"


@dataclass(frozen=True)
class Winner:
    """A reducer's and a classifier's setting, and a sentence on how they were chosen."""

    reducer: Setting
    classifier: Setting
    chosen: str

    @property
    def title(self) -> str:
        """The two by their labels, with the parameters that the classifier and reducer have."""
        return " with ".join(
            f"{one.label}({', '.join(f'{name}={value}' for name, value in one.params.items())})"
            for one in (self.reducer, self.classifier)
        )


@dataclass
class _Method:
    """A reducer with a classifier at one setting, or tuned, and its trials."""

    cell: Cell
    trials: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        tuned = ", tuned" if self.cell.tuning is not None else ""
        return f"{self.cell.reducer.label} with {self.cell.evaluator.label}{tuned}"


def choose_winner(
    plan: Plan, folder: Path, *, reducer: str | None = None, classifier: str | None = None
) -> Winner:
    """Return the method of a spec that is asked for or, among several, that was best in its run.

    In a spec that tunes it is the method with the best inner score, which no test point has a say
    in, at the setting that it took most often; in others, the best mean over test parts. Methods
    that can't place new points are no candidates.
    """
    methods = _methods(plan, reducer, classifier)
    tunes = plan.spec.tune is not None
    if len(methods) == 1 and not tunes:
        only = methods[0].cell
        return Winner(only.reducer, only.evaluator, "the only one that was asked for")
    rows = _rows(folder, plan, methods)
    metric = str(plan.spec.tune.metric) if plan.spec.tune is not None else plan.spec.metrics[0]
    column = "inner_score" if tunes else metric
    scored = [(_mean(method, rows, column), method) for method in methods]
    lower = get_scale(metric).better == "lower"
    known = [(score, method) for score, method in scored if math.isfinite(score)]
    if not known:
        raise InputError(f"No method that could be fitted ended well on every split of {folder}.")
    score, best = (min if lower else max)(known, key=lambda pair: pair[0])
    n = len(best.trials)
    if not tunes:
        return Winner(
            best.cell.reducer,
            best.cell.evaluator,
            f"the best of {len(known)} by the mean {metric} over the test parts of {n} splits, "
            f"{score:.4g}, which is too good for it, as it was chosen by that",
        )
    setting, times = _taken_most_often(best, rows)
    return Winner(
        *setting,
        f"the best of {len(known)} by the mean inner {metric} over {n} splits, {score:.4g}, in "
        f"which no test point had a say; its setting was taken in {times} of them",
    )


def _methods(plan: Plan, reducer: str | None, classifier: str | None) -> list[_Method]:
    spec, found = plan.spec, dict[tuple[str, str], _Method]()
    base = spec.path.parent if spec.path is not None else None
    most = max((cell.labels or math.inf for cell in plan.trials.values()), default=math.inf)
    refused: dict[str, str] = {}
    for trial_id, cell in plan.trials.items():
        is_own = (cell.split.name == _PREDEFINED) == (spec.split.kind == _PREDEFINED)
        wanted = _is_called(cell.reducer, reducer, base) and _is_called(
            cell.evaluator, classifier, base
        )
        tuned = cell.tuning is not None or spec.tune is None
        has_labels = (cell.labels or math.inf) == most
        measured = cell.evaluator.name in MEASURES.names()
        if cell.control or measured or not (is_own and wanted and tuned and has_labels):
            continue
        if cell.reducer.mode == "transductive":
            refused[cell.reducer.label] = cell.reducer.label
            continue
        key = cell.reducer.text, cell.evaluator.text
        found.setdefault(key, _Method(cell)).trials.append(trial_id)
    if found:
        return list(found.values())
    if refused:
        raise InputError(
            f"{', '.join(refused)} is transductive here: it places only points that are there when "
            "it is fitted, so there is no map to keep for others. Where the method has one, "
            "--set reducer.mode=out_of_sample takes that."
        )
    for asked, items in ((reducer, spec.reducers), (classifier, spec.classifiers)):
        names = [text for item in items for text in (item.label, shown(item.name))]
        if asked is not None and not any(_is_called(item, asked, base) for item in items):
            hint = did_you_mean(asked, names) or f" It has {', '.join(dict.fromkeys(names))}."
            raise InputError(f"{spec.name} has no method called '{asked}'.{hint}")
    raise InputError(f"{spec.name} has no reducer with a classifier that could be fitted.")


def _is_called(piece: Setting | Item, asked: str | None, base: Path | None) -> bool:
    """Tell a piece by its label or name; a file's is relative to the spec or the current folder."""
    if asked is None:
        return True
    names = {asked, *(located(asked, folder) for folder in (base, None) if is_code(asked))}
    own = piece.name.casefold(), piece.label.casefold()
    return any(name.casefold() in own for name in names)


def _rows(folder: Path, plan: Plan, methods: Sequence[_Method]) -> Mapping[str, Mapping[str, str]]:
    """Return the rows of the methods' trials by id; all of them must be there."""
    asked = f"{plan.spec.name} has {len(methods)} methods and settings to choose among"
    by_hand = "name one with --reducer, --classifier and --set"
    if plan.spec.tune is not None:
        asked, by_hand = f"{plan.spec.name} tunes", f"--set tune=none and {by_hand}"
    if not (folder / FILE_NAME).is_file():
        raise InputError(f"{asked}, and {folder} holds no run of it: run it first, or {by_hand}.")
    rows: list[Any] = read_rows(folder).to_dict("records")
    found = {row["trial_id"]: row for row in rows}
    needed = [trial_id for method in methods for trial_id in method.trials]
    missing = len(set(needed) - found.keys())
    if missing:
        raise InputError(
            f"{asked}, and {folder} lacks {missing} of the {len(needed)} trials that tell: run the "
            f"spec to its end, or {by_hand}."
        )
    return found


def _mean(method: _Method, rows: Mapping[str, Mapping[str, str]], column: str) -> float:
    """Return the mean score over all splits, NaN unless every one of them ended well."""
    own = [rows[trial_id] for trial_id in method.trials]
    if any(row["status"] != OK or not row.get(column) for row in own):
        return math.nan
    return math.fsum(float(row[column]) for row in own) / len(own)


def _taken_most_often(
    method: _Method, rows: Mapping[str, Mapping[str, str]]
) -> tuple[tuple[Setting, Setting], int]:
    """Return the setting that a tuned method took on most splits, of equals the first candidate."""
    assert method.cell.tuning is not None
    candidates = method.cell.tuning.candidates
    texts = [_cells("reducer", one) | _cells("classifier", other) for one, other in candidates]
    taken = Counter(
        next(i for i, cells in enumerate(texts) if _is_taken(cells, rows[trial_id]))
        for trial_id in method.trials
    )
    number = min(taken, key=lambda i: (-taken[i], i))
    return candidates[number], taken[number]


def _is_taken(cells: Mapping[str, str], row: Mapping[str, str]) -> bool:
    return all(row.get(name, text) == text for name, text in cells.items())


def _cells(kind: str, setting: Setting) -> dict[str, str]:
    return {f"{kind}.{name}": parameter_text(value) for name, value in setting.params.items()}
