"""What a user sees of a run: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import TaskID

_EVERY_SECONDS = 10.0
_EVERY_SHARE = 0.1
_LEAST_SECONDS = 1.0


class Progress(Protocol):
    """Gets told how a run goes. One object may be told of several runs, one after the other."""

    def begin(self, name: str, total: int, done: int) -> None:
        """Hear that a run of `total` trials begins, `done` of which are done already."""

    def advance(self, ok: int, failed: int) -> None:
        """Hear that so many more trials have ended well or failed."""

    def note(self, text: str) -> None:
        """Hear something worth a line, such as a warning of a method."""

    def end(self) -> None:
        """Hear that the run has ended."""


class Silent:
    """Shows nothing."""

    def begin(self, name: str, total: int, done: int) -> None:
        """Show nothing."""

    def advance(self, ok: int, failed: int) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""

    def end(self) -> None:
        """Show nothing."""


@dataclass(frozen=True)
class Whole:
    """What several runs that are shown together come to.

    Parameters
    ----------
    runs : int
        How many runs there are.
    total : int
        The trials of all of them.
    done : int
        Those that were done already.
    """

    runs: int
    total: int
    done: int


class _Count:
    """How far a run is, and how to say it."""

    def __init__(self, total: int, before: int) -> None:
        self.total, self.before = total, before
        self.done = self.failed = 0
        self._started = time.monotonic()

    def advance(self, ok: int, failed: int) -> None:
        self.done += ok + failed
        self.failed += failed

    @property
    def ended(self) -> int:
        return self.before + self.done

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    @property
    def failures(self) -> str:
        return f"{self.failed} failed" if self.failed else ""

    def text(self, unit: str) -> str:
        failed = f", {self.failures}" if self.failed else ""
        left = ""
        if self.done and self.ended < self.total:
            seconds = self.elapsed / self.done * (self.total - self.ended)
            left = f", about {duration(seconds)} left"
        return f"{self.ended} of {self.total} {unit}{failed}, {duration(self.elapsed)}{left}"


class Lines:
    """Writes a line at the beginning, every ten seconds or tenth of the way, and at the end.

    Tenths that take less than a second have none.

    Parameters
    ----------
    stream : text stream
        Where to.
    unit : str, default="trials"
        What is counted.
    whole : Whole, optional
        What is told of several runs with each line.
    """

    def __init__(self, stream: TextIO, unit: str = "trials", whole: Whole | None = None) -> None:
        self._stream = stream
        self._unit = unit
        self._whole = whole
        self._all_done = 0 if whole is None else whole.done

    def begin(self, name: str, total: int, done: int) -> None:
        """Write how much there is to do."""
        self._name, self._count = name, _Count(total, done)
        self._last_time = time.monotonic()
        self._last_done = 0
        already = f", {done} of them done already" if done else ""
        self._write(f"{total} {self._unit}{already}")

    def advance(self, ok: int, failed: int) -> None:
        """Write how far it is, if the last line is long enough ago."""
        self._count.advance(ok, failed)
        self._all_done += ok + failed
        since = self._count.done - self._last_done
        seconds = time.monotonic() - self._last_time
        share = since >= _EVERY_SHARE * (self._count.total - self._count.before)
        if seconds >= (_LEAST_SECONDS if share else _EVERY_SECONDS):
            self._last_time, self._last_done = time.monotonic(), self._count.done
            self._write(self._how_far())

    def note(self, text: str) -> None:
        """Write the text."""
        self._write(text)

    def end(self) -> None:
        """Write how far it came."""
        if self._last_done != self._count.done or not self._count.done:
            self._write(self._how_far())

    def _how_far(self) -> str:
        own = self._count.text(self._unit)
        if self._whole is None:
            return own
        return f"{own}; all {self._whole.runs} specs: {self._all_done} of {self._whole.total}"

    def _write(self, text: str) -> None:
        self._stream.write(f"{self._name}: {text}\n")
        self._stream.flush()


class Bar:
    """Draws a bar with rate, time left and failures on a terminal.

    Parameters
    ----------
    whole : Whole, optional
        What several runs come to, which have a second bar; each leaves a line when it has ended.
    """

    def __init__(self, whole: Whole | None = None) -> None:
        from rich.console import Console

        self._console = Console(stderr=True)
        self._whole = whole
        self._all_done = 0 if whole is None else whole.done

    def begin(self, name: str, total: int, done: int) -> None:
        """Draw an empty bar, or one filled as far as trials are done already."""
        self._name, self._count = name, _Count(total, done)
        # One that has been stopped would draw over what was printed since.
        self._display = self._make_display()
        self._run = self._add(name, total, done)
        if self._whole is not None:
            text = f"all {self._whole.runs} specs"
            self._all = self._add(text.ljust(len(name)), self._whole.total, self._all_done)
        self._display.start()

    def advance(self, ok: int, failed: int) -> None:
        """Move the bar."""
        self._count.advance(ok, failed)
        rate = f"{self._count.done / max(self._count.elapsed, 1e-9):.3g}/s"
        ended = ok + failed
        self._display.update(self._run, advance=ended, rate=rate, failed=self._count.failures)
        self._all_done += ended
        if self._whole is not None:
            self._display.update(self._all, completed=self._all_done)

    def note(self, text: str) -> None:
        """Write the text above the bar."""
        self._console.print(text, markup=False, highlight=False)

    def end(self) -> None:
        """Leave the bar as it is, or a line in place of the two."""
        self._display.stop()
        if self._whole is not None:
            self.note(f"{self._name}: {self._count.text('trials')}")

    def _make_display(self) -> Display:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        return Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            TextColumn("[red]{task.fields[failed]}"),
            console=self._console,
            transient=self._whole is not None,
        )

    def _add(self, name: str, total: int, done: int) -> TaskID:
        return self._display.add_task(name, total=total, completed=done, rate="", failed="")


def make_progress(
    *,
    quiet: bool = False,
    stream: TextIO | None = None,
    unit: str = "trials",
    whole: Whole | None = None,
) -> Progress:
    """Return what suits the stream (standard error if not given): a bar if it is a terminal.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    stream : text stream, optional
        Where to.
    unit : str
        What is counted.
    whole : Whole, optional
        What several runs come to that are told one after the other.
    """
    if quiet:
        return Silent()
    target = stream if stream is not None else sys.stderr
    return Bar(whole) if target.isatty() else Lines(target, unit, whole)


def duration(seconds: float) -> str:
    """Return a time as people say it, such as ``3 min 20 s``."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
