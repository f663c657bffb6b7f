"""The Python API, on embedded data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ddr_cli
from ddr_cli.core.errors import InputError

SPEC: dict[str, Any] = {
    "dataset": "iris",
    "split": {"kind": "fraction", "train": 0.5, "repeats": 3},
    "reducers": ["none", {"name": "lda", "n_components": 1}],
    "classifiers": ["knn"],
    "controls": [],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> ddr_cli.Results:
    return ddr_cli.run(SPEC, out=tmp_path_factory.mktemp("api"), name="mine")


def test_a_dictionary_runs_and_gives_tables(results: ddr_cli.Results) -> None:
    assert results.folder.name == "mine"
    assert len(results.trials) == 6
    means = results.trials.groupby("reducer", sort=False)["error"].mean()
    assert results.summary["mean"].tolist() == pytest.approx(means.tolist(), rel=1e-12)
    html = results._repr_html_()
    assert "<table" in html
    assert "LDA" in html


def test_a_second_call_does_nothing_again(results: ddr_cli.Results) -> None:
    before = (results.folder / "trials.csv").read_bytes()
    again = ddr_cli.run(SPEC, out=results.folder.parent, name="mine")
    assert (results.folder / "trials.csv").read_bytes() == before
    pd.testing.assert_frame_equal(again.trials, results.trials)


def test_figure_and_files(results: ddr_cli.Results) -> None:
    assert results.figure().get_axes()
    assert {path.name for path in results.write()} == {"summary.csv", "figure.svg", "figure.png"}


def test_results_of_a_folder_compare(results: ddr_cli.Results) -> None:
    found, again = ddr_cli.compare(results.folder), results.compare()
    for name in ("methods", "differences", "pairs"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(again, name))
    with pytest.raises(InputError, match="Name a run"):
        ddr_cli.compare()


def test_a_shipped_spec_takes_overrides(tmp_path: Path) -> None:
    found = ddr_cli.run("digits_ccdr_beta", out=tmp_path, overrides=["reducer.beta=0.5"], repeats=1)
    assert set(found.trials["split"]) == {"fraction-0"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"reducers": None}, "lacks reducers"),
        ({"dataset": "irish"}, "iris"),
        ({"bogus": 1}, "bogus"),
    ],
)
def test_a_wrong_dictionary_is_one_sentence(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        ddr_cli.run({**SPEC, **changes}, out=tmp_path)


def test_the_module_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ddr_cli", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"ddr {ddr_cli.__version__}\n"
