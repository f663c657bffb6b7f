from __future__ import annotations

import io
import sys
import time
from types import SimpleNamespace

import pytest

from ddr_cli.engine.progress import Bar, BatchTotals, Lines, Progress, duration, make_progress


class Clock:
    """The time, which passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made)
    return made


def told(
    clock: Clock,
    total: int,
    steps: list[tuple[int, int]],
    *,
    done: int = 0,
    seconds: float,
    totals: BatchTotals | None = None,
) -> list[str]:
    stream = io.StringIO()
    lines = Lines(stream, totals=totals)
    lines.begin("small", total, done)
    for ok, failed in steps:
        clock.now += seconds
        lines.advance(ok, failed)
    lines.end()
    return stream.getvalue().splitlines()


def test_lines_come_every_tenth_of_the_way(clock: Clock) -> None:
    lines = told(clock, 1000, [(1, 0)] * 1000, seconds=0.02)
    assert len(lines) == 11
    assert lines[0] == "small: 1000 trials"
    assert lines[1].startswith("small: 100 of 1000 trials, ")
    assert lines[1].endswith(" left")
    assert lines[-1].startswith("small: 1000 of 1000 trials, ")
    assert "left" not in lines[-1]


def test_a_run_of_a_moment_has_a_first_and_a_last_line(clock: Clock) -> None:
    assert len(told(clock, 1000, [(1, 0)] * 1000, seconds=0.0005)) == 2


def test_lines_tell_failures_and_what_was_done_before(clock: Clock) -> None:
    lines = told(clock, 20, [(4, 1), (4, 1)], done=10, seconds=1)
    assert lines[0] == "small: 20 trials, 10 of them done already"
    assert lines[-1] == "small: 20 of 20 trials, 2 failed, 2.0 s"


def test_lines_tell_of_all_runs(clock: Clock) -> None:
    lines = told(clock, 20, [(10, 0)], done=10, seconds=4, totals=BatchTotals(3, 100, 40))
    assert lines[-1] == "small: 20 of 20 trials, 4.0 s; all 3 specs: 50 of 100"


def test_a_line_comes_every_ten_seconds(clock: Clock) -> None:
    lines = told(clock, 10_000, [(1, 0)] * 50, seconds=1)
    assert len(lines) == 1 + 5


def test_the_time_left_is_not_counted_from_the_start_of_processes(clock: Clock) -> None:
    stream = io.StringIO()
    lines = Lines(stream)
    lines.begin("small", 100, 0)
    clock.now += 60
    lines.ready()
    clock.now += 2
    lines.advance(1, 0)
    assert "left" not in stream.getvalue()
    for _ in range(19):
        clock.now += 0.1
        lines.advance(1, 0)
    clock.now += 10.1
    lines.advance(0, 0)
    last = stream.getvalue().splitlines()[-1]
    assert last == "small: 20 of 100 trials, 1 min 14 s, about 56 s left"


def test_an_interrupted_run_tells_how_far_it_came(clock: Clock) -> None:
    assert told(clock, 100, [(3, 0)], seconds=0)[-1].startswith("small: 3 of 100 trials, ")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (9.96, "10.0 s"), (59, "59 s"), (200, "3 min 20 s"), (7320, "2 h 2 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_what_suits_the_stream() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert isinstance(make_progress(stream=io.StringIO()), Lines)
    assert isinstance(make_progress(stream=Terminal()), Bar)
    assert type(make_progress(quiet=True)) is Progress


@pytest.mark.parametrize("totals", [None, BatchTotals(2, 8, 2)])
def test_a_bar_can_be_drawn_for_one_run_after_the_other(
    capsys: pytest.CaptureFixture[str], totals: BatchTotals | None
) -> None:
    bar = Bar(totals)
    for name in ("first", "second"):
        bar.begin(name, 4, 1)
        bar.advance(2, 1)
        bar.note("a [warning] of a method")
        bar.end()
    shown = capsys.readouterr().err
    assert "a [warning] of a method" in shown
    assert "first" in shown
    assert "second" in shown
    assert ("second: 4 of 4 trials, 1 failed" in shown) == (totals is not None)


def test_a_notebook_has_a_bar_that_changes_in_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[dict[str, str]] = []

    class Handle:
        def update(self, content: dict[str, str], **_: object) -> None:
            shown.append(content)

    def display(content: dict[str, str], **_: object) -> Handle:
        shown.append(content)
        return Handle()

    shell = type("ZMQInteractiveShell", (), {})()
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setattr("ddr_cli.engine.progress._NOTEBOOK_SECONDS", -1)
    progress = make_progress()
    progress.begin("a<b", 4, 1)
    progress.advance(1, 1)
    progress.note("a method's warning")
    progress.end()
    assert shown[0]["text/plain"].startswith("a<b: 1 of 4 trials")
    assert '<progress value="3" max="4"></progress> a&lt;b: 3 of 4' in shown[-1]["text/html"]
    assert "1 failed" in shown[-1]["text/plain"]
    assert len(shown) == 3
    assert capsys.readouterr().out == "a method's warning\n"
