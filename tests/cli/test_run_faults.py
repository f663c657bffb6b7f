"""What `ddr run` and `ddr sweep` say when the folder, the disk or the spec is not as before."""

from __future__ import annotations

import ctypes
import itertools
import json
import resource
import shutil
import subprocess
import sys
import time

import pytest

SPEC = """
title: A test
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 3}
reducers: [none, {name: pca, n_components: 2}]
classifiers: [{name: knn, n_neighbors: 3}]
"""

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE = 1


@pytest.fixture
def program(work, environment):
    """Return a function that starts `ddr` with something done in its process beforehand."""
    begun = []

    def start(*words, before=None):
        process = subprocess.Popen(
            [sys.executable, "-m", "ddr_cli.cli.app", *words],
            cwd=work,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=before,
        )
        begun.append(process)
        return process

    yield start
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate()


def said(process):
    """Return the exit code and the one message of a program that ends by itself."""
    _, err = process.communicate(timeout=120)
    assert "Traceback" not in err, err
    return process.returncode, " ".join(err.split())


def bound_by_permissions():
    # Permissions bind the administrator too, who runs the tests in many a container.
    ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0)


def on_a_disk_that_is_full_at(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """Return a results folder with two runs that are complete, of the spec above."""
    place = tmp_path_factory.mktemp("complete")
    for name in ("small", "other"):
        (place / f"{name}.yaml").write_text(SPEC)
    program = [sys.executable, "-m", "ddr_cli.cli.app", "run", "small.yaml", "other.yaml"]
    subprocess.run(program, cwd=place, check=True, capture_output=True, timeout=120)
    return place / "results"


def copied(complete, work):
    shutil.copytree(complete, work / "results")
    for name in ("small", "other"):
        (work / f"{name}.yaml").write_text(SPEC)
    return work / "results" / "small"


@pytest.mark.skipif(sys.platform != "linux", reason="gives up Linux's administrator rights")
def test_a_read_only_folder_is_said_and_nothing_is_begun(program, work):
    (work / "small.yaml").write_text(SPEC)
    (work / "results").mkdir()
    (work / "results").chmod(0o555)
    code, message = said(program("run", "small.yaml", before=bound_by_permissions))
    assert code == 2
    assert "results/small can't be read or written: Permission denied" in message
    assert "--out" in message
    (work / "results").chmod(0o755)
    assert not list((work / "results").iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="gives up Linux's administrator rights")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["small.yaml", "other.yaml"], (0, "")),
        (["small.yaml", "--repeats", "4"], (2, "can't be read or written: Permission")),
    ],
)
def test_only_what_is_still_to_do_needs_a_folder_to_write_to(
    program, work, complete, words, expected
):
    folder = copied(complete, work)
    before = content(folder)
    folder.chmod(0o555)
    try:
        code, message = said(program("run", *words, before=bound_by_permissions))
    finally:
        folder.chmod(0o755)
    assert code == expected[0]
    assert expected[1] in message
    assert content(folder) == before


def test_a_full_disk_is_said_and_the_same_command_completes_the_run(program, work):
    (work / "small.yaml").write_text(SPEC)
    words = ("run", "small.yaml", "--repeats", "120")
    # The data and a split of iris fit, 240 rows of the journal do not.
    code, message = said(program(*words, before=on_a_disk_that_is_full_at(12_000)))
    assert code == 2, message
    assert "File too large" in message
    assert "make room" in message
    journal = work / "results" / "small" / "trials.csv"
    kept = journal.read_text()
    assert kept.endswith("\n")
    assert 0 < kept.count("\n") - 1 < 240
    code, message = said(program(*words))
    assert code == 0, message
    rows = journal.read_text().splitlines()
    assert len({row.split(",")[0] for row in rows[1:]}) == len(rows) - 1 == 240
    assert set(kept.splitlines()) <= set(rows)


def test_a_second_run_on_the_same_folder_is_kept_out(program, work):
    (work / "small.yaml").write_text(SPEC)
    first = program("run", "small.yaml", "--repeats", "2000", "--quiet")
    journal = work / "results" / "small" / "trials.csv"
    end = time.monotonic() + 60
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 1):
        assert first.poll() is None, first.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)
    code, message = said(program("run", "small.yaml", "--repeats", "2000"))
    assert code == 2
    assert "Another run is writing to results/small" in message
    assert "--out" in message
    assert first.poll() is None


def test_a_changed_spec_leaves_the_old_rows_alone(program, work, complete):
    folder = copied(complete, work)
    before = content(folder)
    (work / "small.yaml").write_text(SPEC.replace("train: 0.5", "train: 0.6"))
    code, message = said(program("run", "small.yaml"))
    assert code == 2
    assert "another version of this spec (changed: split.train: 0.5 -> 0.6)" in message
    assert "--fresh" in message
    assert content(folder) == before


def test_several_parameters_are_crossed(program, work):
    words = "--dataset iris --reducer pca --classifier knn --param n_components --values 1,2,3"
    more = ("--param", "classifier.n_neighbors", "--values", "[1, 5]", "--repeats", "2")
    code, message = said(program("sweep", *words.split(), *more))
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
