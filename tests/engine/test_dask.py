"""Runs on the workers of a real dask cluster on this machine."""

from __future__ import annotations

import builtins
import contextlib
import os
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

import distributed
import pandas as pd
import pytest

from ddr_cli.cli.app import main
from ddr_cli.core.errors import InputError
from ddr_cli.engine import read_trials, run_spec
from ddr_cli.engine.run import make_executor
from ddr_cli.engine.work import dask as dask_executor
from ddr_cli.engine.work.dask import DaskExecutor
from ddr_cli.engine.work.jobs import ExecutorError, last_seen
from ddr_cli.rows.folder import is_running
from ddr_cli.rows.manifest import number_versions

pytestmark = pytest.mark.usefixtures("installed")


SECONDS = ["fit_seconds", "eval_seconds"]


@contextlib.contextmanager
def cluster_of(n_workers, threads=1):
    with distributed.LocalCluster(
        n_workers=n_workers,
        processes=True,
        threads_per_worker=threads,
        dashboard_address=":0",
        memory_limit=0,
    ) as made:
        yield made


@pytest.fixture(scope="module")
def cluster(plugin):
    # Workers inherit this path and pass it on to their own processes.
    sys.path.insert(0, str(plugin))
    try:
        with cluster_of(2) as made:
            yield made
    finally:
        sys.path.remove(str(plugin))


@pytest.fixture(scope="module")
def dask(cluster):
    executor = DaskExecutor(cluster.scheduler_address)
    yield executor
    executor.stop()


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def by_trial(folder):
    table = read_trials(folder).set_index("trial_id").sort_index()
    return table.drop(columns=SECONDS)


def test_numbers_are_those_of_one_local_process(make_spec, dask, tmp_path):
    spec = make_spec(
        preprocess=["standardize"],
        reducers=[
            {"name": "pca", "n_components": 2},
            {"name": "lda", "n_components": 2},
            {"name": "ccdr", "n_components": 2, "n_neighbors": 4, "mode": "transductive"},
            {"name": "noisy"},
        ],
        metrics=["error", "balanced_accuracy"],
    )
    local = run_spec(spec, out=tmp_path / "local", jobs=1)
    remote = run_spec(spec, out=tmp_path / "dask", executor=dask)
    assert remote.done == local.done == local.planned
    pd.testing.assert_frame_equal(by_trial(remote.folder), by_trial(local.folder), check_exact=True)


def test_a_job_that_crashes_or_hangs_costs_its_own_trials(make_spec, dask, cluster, tmp_path):
    before = set(cluster.scheduler_info["workers"])
    spec = make_spec(
        split={"kind": "fraction", "train": 0.5, "repeats": 1},
        reducers=["faulty"],
        sweep={"reducer.does": ["nothing", "die", "hang"]},
    )
    table = read_trials(run_spec(spec, out=tmp_path, executor=dask, timeout=3.0).folder)
    ended = table.groupby("reducer.does")["status"].unique().map(list).to_dict()
    assert ended == {"nothing": ["ok"], "die": ["killed"], "hang": ["timeout"]}
    reasons = table.set_index("reducer.does")["reason"]
    assert reasons["die"].str.contains("SIGKILL").all()
    assert reasons["hang"].str.contains("took longer than 3 s").all()
    assert set(cluster.scheduler_info["workers"]) == before


def is_alive(pid):
    try:
        os.kill(pid or 0, 0)
    except ProcessLookupError:
        return False
    return True


def processes(cluster):
    """Return the folder of each worker by its process id."""

    def own(dask_worker):
        return os.getpid(), Path(dask_worker.local_directory)

    with distributed.Client(cluster, set_as_default=False) as client:
        return dict(client.run(own).values())


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs a path of one process only")
def test_workers_need_no_folder_of_the_machine_that_ddr_runs_on(
    make_spec, dask, tmp_path, monkeypatch
):
    (tmp_path / "own").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", "/proc/self/cwd/own")
    spec = make_spec(
        preprocess=["standardize"],
        reducers=["lda", {"name": "faulty", "does": "die_once", "log": str(tmp_path / "log")}],
    )
    outcome = run_spec(spec, out="results", executor=dask)
    assert outcome.failed == 1  # the process dies once during a fit, which costs one trial
    assert outcome.done == outcome.planned - 1


def test_data_is_sent_once_and_leaves_nothing_behind(make_spec, cluster, tmp_path, monkeypatch):
    sent = []
    submit = distributed.Client.submit

    def submit_and_count(client, function, *args, **options):
        sent.append(function)
        return submit(client, function, *args, **options)

    monkeypatch.setattr(distributed.Client, "submit", submit_and_count)
    executor = DaskExecutor(cluster.scheduler_address)
    spec = make_spec(
        split={"kind": "fraction", "train": 0.5, "repeats": 6}, reducers=["none", "lda", "pca"]
    )
    try:
        outcome = run_spec(spec, out=tmp_path, executor=executor)
        folders = processes(cluster).values()
        wait_for(lambda: not any(list(folder.glob("ddr-*")) for folder in folders))
    finally:
        executor.stop()
    assert outcome.done == outcome.planned
    assert sent.count(bytes) == 1


