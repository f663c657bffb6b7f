"""`ddr run` and `ddr sweep` report a changed spec, a damaged folder and a full disk."""

import ctypes
import itertools
import json
import resource
import shutil
import sys
from contextlib import contextmanager

import pytest

from ddr_cli.cli.app import main
from ddr_cli.rows.folder import locked

SPEC = """
title: A test
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 3}
reducers: [none, {name: pca, n_components: 2}]
classifiers: [{name: knn, n_neighbors: 3}]
controls: []
"""

_CAPABILITY_VERSION = 0x20080522
_CAP_DAC_OVERRIDE = 1


def said(done):
    """Return the exit code and the single error message of a finished program."""
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, " ".join(done.stderr.split())


@contextmanager
def bound_by_permissions():
    """Make file permissions apply to root too, because tests often run as root in containers."""
    system = ctypes.CDLL(None)
    head, held = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    assert system.capget(head, held) == 0
    effective = held[0]
    held[0] &= ~(1 << _CAP_DAC_OVERRIDE)
    assert system.capset(head, held) == 0
    try:
        yield
    finally:
        held[0] = effective
        assert system.capset(head, held) == 0


@contextmanager
def on_a_disk_that_is_full_at(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """Return a results folder with two complete runs of the spec above."""
    place = tmp_path_factory.mktemp("complete")
    for name in ("small", "other"):
        (place / f"{name}.yaml").write_text(SPEC)
    words = ["ddr", "run", "small.yaml", "other.yaml", "--quiet"]
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(place)
        patched.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 0
    return place / "results"


def copied(complete, work):
    shutil.copytree(complete, work / "results")
    for name in ("small", "other"):
        (work / f"{name}.yaml").write_text(SPEC)
    return work / "results" / "small"


@pytest.mark.skipif(sys.platform != "linux", reason="gives up Linux's administrator rights")
def test_a_read_only_folder_is_said_and_nothing_is_begun(ddr_here, work):
    (work / "small.yaml").write_text(SPEC)
    (work / "results").mkdir()
    (work / "results").chmod(0o555)
    with bound_by_permissions():
        code, message = said(ddr_here("run", "small.yaml"))
    assert code == 2
    assert "results/small" in message
    assert "Permission denied" in message
    assert "--out" in message
    (work / "results").chmod(0o755)
    assert not list((work / "results").iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="gives up Linux's administrator rights")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["small.yaml", "other.yaml"], (0, "")),
        (["small.yaml", "--repeats", "4"], (2, "Permission denied")),
    ],
)
def test_only_what_is_still_to_do_needs_a_folder_to_write_to(
    ddr_here, work, complete, words, expected
):
    folder = copied(complete, work)
    before = content(folder)
    folder.chmod(0o555)
    try:
        with bound_by_permissions():
            code, message = said(ddr_here("run", *words))
    finally:
        folder.chmod(0o755)
    assert code == expected[0]
    assert expected[1] in message
    assert content(folder) == before


def test_a_full_disk_is_said_and_the_same_command_completes_the_run(ddr_here, work):
    sweep = f"sweep: {{classifier.n_neighbors: {list(range(1, 31))}}}"
    (work / "small.yaml").write_text(SPEC + sweep)
    words = ("run", "small.yaml", "--repeats", "4")
    # The limit leaves room for the data and a split of iris, but not for 240 rows of the trial log.
    with on_a_disk_that_is_full_at(12_000):
        code, message = said(ddr_here(*words))
    assert code == 2, message
    assert "File too large" in message
    assert "disk space" in message
    journal = work / "results" / "small" / "trials.csv"
    kept = journal.read_text()
    assert kept.endswith("\n")
    assert 0 < kept.count("\n") - 1 < 240
    code, message = said(ddr_here(*words))
    assert code == 0, message
    rows = journal.read_text().splitlines()
    assert len({row.split(",")[0] for row in rows[1:]}) == len(rows) - 1 == 240
    assert set(kept.splitlines()) <= set(rows)


def test_a_second_run_on_the_same_folder_is_kept_out(ddr_here, work):
    (work / "small.yaml").write_text(SPEC)
    # tests/engine/test_interruptions.py tests the same with two processes.
    with locked(work / "results" / "small"):
        code, message = said(ddr_here("run", "small.yaml", "--quiet"))
    assert code == 2
    assert "writing to results/small" in message
    assert "--out" in message


def test_several_parameters_are_crossed(ddr_here, work):
    words = "new spec crossed --dataset iris --reducer pca --classifier knn"
    assert ddr_here(*words.split()).returncode == 0
    words = "crossed.yaml --set controls=[] --param n_components --values 1,2,3"
    more = ("--param", "classifier.n_neighbors", "--values", "[1, 5]", "--repeats", "2")
    code, message = said(ddr_here("sweep", *words.split(), *more))
    assert code == 0, message
    (folder,) = (work / "results").iterdir()
    swept = {"reducer.n_components": [1, 2, 3], "classifier.n_neighbors": [1, 5]}
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["spec"]["sweep"] == swept
    lines = (folder / "trials.csv").read_text().splitlines()
    header, rows = lines[0].split(","), [line.split(",") for line in lines[1:]]
    places = [header.index(name) for name in swept]
    settings = [tuple(int(row[place]) for place in places) for row in rows]
    assert sorted(settings) == sorted(2 * list(itertools.product(*swept.values())))
    assert (folder / "figure.png").exists()
