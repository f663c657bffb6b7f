"""The `split` of a spec: how the data set is divided into a training and a test set."""

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
    """How the data set is divided into a training and a test set, and how often.

    ``predefined``: the data set's own split. ``resample``: new stratified splits of the predefined
    sizes; with `predefined`, that split too, as a line of its own. ``per_class``: `train` samples
    of each class. ``fraction``: the fraction `train` of all samples. ``labelled``: `train` samples
    in total; the others are unlabelled and are the test set. ``kfold``: `repeats` stratified
    divisions into `folds`; each fold is the test set once. ``grouped``: the same with whole groups,
    or with `train` as the fraction of the groups, or with each group as the test set once
    (``leave_one_out``). ``given``: the splits of a `file`, with the hash `sha256`, or of a `column`
    of the card's table. ``whole``: all samples, for measures; repeats differ in the methods'
    randomness alone. If ``split.train`` is swept, `train` may be left out.
    """

    kind: SplitKind
    """The kind of split; `ddr describe KIND` has examples."""
    folds: Annotated[int, Ge(2)] | Literal["leave_one_out"] | None = Field(
        default=None, validate_default=True
    )
    """For kfold and grouped: how many, each the test set once; or for grouped, each group once."""
    file: Text | None = None
    """For given: a CSV table next to the spec, with a column for each split."""
    column: Text | None = None
    """For given: a column of the data's own table, which the card names in `parts`."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Hash of the file; `ddr` fills it in."""
    repeats: Annotated[int, Ge(1), Le(MAX_REPEATS)] = Field(
        default_factory=lambda data: _default_repeats(data.get("kind"), data.get("folds"))
    )
    """How many random splits, or divisions into folds."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of the splits and of the methods' own randomness."""
    train: int | float | None = Field(default=None, validate_default=True)
    """Size of the training set: samples per class, in total, or a fraction, depending on kind."""
    predefined: bool = False
    """For resample: the data set's own split too, as a line of its own."""
    test: Annotated[int, Ge(1)] | None = None
    """For per_class, fraction and labelled: the most test samples; of more, this many are drawn."""

    @property
    def drawn(self) -> int:
        """The number of splits, without a predefined one next to drawn ones."""
        return self.repeats * (self.folds if isinstance(self.folds, int) else 1)


def _default_repeats(kind: object, folds: object) -> int:
    once = kind in ("predefined", "kfold", "given") or folds is not None
    return 1 if once else DEFAULT_REPEATS
