"""A user's own data, from the table to the trial log of a run."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ddr_cli.comparison.summary import summary_of
from ddr_cli.core import own_code
from ddr_cli.core.errors import InputError
from ddr_cli.data import load_dataset
from ddr_cli.engine import run_spec
from ddr_cli.engine.work.draws import check_prepared
from ddr_cli.report.run_tables import control_table
from ddr_cli.spec import load_spec

COUNTING = """
from pathlib import Path
from sklearn.decomposition import PCA

class Counting(PCA):
    def fit_transform(self, X, y=None):
        with (Path(__file__).parent / "seen").open("a") as file:
            print(len(X), file=file)
        return super().fit_transform(X)
"""
DOUBLING = """
from sklearn.base import BaseEstimator, TransformerMixin

class Doubling(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return 2 * X
"""
SPEC = """
dataset: ./mixed.yaml
split: {kind: fraction, train: 0.5, repeats: 2}
preprocess: STEPS
reducers: [none]
classifiers: [{name: knn, n_neighbors: 3}]
controls: []
"""


@pytest.fixture
def mixed(work):
    """A table with two informative columns with gaps, one of them text, and the subjects."""
    rng = np.random.default_rng(0)
    kind = np.repeat(["ill", "well"], 40)
    frame = pd.DataFrame(
        {
            "dose (mg)": np.where(kind == "ill", 0.0, 3.0) + rng.normal(size=80).round(2),
            "site": np.where(kind == "ill", "north", "south"),
            "subject": np.tile(np.arange(10), 8),
            "state": kind,
        }
    )
    frame.loc[::9, "dose (mg)"] = np.nan
    frame.loc[::7, "site"] = np.nan
    path = work / "mixed.csv"
    frame.to_csv(path, index=False)
    return path


def card(mixed, expect=""):
    mixed.with_suffix(".yaml").write_text(
        "name: mixed\ntitle: Mixed\nfiles: [{path: mixed.csv}]\nformat: {name: csv, label: state, "
        f"groups: subject, categorical: [site], categories: codes, missing: keep}}\n{expect}"
    )
    return mixed.with_suffix(".yaml")


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ("[]", "mixed has missing values; add 'impute'"),
        ("[impute]", r"categorical columns \(site\).*one_hot"),
        (
            "[standardize, impute, one_hot]",
            "missing values; put the step 'impute' before 'standardize'",
        ),
        (
            '[impute, one_hot, {name: "sklearn.preprocessing:PowerTransformer", method: log}]',
            "method",
        ),
        ("[impute, pca, one_hot]", "categorical.*put the step 'one_hot' before 'pca'"),
    ],
)
def test_missing_values_and_codes_need_their_steps(mixed, steps, says):
    card(mixed)
    spec = mixed.with_name("spec.yaml")
    spec.write_text(SPEC.replace("STEPS", steps))
    with pytest.raises(InputError, match=says):
        load_spec(spec)


@pytest.mark.parametrize(
    "steps",
    [
        "[impute, one_hot, standardize]",
        '[one_hot, "sklearn.impute:KNNImputer", {name: "sklearn.preprocessing:QuantileTransformer",'
        " n_quantiles: 10}, './mine.py:Doubling']",
    ],
)
def test_steps_prepare_a_mixed_table(mixed, steps, tmp_path):
    card(mixed)
    spec = mixed.with_name("spec.yaml")
    spec.write_text(SPEC.replace("STEPS", steps))
    (mixed.parent / "mine.py").write_text(DOUBLING)
    with own_code.trusting(True):
        outcome = run_spec(load_spec(spec), out=tmp_path / "out")
    assert (outcome.done, outcome.failed) == (2, 0)
    errors = pd.read_csv(outcome.folder / "trials.csv")["error"]
    assert errors.max() < 0.1


def test_missing_values_that_no_card_tells_of_stop_the_run(work):
    X = np.ones((20, 2))
    X[3, 1] = np.nan
    np.savez(work / "mixed.npz", X=X, y=np.arange(20) % 2)
    (work / "mixed.yaml").write_text(
        "name: mixed\ntitle: Mixed\nfiles: [{path: mixed.npz}]\nformat: npz\n"
    )
    (work / "spec.yaml").write_text(SPEC.replace("STEPS", "[]"))
    spec = load_spec(work / "spec.yaml")
    with pytest.raises(InputError, match="add 'impute'"):
        run_spec(spec, out=work / "out")
    assert not (work / "out").exists()


def test_codes_that_no_card_tells_of_stop_the_run(work):
    (work / "spec.yaml").write_text(SPEC.replace("./mixed.yaml", "iris").replace("STEPS", "[]"))
    coded = replace(load_dataset("iris"), categorical=(1,), feature_names=None)
    with pytest.raises(InputError, match=r"categorical columns \(x1\)"):
        check_prepared(load_spec(work / "spec.yaml"), coded)


def test_a_step_that_is_fitted_to_labels_sees_none_that_are_hidden(work):
    step = '["sklearn.feature_selection:SelectKBest"]'
    (work / "spec.yaml").write_text(
        SPEC.replace("./mixed.yaml", "iris").replace("STEPS", step) + "labels: [2, 5]\n"
    )
    with pytest.raises(InputError, match="SelectKBest"):
        load_spec(work / "spec.yaml")


def test_rows_without_a_label_train_and_are_never_tested(work):
    rng = np.random.default_rng(1)
    kind = np.tile(["a", "b", "", "-1"], 30)
    frame = pd.DataFrame(
        {
            "x": np.where(kind == "a", 0.0, 4.0) + rng.normal(size=120),
            "y": rng.normal(size=120),
            "who": np.repeat(np.arange(12), 10),
            "kind": kind,
        }
    )
    frame.to_csv(work / "half.csv", index=False)
    text = (
        "name: half\ntitle: Half\nfiles: [{path: half.csv}]\n"
        "format: {name: csv, label: kind, groups: who}\n"
    )
    (work / "half.yaml").write_text(text)
    with pytest.raises(
        InputError, match=r"half\.csv, line 4: the label is missing; set `unlabelled"
    ):
        load_dataset(work / "half.yaml")
    (work / "half.yaml").write_text(text + "unlabelled: keep\n")
    data = load_dataset(work / "half.yaml")
    assert (data.class_counts, data.n_unlabelled) == ({"a": 30, "b": 30}, 60)

    (work / "mine.py").write_text(COUNTING)
    (work / "spec.yaml").write_text(
        "dataset: ./half.yaml\nsplit: {kind: SPLIT}\nclassifiers: [knn]\nmetrics: [error]\n"
        "controls: []\n"
        "reducers: [{name: lda, n_components: 1}, pca, {name: ccdr, n_neighbors: 3, mode: "
        "transductive}, {name: './mine.py:Counting'}]\n"
    )
    for split, train, test in (
        ("fraction, train: 0.5, repeats: 1", 90, 30),
        ("grouped, folds: 3", 80, 20),
    ):
        spec = work / "spec.yaml"
        spec.write_text(spec.read_text().replace("SPLIT", split))
        with own_code.trusting(True):
            outcome = run_spec(load_spec(spec), out=work / "out" / split[:4])
        spec.write_text(spec.read_text().replace(split, "SPLIT"))
        assert outcome.failed == 0
        rows = pd.read_csv(outcome.folder / "trials.csv")
        assert rows["error"].max() < 0.3
        sizes = json.loads((outcome.folder / "manifest.json").read_text())["sizes"]
        assert next(iter(sizes.values())) == {"train": train, "test": test}
        # The supervised method of the user's own is fitted to the labelled samples only.
        seen = (work / "seen").read_text().split()
        assert set(seen) == {str(train - 60 if split[:4] != "grou" else train - 40)}
        (work / "seen").unlink()


def test_the_whole_way_from_a_table_to_a_journal(mixed, ddr_here):
    made = ddr_here("new", "data", "mixed.csv", "--yes")
    assert made.returncode == 0, made.stderr
    following = made.stdout.splitlines()[-1].split()
    assert following[:4] == ["ddr", "new", "spec", "my_spec"]
    assert ddr_here(*following[1:]).returncode == 0
    spec = mixed.with_name("my_spec.yaml")
    assert "preprocess: [impute, one_hot]" in spec.read_text()
    assert "kind: grouped" in spec.read_text()
    ran = ddr_here("run", "my_spec.yaml", "--repeats", "2", "--set", "controls=[]")
    assert ran.returncode == 0, ran.stderr
    rows = pd.read_csv(mixed.with_name("results") / "my_spec" / "trials.csv")
    assert sorted(rows["reducer"]) == ["lda", "lda", "pca", "pca"]
    assert rows["error"].max() < 0.3


@pytest.mark.parametrize("how", ["per_class, train: 5", "kfold, folds: 3", "fraction, train: 0.5"])
def test_a_class_of_one_sample_is_excluded_as_the_messages_say(work, ddr_here, how):
    rows = [f"{0.37 * i % 1:.2f},{'ab'[i % 2]}" for i in range(20)]
    (work / "mine.csv").write_text("\n".join(["x,class", *rows, "0.5,c"]))
    made = ddr_here("new", "data", "mine.csv")
    assert "only one sample: c." in made.stdout
    assert "'ddr new data mine.yaml --force'" in made.stdout
    spec = f"dataset: ./mine.yaml\nsplit: {{kind: {how}}}\nreducers: [none]\nclassifiers: [knn]\n"
    (work / "x.yaml").write_text(spec + "tune: {folds: 3}\ncontrols: []\n" * ("fraction" in how))
    refused = ddr_here("plan", "x.yaml")
    assert refused.returncode == 2
    assert "exclude the class with 'keep'" in refused.stderr
    assert "at most 0" not in refused.stderr
    with (work / "mine.yaml").open("a") as card:
        card.write("keep: [a, b]\n")
    assert ddr_here("new", "data", "mine.yaml", "--force").returncode == 0
    assert ddr_here("plan", "x.yaml").returncode == 0


def test_a_column_of_one_class_is_said_to_be_one(work, ddr_here):
    rows = "".join(f"{i},{i * i},mild\n" for i in range(20))
    (work / "one.csv").write_text("a,b,state\n" + rows)
    done = ddr_here("new", "data", "one.csv", "--label", "state", "--yes")
    assert done.returncode == 0
    assert "the same class" in done.stdout
    assert "Next:" not in done.stdout
    (work / "x.yaml").write_text(
        "dataset: ./one.yaml\nsplit: {kind: fraction, train: 0.5, repeats: 2}\n"
        "reducers: [none]\nclassifiers: [knn]\ncontrols: []\n"
    )
    refused = ddr_here("run", "x.yaml")
    assert refused.returncode == 2
    assert "the class mild" in refused.stderr
    assert not (work / "results").exists()


def test_an_own_data_set_has_scaled_scores(ddr_here, mixed, monkeypatch, tmp_path):
    frame = pd.read_csv(mixed).dropna()[["dose (mg)", "state"]].head(60)
    frame.to_csv(mixed.with_name("plain.csv"), index=False)
    assert ddr_here("new", "data", "plain.csv", "--label", "state", "--yes").returncode == 0
    spec = SPEC.replace("mixed", "plain").replace("STEPS", "[]").replace("[none]", "[lda]")
    spec = spec.replace("controls: []", "controls: [full_features, shuffled_labels]")
    mixed.with_name("s.yaml").write_text(spec)
    done = ddr_here("run", "s.yaml")
    assert done.returncode == 0, done.stderr
    baseline = 1 - frame["state"].value_counts(normalize=True).max()
    assert f"0 is the majority-class baseline ({100 * baseline:.2f} %)" in done.stdout

    folder = mixed.parent / "results" / "s"
    assert "scaled" in control_table(summary_of(folder)).frame
    # The manifest has the baseline, so it does not matter where the card is.
    monkeypatch.chdir(tmp_path)
    assert "scaled" in control_table(summary_of(folder)).frame
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"majority": {}}))
    table = control_table(summary_of(folder))
    assert "scaled" not in table.frame
    assert "sizes of the classes" in table.notes[0]
