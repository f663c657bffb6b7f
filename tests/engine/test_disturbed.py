"""If other programs change the files of a run, no row is lost, and the change is reported."""

from __future__ import annotations

import errno
import io
import math
import multiprocessing.synchronize
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock

from ddr_cli.core.errors import InputError
from ddr_cli.engine import read_trials, run_spec
from ddr_cli.engine.progress import Display, Progress
from ddr_cli.engine.work import local, scratch
from ddr_cli.engine.work.fitting import do
from ddr_cli.engine.work.jobs import Division, ExecutorError, SplitJob
from ddr_cli.engine.work.samples import Labels, Samples
from ddr_cli.engine.work.scratch import Scratch

pytestmark = pytest.mark.usefixtures("installed")

MANY = {"kind": "fraction", "train": 0.5, "repeats": 12}


class Once(Progress):
    """Calls a function once, when the first trials have ended."""

    def __init__(self, deed: Callable[[], object]) -> None:
        self._deed: Callable[[], object] | None = deed

    def advance(self, _ok: int, _failed: int) -> None:
        if self._deed is not None:
            self._deed()
        self._deed = None


@pytest.mark.parametrize("removed", ["", "splits", "traces"])
def test_a_scratch_folder_that_a_cleaner_removes_is_made_again(
    make_spec, run, tmp_path, monkeypatch, removed
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def clean():
        for folder in tmp_path.glob("ddr-scratch-*"):
            shutil.rmtree(folder / removed)

    outcome = run(make_spec(split=MANY, reducers=["none", "pca"]), progress=Once(clean))
    assert (outcome.done, outcome.failed) == (48, 0)
    assert not list(tmp_path.glob("ddr-scratch-*"))


def test_a_folder_that_has_rows_is_locked_too(make_spec, run, one_after_the_other):
    run(make_spec(split=MANY | {"repeats": 1}, reducers=["none"]))
    spec = make_spec(split=MANY, reducers=["none"])
    refused = []

    def again():
        with pytest.raises(InputError, match=r"Another run.*--out"):
            run(spec, executor=one_after_the_other())
        refused.append(True)

    outcome = run(spec, executor=one_after_the_other(), progress=Once(again))
    assert (outcome.done, outcome.skipped, refused) == (22, 2, [True])


TWO_ROWS = Division(np.arange(2), 1, np.arange(2))


@pytest.mark.parametrize(("name", "gone"), [("data", True), ("another", False)])
def test_a_removed_file_is_told_by_its_name_though_it_is_there_again(
    tmp_path, monkeypatch, name, gone
):
    def load(path):
        asked = path.with_name(name)
        try:
            asked.open()
        finally:
            asked.touch()

    monkeypatch.setattr(Samples, "load", load)
    places = {each: tmp_path / each for each in ("data", "split", "trace")}
    job = SplitJob(**places, whole=TWO_ROWS, steps=(), searches={}, seed=0)
    assert do(job).files_gone is gone


def test_no_process_reads_a_part_of_a_file_of_samples(tmp_path, monkeypatch):
    path, seen = tmp_path / "split", []

    def dump(_parts, file):
        file.write(b"a part")
        file.flush()
        seen.append(path.exists())
        shutil.rmtree(tmp_path)

    monkeypatch.setattr("joblib.dump", dump)
    with pytest.raises(FileNotFoundError) as error:
        Samples(np.eye(2), Labels(np.arange(2), ("a", "b"))).save(path)
    assert seen == [False]
    assert error.value.filename == str(path)


def test_a_scratch_folder_that_is_removed_each_time_ends_the_run(make_spec, run, monkeypatch):
    monkeypatch.setattr(Samples, "save", lambda *_: None)
    with pytest.raises(InputError, match=r"scratch folder .*TMPDIR"):
        run(make_spec(reducers=["none"]))


def test_a_full_scratch_disk_is_one_sentence(make_spec, run, monkeypatch):
    def fill(_points, _path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Samples, "save", fill)
    with pytest.raises(InputError, match=r"scratch folder .* \(No space left on device\)"):
        run(make_spec(reducers=["none"]))


def test_nothing_is_opened_in_what_is_no_folder_of_ones_own(tmp_path, monkeypatch):
    opened = []

    class Lock(FileLock):
        def __init__(self, path: Path, *words: Any, **options: Any) -> None:
            opened.append(Path(path).parent.name)
            super().__init__(path, *words, **options)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(scratch, "FileLock", Lock)
    for name in ("theirs", "ddr-scratch-killed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "alive.lock").touch()
    (tmp_path / "ddr-scratch-link").symlink_to(tmp_path / "theirs")
    with Scratch() as own:
        assert opened == ["ddr-scratch-killed", own.path.name]


DEEDS: dict[str, Callable[[Path], object]] = {
    "removed": lambda folder: (folder / "trials.csv").unlink(),
    "emptied": lambda folder: (folder / "trials.csv").write_text(""),
    "replaced": lambda folder: (
        shutil.copy(folder / "trials.csv", folder / "copy")
        and (folder / "copy").replace(folder / "trials.csv")
    ),
    "edited": lambda folder: (folder / "trials.csv").write_text(
        (folder / "trials.csv").read_text().replace("knn", "kmm", 1)
    ),
    "without its folder": shutil.rmtree,
}


@pytest.mark.parametrize("deed", DEEDS)
def test_a_journal_that_another_program_takes_away_has_its_rows_again(
    make_spec, run, tmp_path, deed
):
    spec, folder, before = make_spec(split=MANY, reducers=["none"]), tmp_path / "small", []

    def take():
        before.extend(read_trials(folder)["trial_id"])
        DEEDS[deed](folder)

    with pytest.raises(InputError, match="Another program removed") as raised:
        run(spec, progress=Once(take))
    rows = read_trials(folder)
    assert set(before) < set(rows["trial_id"])
    assert f"all {len(rows)} rows" in str(raised.value)
    aside = list((folder / "previous").glob("*/trials.csv"))
    assert len(aside) == (deed in ("emptied", "replaced", "edited"))
    outcome = run(spec)
    assert (outcome.skipped, outcome.done) == (len(rows), 24 - len(rows))


def test_a_journal_removed_after_the_last_row_is_written_again(make_spec, run, tmp_path):
    class AtTheEnd(Progress):
        def end(self) -> None:
            (tmp_path / "small" / "trials.csv").unlink()

    with pytest.raises(InputError, match="all 6 rows"):
        run(make_spec(reducers=["none"]), progress=AtTheEnd())


@pytest.mark.parametrize(("ignored", "ended"), [(True, 24), (False, None)])
def test_what_nohup_has_ignored_does_not_end_the_run(make_spec, run, ignored, ended):
    kept = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        outcome = run(
            make_spec(split=MANY, reducers=["none"]),
            progress=Once(lambda: os.kill(os.getpid(), signal.SIGHUP)),
        )
    finally:
        signal.signal(signal.SIGHUP, kept)
    assert outcome.interrupted == (ended is None)
    assert ended in (outcome.done, None)


def test_failures_are_counted_with_those_of_earlier_sessions(make_spec, run):
    def said(repeats):
        stream = io.StringIO()
        split = {"kind": "fraction", "train": 0.5, "repeats": repeats}
        spec = make_spec(split=split, reducers=[{"name": "faulty", "does": "raise"}])
        outcome = run(spec, progress=Display(stream))
        assert f"{outcome.failed} failed" in stream.getvalue().splitlines()[-1]
        return stream.getvalue()

    assert "2 of 2 trials, 2 failed" in said(1)
    again = said(2)
    assert re.search(r"4 of 4 trials, 4 failed", again)


def test_no_more_processes_are_started_than_there_are_trials(make_spec, tmp_path, monkeypatch):
    started = []

    def refuse(max_workers, **_):
        started.append(max_workers)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(local, "ProcessPool", refuse)
    with pytest.raises(ExecutorError, match=r"Too many.*--jobs 6,"):
        run_spec(make_spec(reducers=["none"]), out=tmp_path, jobs=1000)
    assert started == [6]


def test_limits_that_no_trial_can_keep_are_refused(make_spec, tmp_path):
    spec = make_spec(reducers=["none"])
    for seconds in (math.inf, math.nan, 0.0, 1e300):
        with pytest.raises(InputError, match=r"between 0 and 1e\+08"):
            run_spec(spec, out=tmp_path, timeout=seconds)
    if sys.platform == "linux":
        with pytest.raises(InputError, match=r"300MB is too low; use \d{3,4}MB or more"):
            run_spec(spec, out=tmp_path, memory_limit=300_000_000)
    assert not (tmp_path / "small").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_too_few_open_files_are_refused_before_a_worker_starts():
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, before[1]))
    try:
        with pytest.raises(InputError, match=r"--jobs 1 needs .* allows 16: .*ulimit -n"):
            _ = local.LocalExecutor(1).capacity
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such semaphores")
def test_a_system_without_semaphores_is_told_where_they_are(monkeypatch):
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(multiprocessing.synchronize.SemLock, "__init__", refuse)
    with pytest.raises(InputError, match=r"semaphores.*Read-only file system.*/dev/shm"):
        _ = local.LocalExecutor(1).capacity


def test_a_pool_that_breaks_when_it_starts_says_why(monkeypatch):
    class Pool:
        def __init__(self, **_: Any) -> None:
            """Do nothing."""

        @property
        def active(self) -> bool:
            raise BrokenProcessPool from OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(local, "ProcessPool", Pool)
    with pytest.raises(ExecutorError, match=r"Too many open files.*ulimit -n"):
        _ = local.LocalExecutor(1).capacity
