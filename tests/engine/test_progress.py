from __future__ import annotations

import io

import pytest

from ddr_cli.engine.progress import BatchTotals, Display, Progress, duration, make_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(stream, totals=None):
    display = Display(stream, totals=totals)
    display.begin("small", 20, 10)
    display.advance(4, 1)
    display.note("a [warning] of a method")
    display.advance(4, 1)
    display.end()
    return stream.getvalue().splitlines()


def test_without_a_terminal_there_is_a_first_and_a_last_line():
    first, note, last = told(io.StringIO())
    assert first.startswith("small: 20 trials, 10 ")
    assert note == "a [warning] of a method"
    assert last == "small: 20 of 20 trials, 2 failed, 0.0 s"


def test_lines_come_in_between_and_tell_the_time_left(monkeypatch):
    monkeypatch.setattr("ddr_cli.engine.progress._EVERY_SECONDS", 0)
    lines = told(io.StringIO())
    assert lines[1].startswith("small: 15 of 20 trials, 1 failed, 0.0 s")
    stream = io.StringIO()
    display = Display(stream)
    display.begin("small", 20, 0)
    for _ in range(10):
        display.advance(1, 0)
    assert "10 of 20" in (line := stream.getvalue().splitlines()[-1])
    assert line.endswith(" left")


def test_several_runs_tell_their_totals():
    assert told(io.StringIO(), BatchTotals(3, 100, 40))[-1].endswith("; all 3 specs: 50 of 100")


def test_runs_in_rounds_tell_the_last_line_and_one_every_ten_seconds(monkeypatch):
    def lines(n_runs):
        stream = io.StringIO()
        display = Display(stream, totals=BatchTotals(n_runs, 2 * n_runs, 0, in_rounds=True))
        for number in range(n_runs):
            display.begin(f"run {number}", 2, 0)
            display.advance(2, 0)
            display.end()
        return stream.getvalue().splitlines()

    assert [line.partition(":")[0] for line in lines(30)] == ["run 29"]
    monkeypatch.setattr("ddr_cli.engine.progress._EVERY_SECONDS", 0)
    assert len(lines(30)) >= 30


@pytest.mark.parametrize("totals", [None, BatchTotals(2, 8, 2)])
def test_a_bar_can_be_drawn_for_one_run_after_the_other(totals):
    stream = Terminal()
    display = Display(stream, totals=totals)
    for name in ("first", "second"):
        display.begin(name, 4, 1)
        display.advance(2, 1)
        display.note("a [warning] of a method")
        display.end()
    shown = stream.getvalue()
    assert "a [warning] of a method" in shown
    for text in ("first", "second"):
        assert f"{text}: 4 of 4 trials, 1 failed" in shown
    assert "\x1b[" in shown
    assert ("all 2 specs" in shown) == (totals is not None)


def test_the_bar_names_the_current_work_and_how_long_it_takes(monkeypatch):
    monkeypatch.setattr("ddr_cli.engine.progress._LONG_SECONDS", 0)
    stream = Terminal()
    display = Display(stream)
    display.begin("small", 20, 10)
    display.working_on("CCDR, fraction-3")
    display.end()
    assert "CCDR, fraction-3, 0.0 s" in stream.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (9.96, "10.0 s"), (59, "59 s"), (200, "3 min 20 s"), (7320, "2 h 2 min")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_quiet_shows_problems_alone(capsys):
    progress = make_progress(quiet=True)
    assert type(progress) is Progress
    progress.begin("small", 2, 0)
    progress.note("a warning")
    progress.problem("a problem")
    progress.end()
    assert capsys.readouterr().err == "a problem\n"
