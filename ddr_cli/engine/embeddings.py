"""The coordinates that a run keeps for its figure: ``embeddings/<reducer>-<id>.json``.

They are those of the first split, and written before the rows of the trials that rest on them, so
that a run whose journal is complete has them too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from pydantic import ValidationError, model_validator

from ddr_cli.core.atomic import atomic_write, clear_messages
from ddr_cli.core.errors import InputError
from ddr_cli.core.validation import Frozen
from ddr_cli.engine.journal import OK
from ddr_cli.engine.plan import Group, Plan, Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ddr_cli.engine.arrays import Labels
    from ddr_cli.engine.jobs import Kept
    from ddr_cli.engine.schedule import Draw

FOLDER = "embeddings"
_DIGITS = 5
Points = tuple[tuple[float, ...], ...]


class KeptEmbedding(Frozen):
    """One reducer's points on the first split, as its file holds them; -1 is no class."""

    reducer: str
    mode: str
    params: dict[str, Any]
    split: str
    split_hash: str
    n_components: int
    classes: tuple[str, ...]
    y: tuple[int, ...]
    part: tuple[Literal["train", "test"], ...]
    subclass_names: tuple[str, ...] | None = None
    subclasses: tuple[int, ...] | None = None
    coordinates: Points
    prototypes: Points | None = None

    @model_validator(mode="after")
    def _has_drawable_points(self) -> Self:
        widths = {len(point) for point in self.coordinates}
        if len(widths) != 1 or not widths <= {1, 2, 3}:
            raise ValueError("its coordinates are not a table of one to three columns")
        if not len(self.coordinates) == len(self.y) == len(self.part):
            raise ValueError("it has not as many labels as points")
        return self


def path_of(folder: Path, plan: Plan, trial_id: str) -> Path:
    """Return the file of the embedding that a trial of the first split rests on."""
    return folder / FOLDER / f"{plan.trials[trial_id].reducer.name}-{plan.kept[trial_id]}.json"


def missing(folder: Path, plan: Plan, rows: Mapping[str, Mapping[str, str]]) -> set[str]:
    """Return the ids of embeddings whose file is not there though one of their trials ended well.

    Those whose trials all failed have nothing to show.
    """
    return {
        embedding
        for trial, embedding in plan.kept.items()
        if rows.get(trial, {}).get("status") == OK and not path_of(folder, plan, trial).is_file()
    }


def chosen_rows(plan: Plan, draw: Draw) -> NDArray[np.intp]:
    """Return which points of the first split are kept, ascending, drawn by the split's seed."""
    wanted = plan.spec.embeddings
    n = len(draw.split.train) + len(draw.split.test)
    if wanted is None or n <= wanted.points:
        return np.arange(n)
    keys = np.random.PCG64(draw.seed).random_raw(n)
    return np.sort(np.argsort(keys, kind="stable")[: wanted.points])


def write(
    folder: Path, plan: Plan, group: Group, unit: Unit, draw: Draw, labels: Labels, kept: Kept
) -> None:
    """Write one embedding; an `InputError` says if it can't be."""
    trial = next(one for one in unit.trials if unit.width_of(one) == kept.width)
    rows = chosen_rows(plan, draw)
    all_rows = np.concatenate([draw.split.train, draw.split.test])
    own = labels.rows(all_rows[rows])
    content = KeptEmbedding(
        reducer=trial.reducer.name,
        mode=trial.reducer.mode,
        params=dict(trial.reducer.params),
        split=group.split.name,
        split_hash=draw.split.hash,
        n_components=len(kept.coordinates[0]) if kept.width is None else kept.width,
        classes=own.classes,
        y=tuple(own.y.tolist()),
        part=tuple("train" if row < len(draw.split.train) else "test" for row in rows),
        subclass_names=own.subclass_names,
        subclasses=None if own.subclasses is None else tuple(own.subclasses.tolist()),
        coordinates=_rounded(kept.coordinates),
        prototypes=None if kept.prototypes is None else _rounded(kept.prototypes),
    )
    path = path_of(folder, plan, trial.id)
    with clear_messages(path):
        path.parent.mkdir(exist_ok=True)
        atomic_write(path, json.dumps(content.model_dump(), separators=(",", ":")) + "\n")


def _rounded(points: Points) -> Points:
    """Return coordinates to as many digits as a figure shows, whatever their size."""
    return tuple(tuple(float(f"{value:.{_DIGITS}g}") for value in point) for point in points)


def read_all(folder: Path) -> Iterator[tuple[str, KeptEmbedding]]:
    """Yield the name and the content of every embedding that a run has kept."""
    for path in sorted((folder / FOLDER).glob("*.json")):
        try:
            yield path.name, KeptEmbedding.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise InputError(
                f"{path} is damaged ({error.errors()[0]['msg']}). Delete it and run the spec "
                f"again: 'ddr run {folder.name}' makes it anew."
            ) from None
