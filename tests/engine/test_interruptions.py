"""A run may end at any moment; the same call completes it as if it had not been interrupted."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.engine import read_manifest, read_trials
from ddr_cli.engine.progress import Progress
from ddr_cli.rows.folder import is_running
from ddr_cli.spec import load_spec

SPEC = """
title: A test
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 16}
preprocess: [standardize]
reducers: [none, {name: pca}, {name: ccdr, mode: transductive}]
classifiers: [{name: knn}, linear]
sweep: {reducer.n_components: [1, 2], classifier.n_neighbors: [1, 5]}
controls: [shuffled_labels]
"""
# One fit never ends, so that the run cannot finish before the test interrupts it.
ENDLESS = SPEC.replace("reducers: [none", "reducers: [none, {name: faulty, does: hang}")

SCRIPT = """
import sys
from pathlib import Path
from ddr_cli.engine import run_spec
from ddr_cli.spec import load_spec

Path("small.yaml").write_text('''%s''')
outcome = run_spec(load_spec("small.yaml"), out=sys.argv[1], jobs=1)
print(outcome.done, outcome.skipped, outcome.failed, outcome.interrupted)
"""
# The process kills itself, because another process may be too slow on a busy machine.
KILLED = """
import os, signal, sys, threading
from ddr_cli.engine import run_spec
from ddr_cli.engine.progress import Progress
from ddr_cli.spec import load_spec

rows, seconds = int(sys.argv[2]), float(sys.argv[3])

class Killing(Progress):
    def advance(self, ok, failed):
        global rows
        rows -= ok
        if rows <= 0:
            threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()

run_spec(load_spec("small.yaml"), out=sys.argv[1], jobs=1, progress=Killing())
"""

# The controls are CCDR's trials with shuffled labels.
PLANNED = 16 * 3 * (1 + 2 + 2 + 2)


def lines_of(path):
    return [line.rsplit(",", 2)[0] for line in path.read_text().splitlines()]


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip()


def members(session):
    """Return the processes of a session that still exist."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(folder.name))
    return found


def wait_for(condition):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def rows_in(path):
    """Return the number of rows of a trial log, or of all logs in a folder."""
    paths = path.glob("*.csv") if path.is_dir() else [path] * path.exists()
    return sum(max(each.read_bytes().count(b"\n") - 1, 0) for each in paths)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="counts processes in /proc")
def test_a_run_killed_again_and_again_ends_as_if_it_had_not_been(run_script, run, tmp_path):
    (tmp_path / "small.yaml").write_text(SPEC)
    spec = load_spec(tmp_path / "small.yaml")
    assert run(spec, out=tmp_path / "whole").done == PLANNED
    whole, torn = tmp_path / "whole" / "small", tmp_path / "torn" / "small"
    generator = random.Random(7)
    kept = 0
    for _ in range(2):
        rows, seconds = generator.randint(1, PLANNED // 4), generator.random() * 0.05
        process = run_script(KILLED, "torn", str(rows), str(seconds))
        assert process.wait() == -signal.SIGKILL
        wait_for(lambda pid=process.pid: not members(pid))
        kept = rows_in(torn)
    assert 0 < kept < PLANNED
    outcome = run(spec, out=tmp_path / "torn")
    assert (outcome.skipped, outcome.done) == (kept, PLANNED - kept)
    assert (outcome.failed, outcome.interrupted) == (0, False)
    for name in ("trials.csv", "controls.csv"):
        assert lines_of(torn / name) == lines_of(whole / name)
    assert read_trials(torn, which="all")["trial_id"].is_unique
    sessions = read_manifest(torn).sessions
    assert [session.finished is None for session in sessions] == [True] * 2 + [False]


class Impatient(Progress):
    """Sends a signal to this process when the first trials have ended."""

    def __init__(self, number: signal.Signals) -> None:
        self.number: signal.Signals | None = number

    def advance(self, ok: int, failed: int) -> None:
        assert (ok > 0, failed) == (True, 0)
        if self.number is not None:
            os.kill(os.getpid(), self.number)
        self.number = None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_between_two_rows(make_spec, run, number):
    split = {"kind": "fraction", "train": 0.5, "repeats": 30}
    spec = make_spec(split=split, reducers=["none"])
    before = signal.getsignal(number)
    outcome = run(spec, progress=Impatient(number))
    assert signal.getsignal(number) is before
    assert outcome.interrupted
    assert 0 < outcome.done < outcome.planned == 60
    assert len(read_trials(outcome.folder)) == outcome.done
    rest = run(spec)
    assert (rest.interrupted, rest.done) == (False, 60 - outcome.done)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="counts processes in /proc")
def test_ctrl_c_leaves_no_process_and_keeps_what_there_is(run_script, tmp_path):
    process = run_script(SCRIPT % ENDLESS, "out")
    path = tmp_path / "out" / "small" / "trials.csv"
    wait_for(lambda: rows_in(path.parent) > 0)
    # Ctrl-C in a terminal sends the signal to every process of the group.
    os.killpg(process.pid, signal.SIGINT)
    done, skipped, failed, interrupted = finish(process).split()
    assert interrupted == "True"
    assert int(done) > 0
    assert (skipped, failed) == ("0", "0")
    assert len(read_trials(path.parent, which="all")) == int(done)
    assert read_manifest(path.parent).sessions[-1].outcome == "interrupted"
    names = sorted(entry.name for entry in path.parent.iterdir())
    assert names == ["controls.csv", "manifest.json", "run.lock", "trials.csv"]
    wait_for(lambda: not members(process.pid))


def test_two_runs_at_once_do_not_mix(run_script, make_spec, run, tmp_path, installed):
    assert installed
    first = run_script(SCRIPT % ENDLESS, ".")
    wait_for((tmp_path / "small" / "run.lock").exists)
    spec = make_spec("small", reducers=["none"])
    wait_for(lambda: is_running(tmp_path / "small"))
    with pytest.raises(InputError, match=r"run is writing|another version"):
        run(spec)
    assert first.poll() is None
    first.kill()
