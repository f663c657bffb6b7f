"""The rules in docs/workflow_tools.md work with the real tools and keep finished rows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ddr_cli.engine import read_manifest, read_trials

PAGE = Path(__file__).parents[2] / "docs" / "workflow_tools.md"
SPEC = """
title: A test
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 2}
reducers: [none, pca, ./mine.py:Sometimes]
classifiers: [knn]
controls: []
"""
MINE = """
from pathlib import Path
from sklearn.base import BaseEstimator, TransformerMixin

class Sometimes(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        if Path("%s").exists():
            raise ValueError("not now")
        return self

    def transform(self, X):
        return X
"""
TOOLS = {
    "make": ("make", "Makefile", [], ["make", "tables/first.tex"]),
    "snakemake": ("snakefile", "Snakefile", [], ["snakemake", "--cores", "1"]),
    "dvc": ("yaml", "dvc.yaml", ["dvc", "init", "--no-scm", "-q"], ["dvc", "repro"]),
}


@pytest.fixture(params=TOOLS)
def tool(request, tmp_path, environment):
    """Return a function that runs a tool on the page's rules to make their table."""
    kind, file, begin, command = TOOLS[request.param]
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    (rules,) = re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "specs").mkdir()
    (tmp_path / file).write_text(rules)
    (tmp_path / "specs" / "first.yaml").write_text(SPEC)
    (tmp_path / "specs" / "mine.py").write_text(MINE % (tmp_path / "fail"))
    program = tmp_path / "bin" / "ddr"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\n[ $1 = run ] && set -- "$@" --trust $MORE\n'
        f'exec {sys.executable} -m ddr_cli "$@"\n'
    )
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), environment["PATH"]])

    def run(words=command, **env):
        return subprocess.run(
            words,
            cwd=tmp_path,
            env=environment | {"PATH": path} | env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    if begin:
        assert run(begin).returncode == 0
    return run


def test_a_tool_that_runs_a_spec_again_repeats_no_finished_trial(tool, tmp_path):
    folder, table = tmp_path / "results" / "first", tmp_path / "tables" / "first.tex"
    (tmp_path / "fail").touch()
    failed = tool()
    assert failed.returncode != 0
    assert not table.exists()
    assert sorted(read_trials(folder)["status"]) == ["failed"] * 2 + ["ok"] * 4, failed.stderr

    # If failures are allowed, the tool goes on to the table. Then nothing is left to do.
    done = tool(MORE="--allow-failed")
    assert done.returncode == 0, done.stderr
    assert table.stat().st_size
    before = (folder / "trials.csv").read_bytes()
    assert tool().returncode == 0
    assert (folder / "trials.csv").read_bytes() == before

    # The tool repeats the failed trials and runs those of the added split.
    (tmp_path / "fail").unlink()
    (tmp_path / "specs" / "first.yaml").write_text(SPEC.replace("repeats: 2", "repeats: 3"))
    assert tool().returncode == 0
    assert set(read_trials(folder)["status"]) == {"ok"}
    assert [one.trials_ended for one in read_manifest(folder).sessions] == [6, 2, 2 + 3]
