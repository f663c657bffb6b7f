"""Displays the progress of runs: a bar on a terminal, otherwise a line every ten seconds."""

from __future__ import annotations

import sys
import time
from typing import NamedTuple, TextIO

_EVERY_SECONDS = 10.0
_LONG_SECONDS = 2.0


class Progress:
    """The display of one run, or of several in turn. This display shows only problems."""

    def begin(self, name: str, total: int, done: int, failed: int = 0) -> None:
        """Begin a run of `total` trials, of which `done` have ended and `failed` have failed."""

    def advance(self, ok: int, failed: int) -> None:
        """Count trials that have succeeded or failed."""

    def working_on(self, what: str) -> None:
        """State the current work; called again and again."""

    def note(self, text: str) -> None:
        """Show a line, such as a warning of a method."""

    def problem(self, text: str) -> None:
        """Show an important line, also with `--quiet`."""
        sys.stderr.write(f"{text}\n")

    def end(self) -> None:
        """End the run."""


class BatchTotals(NamedTuple):
    """Runs that are displayed together: their number, their trials, and how many have ended.

    Of runs `in_rounds`, one split of each at a time, not every run has a line.
    """

    runs: int
    total: int
    done: int
    in_rounds: bool = False


class Display(Progress):
    """Draws rich's progress bar on a terminal, and writes a line every ten seconds elsewhere.

    Several runs have a second bar for their totals. Each run ends with a line.
    """

    def __init__(self, stream: TextIO | None = None, totals: BatchTotals | None = None) -> None:
        from rich.console import Console

        self._console = Console(file=stream, stderr=stream is None)
        self._totals = totals
        self._all_done = totals.done if totals is not None else 0
        self._work, self._work_began = "", 0.0
        self._is_brief = totals is not None and totals.in_rounds
        self._last_time = time.monotonic()

    def begin(self, name: str, total: int, done: int, failed: int = 0) -> None:
        """Show the amount of work."""
        from rich import progress as rich

        self._failed = failed
        if not self._is_brief:
            self._last_time = time.monotonic()
        # Each run gets a new display, because a stopped one would draw over later output.
        self._bars = rich.Progress(
            rich.TextColumn("{task.description}", markup=False),
            rich.BarColumn(),
            rich.MofNCompleteColumn(),
            # During a long trial only the spinner moves.
            rich.SpinnerColumn(),
            rich.TimeElapsedColumn(),
            rich.TimeRemainingColumn(elapsed_when_finished=True),
            rich.TextColumn("[red]{task.fields[failed]}"),
            rich.TextColumn("{task.fields[work]}", markup=False),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._bars.add_task(name, total=total, completed=done, failed=self._failures, work="")
        if self._totals is not None:
            text = f"all {self._totals.runs} specs".ljust(len(name))
            all_done = self._all_done
            self._bars.add_task(
                text, total=self._totals.total, completed=all_done, failed="", work=""
            )
        self._bars.start()
        if not (self._console.is_terminal or self._is_brief):
            already = f", {done} of them already done" if done else ""
            self.note(f"{name}: {total} trials{already}")

    def advance(self, ok: int, failed: int) -> None:
        """Move the bars, or write a line if the last one is old enough."""
        self._failed += failed
        self._all_done += ok + failed
        for task in self._bars.tasks:
            self._bars.advance(task.id, ok + failed)
        self._bars.update(self._bars.tasks[0].id, failed=self._failures)
        if not self._console.is_terminal and self._is_due():
            self.note(self._text())

    def working_on(self, what: str) -> None:
        """Show the current work next to the bar, with its time if it takes long."""
        if what != self._work:
            self._work, self._work_began = what, time.monotonic()
        spent = time.monotonic() - self._work_began
        text = f"{what}, {duration(spent)}" if spent >= _LONG_SECONDS else what
        self._bars.update(self._bars.tasks[0].id, work=text)

    def note(self, text: str) -> None:
        """Write the text, above the bars if any."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def end(self) -> None:
        """Replace the bars by a line."""
        self._bars.stop()
        is_last = self._totals is None or self._all_done >= self._totals.total
        if not self._is_brief or is_last or self._is_due():
            self.note(self._text())

    def _is_due(self) -> bool:
        """Return whether the last line is old enough for another one, which the caller writes."""
        is_due = time.monotonic() - self._last_time >= _EVERY_SECONDS
        self._last_time = time.monotonic() if is_due else self._last_time
        return is_due

    @property
    def _failures(self) -> str:
        return f"{self._failed} failed" if self._failed else ""

    def _text(self) -> str:
        own = self._bars.tasks[0]
        left = own.time_remaining
        parts = [
            f"{own.completed:.0f} of {own.total:.0f} trials",
            self._failures,
            duration(own.elapsed or 0.0),
            f"about {duration(left)} left" if left else "",
        ]
        text = f"{own.description}: {', '.join(filter(None, parts))}"
        if self._totals is None:
            return text
        return f"{text}; all {self._totals.runs} specs: {self._all_done} of {self._totals.total}"


def make_progress(*, quiet: bool = False, totals: BatchTotals | None = None) -> Progress:
    """Return a display on standard error or, if `quiet`, one that only shows problems."""
    return Progress() if quiet else Display(totals=totals)


def duration(seconds: float) -> str:
    """Return a duration as text, such as ``3 min 20 s``."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
