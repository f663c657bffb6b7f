"""The `split` of a spec: how the data set is divided, and what its card must have for that."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Le
from pydantic import Field

from ddr_cli.spec.components import StrictFrozen, Text

SplitKind = Literal[
    "predefined",
    "resample",
    "per_class",
    "fraction",
    "labelled",
    "kfold",
    "grouped",
    "given",
    "whole",
]

MAX_REPEATS = 100_000
DEFAULT_REPEATS = 10


class SplitSpec(StrictFrozen):
    """How the data set is divided into a training and a test part, and how often.

    ``predefined``: the data set's own split. ``resample``: new stratified splits of the predefined
    sizes; with `predefined`, that split too, as a line of its own. ``per_class``: `train` points of
    each class. ``fraction``: the share `train` of all points. ``labelled``: `train` points in
    total, the rest unlabelled and test. ``kfold``: `repeats` stratified divisions into `folds`,
    each fold the test part once. ``grouped``: the same with whole groups, or `train` is the share
    of the groups drawn for training, or each group is the test part once (``leave_one_out``).
    ``given``: of a `file`, whose content `sha256` tells, or a `column` of the card's table.
    ``whole``: all points, for measures; the repeats differ in the methods' randomness alone.
    Where ``split.train`` is swept, `train` may be left out.
    """

    kind: SplitKind
    """What a split is; `ddr describe KIND` has examples."""
    folds: Annotated[int, Ge(2)] | Literal["leave_one_out"] | None = Field(
        default=None, validate_default=True
    )
    """Of kfold and grouped: how many, each the test part once; or of grouped, each group once."""
    file: Text | None = None
    """Of given: a CSV table beside the spec, a column for each split."""
    column: Text | None = None
    """Of given: a column of the data's own table, which the card names in `parts`."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Of the file; filled in by `ddr`."""
    repeats: Annotated[int, Ge(1), Le(MAX_REPEATS)] = Field(
        default_factory=lambda data: _default_repeats(data.get("kind"), data.get("folds"))
    )
    """How many random splits, or divisions into folds."""
    seed: Annotated[int, Ge(0)] = 0
    """Draws the splits, and nothing else."""
    train: int | float | None = Field(default=None, validate_default=True)
    """Size of the training part: points per class, in total, or a share, as the kind says."""
    predefined: bool = False
    """Of resample: the data set's own split too, as a line of its own."""
    test: Annotated[int, Ge(1)] | None = None
    """Of per_class, fraction and labelled: the most test points; of more so many are drawn."""

    @property
    def drawn(self) -> int:
        """How many splits there are, the predefined one beside others not counted."""
        return self.repeats * (self.folds if isinstance(self.folds, int) else 1)


def _default_repeats(kind: object, folds: object) -> int:
    once = kind in ("predefined", "kfold", "given") or folds is not None
    return 1 if once else DEFAULT_REPEATS
