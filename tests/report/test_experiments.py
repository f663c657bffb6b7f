"""`ddr describe FOLDER` prints sentences for a paper and BibTeX entries of its references."""

import re
import shutil
import subprocess

import pytest
from typer.testing import CliRunner

import ddr_cli
from ddr_cli.cli.app import app
from ddr_cli.data.cards import card_names, load_card
from ddr_cli.reducers.registry import REDUCERS, reference
from ddr_cli.report.bibtex import bibtex
from ddr_cli.report.experiments import experiments

SPEC = {
    "dataset": "iris",
    "split": {"kind": "fraction", "train": 0.5, "repeats": 3, "seed": 7},
    "preprocess": ["standardize"],
    "reducers": ["lfda", "lda"],
    "classifiers": ["knn", "linear"],
    "tune": {"folds": 2, "budget": 4},
    "controls": [],
}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("described")
    ddr_cli.run(SPEC, out=folder, name="mine")
    done = CliRunner().invoke(app, ["describe", str(folder / "mine")])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_run_is_described_as_in_a_paper(told):
    for fact in (
        "iris",
        "150 samples, 4 features, 3 classes",
        "3 random splits of 75 training and 75 test samples (seed 7)",
        "standardize",
        # The candidates, as 'ddr plan' lists them, not the whole grids.
        r"LFDA~\cite{sugiyama2006local} (n\_components = 2 [2, 1, 3, 4]",
        r"LDA~\cite{fisher1936multiple} (n\_components = 2 [2, 1]",
        r"k-NN (n\_neighbors = 5",
        r"(fit\_intercept = True, alpha = 0",
        "at most 4 settings",
        "2 stratified inner folds",
        "Nadeau and Bengio",
        "Software: Python",
    ):
        assert fact in told
    # Every cited source has exactly one entry.
    cited = set(re.findall(r"cite\{([^}]*)\}", told))
    assert {"sugiyama2006local", "fisher1936iris"} <= cited
    assert sorted(re.findall(r"^@\w+\{([^,]*),", told, re.M)) == sorted(cited)


def test_the_text_states_omitted_steps(tmp_path):
    spec = SPEC | {"preprocess": [], "tune": None, "reducers": ["lda"]}
    ddr_cli.run(spec, out=tmp_path, name="plain")
    told = experiments(tmp_path / "plain")
    assert "The features were not preprocessed." in told
    assert "No parameter was tuned." in told


def test_the_text_says_that_a_run_is_unfinished(results, write_results, make_spec):
    folder = write_results(
        results, make_spec("part", reducers=[{"name": "lda"}], repeats=4), lambda _: 0.1, keep=3
    )
    told = experiments(folder)
    assert "The run is unfinished: only 3 of " in told
    assert "were evaluated on" not in told


@pytest.mark.skipif(shutil.which("bibtex") is None, reason="bibtex is not installed")
def test_the_paragraph_and_its_entries_are_latex(told, tmp_path):
    text, _, entries = told.partition("\n\n")
    end = r"\bibliographystyle{plain}\bibliography{own}\end{document}"
    (tmp_path / "own.tex").write_text(
        rf"\documentclass{{article}}\begin{{document}}{text}{end}", encoding="utf-8"
    )
    (tmp_path / "own.bib").write_text(entries, encoding="utf-8")
    for command in (["pdflatex", "-interaction=nonstopmode"], ["bibtex"], ["pdflatex"]):
        done = subprocess.run(
            [*command, "own"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-2000:]
        assert "Warning--" not in done.stdout


@pytest.mark.parametrize(
    ("reference", "kind", "fields"),
    [
        (
            'B. Schölkopf, A. Smola, "Nonlinear Component Analysis", Neural Comp. 10, 1998, 1-9.',
            "@article{scholkopf1998nonlinear,",
            ("author = {B. Schölkopf and A. Smola}", "journal = {Neural Comp.}", "pages = {1--9}"),
        ),
        (
            'E. Bingham, A. O. Hero III, "Random Projection", KDD 2001, 245-250, section 3.',
            "@inproceedings{bingham2001random,",
            ("booktitle = {KDD}", "pages = {245--250},\n  year = {2001},\n}", "Hero, III, A. O."),
        ),
        (
            "Deterding, D. H. (1989). Speakers. PhD thesis, University of Cambridge.",
            "@phdthesis{deterding1989speakers,",
            ("author = {Deterding, D. H.}", "school = {University of Cambridge}"),
        ),
        (
            "Image Segmentation (1990). UCI Repository. https://doi.org/10.24432/C5GP4N",
            "@misc{image1990,",
            ("title = {{Image Segmentation}}", "doi = {10.24432/C5GP4N}", "key = {Image"),
        ),
        ("Measured by us_all", "@misc{measured,", ("us\\_all",)),
        (".", "@misc", ()),
    ],
)
def test_a_reference_becomes_an_entry(reference, kind, fields):
    entry = bibtex(reference)
    assert entry.startswith(kind) or not entry
    for field in fields:
        assert field in entry


def test_every_reference_that_is_shipped_has_a_title_and_a_source():
    references = [reference(REDUCERS.load(name)) for name in REDUCERS.names()]
    references += [load_card(name).citation for name in card_names()]
    for text in filter(None, references):
        entry = bibtex(text)
        assert "  title = {{" in entry
        assert re.search(
            r"journal|booktitle|howpublished|school|institution|publisher|url", entry
        ) or ("Algoval" in text)
