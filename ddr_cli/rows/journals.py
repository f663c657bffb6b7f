"""The two files of a run's rows as one journal: `trials.csv` and `controls.csv`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from ddr_cli.core.errors import InputError
from ddr_cli.rows.journal import (
    CONTROLS,
    TRIAL_FILE,
    Journal,
    TrialRow,
    metrics_of,
    trial_of,
)


class Journals:
    """The rows of a run: a `Journal` of the methods' rows, and one of the controls'.

    `is_control` has, by id, whether a planned trial is a control's. Rows in the wrong file, such as
    those that older versions of ddr wrote, are moved when the journals are opened. A row is in its
    new file before it leaves the old one, so that a crash loses none.
    """

    def __init__(
        self,
        folder: Path,
        columns: Sequence[str],
        *,
        is_control: Mapping[str, bool],
        unstated: Mapping[str, Collection[str]],
        added: Callable[[str, str], Collection[object]],
    ) -> None:
        self.folder = folder
        self.methods, self.controls = self.files = [
            Journal(folder / name, columns, unstated=unstated, added=added)
            for name in (TRIAL_FILE, CONTROLS)
        ]
        self._columns, self._is_control = tuple(columns), is_control
        self._open = ExitStack()
        self._agree()

    @property
    def rows(self) -> list[list[str]]:
        """The last row of each trial, as text."""
        return list({row[0]: row for file in self.files for row in file.rows}.values())

    @property
    def status(self) -> dict[str, str]:
        """The status of each trial that has a row, by the trial's id."""
        return self.methods.status | self.controls.status

    @property
    def metrics(self) -> set[tuple[str, ...]]:
        """The metrics of the files that have rows."""
        return {metrics_of(file.header) for file in self.files if file.status}

    def refresh(self) -> None:
        """Read those files again that another process has changed since."""
        for file in self.files:
            file.refresh()
        self._agree()

    def is_settled(self, order: Iterable[str]) -> bool:
        """Return whether `settle` would leave the files unchanged."""
        methods, controls = self._parts(order)
        return self.methods.is_settled(methods) and self.controls.is_settled(controls)

    def append(self, rows: Sequence[TrialRow]) -> None:
        """Append rows to the two files, and wait until they are on disk; see `Journal.append`."""
        own = {str(row["trial_id"]): row for row in rows}
        errors = []
        for file, trials in zip(self.files, self._parts(own), strict=True):
            try:
                file.append([own[trial] for trial in trials])
            except InputError as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def is_in_place(self) -> bool:
        """Return whether no other program has removed or changed one of the files."""
        return all(file.is_in_place() for file in self.files)

    def settle(self, order: Iterable[str]) -> None:
        """Rewrite the files with one row per trial, in the given order of trial ids."""
        for file, trials in zip(self.files, self._parts(order), strict=True):
            file.settle(trials)

    def drop(self, trials: Collection[str]) -> None:
        """Rewrite the files without the rows of these trials."""
        for file in self.files:
            file.drop(trials)

    def __enter__(self) -> Self:
        self.refresh()
        with ExitStack() as stack:
            for file in self.files:
                stack.enter_context(file)
            self._move()
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _parts(self, trials: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return which of these trials belong to methods, and which to controls."""
        parts: tuple[list[str], list[str]] = [], []
        for trial in trials:
            parts[self._is_control[trial]].append(trial)
        return parts

    def _move(self) -> None:
        """Move rows that are in the wrong file."""
        is_control = self._is_control.get
        to_controls = [line for line in self.methods.lines if is_control(trial_of(line), False)]
        to_methods = [line for line in self.controls.lines if not is_control(trial_of(line), True)]
        self.controls.take(to_controls)
        self.methods.take(to_methods)
        self.methods.drop(set(map(trial_of, to_controls)))
        self.controls.drop(set(map(trial_of, to_methods)))

    def _agree(self) -> None:
        """Give both files the same columns; a newer parameter is left out of both or of none."""
        headers = [file.header for file in self.files if file.status]
        agreed = tuple(
            column
            for column in self._columns
            if any(column in header for header in headers)
            or all(column in file.columns for file in self.files)
        )
        for file in self.files:
            file.columns = agreed
