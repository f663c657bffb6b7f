"""`ddr fit` and `ddr apply`: the winner of a spec, kept and used."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ddr_cli.data import load_dataset
from ddr_cli.evaluation.knn import KNNClassifier
from ddr_cli.reducers import LDA

pytest.importorskip("skops", reason="models are kept by the extra skops")

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
def spec(work: Path):
    """Return a function that writes a spec on iris, or other data, and returns its name."""

    def write(reducers: str = "[lda, pca]", steps: str = "[]", dataset: str = "iris") -> str:
        text = SPEC.format(dataset=dataset, steps=steps, reducers=reducers)
        (work / "mine.yaml").write_text(text)
        return "mine.yaml"

    return write


def iris_table(path: Path) -> pd.DataFrame:
    iris = load_dataset("iris")
    names = [f"x{i}" for i in range(4)] if iris.feature_names is None else iris.feature_names
    table = pd.DataFrame(iris.X, columns=list(names))
    table.assign(extra="?").iloc[:, ::-1].to_csv(path, index=False)
    return table


def test_one_method_needs_no_run_and_is_the_fitted_estimator(ddr_here, work, spec):
    done = ddr_here("fit", spec("[lda]"), "--save", "m.skops")
    assert done.returncode == 0, done.stderr
    assert "the only one that was asked for" in done.stdout
    assert "150 points of iris, 4 features, 3 classes" in done.stdout
    iris_table(work / "new.csv")
    done = ddr_here("apply", "m.skops", "new.csv", "--out", "p.csv")
    assert done.returncode == 0, done.stderr
    iris = load_dataset("iris")
    places = LDA(n_components=2).fit_transform(iris.X, iris.y)
    predicted = KNNClassifier(n_neighbors=3).fit(places, iris.y).predict(places)
    found = pd.read_csv(work / "p.csv")
    np.testing.assert_allclose(found[["x1", "x2"]], places, atol=1e-9)
    assert found["prediction"].tolist() == [iris.target_names[code] for code in predicted]
    assert ddr_here("apply", "m.skops", "new.csv").stdout == (work / "p.csv").read_text()


def test_without_skops_nothing_is_fitted(ddr_here, work, spec, monkeypatch):
    def never(*_: object) -> None:
        raise AssertionError("fitted")

    monkeypatch.setitem(sys.modules, "skops.io", None)
    monkeypatch.setattr(LDA, "fit", never)
    for words in (("fit", spec("[lda]"), "--save", "m.skops"), ("apply", "m.skops", "new.csv")):
        done = ddr_here(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "pip install 'ddr[skops]'" in done.stderr
        assert "Traceback" not in done.stderr
    assert not (work / "m.skops").exists()


def test_the_winner_is_the_runs_and_says_by_what(ddr_here, work, spec):
    name = spec()
    done = ddr_here("fit", name, "--save", "m.skops")
    assert (done.returncode, done.stdout) == (2, "")
    assert "run it first, or name one with --reducer, --classifier and --set" in done.stderr
    assert ddr_here("run", name, "-q").returncode == 0
    means = pd.read_csv(work / "results" / "mine" / "trials.csv").groupby("reducer")["error"].mean()
    done = ddr_here("fit", name, "--save", "m.skops")
    assert done.stdout.startswith(f"{means.idxmin()}(")
    assert "by the mean error over the test parts of 3 splits" in done.stdout
    assert "too good for it" in done.stdout
    for asked in ("pca", "PCA"):
        done = ddr_here("fit", name, "--reducer", asked, "--classifier", "knn", "--save", "m.skops")
        assert done.stdout.startswith("pca(n_components=2"), done.stderr
    done = ddr_here("fit", name, "--reducer", "pca", "--classifier", "kn", "--save", "m.skops")
    assert (done.returncode, "has no method called 'kn'" in done.stderr) == (2, True)


def test_a_tuned_winner_is_told_by_inner_scores(ddr_here, work, spec):
    name, how = spec("[{name: lda, n_components: {grid: [1, 2]}}]"), "tune={budget: 2, folds: 2}"
    assert "tunes, and" in ddr_here("fit", name, "--set", how, "--save", "m.skops").stderr
    assert ddr_here("run", name, "-q", "--set", how).returncode == 0
    done = ddr_here("fit", name, "--set", how, "--save", "m.skops")
    assert done.returncode == 0, done.stderr
    trials = pd.read_csv(work / "results" / "mine" / "trials.csv").dropna(subset=["tuned"])
    taken = trials["reducer.n_components"].mode().min()
    assert done.stdout.startswith(f"lda(n_components={taken:.0f},")
    score = trials["inner_score"].mean()
    assert f"by the mean inner error over 3 splits, {score:.4g}, in which no test" in done.stdout


def test_a_table_of_ones_own_is_read_as_its_card_says(ddr_here, work, spec):
    rng = np.random.default_rng(0)
    ill = np.arange(60) % 2 == 0
    table = pd.DataFrame({"dose mg": rng.normal(3 * ill), "site": np.where(ill, "north", "south")})
    table.loc[::7, "dose mg"] = np.nan
    table.assign(state=np.where(ill, "ill", "well"), who=range(60)).to_csv(
        work / "t.csv", index=False, sep=";"
    )
    (work / "t.yaml").write_text(
        "name: t\ntitle: T\nfiles: [{path: t.csv}]\nformat: {name: csv, separator: semicolon, "
        "label: state, ignore: [who], categorical: [site], categories: codes, missing: keep}\n"
    )
    name = spec("[none]", "[impute, one_hot]", "./t.yaml")
    done = ddr_here("fit", name, "--save", "m.skops")
    assert done.returncode == 0, done.stderr
    # Other columns, another order, no labels; a value that is missing, and one never seen.
    (work / "new.csv").write_text("site;note;dose mg\nsouth;a;0.1\nnorth;b;NA\nwest;c;3\n")
    done = ddr_here("apply", "m.skops", "new.csv")
    assert done.returncode == 0, done.stderr
    found = [line.split(",") for line in done.stdout.splitlines()[1:]]
    assert [row[1] for row in found[:2]] == ["well", "ill"]
    assert done.stderr == "  1 row has a value of 'site' that the model never saw\n"
    mean = table["dose mg"].mean()
    np.testing.assert_allclose(
        np.array(found)[:, 2:].astype(float), [[0, 1, 0.1], [1, 0, mean], [0, 0, 3]]
    )
    # The same where each value is a column of its own.
    card = (work / "t.yaml").read_text()
    (work / "t.yaml").write_text(
        card.replace("categories: codes, missing: keep", "missing: drop_rows")
    )
    (work / "new.csv").write_text("site;dose mg\nwest;1\nnorth;1\neast;1\n")
    assert ddr_here("fit", spec("[none]", "[]", "./t.yaml"), "--save", "m.skops").returncode == 0
    done = ddr_here("apply", "m.skops", "new.csv")
    assert done.stderr == "  2 rows have values of 'site' that the model never saw\n"
    (work / "new.csv").write_text("site;doze mg\nsouth;0.1\n")
    done = ddr_here("apply", "m.skops", "new.csv")
    assert done.returncode == 2
    assert (
        "lacks columns that the model was fitted to: 'dose mg'. Did you mean 'doze" in done.stderr
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("x0,x1,x2\n1,2,3\n", "3 columns where the model takes 4 features"),
        ("1,2,3,four\n", "line 1, column 3 (from 0): 'four' is not a finite number"),
        ("1,2,,4\n", "line 1, column 2 (from 0): the value is missing"),
        ("", "holds no rows of data"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(ddr_here, work, spec, content, says):
    assert ddr_here("fit", spec("[none]"), "--save", "m.skops").returncode == 0
    (work / "new.csv").write_text(content)
    done = ddr_here("apply", "m.skops", "new.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_arrays_are_rows_too(ddr_here, work, spec):
    ddr_here("fit", spec("[none]"), "--save", "m.skops")
    np.save(work / "new.npy", load_dataset("iris").X[:2])
    assert ddr_here("apply", "m.skops", "new.npy").stdout.count("\n") == 3
    np.save(work / "new.npy", np.array([None]), allow_pickle=True)
    assert ddr_here("apply", "m.skops", "new.npy").returncode == 2


def test_what_places_no_new_points_is_refused(ddr_here, spec):
    name = spec("[{name: ccdr, n_components: 2, mode: transductive}]")
    done = ddr_here("fit", name, "--save", "m.skops")
    assert done.returncode == 2
    assert "no map to keep" in done.stderr
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


def test_own_code_is_loaded_with_a_word_and_unchanged(ddr_here, work, spec):
    (work / "mine.py").write_text(MINE)
    name = spec('["./mine.py:Mine"]')
    assert ddr_here("fit", name, "--save", "m.skops", "--trust").returncode == 0
    np.save(work / "new.npy", load_dataset("iris").X[:2])
    done = ddr_here("apply", "m.skops", "new.npy")
    assert done.returncode == 2
    assert ".Mine. Loading that may run code" in done.stderr
    assert ddr_here("apply", "m.skops", "new.npy", "--trust").returncode == 0
    # Somewhere else, with the file beside the model.
    (work / "there").mkdir()
    for file in ("mine.py", "m.skops"):
        shutil.move(work / file, work / "there" / file)
    assert ddr_here("apply", "there/m.skops", "new.npy", "--trust").returncode == 0
    (work / "there" / "mine.py").write_text(MINE + "\n# edited\n")
    done = ddr_here("apply", "there/m.skops", "new.npy", "--trust")
    assert done.returncode == 2
    assert "has changed since its class was fitted" in done.stderr
    # Where the file was comes first.
    (work / "mine.py").write_text(MINE)
    assert ddr_here("apply", "there/m.skops", "new.npy", "--trust").returncode == 0


def test_a_file_that_is_no_model_is_one_sentence(ddr_here, work, spec):
    ddr_here("fit", spec("[lda]"), "--save", "m.skops")
    np.save(work / "new.npy", load_dataset("iris").X[:2])
    whole = (work / "m.skops").read_bytes()
    (work / "cut.skops").write_bytes(whole[: len(whole) // 2])
    (work / "text.skops").write_text("no zip at all")
    with zipfile.ZipFile(work / "other.skops", "w") as file:
        file.writestr("schema.json", "{}")
    with zipfile.ZipFile(work / "m.skops") as model:
        parts = {name: model.read(name) for name in model.namelist()}
    schema = json.loads(parts["schema.json"])
    for file_name, changed in (
        ("record", {"ddr.json": b'{"form": 1}'}),
        ("empty", {"schema.json": b"{}"}),
        ("type", {"schema.json": json.dumps(schema).replace('"LDA"', '"Nowhere"').encode()}),
        (
            "command",
            {
                "schema.json": json.dumps(schema)
                .replace('"ddr_cli.reducers.lda"', '"os"')
                .replace('"LDA"', '"system"')
                .encode()
            },
        ),
    ):
        with zipfile.ZipFile(work / f"{file_name}.skops", "w") as file:
            for name, content in (parts | changed).items():
                file.writestr(name, content)
    for path in sorted(work.glob("*.skops")):
        done = ddr_here("apply", path.name, "new.npy")
        if path.stem != "m":
            assert (done.returncode, done.stdout) == (2, ""), path
            assert len(done.stderr.splitlines()) == 1
            assert str(path.name) in done.stderr
            assert "damaged: None" not in done.stderr
    assert "os.system" in ddr_here("apply", "command.skops", "new.npy").stderr
    assert "There is no file" in ddr_here("apply", "absent.skops", "new.npy").stderr
