"""The Python API, on embedded data."""

from __future__ import annotations

import dataclasses
import io
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape
from PIL import Image
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import ddr_cli
from ddr_cli.core import own_code
from ddr_cli.core.embedding import fit_transform
from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import hash_of
from ddr_cli.data import load_dataset
from ddr_cli.engine import make_plan
from ddr_cli.reducers import LDA
from ddr_cli.report.run_page import comparisons
from ddr_cli.show.html import table
from ddr_cli.spec import make_spec
from ddr_cli.spec.objects import in_words

SPEC: dict[str, Any] = {
    "dataset": "iris",
    "split": {"kind": "fraction", "train": 0.5, "repeats": 3},
    "reducers": ["none", {"name": "lda", "n_components": 1}],
    "classifiers": ["knn"],
    "controls": [],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return ddr_cli.run(SPEC, out=tmp_path_factory.mktemp("api"), name="mine")


def test_a_dictionary_runs_and_gives_tables(results):
    assert results.folder.name == "mine"
    assert len(results.trials) == 6
    means = results.trials.groupby("reducer", sort=False)["error"].mean()
    assert results.summary["mean"].tolist() == pytest.approx(means.tolist(), rel=1e-12)
    html = results._repr_html_()
    assert "<table" in html
    assert "LDA" in html


def test_a_second_call_does_nothing_again(results):
    before = (results.folder / "trials.csv").read_bytes()
    again = ddr_cli.run(SPEC, out=results.folder.parent, name="mine")
    assert (results.folder / "trials.csv").read_bytes() == before
    pd.testing.assert_frame_equal(again.trials, results.trials)


def test_a_folder_may_be_named_by_a_text(results):
    again = ddr_cli.Results(str(results.folder))
    pd.testing.assert_frame_equal(again.trials, results.trials)
    assert again == results
    assert again.write()


def test_a_figure_is_a_picture_in_a_notebook_without_pyplot(results):
    shown = results.figure()._repr_png_()
    with Image.open(io.BytesIO(shown)) as picture:
        assert picture.format == "PNG"
        assert picture.width > 500
        assert len(np.unique(np.asarray(picture.convert("L")))) > 10


def test_a_comparison_is_short_as_text_and_a_table_in_a_notebook(results):
    found = results.compare()
    assert repr(found) == "<Comparison of 2 methods by error in mine: no reduction, LDA>"
    title, _, head, _, *lines = str(found).splitlines()
    assert title == "### mine: error rate (%)"
    assert head.startswith("| method | mean ± sd |")
    assert [line.split()[1] for line in lines[:2]] == ["no", "LDA"]
    html = found._repr_html_()
    grid, *notes = comparisons(results._summary)
    assert table(grid) in html
    assert all(escape(note) in html for note in (*grid.notes, *(each.words for each in notes)))
    with_markup = dataclasses.replace(found, notes=("<b>a</b>",))
    assert "&lt;b&gt;" in with_markup._repr_html_()


def test_a_value_that_the_label_names_is_not_named_again(tmp_path):
    widths = [{"name": "lda", "n_components": width} for width in (1, 2)]
    swept = {"name": "lfda", "n_components": {"grid": [1, 2]}}
    results = ddr_cli.run({**SPEC, "reducers": [*widths, swept]}, out=tmp_path, name="dims")
    methods = results.compare(at=["n_components=2"], methods=["LDA (dim = 2)", "LFDA"]).methods
    names = methods["method"] + ": " + methods["setting"]
    assert names.tolist() == ["LDA (dim = 2): ", "LFDA: dim = 2"]


@pytest.mark.parametrize("key", [("name", "mine"), ("repeats", 5), ("overrides", [])])
def test_an_argument_among_a_spec_s_keys_is_named_with_the_right_call(tmp_path, key):
    with pytest.raises(InputError, match=rf"not a spec key; use run\(spec, {key[0]}="):
        ddr_cli.run({**SPEC, **dict([key])}, out=tmp_path)


def test_figure_and_files(results):
    assert results.figure().get_axes()
    assert {path.name for path in results.write()} == {"summary.csv", "figure.svg", "figure.png"}


def test_results_of_a_folder_compare(results):
    found, again = ddr_cli.compare(results.folder), results.compare()
    for name in ("methods", "differences", "pairs"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(again, name))
    with pytest.raises(InputError, match="at least one folder"):
        ddr_cli.compare()


def test_a_shipped_spec_takes_overrides(tmp_path):
    found = ddr_cli.run("digits_ccdr_beta", out=tmp_path, overrides=["reducer.beta=0.5"], repeats=1)
    assert set(found.trials["split"]) == {"fraction-0"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"reducers": None}, "has no 'reducers'"),
        ({"dataset": "irish"}, "iris"),
        ({"bogus": 1}, "bogus"),
    ],
)
def test_a_wrong_dictionary_is_one_sentence(tmp_path, changes, says):
    with pytest.raises(InputError, match=says):
        ddr_cli.run({**SPEC, **changes}, out=tmp_path)


