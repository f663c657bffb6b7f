"""Fixtures shared by all tests."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

from ddr_cli.engine.work.jobs import Executor, JobEnd

# NumPy reads these when it is loaded. With several threads in each of several processes, the tests
# take twice as long.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# nohup, for example, starts processes that ignore these signals, and child processes inherit this.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGTERM, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

# The time that an example takes depends on other work on the machine.
settings.register_profile("ddr", deadline=None)
settings.load_profile("ddr")

_TOP = Path(__file__).resolve().parent.parent


def _find_mirror():
    named = [Path(part) for part in os.environ.get("DDR_DATA", "").split(os.pathsep) if part]
    for folder in [*named, _TOP.parent / "shared" / "data"]:
        if (folder / "landsat" / "sat.trn").is_file():
            return folder.resolve()
    return None


@pytest.fixture(scope="session")
def data_mirror():
    """Return the mirror that holds the real data sets, or skip."""
    mirror = _find_mirror()
    if mirror is None:
        pytest.skip("the real data is not here: set DDR_DATA to a mirror to run this test")
    return mirror


# -- a back end ------------------------------------------------------------------------------------


class OneAfterTheOther(Executor):
    """Runs the jobs in this process, the last submitted one first."""

    capacity = 3

    def __init__(self) -> None:
        super().__init__()
        self.submitted: list[Any] = []
        self.released: list[Path] = []

    def submit(self, job: Any) -> None:
        self.submitted.append(job)

    def wait(self, seconds: float) -> list[Any]:
        from ddr_cli.engine.work.fitting import do

        assert seconds >= 0
        job = self.submitted.pop()
        return [JobEnd(job, do(job))]

    def release(self, path: Path) -> None:
        self.released.append(path)

    def discard(self) -> None:
        self.submitted.clear()

    def stop(self) -> None:
        pass


@pytest.fixture(scope="session")
def one_after_the_other():
    """Return an executor that starts no process."""
    return OneAfterTheOther


# -- a suite ---------------------------------------------------------------------------------------

TINY_SUITE = """
title: A tiny suite
version: 1
repeats: 1
classifiers: [{name: knn, n_neighbors: 3}]
methods: {none: , lda: }
datasets:
  iris: {split: {kind: fraction, train: 0.5}}
