"""What a user sees of a run: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import TaskID

_EVERY_SECONDS = 10.0
_EVERY_SHARE = 0.1
_LEAST_SECONDS = 1.0
_TELLING_SECONDS = 3.0
_NOTEBOOK_SECONDS = 0.3


class Progress:
    """Gets told how a run goes, or several, one after the other. This one shows nothing."""

    def begin(self, name: str, total: int, done: int, failed: int = 0) -> None:
        """Hear that a run of `total` trials begins, `done` of which have ended, some `failed`."""

    def ready(self) -> None:
        """Hear that processes are up and the first split is prepared, so that trials begin."""

    def advance(self, ok: int, failed: int) -> None:
        """Hear that so many more trials have ended well or failed."""

    def note(self, text: str) -> None:
        """Hear something worth a line, such as a warning of a method."""

    def problem(self, text: str) -> None:
        """Hear something that nobody may miss, also who wants to see nothing."""
        sys.stderr.write(f"{text}\n")

    def end(self) -> None:
        """Hear that the run has ended."""


@dataclass(frozen=True)
class BatchTotals:
    """What several runs that are shown together come to: the trials of all, and those done."""

    runs: int
    total: int
    done: int


def seconds_left(elapsed: float, ended: int, remaining: int) -> float | None:
    """Estimate how long the remaining trials take if they end as quickly as others did.

    Every time left that is shown anywhere is this, and `elapsed` never has the start of processes
    in it. None if there is nothing to tell it by: a few trials of the first moments, in which
    libraries are still loaded, tell nothing.
    """
    if remaining <= 0 or ended <= 0 or elapsed <= 0:
        return None
    if elapsed < _TELLING_SECONDS and ended < _EVERY_SHARE * (ended + remaining):
        return None
    return elapsed / ended * remaining


class _Count:
    """How far a run, or several, is, and how to say it."""

    def __init__(self, total: int, before: int, failed: int = 0) -> None:
        self.total, self.before, self.failed = total, before, failed
        self.done = 0
        self._started = self._ready = time.monotonic()

    def ready(self) -> None:
        if not self.done:
            self._ready = time.monotonic()

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
    def working(self) -> float:
        """Seconds since the processes were up."""
        return time.monotonic() - self._ready

    @property
    def failures(self) -> str:
        return f"{self.failed} failed" if self.failed else ""

    @property
    def left(self) -> str:
        seconds = seconds_left(self.working, self.done, self.total - self.ended)
        return "" if seconds is None else f"about {duration(seconds)} left"

    def text(self, unit: str) -> str:
        parts = [f"{self.ended} of {self.total} {unit}", self.failures, duration(self.elapsed)]
        return ", ".join(part for part in (*parts, self.left) if part)


class Lines(Progress):
    """Writes a line at the beginning, every ten seconds or tenth of the way, and at the end.

    Tenths that take less than a second have none. Of several runs each line tells the totals too.
    """

    def __init__(
        self, stream: TextIO, unit: str = "trials", totals: BatchTotals | None = None
    ) -> None:
        self._stream = stream
        self._unit = unit
        self._totals = totals
        self._all_done = 0 if totals is None else totals.done

    def begin(self, name: str, total: int, done: int, failed: int = 0) -> None:
        """Write how much there is to do."""
        self._name, self._count = name, _Count(total, done, failed)
        self._last_time = time.monotonic()
        self._last_done = 0
        already = f", {done} of them done already" if done else ""
        self._write(f"{total} {self._unit}{already}")

    def ready(self) -> None:
        """Count the time from here on."""
        self._count.ready()

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
        if self._totals is None:
            return own
        return f"{own}; all {self._totals.runs} specs: {self._all_done} of {self._totals.total}"

    def _write(self, text: str) -> None:
        self._stream.write(f"{self._name}: {text}\n")
        self._stream.flush()


class Bar(Progress):
    """Draws a bar with rate, time left and failures on a terminal.

    Several runs have a second bar for their totals, and each leaves a line when it has ended.
    """

    def __init__(self, totals: BatchTotals | None = None) -> None:
        from rich.console import Console

        self._console = Console(stderr=True)
        self._totals = totals
        self._all = None if totals is None else _Count(totals.total, totals.done)

    def begin(self, name: str, total: int, done: int, failed: int = 0) -> None:
        """Draw an empty bar, or one filled as far as trials are done already."""
        # One that has been stopped would draw over what was printed since.
        self._display = self._make_display()
        self._name, self._count = name, _Count(total, done, failed)
        self._bars = [(self._count, self._add(name, self._count))]
        if self._all is not None and self._totals is not None:
            text = f"all {self._totals.runs} specs"
            self._bars.append((self._all, self._add(text.ljust(len(name)), self._all)))
        self._display.start()

    def ready(self) -> None:
        """Count the time from here on."""
        for count, _ in self._bars:
            count.ready()

    def advance(self, ok: int, failed: int) -> None:
        """Move the bar."""
        for count, bar in self._bars:
            count.advance(ok, failed)
            self._display.update(
                bar,
                completed=count.ended,
                rate=f"{count.done / max(count.working, 1e-9):.3g}/s",
                left=count.left or duration(count.elapsed),
                failed=count.failures,
            )

    def note(self, text: str) -> None:
        """Write the text above the bar."""
        self._console.print(text, markup=False, highlight=False)

    def end(self) -> None:
        """Leave the bar as it is, or a line in place of the two."""
        self._display.stop()
        if self._totals is not None:
            self.note(f"{self._name}: {self._count.text('trials')}")

    def _make_display(self) -> Display:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        return Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[left]}"),
            TextColumn("[red]{task.fields[failed]}"),
            console=self._console,
            transient=self._totals is not None,
        )

    def _add(self, name: str, count: _Count) -> TaskID:
        return self._display.add_task(
            name, total=count.total, completed=count.ended, rate="", left="", failed=""
        )


class Notebook(Progress):
    """Shows a bar with time left and failures below the cell that runs, and changes it in place."""

    def begin(self, name: str, total: int, done: int, failed: int = 0) -> None:
        """Show how much there is to do."""
        self._name, self._count = name, _Count(total, done, failed)
        self._last_time = time.monotonic()
        # A kernel has it loaded, and nothing else needs it.
        self._shown = sys.modules["IPython.display"].display(
            self._content(), raw=True, display_id=True
        )

    def ready(self) -> None:
        """Count the time from here on."""
        self._count.ready()

    def advance(self, ok: int, failed: int) -> None:
        """Show how far it is, unless that was done just now."""
        self._count.advance(ok, failed)
        if time.monotonic() - self._last_time > _NOTEBOOK_SECONDS:
            self._last_time = time.monotonic()
            self._shown.update(self._content(), raw=True)

    def note(self, text: str) -> None:
        """Write the text below."""
        print(text)

    def end(self) -> None:
        """Leave what came of it."""
        self._shown.update(self._content(), raw=True)

    def _content(self) -> dict[str, str]:
        text = f"{self._name}: {self._count.text('trials')}"
        bar = f'<progress value="{self._count.ended}" max="{self._count.total}"></progress>'
        return {"text/plain": text, "text/html": f"{bar} {escape(text)}"}


def _in_notebook() -> bool:
    """Tell whether what is shown is seen in a notebook, whose kernel has no terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def make_progress(
    *,
    quiet: bool = False,
    stream: TextIO | None = None,
    unit: str = "trials",
    totals: BatchTotals | None = None,
) -> Progress:
    """Return what suits the stream, a bar if it is a terminal, or without one the program.

    That is standard error, or in a notebook the cell that runs.
    """
    if quiet:
        return Progress()
    if stream is None and _in_notebook():
        return Notebook()
    target = stream if stream is not None else sys.stderr
    return Bar(totals) if target.isatty() else Lines(target, unit, totals)


def duration(seconds: float) -> str:
    """Return a time as people say it, such as ``3 min 20 s``."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
