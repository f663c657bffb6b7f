"""`ddr describe FOLDER`: sentences for a paper, and BibTeX of what a run used."""

import re

from typer.testing import CliRunner

import ddr_cli
from ddr_cli.cli.app import app
from ddr_cli.report.experiments import bibtex

SPEC = {
    "dataset": "iris",
    "split": {"kind": "fraction", "train": 0.5, "repeats": 3, "seed": 7},
    "preprocess": ["standardize"],
    "reducers": ["lfda", "lda"],
    "classifiers": ["knn"],
    "tune": {"folds": 2, "budget": 2},
    "controls": [],
}


def test_a_run_is_described_as_in_a_paper(tmp_path):
    ddr_cli.run(SPEC, out=tmp_path, name="mine")
    done = CliRunner().invoke(app, ["describe", str(tmp_path / "mine")])
    assert done.exit_code == 0, done.output
    for fact in (
        "iris",
        "150 samples, 4 features, 3 classes",
        "3 random splits of 75 training and 75 test samples (seed 7)",
        "standardize",
        "at most 2 settings",
        "2 stratified inner folds",
        "Nadeau and Bengio",
        "Software: Python",
    ):
        assert fact in done.output
    # Every source that is cited has one entry.
    cited = set(re.findall(r"cite\{([^}]*)\}", done.output))
    assert "sugiyama2006local" in cited
    assert sorted(re.findall(r"@misc\{([^,]*),", done.output)) == sorted(cited)


def test_a_reference_becomes_an_entry():
    entry = bibtex('B. Schölkopf, A. Smola, "Nonlinear Component Analysis", Neural Comp. 10, 1998.')
    assert entry.startswith("@misc{scholkopf1998nonlinear,")
    assert "author = {B. Schölkopf and A. Smola}" in entry
    assert "howpublished = {Neural Comp. 10}" in entry
    assert bibtex("Fisher, R. (1936). Iris.").startswith("@misc{fisher1936,")
    assert bibtex("") == ""
