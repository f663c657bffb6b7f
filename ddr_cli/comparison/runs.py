"""A result folder: its manifest and journal, its progress, and the sizes of its splits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ddr_cli.comparison.names import family_name
from ddr_cli.core.errors import InputError, printable
from ddr_cli.core.registry import spec_word
from ddr_cli.rows.log import TRIAL_FILE, read_trials
from ddr_cli.rows.manifest import MANIFEST, Manifest, read_manifest
from ddr_cli.spec.budgets import LABELS
from ddr_cli.spec.model import Spec

if TYPE_CHECKING:
    import pandas as pd


def split_family(split: str) -> str:
    """Return the family of a split's name: ``resample-7`` belongs to ``resample``.

    If the training set has several sizes, each size is its own family: ``per_class-20-7`` belongs
    to ``per_class-20``.
    """
    stem, _, index = split.rpartition("-")
    return stem if stem and index.isdigit() else split


def split_number(split: str) -> int:
    """Return the number of a split, -1 for one without."""
    index = split.rpartition("-")[2]
    return int(index) if index.isdigit() else -1


@dataclass(frozen=True, eq=False)
class Run:
    """The content of a result folder; `trials` has all rows, with a column `family` of splits."""

    folder: Path
    manifest: Manifest
    spec: Spec
    trials: pd.DataFrame

    @property
    def name(self) -> str:
        """The name of the spec."""
        return printable(self.folder.name)

    @property
    def title(self) -> str:
        """The spec's title, or its name."""
        return self.spec.title or self.name

    @cached_property
    def ok(self) -> pd.DataFrame:
        """The trials that succeeded."""
        return self.trials[self.trials["status"] == "ok"]

    @property
    def fingerprint(self) -> str:
        """The fingerprint of its data set, empty if the manifest does not have it."""
        return self.manifest.data.fingerprint if self.manifest.data else ""

    def majority(self, metric: str) -> float | None:
        """Return the score of the majority-class baseline, None if the manifest lacks it."""
        return self.manifest.majority.get(metric)

    @property
    def planned(self) -> int:
        """The number of trials that the spec has."""
        return self.manifest.planned

    @property
    def failed(self) -> int:
        """The number of trials that failed, timed out or were killed."""
        return len(self.trials) - len(self.ok)

    @property
    def is_complete(self) -> bool:
        """Whether every planned trial has a row, also if it failed."""
        return len(self.trials) >= self.planned

    @property
    def progress(self) -> str:
        """The progress of the run, such as ``12 of 650 trials done``."""
        text = f"{len(self.ok)} of {self.planned} trials done"
        return f"{text}, {self.failed} failed" if self.failed else text

    def sizes(self, family: str) -> tuple[float, float] | None:
        """Return the mean sizes of the training and test sets of a family of splits, if known."""
        return split_sizes(self.manifest, family)

    def splits_text(self, family: str) -> str:
        """Return the kind, number, sizes and seed of a family of splits."""
        words, sizes = family_name(family, self.planned_splits(family)), self.sizes(family)
        if sizes is not None:
            words += f" of {sizes[0]:,.0f} training and {sizes[1]:,.0f} test samples"
        return words if family == "predefined" else f"{words} (seed {self.spec.split.seed})"

    def planned_splits(self, family: str) -> int:
        """Return the number of splits of a family that the spec has."""
        return 1 if family == "predefined" else self.spec.split.drawn


def load_run(folder: Path) -> Run:
    """Read a result folder; an `InputError` names what is missing or damaged."""
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"{folder} contains no {MANIFEST}; name a folder that 'ddr run' wrote.")
    manifest = read_manifest(folder)
    try:
        spec = Spec.from_resolved(manifest.spec)
    except InputError as error:
        reason = str(error).rstrip(".")
        raise InputError(f"{path} is damaged ({reason}); run the spec with --redo all.") from None
    trials = read_trials(folder, which="all")
    needed = [*spec.metrics, *spec.sweep, *([LABELS] if len(spec.labels) > 1 else [])]
    if trials.empty and not set(spec.metrics) <= set(trials):
        raise InputError(
            f"{folder} has no finished trial; run 'ddr run {printable(spec_word(folder.name))}'."
        )
    if lacking := [name for name in needed if name not in trials]:
        raise InputError(
            f"{folder / TRIAL_FILE} has no column '{lacking[0]}'; run the spec with --redo all."
        )
    families = {split: split_family(split) for split in trials["split"].unique()}
    return Run(folder, manifest, spec, trials.assign(family=trials["split"].map(families)))


def find_runs(results: Path) -> list[Path]:
    """Return the folders of all runs below a results folder, sorted; there must be at least one."""
    if not results.is_dir():
        raise InputError(f"There is no folder {results}. Name the folder that 'ddr run' wrote.")
    folders = sorted(path.parent for path in results.glob(f"*/{MANIFEST}"))
    if not folders:
        hint = (
            f" It is a run's folder: name its parent folder, {results.parent}."
            if (results / MANIFEST).is_file()
            else " 'ddr run digits_ccdr_beta' produces results without a download."
        )
        raise InputError(f"{results} holds no results.{hint}")
    return folders


def split_sizes(manifest: Manifest, family: str) -> tuple[float, float] | None:
    """Return the mean sizes of the training and the test set of a family of splits, as drawn.

    None if the manifest does not have them, and if all samples are in the training set: then
    repeats share no split, and no correction is needed.
    """
    sizes = manifest.sizes.get(family, {})
    if family == "whole" or not {"train", "test"} <= sizes.keys():
        return None
    return sizes["train"], sizes["test"]
