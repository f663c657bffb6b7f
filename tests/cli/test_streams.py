"""If output cannot be shown, only the output is lost."""

import os
import sys
from pathlib import Path

import pytest

from ddr_cli.cli.app import main

SPEC = """
title: A test
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 1}
reducers: [none]
classifiers: [{name: knn, n_neighbors: 3}]
controls: []
"""


def code_of(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["ddr", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def written_to(reader):
    """Return a stream whose reader is gone, or whose device is full."""
    if reader == "full":
        return Path("/dev/full").open("w", encoding="utf-8")
    read, write = os.pipe()
    os.close(read)
    return os.fdopen(write, "w")


def test_a_run_goes_on_without_its_streams(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(SPEC)
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    assert code_of(monkeypatch, "run", "small.yaml") == 0
    assert {path.name for path in Path("results/small").iterdir()} == {
        *("trials.csv", "controls.csv", "manifest.json", "run.lock"),
        *("summary.csv", "figure.svg", "figure.png"),
    }


def test_output_that_nobody_reads_fails_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stdout", written_to("gone"))
    assert code_of(monkeypatch, "list", "metrics") == 0


def test_characters_that_the_output_lacks_lose_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(SPEC.replace("repeats: 1", "repeats: 2"))
    with Path("said.txt").open("w", encoding="ascii") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert code_of(monkeypatch, "run", "small.yaml") == 0
    assert " ? " in Path("said.txt").read_text()  # ASCII has no plus-minus sign
    assert Path("results/small/figure.png").is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is always full")
def test_output_that_a_full_disk_loses_is_said(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", written_to("full"))
    assert code_of(monkeypatch, "list", "metrics") == 1
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert "No space left on device" in error
    assert error.count("\n") == 1
