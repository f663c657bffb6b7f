"""What a user sees of a run: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.progress import TaskID

_EVERY_SECONDS = 10.0
_EVERY_SHARE = 0.1


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


class OneOfSeveral:
    """Passes everything on, with each run's place among several in its name.

    Parameters
    ----------
    progress : Progress
        What shows it.
    place, total : int
        The run's number, from 1, and how many there are.
    """

    def __init__(self, progress: Progress, place: int, total: int) -> None:
        self._progress = progress
        self._place = f"[{place}/{total}] " if total > 1 else ""
        self.advance = progress.advance
        self.note = progress.note
        self.end = progress.end

    def begin(self, name: str, total: int, done: int) -> None:
        """Pass on that a run begins."""
        self._progress.begin(self._place + name, total, done)


class Lines:
    """Writes a line at the beginning, every ten seconds or tenth of the way, and at the end.

    Parameters
    ----------
    stream : text stream
        Where to.
    unit : str, default="trials"
        What is counted.
    """

    def __init__(self, stream: TextIO, unit: str = "trials") -> None:
        self._stream = stream
        self._unit = unit

    def begin(self, name: str, total: int, done: int) -> None:
        """Write how much there is to do."""
        self._name, self._total, self._before = name, total, done
        self._done, self._failed = 0, 0
        self._started = self._last_time = time.monotonic()
        self._last_done = 0
        already = f", {done} of them done already" if done else ""
        self._write(f"{total} {self._unit}{already}")

    def advance(self, ok: int, failed: int) -> None:
        """Write how far it is, if the last line is long enough ago."""
        self._done += ok + failed
        self._failed += failed
        since = self._done - self._last_done
        due = time.monotonic() - self._last_time >= _EVERY_SECONDS
        if due or since >= _EVERY_SHARE * (self._total - self._before):
            self._last_time, self._last_done = time.monotonic(), self._done
            self._write(self._how_far())

    def note(self, text: str) -> None:
        """Write the text."""
        self._write(text)

    def end(self) -> None:
        """Write how far it came."""
        if self._last_done != self._done or not self._done:
            self._write(self._how_far())

    def _how_far(self) -> str:
        ended = self._before + self._done
        elapsed = time.monotonic() - self._started
        failed = f", {self._failed} failed" if self._failed else ""
        left = ""
        if self._done and ended < self._total:
            left = f", about {duration(elapsed / self._done * (self._total - ended))} left"
        return f"{ended} of {self._total} {self._unit}{failed}, {duration(elapsed)}{left}"

    def _write(self, text: str) -> None:
        self._stream.write(f"{self._name}: {text}\n")
        self._stream.flush()


class Bar:
    """Draws a bar with rate, time left and failures on a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Display

        self._display = Display(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            TextColumn("[red]{task.fields[failed]}"),
            console=Console(stderr=True),
        )
        self._task: TaskID | None = None

    def begin(self, name: str, total: int, done: int) -> None:
        """Draw an empty bar, or one filled as far as trials are done already."""
        self._done, self._failed, self._started = 0, 0, time.monotonic()
        self._task = self._display.add_task(name, total=total, completed=done, rate="", failed="")
        self._display.start()

    def advance(self, ok: int, failed: int) -> None:
        """Move the bar."""
        if self._task is None:
            return
        self._done += ok + failed
        self._failed += failed
        rate = self._done / max(time.monotonic() - self._started, 1e-9)
        self._display.update(
            self._task,
            advance=ok + failed,
            rate=f"{rate:.3g}/s",
            failed=f"{self._failed} failed" if self._failed else "",
        )

    def note(self, text: str) -> None:
        """Write the text above the bar."""
        self._display.console.print(text, markup=False, highlight=False)

    def end(self) -> None:
        """Leave the bar as it is."""
        self._display.stop()


def make_progress(
    *, quiet: bool = False, stream: TextIO | None = None, unit: str = "trials"
) -> Progress:
    """Return what suits the stream (standard error if not given): a bar if it is a terminal."""
    if quiet:
        return Silent()
    target = stream if stream is not None else sys.stderr
    return Bar() if target.isatty() else Lines(target, unit)


def duration(seconds: float) -> str:
    """Return a time as people say it, such as ``3 min 20 s``."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
