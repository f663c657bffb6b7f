"""Components that raise, hang, die or use up the memory only cost their own trials."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import tempfile
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ddr_cli.core import processes
from ddr_cli.core.errors import DdrError, InputError
from ddr_cli.core.own_code import trusting
from ddr_cli.engine import read_trials, run_spec, run_status
from ddr_cli.engine.progress import Progress
from ddr_cli.engine.work import fitting as work
from ddr_cli.engine.work.jobs import last_seen
from ddr_cli.engine.work.local import LocalExecutor

pytestmark = pytest.mark.usefixtures("installed")

# For each fault, the resulting status and a part of the reason.
FAULTS = {
    "raise": ("failed", "OddError: odd"),
    "exit": ("failed", "SystemExit: 3"),
    "die": ("killed", "SIGKILL"),
    "spin": ("timeout", "took longer than 3 s"),
    "exit0": ("killed", "ended without a result"),
    "interrupt": ("failed", "KeyboardInterrupt"),
    "base": ("failed", "BaseException: neither caught nor told"),
}
ONE_SPLIT = {"kind": "fraction", "train": 0.5, "repeats": 1}


def outcome_of(spec, run, **options):
    outcome = run(spec, **options)
    table = read_trials(outcome.folder)
    bad = table[table["status"] != "ok"]
    assert outcome.planned == len(table) == table["trial_id"].nunique()
    assert outcome.failed == len(bad)
    assert outcome.done == outcome.planned - len(bad)
    assert not bad["reason"].eq("").any()
    # With three classes of equal size, the majority-class baseline errs on two thirds.
    np.testing.assert_allclose(bad["error"], 2 / 3)
    assert table[table["status"] == "ok"]["error"].notna().all()
    return table


def test_a_fault_in_a_fit_fails_the_trials_of_that_fit(make_spec, run):
    spec = make_spec(
        split=ONE_SPLIT, reducers=["faulty"], sweep={"reducer.does": ["nothing", *FAULTS]}
    )
    table = outcome_of(spec, run, timeout=3.0)
    for does, (status, reason) in FAULTS.items():
        bad = table[table["reducer.does"] == does]
        assert bad["classifier"].tolist() == ["knn", "linear"]
        assert set(bad["status"]) == {status}, does
        assert bad["reason"].str.contains(reason, regex=False).all(), does
    assert set(table[table["reducer.does"] == "nothing"]["status"]) == {"ok"}


@pytest.mark.parametrize("does", ["raise", "die"])
def test_a_fault_in_a_step_fails_the_trials_of_that_split(make_spec, run, does):
    with trusting(True):
        step = {"name": "ddr_test_plugin:Faulty", "does": does}
        spec = make_spec(split=ONE_SPLIT, reducers=["none", "pca"], preprocess=[step])
        table = outcome_of(spec, run)
    status, reason = FAULTS[does]
    assert table["status"].tolist() == [status] * 4
    assert table["reason"].str.startswith("during the preparation of the split: ").all()
    assert table["reason"].str.contains(reason, regex=False).all()


def test_where_a_trial_failed_is_kept_with_file_and_line(make_spec, run):
    sweep = {"reducer.does": ["nothing", "raise"]}
    outcome = run(make_spec(split=ONE_SPLIT, reducers=["faulty"], sweep=sweep))
    status = run_status(outcome.folder, reasons=True)
    ((reason, text),) = status.tracebacks.items()
    assert reason == "failed: OddError: odd"
    assert re.search(r'ddr_test_plugin.py", line \d+, in act\n +raise OddError', text)
    assert "/engine/work.py" not in text
    assert "raise OddError" in str(status)
    assert "raise OddError" not in str(run_status(outcome.folder))


def test_a_piece_that_is_no_transformer_is_refused_or_fails_its_own_trials(make_spec, run):
    for name, why in (("function", "it has no fit"), ("no_class", "is not a class")):
        with pytest.raises(InputError, match=why):
            make_spec(reducers=["pca", name])
    table = outcome_of(make_spec(split=ONE_SPLIT, reducers=["pca", "no_transform"]), run)
    bad = table[table["status"] != "ok"]
    assert set(bad["reducer"]) == {"no_transform"}
    assert bad["reason"].str.contains("no attribute 'transform'").all()


def test_a_piece_is_run_again_by_its_name_and_its_old_rows_are_kept(make_spec, run, tmp_path):
    log = tmp_path / "log"
    reducers = ["pca", {"name": "faulty", "log": str(log)}]
    spec = make_spec(split=ONE_SPLIT, reducers=reducers)
    folder = run(spec).folder
    before = read_trials(folder)
    assert run(spec, redo=["faulty"]).done == 2
    assert log.read_text() == "1.0\n" * 2
    again = read_trials(folder)
    assert again["trial_id"].tolist() == before["trial_id"].tolist()
    assert again["error"].tolist() == before["error"].tolist()
    (kept,) = (folder / "previous").iterdir()
    pd.testing.assert_frame_equal(read_trials(kept), before)
    assert run(spec).skipped == 4


def test_a_fault_in_a_classifier_fails_its_own_trials(make_spec, run):
    faults = {"raise": FAULTS["raise"], "die": FAULTS["die"]}
    # Both values of k are evaluated in one call. If it fails, they are evaluated one by one.
    spec = make_spec(
        split=ONE_SPLIT,
        reducers=["pca"],
        classifiers=["linear", {"name": "faulty", "when": 2}, "knn"],
        sweep={"classifier.does": ["nothing", *faults], "classifier.k": [1, 2]},
    )
    table = outcome_of(spec, run)
    bad = table[table["status"] != "ok"]
    assert bad["classifier.does"].tolist() == list(faults)
    assert bad["classifier.k"].tolist() == [2] * len(faults)
    for (status, reason), (_, row) in zip(faults.values(), bad.iterrows(), strict=True):
        assert row["status"] == status
        assert reason in row["reason"]
    # The fit succeeded, so its time stays in the row.
    assert bad.set_index("classifier.does").loc["raise", "fit_seconds"] >= 0


def test_a_classifier_that_hangs_is_ended(make_spec, run):
    hangs = {"name": "faulty", "does": "hang", "when": 2}
    spec = make_spec(
        split=ONE_SPLIT, reducers=["pca"], classifiers=[hangs], sweep={"classifier.k": [1, 2]}
    )
    # On a busy machine, other trials may also time out.
    table = outcome_of(spec, run, timeout=1.0).set_index("classifier.k")
    assert table.loc[2, "status"] == "timeout"
    assert "took longer than 1 s" in str(table.loc[2, "reason"])


def test_undefined_values_are_a_failure(make_spec, run):
    table = outcome_of(make_spec(reducers=[{"name": "faulty", "does": "nan"}, "none"]), run)
    assert table[table["reducer"] == "faulty"]["reason"].str.contains("undefined values").all()
    assert (table[table["reducer"] == "none"]["status"] == "ok").all()


def test_warnings_of_methods_are_shown_once(make_spec, run):
    class Listener(Progress):
        def __init__(self) -> None:
            self.notes: list[str] = []

        def note(self, text: str) -> None:
            self.notes.append(text)

    listener = Listener()
    run(make_spec(reducers=[{"name": "faulty", "does": "warn"}]), progress=listener)
    assert listener.notes == ["UserWarning: this method warns"]


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux only")
def test_more_memory_than_allowed_is_a_failure(make_spec, tmp_path, plugin):
    assert plugin
    spec = make_spec(
        reducers=[{"name": "faulty", "does": "gorge", "when": 2.0}],
        sweep={"reducer.scale": [1.0, 2.0]},
    )
    table = outcome_of(spec, run_spec, out=tmp_path, memory_limit=4_000_000_000)
    bad = table[table["status"] != "ok"]
    assert bad["reducer.scale"].tolist() == [2.0] * 6
    assert bad["reason"].str.contains("out of memory (limit 4 GB per worker)", regex=False).all()


def test_failed_trials_are_run_again_only_on_demand(make_spec, run, tmp_path):
    log = tmp_path / "log"
    reducer = {"name": "faulty", "does": "raise", "when": 2.0, "log": str(log)}
    spec = make_spec(reducers=[reducer], sweep={"reducer.scale": [1.0, 2.0]})
    folder = run(spec).folder
    fits = log.read_text().count("\n")
    assert (run(spec).failed, log.read_text().count("\n")) == (6, fits)
    outcome = run(spec, redo=["failed"])
    assert (outcome.failed, outcome.skipped, outcome.done) == (6, 6, 0)
    assert log.read_text().split()[fits:] == ["2.0"] * 3
    assert len(read_trials(folder)) == len((folder / "trials.csv").read_text().splitlines()) - 1
    assert run_status(folder).failures == {"failed: OddError: odd": 6}


def test_a_retry_that_works_replaces_the_row(make_spec, run):
    spec = make_spec(reducers=["none"])
    folder = run(spec).folder
    whole = (folder / "trials.csv").read_text()
    path = folder / "trials.csv"
    lines = whole.splitlines(keepends=True)
    for number in (2, 4):
        cells = lines[number].split(",")
        status = cells.index("ok")
        cells[status - 1 : status + 2] = ["", "killed", "by hand"]
        lines[number] = ",".join(cells)
    path.write_text("".join(lines))
    assert run_status(folder).failed == 2
    outcome = run(spec, redo=["failed"])
    assert (outcome.done, outcome.failed, outcome.skipped) == (2, 0, 4)
    strip = [line.rsplit(",", 2)[0] for line in path.read_text().splitlines()]
    assert strip == [line.rsplit(",", 2)[0] for line in whole.splitlines()]


def test_a_fit_that_kills_its_process_is_tried_twice(make_spec, run, tmp_path):
    log = tmp_path / "log"
    spec = make_spec(
        split=ONE_SPLIT,
        reducers=[{"name": "faulty", "does": "die", "log": str(log)}],
        sweep={"classifier.n_neighbors": [1, 3, 5, 7]},
    )
    assert set(outcome_of(spec, run)["status"]) == {"killed"}
    assert len(log.read_text().split()) == 2


def test_an_evaluation_has_what_the_fit_left_of_the_time(monkeypatch):
    asked: list[float | None] = []

    def deadline(seconds):
        asked.append(seconds)
        raise ValueError

    monkeypatch.setattr(work, "_deadline", deadline)
    embedding: Any = SimpleNamespace(wall_seconds=6.0, cpu_seconds=0.0, wide=None)
    one: Any = SimpleNamespace(trial_id="1", candidate=0, width=None)
    job: Any = SimpleNamespace(timeout=10.0)
    work._evaluate([one, one], embedding, Any, job)
    # After 6 of 10 s, each trial has 4 s left: 8 s for both together, then 4 s for each.
    assert asked == [8.0, 4.0, 4.0]


def test_a_worker_killed_once_costs_one_trial(make_spec, run, tmp_path):
    reducer = {"name": "faulty", "does": "die_once", "when": 2.0, "log": str(tmp_path / "log")}
    spec = make_spec(reducers=[reducer], sweep={"reducer.scale": [1.0, 2.0, 3.0]})
    table = outcome_of(spec, run)
    (bad,) = table[table["status"] != "ok"].index
    assert table.loc[bad, ["status", "reducer.scale", "classifier"]].tolist() == [
        "killed",
        2,
        "knn",
    ]
    assert table.loc[bad, "reason"].startswith("the worker process was killed")
    again = run(spec, redo=["failed"])
    assert (again.done, again.failed, again.skipped) == (1, 0, 17)


def test_trials_that_were_evaluated_before_the_death_are_kept(make_spec, run, tmp_path):
    log = tmp_path / "log"
    spec = make_spec(
        split=ONE_SPLIT,
        reducers=[{"name": "picky", "log": str(log)}],
        classifiers=["linear", {"name": "faulty", "does": "die", "when": 1}],
        sweep={"reducer.n_components": [2, 3]},
    )
    table = outcome_of(spec, run)
    assert set(table[table["status"] == "killed"]["classifier"]) == {"faulty"}
    # The second fit serves the trials that the first death left, with as many components.
    assert log.read_text().split() == ["3"] * 2


def test_idle_workers_may_be_killed(make_spec, tmp_path):
    executor = LocalExecutor(1)
    try:
        for number in range(2):
            spec = make_spec(f"spec{number}", reducers=["none"])
            assert run_spec(spec, out=tmp_path, executor=executor).done == 6
            for child in multiprocessing.active_children():
                if child.name == "pebble_pool_worker":
                    os.kill(child.pid or 0, signal.SIGKILL)
    finally:
        executor.stop()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_job_is_done_again_when_the_pool_has_given_up(make_spec, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # Every fit waits until something reads the pipe.
    log = tmp_path / "log"
    os.mkfifo(log)
    spec = make_spec(split=ONE_SPLIT, reducers=[{"name": "faulty", "log": str(log)}])
    executor = LocalExecutor(2)
    assert executor.capacity == 4
    workers = {child.pid for child in multiprocessing.active_children()}
    start = processes._Process.start

    def fail_once(_):
        monkeypatch.setattr(processes._Process, "start", start)
        raise OSError("no more processes")

    def at_work():
        traces = [last_seen(path) for path in tmp_path.glob("ddr-scratch-*/traces/*")]
        return {trace.pid for trace in traces if trace.fitting}

    def break_the_pool():
        while not (before := at_work()):
            time.sleep(0.02)
        # If a dead process cannot be replaced, the whole pool breaks.
        monkeypatch.setattr(processes._Process, "start", fail_once)
        for idle in workers - before:
            os.kill(idle or 0, signal.SIGKILL)
        while not at_work() - before:
            time.sleep(0.02)
        reader = os.open(log, os.O_RDWR)
        os.read(reader, 100)

    threading.Thread(target=break_the_pool, daemon=True).start()
    try:
        outcome = run_spec(spec, out=tmp_path, executor=executor)
    finally:
        executor.stop()
    assert (outcome.done, outcome.failed) == (outcome.planned, 0)


def test_workers_that_cannot_start_end_the_run(make_spec, tmp_path, monkeypatch):
    # `len` raises when it is called with a worker's arguments.
    monkeypatch.setattr("ddr_cli.engine.work.local._start_worker", len)
    with pytest.raises(DdrError, match="crash on start-up"):
        run_spec(make_spec(reducers=["none"]), out=tmp_path)
