"""Methods submitted to a suite: their folders, running them again, and their ranks."""

import csv
import json
import re
from importlib.metadata import version

import pytest
import yaml
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.core.own_code import trusting
from ddr_cli.rows.manifest import here

MINE = '''
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

class Means(TransformerMixin, BaseEstimator):
    """Distances from the means.

    References
    ----------
    .. [1] A. Author, "On means", Journal 3, 2024, 1-9.
    """

    def fit(self, X, y):
        self.means_ = np.array([X[y == name].mean(axis=0) for name in np.unique(y)])
        return self

    def transform(self, X):
        return X @ self.means_.T
'''


def ddr(*words):
    with trusting(False):  # --trust must not outlive the command
        return CliRunner().invoke(app, [*map(str, words)], prog_name="ddr", catch_exceptions=False)


@pytest.fixture
def submitted(tiny_suite, tmp_path, monkeypatch):
    """Return the folder of a method that was submitted to the suite tiny."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DDR_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.py").write_text(MINE)
    words = ("suite", "submit", "./mine.py:Means", "tiny.yaml", "--out", ".", "--trust")
    (tmp_path / "about.yaml").write_text("authors: A. Author\n")
    refused = ddr(*words, "--card", "about.yaml")
    # The card lacks only the licence, because the docstring has the rest. Nothing has been run.
    assert (refused.exit_code, "lacks licence. " in refused.output) == (2, True)
    folder = tiny_suite.folder.parent / "suite_tiny_Means"
    assert not folder.exists()
    (tmp_path / "about.yaml").write_text("authors: A. Author\nlicense: MIT\nlicence: MIT\n")
    assert "about.yaml:2:1: license" in ddr(*words, "--card", "about.yaml").output
    (tmp_path / "about.yaml").write_text("authors: A. Author\nlicence: MIT\n")
    assert ddr(*words, "--card", "about.yaml").exit_code == 0
    return folder


def verify(folder):
    return ddr("suite", "verify", folder, "--trust")


def table():
    return ddr("suite", "table", "tiny.yaml", "--out", ".").output


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_submission_is_verified_until_it_is_changed(submitted):
    card = yaml.safe_load((submitted / "card.yaml").read_text())
    assert (card["method"], card["year"], card["licence"]) == ("./mine.py:Means", 2024, "MIT")
    assert (card["paper"], card["track"]) == (
        'A. Author, "On means", Journal 3, 2024, 1-9.',
        "inductive",
    )
    names = {"card.yaml", "mine.py", "audit.csv", "suite.json", "iris"}
    assert {path.name for path in submitted.iterdir()} == names
    assert "Means (A. Author, 2024): not verified; not confirmed" in table()
    done = verify(submitted)
    assert (done.exit_code, "1 rows equal those" in done.output) == (0, True)
    assert "verified on" in (told := table())
    assert " Means " in told.partition("\nscore: ")[0]
    # The confirmation by an author changes no value.
    edit(submitted / "card.yaml", "confirmed: null", "confirmed: {name: A. Author, date: today}")
    assert "confirmed by an author (A. Author, today)" in (told := table())
    assert "verified on" in told
    edit(submitted / "iris" / "trials.csv", ",ok,", ",failed,")
    assert "not verified" in table()


def test_a_value_that_differs_is_shown_and_so_are_another_library_and_processor(submitted):
    edit(submitted / "iris" / "trials.csv", ",ok,", ",failed,")
    edit(submitted / "iris" / "manifest.json", f'"numpy": "{version("numpy")}"', '"numpy": "1.0"')
    for kernel in {str(each.get("architecture")) for each in here().blas}:
        edit(submitted / "iris" / "manifest.json", f'"{kernel}"', '"Abacus"')
    done = verify(submitted)
    assert done.exit_code == 1
    assert "status" in done.output
    assert "the submitted rows used numpy 1.0" in done.output
    assert re.search(r"used openblas \S+ Abacus.*; the rerun used openblas", done.output)
    assert not (submitted / "verified.json").exists()


def test_a_column_that_a_submission_lacks_differs(submitted):
    path = submitted / "iris" / "trials.csv"
    edit(path, ",classifier.n_neighbors,", ",classifier.another,")
    done = verify(submitted)
    assert (done.exit_code, "n_neighbors" in done.output) == (1, True), done.output
    assert not (submitted / "verified.json").exists()


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("mine.py", "X @", "2 * X @", "the method's code, the data or ddr has changed"),
        ("audit.csv", "True,True", "True,False", "result of the audit differs"),
        ("iris/trials.csv", "\n", "\n#", "no split has all rows"),
    ],
)
def test_another_method_or_audit_or_fewer_rows_are_not_verified(submitted, name, old, new, message):
    path = submitted / name
    text = path.read_text()
    head, _, rest = text.partition(old)
    path.write_text(head + "\n" if new == "\n#" else head + new + rest)
    done = verify(submitted)
    assert (done.exit_code, message in done.output) == (1, True), done.output


def test_a_card_of_another_track_or_version_is_refused_and_a_file_elsewhere_not_read(submitted):
    edit(submitted / "card.yaml", "./mine.py", "../../mine.py")
    edit(submitted / "card.yaml", "track: inductive", "track: nowhere")
    done = verify(submitted)
    assert (done.exit_code, "(track nowhere)" in done.output) == (2, True)
    edit(submitted / "card.yaml", "track: nowhere", "track: inductive")
    # The submitted file next to the card is used, not the file at the path in the card.
    assert verify(submitted).exit_code == 0


def test_an_ensemble_is_ranked_apart_and_a_record_is_in_the_archive(submitted):
    edit(submitted / "card.yaml", "kind: method", "kind: ensemble")
    leaderboard, _, choices = table().partition("Alternatives to one fixed method")
    assert (" Means " in leaderboard, " Means " in choices) == (False, True)
    edit(submitted / "card.yaml", "kind: ensemble", "kind: method")
    assert verify(submitted).exit_code == 0
    assert ddr("suite", "page", "tiny.yaml", "--rows", "tiny.tar.xz", "--out", ".").exit_code == 0
    assert ddr("suite", "fetch", "tiny.yaml", "--from", "tiny.tar.xz").exit_code == 0
    fetched = ddr("suite", "table", "tiny.yaml", "--out", "nowhere", "--json").stdout
    (row,) = (row for row in json.loads(fetched) if row["method"] == "Means")
    assert (row["verified"]["splits"], row["card"]["authors"]) == (1, "A. Author")


@pytest.mark.usefixtures("tiny_suite")
def test_the_exported_table_contains_submissions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "about.yaml").write_text("{authors: Many, year: 2011, paper: none, kind: method}")
    words = ("suite", "submit", "sklearn.decomposition:PCA", "tiny.yaml", "--out", ".")
    assert ddr(*words, "--card", "about.yaml").exit_code == 0
    (log,) = csv.DictReader((tmp_path / "suite_tiny_PCA" / "iris" / "trials.csv").open())
    for kind in ("method", "ensemble"):
        edit(tmp_path / "suite_tiny_PCA" / "card.yaml", "kind: method", f"kind: {kind}")
        assert ddr("suite", "page", "tiny.yaml", "--rows", "rows.csv", "--out", ".").exit_code == 0
        rows = {row["method"]: row for row in csv.DictReader((tmp_path / "rows.csv").open())}
        assert rows.keys() == {"none", "lda", "PCA"}
        assert float(rows["PCA"]["value"]) == pytest.approx(float(log["error"]))
        assert rows["PCA"]["setting"] == f"dim = {log['reducer.n_components']}"
        assert rows["none"]["method_version"].isdigit()


def test_a_method_that_lacks_rows_does_not_remove_those_of_others(submitted):
    path = submitted / "iris" / "trials.csv"
    path.write_text(path.read_text().partition("\n")[0] + "\n")
    assert "Means" not in (told := table())
    assert "lda" in told


def test_the_card_of_a_package_is_that_of_its_metadata(tiny_suite, tmp_path, monkeypatch):
    monkeypatch.chdir(tiny_suite.folder.parent)
    words = ("suite", "submit", "sklearn.decomposition:PCA", "tiny.yaml", "--out", ".")
    assert "lacks authors, paper, year. " in ddr(*words).output
    (tmp_path / "about.yaml").write_text("{authors: Many, year: 2011, paper: scikit-learn}")
    done = ddr(*words, "--card", tmp_path / "about.yaml")
    assert done.exit_code == 0, done.output
    card = yaml.safe_load((tmp_path / "suite_tiny_PCA" / "card.yaml").read_text())
    assert card["requires"] == [f"scikit-learn=={version('scikit-learn')}"]
    assert card["licence"] == "BSD-3-Clause"
