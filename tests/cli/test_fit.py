"""`ddr fit` saves the best method of a spec, and the saved model predicts."""

import errno
import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest
from sklearn.pipeline import Pipeline

from ddr_cli.data import load_dataset
from ddr_cli.evaluation.knn import KNNClassifier
from ddr_cli.reducers import LDA

skops_io = pytest.importorskip("skops.io", reason="pipelines are saved by the extra skops")

SPEC = """
dataset: {dataset}
split: {{kind: fraction, train: 0.5, repeats: 3}}
preprocess: {steps}
reducers: {reducers}
classifiers: [{{name: knn, n_neighbors: 3}}]
controls: []
"""
MINE = """
import numpy as np

class Mine:
    def __init__(self, n_components: int = 1):
        self.n_components = n_components
    def get_params(self, deep=True): return {"n_components": self.n_components}
    def fit(self, X, y):
        self.mean_ = X.mean(axis=0)
        return self
    def transform(self, X): return (X - self.mean_)[:, :self.n_components]
    def fit_transform(self, X, y): return self.fit(X, y).transform(X)
"""


@pytest.fixture
def spec(work):
    """Return a function that writes a spec on iris or other data and returns its file name."""

    def write(reducers="[lda, pca]", steps="[]", dataset="iris"):
        text = SPEC.format(dataset=dataset, steps=steps, reducers=reducers)
        (work / "mine.yaml").write_text(text)
        return "mine.yaml"

    return write


