from __future__ import annotations

import io
import os
import time
from pathlib import Path

import pytest

from ddr_cli.engine.progress import Bar, Lines, Silent, duration, make_progress
from ddr_cli.engine.scratch import Scratch


def told(total: int, steps: list[tuple[int, int]], done: int = 0) -> list[str]:
    stream = io.StringIO()
    lines = Lines(stream)
    lines.begin("small", total, done)
    for ok, failed in steps:
        lines.advance(ok, failed)
    lines.end()
    return stream.getvalue().splitlines()


def test_lines_come_every_tenth_of_the_way() -> None:
    lines = told(1000, [(1, 0)] * 1000)
    assert len(lines) == 11
    assert lines[0] == "small: 1000 trials"
    assert lines[1].startswith("small: 100 of 1000 trials, ")
    assert lines[1].endswith(" left")
    assert lines[-1].startswith("small: 1000 of 1000 trials, ")
    assert "left" not in lines[-1]


def test_lines_tell_failures_and_what_was_done_before() -> None:
    lines = told(20, [(4, 1), (4, 1)], done=10)
    assert lines[0] == "small: 20 trials, 10 of them done already"
    assert lines[-1].startswith("small: 20 of 20 trials, 2 failed, ")


def test_a_line_comes_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    lines = Lines(stream)
    lines.begin("small", 10_000, 0)
    for _ in range(50):
        now[0] += 1.0
        lines.advance(1, 0)
    assert len(stream.getvalue().splitlines()) == 1 + 5


def test_an_interrupted_run_tells_how_far_it_came() -> None:
    assert told(100, [(3, 0)])[-1].startswith("small: 3 of 100 trials, ")


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
    assert isinstance(make_progress(quiet=True), Silent)


def test_a_bar_can_be_drawn_for_one_run_after_the_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bar = Bar()
    for name in ("first", "second"):
        bar.begin(name, 4, 1)
        bar.advance(2, 1)
        bar.note("a [warning] of a method")
        bar.end()
    shown = capsys.readouterr().err
    assert "a [warning] of a method" in shown
    assert "first" in shown
    assert "second" in shown


def test_scratch_of_a_killed_run_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stale = tmp_path / "ddr-scratch-stale"
    (stale / "data").mkdir(parents=True)
    (stale / "alive.lock").write_text("")
    new = tmp_path / "ddr-scratch-new"
    new.mkdir()
    old = tmp_path / "ddr-scratch-old"
    old.mkdir()
    os.utime(old, (0, 0))
    other = tmp_path / "ddr-something-else"
    other.mkdir()
    with Scratch() as first, Scratch() as second:
        assert sorted(tmp_path.iterdir()) == sorted([first.path, second.path, new, other])
    assert sorted(tmp_path.iterdir()) == [new, other]
