"""A suite gives the same bits on a dask cluster of separate processes as on this machine."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import pytest
import yaml

distributed = pytest.importorskip("distributed", reason="dask is not installed")

SUITE = """
title: A suite for a cluster
version: 1
repeats: 6
classifiers: [{name: knn, n_neighbors: 3}]
preprocess: [standardize]
widths: [1, 2]
methods:
  none:
  lda:
  lfda: {n_neighbors: {grid: [3, 7]}}
datasets:
  cards/first.yaml: {split: {kind: fraction, train: 0.5}}
  cards/second.yaml: {split: {kind: fraction, train: 0.5}}
tracks:
  inductive: {tune: {folds: 2, budget: 4}}
"""
SECONDS = ["fit_seconds", "eval_seconds", "tune_seconds"]


@pytest.fixture
def asked(work, tmp_path, monkeypatch):
    """Serve the files of two data sets; return the list of requests."""
    served, found = tmp_path / "served", []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            found.append(self.path)
            super().do_GET()

    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(served)))
    threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
    served.mkdir()
    (work / "cards").mkdir()
    (work / "suite.yaml").write_text(SUITE)
    for seed, name in enumerate(("first", "second")):
        rng = np.random.default_rng(seed)
        y = np.arange(120) % 3
        X = rng.normal(size=(120, 4)) + rng.normal(size=(3, 4))[y]
        pd.DataFrame(X).assign(y=y).to_csv(served / f"{name}.csv", index=False, header=False)
        url = f"http://127.0.0.1:{http.server_port}/{name}.csv"
        card = {
            "name": name,
            "title": name,
            "files": [{"path": f"{name}/{name}.csv", "urls": [url]}],
            "format": {"name": "csv", "label": 4},
            "expect": {"samples": 120, "features": 4, "classes": {0: 40, 1: 40, 2: 40}},
        }
        (work / "cards" / f"{name}.yaml").write_text(yaml.safe_dump(card))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield found
    http.shutdown()
    http.server_close()


@pytest.fixture
def cluster(tmp_path):
    """Start a scheduler and two workers, each with its own empty cache and without downloads."""
    file = tmp_path / "scheduler.json"

    def start(command, *words, **environment):
        code = ["-m", f"distributed.cli.dask_{command}", "--scheduler-file", str(file)]
        process = subprocess.Popen(
            [sys.executable, *code, "--no-dashboard", *words],
            env=os.environ | environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        ends.callback(process.wait)
        ends.callback(process.kill)

    with contextlib.ExitStack() as ends:
        start("scheduler", "--port", "0")
        for i in range(2):
            folder = tmp_path / f"worker{i}"
            options = ["--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
            own = {"DDR_CACHE": str(folder / "cache"), "DDR_DATA": "", "DDR_OFFLINE": "1"}
            start("worker", "--name", str(i), *options, **own)
        # The client waits until the scheduler has written the whole file.
        client = ends.enter_context(distributed.Client(scheduler_file=str(file)))
        client.wait_for_workers(2, timeout=30)
        yield client


def wait_for(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def rows(folder):
    tables = [pd.read_csv(path, dtype=str) for path in sorted(folder.glob("*/*/trials.csv"))]
    return pd.concat(tables).set_index("trial_id").sort_index().drop(columns=SECONDS)


def test_a_suite_that_loses_a_worker_has_the_bits_of_a_local_run(
    ddr_here, cluster, asked, work, tmp_path, monkeypatch
):
    seen = {"holders": set(), "before": None, "killed": None}

    pid_of = cluster.run(os.getpid)

    def kill_a_busy_worker():
        while seen["killed"] is None:
            held = cluster.has_what()
            seen["holders"] |= {
                address for address, keys in held.items() if any("-bytes-" in key for key in keys)
            }
            busy = [address for address, tasks in cluster.processing().items() if tasks]
            if len(seen["holders"]) == 2 and busy and list((work / "far").glob("*/*/trials.csv")):
                seen["before"] = len(rows(work / "far"))
                os.kill(pid_of[busy[0]], signal.SIGKILL)
                seen["killed"] = busy[0]
            time.sleep(0.01)

    threading.Thread(target=kill_a_busy_worker, daemon=True).start()
    monkeypatch.setenv("DDR_OFFLINE", "0")
    address = cluster.scheduler.address
    backend = ["--backend", "dask", "--scheduler", address]
    far = ddr_here("suite", "run", "suite.yaml", "--quiet", "--out", "far", *backend)
    near = ddr_here("suite", "run", "suite.yaml", "--quiet", "--out", "near")
    assert (far.returncode, near.returncode) == (0, 0), far.stderr + near.stderr
    expected, found = rows(work / "near"), rows(work / "far")
    assert seen["killed"]
    assert seen["before"] < len(found)
    assert set(found["status"]) == {"ok"}
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    # The process that runs the suite downloads each file once and sends the data to the workers.
    assert sorted(asked) == ["/first.csv", "/second.csv"]
    assert not list(tmp_path.glob("worker*/cache"))