def predictions(done, work):
    """Run the lines that `ddr fit` printed on iris, in a new process, and return their output."""
    lines = done.stdout[done.stdout.index("\n\n") :]
    code = f"""
from ddr_cli.data import load_dataset
X = load_dataset("iris").X
{lines.replace("model.predict(X)", "print(*model.predict(X))")}
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_one_method_needs_no_run_and_is_saved_as_a_plain_pipeline(ddr_here, work, spec):
    done = ddr_here("fit", spec("[lda]", "[standardize]"), "--save", "m.skops")
    assert done.returncode == 0, done.stderr
    assert "the only requested method" in done.stdout
    iris = load_dataset("iris")
    X = (iris.X - iris.X.mean(axis=0)) / iris.X.std(axis=0)
    places = LDA(n_components=2).fit_transform(X, iris.y)
    predicted = KNNClassifier(n_neighbors=3).fit(places, iris.y).predict(places)
    assert predictions(done, work) == [iris.target_names[code] for code in predicted]
    types = ["Standardize", "LDA", "KNNClassifier"]
    model = skops_io.load(work / "m.skops", trusted=skops_io.get_untrusted_types(file="m.skops"))
    assert type(model) is Pipeline
    assert [type(step).__name__ for _, step in model.steps] == types


def test_without_skops_nothing_is_fitted(ddr_here, work, spec, monkeypatch):
    def never(*_):
        raise AssertionError("fitted")

    monkeypatch.setitem(sys.modules, "skops.io", None)
    monkeypatch.setattr(LDA, "fit", never)
    done = ddr_here("fit", spec("[lda]"), "--save", "m.skops")
    assert (done.returncode, done.stdout) == (2, "")
    assert "[skops]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (work / "m.skops").exists()


def test_the_old_model_stays_if_the_new_file_cannot_be_written(ddr_here, work, spec, monkeypatch):
    name = spec("[lda]")
    assert ddr_here("fit", name, "--save", "m.skops").returncode == 0
    before = (work / "m.skops").read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = ddr_here("fit", name, "--save", "m.skops")
    assert (done.returncode, "No space left" in done.stderr) == (2, True)
    assert (work / "m.skops").read_bytes() == before
    assert [path.name for path in work.glob("*skops*")] == ["m.skops"]


def test_the_winner_is_the_runs_and_says_by_what(ddr_here, work, spec):
    name = spec()
    done = ddr_here("fit", name, "--save", "m.skops")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--reducer, --classifier and --set" in done.stderr
    assert ddr_here("run", name, "-q").returncode == 0
    means = pd.read_csv(work / "results" / "mine" / "trials.csv").groupby("reducer")["error"].mean()
    done = ddr_here("fit", name, "--save", "m.skops")
    assert done.stdout.startswith(f"{means.idxmin()}(")
    assert f"3 splits ({100 * means.min():.2f} %," in done.stdout
    for asked in ("pca", "PCA"):
        done = ddr_here("fit", name, "--reducer", asked, "--classifier", "knn", "--save", "m.skops")
        assert done.stdout.startswith("pca(n_components=2"), done.stderr
    done = ddr_here("fit", name, "--reducer", "pca", "--classifier", "kn", "--save", "m.skops")
    assert (done.returncode, "has no method called 'kn'" in done.stderr) == (2, True)


def test_a_tuned_winner_is_told_by_inner_scores(ddr_here, work, spec):
    name, how = spec("[{name: lda, n_components: {grid: [1, 2]}}]"), "tune={budget: 2, folds: 2}"
    assert "tunes its methods" in ddr_here("fit", name, "--set", how, "--save", "m.skops").stderr
    assert ddr_here("run", name, "-q", "--set", how).returncode == 0
    done = ddr_here("fit", name, "--set", how, "--save", "m.skops")
    assert done.returncode == 0, done.stderr
    trials = pd.read_csv(work / "results" / "mine" / "trials.csv").dropna(subset=["tuned"])
    taken = trials["reducer.n_components"].mode().min()
    assert done.stdout.startswith(f"lda(n_components={taken:.0f},")
    score = trials["inner_score"].mean()
    assert f"inner folds of 3 splits ({100 * score:.2f} %" in done.stdout


def test_a_model_of_a_table_with_text_comes_with_the_codes(ddr_here, work, spec):
    rows = [f"{i % 7},{'mf'[i % 2]},{'ab'[i % 2]}" for i in range(20)]
    (work / "t.csv").write_text("\n".join(["age,sex,class", *rows]))
    assert ddr_here("data", "new", "t.csv", "--label", "class", "--yes").returncode == 0
    done = ddr_here("fit", spec("[none]", "[one_hot]", "./t.yaml"), "--save", "m.skops")
    assert done.stdout.startswith("none with knn("), done.stderr
    assert "# sex: 0 = f, 1 = m\n" in done.stdout
    types = skops_io.get_untrusted_types(file=work / "m.skops")
    model = skops_io.load(work / "m.skops", trusted=types)
    assert model.predict([[3, 0], [4, 1]]).tolist() == ["b", "a"]


def test_what_places_no_new_points_is_refused(ddr_here, spec):
    name = spec("[{name: ccdr, n_components: 2, mode: transductive}]")
    done = ddr_here("fit", name, "--save", "m.skops")
    assert done.returncode == 2
    assert "reducer.mode=out_of_sample" in done.stderr
    done = ddr_here("fit", name, "--save", "m.skops", "--set", "reducer.mode=out_of_sample")
    assert done.returncode == 0, done.stderr
    assert "'lda'" in ddr_here("fit", spec(), "--save", "m", "--reducer", "ldb").stderr


def test_own_code_is_asked_for_as_the_spec_writes_it(ddr_here, work, spec):
    (work / "there").mkdir()
    (work / "there" / "mine.py").write_text(MINE)
    spec('[lda, "./mine.py:Mine"]')
    shutil.move(work / "mine.yaml", work / "there" / "mine.yaml")
    save = ("there/mine.yaml", "--trust", "--save", "m.skops", "--reducer")
    for asked in ("./mine.py:Mine", "there/mine.py:Mine", str(work / "there/mine.py:Mine"), "mine"):
        done = ddr_here("fit", *save, asked)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Mine(n_components=1"), asked
    done = ddr_here("fit", *save, "./mine.py:Mime")
    assert done.returncode == 2
    assert "no method called './mine.py:Mime'. Did you mean './mine.py:Mine'?" in done.stderr


def test_a_class_of_a_file_is_loaded_before_its_pipeline(ddr_here, work, spec):
    (work / "mine.py").write_text(MINE)
    done = ddr_here("fit", spec('["./mine.py:Mine"]'), "--save", "m.skops", "--trust")
    assert done.returncode == 0, done.stderr
    assert len(predictions(done, work)) == 150
