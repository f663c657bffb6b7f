"""`ddr doctor`: what it finds, and that it notices what is wrong."""

from __future__ import annotations

import json

import pytest

from ddr_cli.engine import doctor


def test_it_shows_the_machine_and_the_expected_number(ddr_here, work):
    done = ddr_here("doctor", "--out", str(work))
    assert done.returncode == 0, done.stdout
    for text in ("python", "numpy", "extras", "cores", "1 thread in each", "GB free", "iris"):
        assert text in done.stdout
    assert "error 0.026667, expected 0.026667" in done.stdout
    assert "WRONG" not in done.stdout
    assert not list(work.iterdir())


def test_what_is_wrong_is_marked_and_told_by_the_exit_code(
    ddr_here, work, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(doctor, "EXPECTED_ERROR", 0.5)
    (work / "file").touch()
    done = ddr_here("doctor", "--out", str(work / "file" / "results"), "--json")
    assert done.returncode == 1
    wrong = [each["name"] for each in json.loads(done.stdout) if each["good"] is False]
    assert wrong == ["results", "self-test"]