def test_an_executor_goes_on_after_jobs_were_discarded(make_spec, dask, tmp_path):
    dask.discard()
    outcome = run_spec(make_spec(reducers=["none"]), out=tmp_path, executor=dask)
    assert (outcome.done, outcome.failed) == (outcome.planned, 0)


def test_a_run_that_is_interrupted_ends_the_jobs_of_the_workers(
    make_spec, cluster, tmp_path, monkeypatch
):
    executor = DaskExecutor(cluster.scheduler_address)
    folders = processes(cluster).values()
    fitting: list[int | None] = []

    def wait_for_a_fit(seconds):
        seen = [last_seen(path) for folder in folders for path in folder.glob("ddr-*/trace")]
        fitting.extend(each.pid for each in seen if each.fitting)
        if fitting:
            raise RuntimeError("interrupted")
        return DaskExecutor.wait(executor, min(seconds, 0.05))

    monkeypatch.setattr(executor, "wait", wait_for_a_fit)
    spec = make_spec(reducers=[{"name": "faulty", "does": "spin"}])
    try:
        with pytest.raises(RuntimeError, match="interrupted"):
            run_spec(spec, out=tmp_path, executor=executor)
        wait_for(lambda: not any(is_alive(pid) for pid in fitting))
    finally:
        executor.stop()


def test_a_worker_has_a_process_for_each_thread_and_a_lost_scheduler_ends_the_run(
    make_spec, tmp_path
):
    with cluster_of(1, threads=2) as cluster:
        executor = DaskExecutor(cluster.scheduler_address)
        assert executor.capacity == 4
        outcome = run_spec(make_spec(reducers=["none", "lda"]), out=tmp_path, executor=executor)
    with pytest.raises(ExecutorError, match=r"dask scheduler .* was lost"):
        run_spec(make_spec("other", reducers=["none"]), out=tmp_path, executor=executor)
    executor.stop()
    assert (outcome.done, outcome.failed) == (outcome.planned, 0)
    assert not is_running(tmp_path / "other")


def test_workers_with_other_versions_are_refused(cluster, monkeypatch):
    here = {**number_versions(), "numpy": "0.1"}
    monkeypatch.setattr(dask_executor, "number_versions", lambda: here)
    with pytest.raises(InputError, match=r"numpy \S+ instead of 0\.1"):
        DaskExecutor(cluster.scheduler_address)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:{port}", "nonsense://x"])
def test_a_scheduler_that_is_not_there_is_said(address, monkeypatch):
    monkeypatch.setattr(dask_executor, "_ANSWER_SECONDS", 0.3)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(InputError, match=r"can't be reached .*dask scheduler"):
        DaskExecutor(address.format(port=port))


def test_without_the_package_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == "distributed":
            raise ModuleNotFoundError(name=name)
        return real(name, *rest)

    for loaded in [name for name in sys.modules if name.startswith("ddr_cli.engine.work.dask")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"pip install '.+\[dask\]'"):
        make_executor("dask", scheduler="tcp://127.0.0.1:1")


def test_the_program_runs_on_a_cluster(cluster, tmp_path, monkeypatch):
    (tmp_path / "small.yaml").write_text(
        "dataset: iris\nsplit: {kind: fraction, train: 0.5, repeats: 2}\n"
        "reducers: [none]\nclassifiers: [knn]\n"
    )
    monkeypatch.chdir(tmp_path)
    options = ["--backend", "dask", "--scheduler", cluster.scheduler_address, "--quiet"]
    monkeypatch.setattr(sys, "argv", ["ddr", "run", "small.yaml", *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert set(read_trials(tmp_path / "results" / "small")["status"]) == {"ok"}


# This test is the last of the file, because it kills one of the workers.
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_worker_that_is_killed_loses_no_trial(make_spec, cluster, tmp_path):
    # Every fit waits until something reads the pipe.
    log = tmp_path / "log"
    os.mkfifo(log)
    spec = make_spec(
        split={"kind": "fraction", "train": 0.5, "repeats": 2},
        reducers=[{"name": "faulty", "log": str(log)}],
        sweep={"reducer.scale": [1.0, 2.0, 3.0, 4.0]},
    )
    killed = []

    def kill_a_worker_in_a_fit(workers):
        while not killed:
            time.sleep(0.02)
            for pid, folder in workers.items():
                if any(last_seen(trace).fitting for trace in folder.glob("ddr-*/trace")):
                    # The kill also loses the worker's copy of the data and the splits that it has
                    # prepared.
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                    break
        reader = os.open(log, os.O_RDWR)
        while select.select([reader], [], [], 20)[0]:
            os.read(reader, 100)

    executor = DaskExecutor(cluster.scheduler_address)
    workers = processes(cluster)
    threading.Thread(target=kill_a_worker_in_a_fit, args=(workers,), daemon=True).start()
    try:
        outcome = run_spec(spec, out=tmp_path, executor=executor)
    finally:
        executor.stop()
    assert killed
    table = read_trials(outcome.folder)
    assert len(table) == table["trial_id"].nunique() == outcome.planned == 16
    assert set(table["status"]) == {"ok"}