def test_the_module_is_the_program():
    done = subprocess.run(
        [sys.executable, "-m", "ddr_cli", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"ddr {ddr_cli.__version__}\n")


def _no_import():
    class Halves(TransformerMixin, BaseEstimator):
        """A class that no other process can import."""

        def __init__(self, n_components: int = 1) -> None:
            self.n_components = n_components

        def fit(self, X: Any, _y: Any) -> Any:
            self.mean_ = X.mean(axis=0)
            return self

        def transform(self, X: Any) -> Any:
            return _halved(X - self.mean_)[:, : self.n_components]

    return Halves


def test_a_timeout_applies_and_failed_trials_run_again_on_request(tmp_path):
    class Waiting(TransformerMixin, BaseEstimator):
        """Waits while a file exists, up to a limit."""

        def __init__(self, file: str = "") -> None:
            self.file = file

        def fit(self, _X: Any, _y: Any = None) -> Any:
            for _ in range(1000):
                if os.path.exists(self.file):  # noqa: PTH110 (a class of its own is copied)
                    time.sleep(0.01)
            return self

        def transform(self, X: Any) -> Any:
            return X

    file = tmp_path / "there"
    file.touch()
    spec = {
        **SPEC,
        "split": {"kind": "fraction", "train": 0.5, "repeats": 1},
        "reducers": [Waiting(str(file))],
    }

    def statuses(**options):
        return list(ddr_cli.run(spec, out=tmp_path, name="a", **options).trials["status"])

    assert statuses(timeout=0.5) == ["timeout"]
    file.unlink()
    assert statuses() == ["timeout"]
    assert statuses(redo="failed") == ["ok"]


def _halved(X):
    return X / 2


def test_arrays_and_objects_run_resume_and_are_known_by_content(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    spec = {
        **SPEC,
        "dataset": (X, y),
        "controls": [],
        "preprocess": [StandardScaler()],
        "reducers": [
            LDA(n_components=1),
            {"name": _no_import()(), "label": "mine", "n_components": {"grid": [1, 2]}},
            make_pipeline(PCA(2), FunctionTransformer(_halved)),
        ],
        "classifiers": [KNeighborsClassifier(3), "knn"],
    }
    found = ddr_cli.run(spec, out=tmp_path, name="a")
    assert repr(found) == f"<Results {tmp_path / 'a'}: 24 trials>"
    assert found.trials["reducer"].unique().tolist() == ["lda", "python:Halves", "python:Pipeline"]
    assert found.trials["reducer.n_components"].dropna().unique().tolist() == [1, 2]
    assert "sklearn.neighbors:KNeighborsClassifier" in set(found.trials["classifier"])
    assert set(found.summary["reducer_label"]) == {"LDA", "mine", "Pipeline"}
    before = (tmp_path / "a" / "trials.csv").read_bytes()
    assert len(ddr_cli.run(spec, out=tmp_path, name="a").trials) == 24
    assert (tmp_path / "a" / "trials.csv").read_bytes() == before
    X.iloc[0, 0] += 1e-9
    with pytest.raises(InputError, match="the data's fingerprint"):
        ddr_cli.run(spec, out=tmp_path, name="a")


def test_arrays_with_other_content_are_another_data_set(tmp_path):
    X, y = load_iris(return_X_y=True)
    runs = {"a": X, "b": X, "c": X / X.std(axis=0)}
    for name, points in runs.items():
        ddr_cli.run({**SPEC, "dataset": (points, y)}, out=tmp_path, name=name)
    same = ddr_cli.compare(tmp_path / "a", tmp_path / "b").differences
    assert set(same["dataset"]) == {"arrays"}
    assert set(same["against"]) == {"no reduction (a)"}
    other = ddr_cli.compare(tmp_path / "a", tmp_path / "c").differences
    assert set(zip(other["run"], other["dataset"], strict=True)) == {
        ("a", "arrays (a)"),
        ("c", "arrays (c)"),
    }
    # Each run is compared with its own baseline, on its own data.
    assert set(other["against"]) == {"no reduction"}


def test_an_object_is_what_a_spec_calls_by_name():
    by_name = {
        **SPEC,
        "controls": [],
        "reducers": [{"name": "lda", "n_components": 1}],
        "classifiers": [{"name": "sklearn.neighbors:KNeighborsClassifier", "n_neighbors": 3}],
    }
    by_object = {
        **by_name,
        "dataset": load_dataset("iris"),
        "reducers": [LDA(n_components=1)],
        "classifiers": [KNeighborsClassifier(n_neighbors=3)],
    }
    with in_words(by_object) as words:
        ids = list(make_plan(make_spec(**words)).trials)
    assert ids == list(make_plan(make_spec(**by_name)).trials)
    other = dataclasses.replace(load_dataset("iris"), X=load_dataset("iris").X + 1)
    with pytest.raises(InputError, match="is a shipped data set"), in_words({"dataset": other}):
        pass


EDITS = """
import sys
from ddr_cli.core.own_code import hash_of
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
WORDS = {"b", "a", "c"}
FACTOR = %s
def scale(X): return X * FACTOR
class Mine:
    def __init__(self, k=%s): self.k = k
    # %s
    def transform(self, X): return scale(X)[:, : self.k] if self.k in {"a", "b"} else X %s 1
print(hash_of(Mine), hash_of(make_pipeline(FunctionTransformer(scale))))
"""


def test_code_is_told_by_its_source_and_what_it_uses(tmp_path):
    edits = [
        (2, 1, "a comment", "+"),
        (2, 1, "another", "+"),
        (2, 1, "a comment", "-"),
        (2, 5, "a comment", "+"),
        (3, 1, "a comment", "+"),
    ]
    for number, each in enumerate(edits):
        (tmp_path / f"{number}.py").write_text(EDITS % each)

    def hashes(seed, *numbers):
        files = [str(tmp_path / f"{number}.py") for number in numbers]
        run = "import runpy, sys; [runpy.run_path(f, run_name='__main__') for f in sys.argv[1:]]"
        done = subprocess.run(
            [sys.executable, "-c", run, *files],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        return [line.split() for line in done.stdout.splitlines()]

    first, *rest = hashes("0", 0, 2, 3, 4)
    assert hashes("1", 1) == [first]
    operator, default, constant = (
        [mine != was for mine, was in zip(each, first, strict=True)] for each in rest
    )
    assert (operator, default[0], constant) == ([True, False], True, [True, True])


def test_code_without_source_needs_a_version():
    def made(body):
        found: dict[str, Any] = {"__name__": "__main__"}
        exec(f"class Mine:\n    def fit(self, X, y): return self\n    {body}", found)
        return found["Mine"]

    with pytest.raises(InputError, match=r"Mine\.fit .* in a file"):
        hash_of(made("k = 1"))
    first = hash_of(made("version = 1"))
    assert hash_of(made("version = 1; k = 2")) == first
    assert hash_of(made("version = 2")) != first


def test_the_hash_of_a_class_depends_on_its_closure():
    def made(k):
        class Mine:
            def transform(self, X: Any) -> Any:
                return X[:, :k]

        return Mine

    assert hash_of(made(1)) == hash_of(made(1)) != hash_of(made(2))


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        ([["a"], ["b"]], [0, 1], "not numeric"),
        ([[1.0], [2.0]], [0, 1, 2], "2 samples but 3 labels"),
        ([1.0, 2.0], [0, 1], "samples x features"),
        ([[1.0], [2.0]], [0, None], "y has missing values"),
        ([[1.0], [2.0]], [[0], [1]], "one class per row"),
    ],
)
def test_arrays_that_are_no_data_set_are_refused(X, y, says):
    with pytest.raises(InputError, match=says):
        ddr_cli.make_dataset(X, y)


def test_a_data_set_is_short_to_read():
    assert repr(load_dataset("iris")) == (
        "<Dataset iris: 150 samples x 4 features; setosa 50, versicolor 50, virginica 50>"
    )
    odd = ddr_cli.make_dataset([[0.0], [1.0]], ["<b>", "&"], title="<i>")
    assert "<table>" in odd._repr_html_()
    assert "<b>" not in odd._repr_html_()


def test_rows_without_a_class_are_kept_if_asked_for():
    for y in ([0, 1, -1], ["a", "b", None]):
        found = ddr_cli.make_dataset([[0.0], [1.0], [2.0]], y, unlabelled=True)
        assert found.y.tolist() == [0, 1, -1]
    assert ddr_cli.make_dataset([[0.0], [1.0]], [1, -1]).target_names == ("-1", "1")


# -- the best method as a pipeline -----------------------------------------------------------------

PAIR = {**SPEC, "reducers": [{"name": name, "n_components": 2} for name in ("lda", "pca")]}


def named_steps(pipeline):
    return [type(step).__name__ for _, step in pipeline.steps]


def test_the_best_pipeline_has_the_run_s_steps_and_is_not_fitted(tmp_path):
    run = ddr_cli.run({**PAIR, "preprocess": ["standardize"]}, out=tmp_path, name="best")
    best = run.trials.groupby("reducer")["error"].mean().idxmin()
    pipeline = run.best_pipeline()
    assert named_steps(pipeline) == ["Standardize", best.upper(), "KNNClassifier"]
    assert not hasattr(pipeline[-1], "classes_")
    iris = load_dataset("iris")
    expected = fit_transform(clone(pipeline[1]), StandardScaler().fit_transform(iris.X), iris.y)
    pipeline.fit(iris.X, iris.y)
    assert pipeline[:-1].transform(iris.X) == pytest.approx(expected, abs=1e-6)
    assert (pipeline.predict(iris.X) == iris.y).mean() > 0.9


def test_the_best_pipeline_has_the_best_value_of_a_sweep(tmp_path):
    swept = {"reducer.n_components": [1, 2, 3], "classifier.n_neighbors": [1, 5]}
    run = ddr_cli.run({**SPEC, "reducers": ["pca"], "sweep": swept}, out=tmp_path, name="swept")
    best = run.summary.loc[run.summary["mean"].idxmin()]
    reducer, classifier = (step for _, step in run.best_pipeline().steps)
    assert reducer.n_components == best["reducer.n_components"]
    assert classifier.n_neighbors == best["classifier.n_neighbors"]


def test_a_tuned_pipeline_has_the_setting_that_most_splits_chose(tmp_path):
    tuned = {
        "reducers": [{"name": "lda", "n_components": {"grid": [1, 2]}}, "none"],
        "tune": {"budget": 2, "folds": 2},
    }
    run = ddr_cli.run({**SPEC, **tuned}, out=tmp_path, name="tuned")
    trials = run.trials.dropna(subset=["tuned"])
    best = trials.groupby("reducer")["inner_score"].mean().idxmin()
    reducer = run.best_pipeline()[0]
    assert type(reducer).__name__ == {"lda": "LDA", "none": "NoReduction"}[best]
    if best == "lda":
        chosen = trials[trials["reducer"] == "lda"]["reducer.n_components"]
        assert reducer.n_components == chosen.mode().min()


def test_the_best_pipeline_needs_a_complete_run_of_a_method_that_transforms(tmp_path):
    ccdr = {"name": "ccdr", "n_components": 2, "mode": "transductive"}
    run = ddr_cli.run({**SPEC, "reducers": [ccdr]}, out=tmp_path, name="ccdr")
    with pytest.raises(InputError, match=r"reducer\.mode=out_of_sample"):
        run.best_pipeline()
    again = ddr_cli.run(
        {**SPEC, "reducers": [{**ccdr, "mode": "out_of_sample"}]}, out=tmp_path, name="out"
    )
    assert named_steps(again.best_pipeline())[0] == "CCDR"
    rows = again.folder / "trials.csv"
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(InputError, match="finish the run"):
        ddr_cli.Results(again.folder).best_pipeline()


def test_the_best_pipeline_runs_own_code_only_if_it_is_trusted(tmp_path, monkeypatch):
    code = "class Mine:\n    def fit(self, X, y):\n        return self\n"
    code += "    def transform(self, X):\n        return X\n"
    (tmp_path / "mine.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    # A command of another test may have trusted all code in this process.
    monkeypatch.setattr(own_code, "_trusted", set())
    spec = {**SPEC, "reducers": ["./mine.py:Mine"]}
    run = ddr_cli.run(spec, out="results", name="mine", trust=True)
    with pytest.raises(InputError, match="trust"):
        run.best_pipeline()
    assert named_steps(run.best_pipeline(trust=True))[0] == "Mine"