tracks: {inductive: {}}
"""


@pytest.fixture
def tiny_suite(tmp_path, monkeypatch):
    """Return a finished suite, its results `folder`, and a function to `run` what is missing."""
    from ddr_cli.engine.run import RunSettings
    from ddr_cli.suite.definition import load_suite
    from ddr_cli.suite.remaining import parts_of, run_suite

    monkeypatch.setattr("ddr_cli.engine.run.make_executor", lambda *_: OneAfterTheOther())
    (tmp_path / "tiny.yaml").write_text(TINY_SUITE)
    suite, folder = load_suite(tmp_path / "tiny.yaml"), tmp_path / "suite_tiny"

    def run():
        run_suite(suite, parts_of(suite, folder), RunSettings(out=folder, quiet=True))

    run()
    return SimpleNamespace(suite=suite, folder=folder, run=run)


# -- made-up result folders, written in the formats of a real run --------------------------------

SIZES = {"train": 4435, "test": 2000}


def build_spec(
    name,
    *,
    reducers,
    classifiers=({"name": "knn", "params": {"n_neighbors": 3}},),
    measures=None,
    sweep=None,
    repeats=50,
    kind="resample",
    predefined=True,
    paper=None,
    metric="error",
    log=False,
    title="A made-up run",
):
    """Return a spec; `measures` maps each measure, with K in its neighbourhood, to its metric."""
    from ddr_cli.spec.model import Spec

    swept = list(sweep or {})
    metrics = list(dict.fromkeys(measures.values())) if measures else [metric]
    classifiers = () if measures else classifiers
    return Spec.from_resolved(
        {
            "name": name,
            "title": title,
            "paper": dict(paper) if paper else None,
            "dataset": {"name": "landsat", "options": {}},
            "split": {
                "kind": kind,
                "repeats": 1 if kind == "predefined" else repeats,
                "seed": 0,
                "train": 20 if kind == "per_class" else None,
                "predefined": predefined,
            },
            "reducers": [
                {"mode": "out_of_sample", "label": item["name"], "params": {}, **item}
                for item in reducers
            ],
            "classifiers": [{"label": item["name"], "params": {}, **item} for item in classifiers],
            "measures": [
                {"name": name, "label": name, "params": {"n_neighbors": 1}}
                for name in measures or ()
            ],
            "sweep": {key: list(values) for key, values in (sweep or {}).items()},
            "metrics": metrics,
            "plot": {"x": swept[0] if swept else "reducer", "y": metrics[0], "log": log},
        }
    )


def _settings(spec, piece):
    found = []
    for item in spec.reducers if piece == "reducer" else spec.evaluators:
        params = dict(item.params)
        if piece == "reducer":
            params["mode"] = item.mode
        names = [key.partition(".")[2] for key in spec.sweep if key.startswith(f"{piece}.")]
        names = [name for name in names if name in params]
        grids = [spec.sweep[f"{piece}.{name}"] for name in names]
        found += [
            (item.name, params | dict(zip(names, values, strict=True)))
            for values in itertools.product(*grids)
        ]
    return found


def _splits(spec):
    own = ["predefined"] if spec.split.predefined or spec.split.kind == "predefined" else []
    if spec.split.kind == "predefined":
        return own
    return own + [f"{spec.split.kind}-{index}" for index in range(spec.split.repeats)]


@dataclass(frozen=True)
class Made:
    """A made-up trial, with everything on which its value may depend."""

    reducer: str
    classifier: str
    params: Mapping[str, Any]
    split: str

    @property
    def index(self) -> int | None:
        """The number of the re-split, or None on the predefined split."""
        return None if self.split == "predefined" else int(self.split.rpartition("-")[2])


def build_results(
    results,
    spec,
    error,
    *,
    keep=None,
    failed_splits=(),
    shuffled=False,
    metric_of=None,
    seconds=None,
    on_shuffled=None,
):
    """Write a results folder in which `error` gives each trial's value; `keep` limits the rows.

    The column that `metric_of` names has a measure's value; `seconds` gives a reducer's time.
    `on_shuffled` is the value of each trial on shuffled labels, which are controls.
    """
    from ddr_cli.engine.work.session import majority_of
    from ddr_cli.rows.log import Rows

    folder = results / spec.name
    folder.mkdir(parents=True)
    rows = []
    for split, (reducer, own), (classifier, other) in itertools.product(
        _splits(spec), _settings(spec, "reducer"), _settings(spec, "classifier")
    ):
        params = {f"reducer.{name}": value for name, value in own.items()}
        params |= {f"classifier.{name}": value for name, value in other.items()}
        failed = split in failed_splits
        rows.append(
            {
                "trial_id": hashlib.sha256(
                    repr((split, reducer, classifier, params)).encode()
                ).hexdigest()[:16],
                "dataset": "landsat",
                "split": split,
                "split_hash": hashlib.sha256(split.encode()).hexdigest()[:16],
                "reducer": reducer,
                "classifier": classifier,
                **params,
                (metric_of or {}).get(classifier, spec.metrics[0]): None
                if failed
                else float(error(Made(reducer, classifier, params, split))),
                "status": "failed" if failed else "ok",
                "reason": "ValueError: made up" if failed else "",
                "fit_seconds": (seconds or {}).get(reducer, 0.5),
                "eval_seconds": 0.1,
            }
        )
    manifest = {
        "spec": spec.resolved(),
        "planned": len(rows),
        "sizes": {spec.split.kind: {**SIZES, "test": 0} if spec.split.kind == "whole" else SIZES},
        "majority": majority_of(spec),
        "environments": [],
        "sessions": [],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    names = {key for row in rows for key in row if "." in key}
    kept = rows[:keep]
    if shuffled:
        kept.sort(key=lambda row: row["trial_id"])
    if on_shuffled is not None:
        kept += [
            row
            | {
                "trial_id": row["trial_id"][::-1],
                "control": "shuffled_labels",
                spec.metrics[0]: on_shuffled,
            }
            for row in kept
        ]
    # The outcome gives all other cells.
    planned = {row["trial_id"]: {"control": row.get("control", "")} for row in kept}
    planned[""] = dict.fromkeys(names, "")
    with Rows(folder, lambda: planned, spec.metrics) as log:
        log.append({row["trial_id"]: row for row in kept})
    if on_shuffled is None:
        (folder / "controls.csv").unlink()
    return folder


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


@pytest.fixture(scope="session")
def make_spec():
    return build_spec


@pytest.fixture(scope="session")
def write_results():
    return build_results
