"""`ddr embed`: a first look, in the words of specs."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from ddr_cli.data import load_dataset
from ddr_cli.evaluation.splits import make_split
from ddr_cli.reducers import LFDA


def test_coordinates_are_those_of_the_fitted_method(ddr_here, work):
    done = ddr_here(
        *("embed", "iris", "--reducer", "lfda", "--dim", "2", "--set", "n_neighbors=5"),
        *("--train", "0.6", "--seed", "3", "--out", "coords.csv"),
    )
    assert done.returncode == 0, done.stderr
    assert "90 training and 60 test points in 2 dimension" in done.stdout
    found = pd.read_csv(work / "coords.csv")
    assert found.columns.tolist() == ["reducer", "row", "label", "part", "x1", "x2"]
    assert found["row"].tolist() == list(range(150))
    iris = load_dataset("iris")
    assert found["label"].tolist() == [iris.target_names[code] for code in iris.y]
    split = make_split("fraction", iris.y, seed=3, dataset="iris", index=0, train=0.6)
    assert found.index[found["part"] == "train"].tolist() == sorted(split.train)
    fitted = LFDA(n_components=2, n_neighbors=5).fit(iris.X[split.train], iris.y[split.train])
    np.testing.assert_allclose(found[["x1", "x2"]], fitted.transform(iris.X), rtol=0, atol=1e-12)
    assert not list(work.glob("*.png"))


def test_a_picture_has_a_panel_for_each_reducer_and_two_kinds_of_points(ddr_here, work):
    done = ddr_here("embed", "iris", "--reducer", "lda", "--reducer", "pca", "--picture", "a.svg")
    assert done.returncode == 0, done.stderr
    # A look has the reducers that were asked for, and no controls of a comparison.
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["lda", "pca", "  a.svg"]
    drawn = (work / "a.svg").read_text()
    for text in ("LDA", "PCA", "training point", "test point", "setosa"):
        assert f">{text}</text>" in drawn
    done = ddr_here("embed", "iris", "--reducer", "lda", "--dim", "1", "--preprocess", "rescale")
    assert done.returncode == 0
    assert Image.open(io.BytesIO((work / "iris_lda.png").read_bytes())).size[0] > 500


def test_the_data_sets_own_split_is_taken(ddr_here, work):
    (work / "a.csv").write_text("x,y,c\n" + "".join(f"{i},{i % 3},{i % 2}\n" for i in range(12)))
    (work / "b.csv").write_text("x,y,c\n1,2,0\n2,2,1\n")
    words = ("--format", "csv", "--path", "a.csv", "--test", "b.csv", "--label", "c")
    assert ddr_here("data", "new", "mine", *words).returncode == 0
    done = ddr_here("embed", "./mine.yaml", "--reducer", "none", "--out", "c.csv")
    assert done.returncode == 0, done.stderr
    parts = pd.read_csv(work / "c.csv")["part"]
    assert parts.tolist() == ["train"] * 12 + ["test"] * 2


def test_no_group_is_on_both_sides(ddr_here, work):
    rows = [f"{i},{i % 3},s{i // 4},{i % 2}\n" for i in range(40)]
    (work / "a.csv").write_text("x,y,who,c\n" + "".join(rows))
    (work / "a.yaml").write_text(
        "name: a\ntitle: A\nfiles: [{path: a.csv}]\nformat: {name: csv, label: c, groups: who}\n"
    )
    done = ddr_here("embed", "./a.yaml", "--reducer", "none", "--train", "0.7", "--out", "c.csv")
    assert done.returncode == 0, done.stderr
    assert "28 training and 12 test points, no group in both, in 2 dimension" in done.stdout
    found = pd.read_csv(work / "c.csv")
    assert (found.groupby(found["row"] // 4)["part"].nunique() == 1).all()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("iris", "--reducer", "ldda"), 2, "Did you mean 'lda'"),
        (("irs", "--reducer", "lda"), 2, "Did you mean 'iris'"),
        (
            ("t.csv", "--reducer", "lda"),
            2,
            "t.csv is a table, not a card: 'ddr data new t.csv' makes",
        ),
        (("./t.csv", "--reducer", "lda"), 2, "'ddr data new t.csv' makes"),
        (("./u.csv", "--reducer", "lda"), 2, "There is no file at u.csv"),
        (("iris", "--reducer", "lda", "--dim", "3"), 2, "at most 2 dimensions"),
        (("iris", "--reducer", "none", "--dim", "3"), 2, "no number of dimensions"),
        (("iris", "--reducer", "lfda", "--set", "beta=1"), 2, "reducer.beta"),
        (("iris", "--reducer", "lda", "--picture", "a.jpg"), 2, "must end in .png or .svg"),
        (("iris", "--reducer", "./no.py:Mine", "--trust"), 2, "it is not there"),
        (("iris", "--reducer", "./bad.py:Bad", "--trust"), 1, "Bad failed: ValueError: no luck"),
    ],
)
def test_what_is_wrong_is_one_sentence(ddr_here, work: Path, words, code, says):
    (work / "t.csv").write_text("x,c\n1,a\n")
    (work / "bad.py").write_text(
        "class Bad:\n"
        "    def fit(self, X, y): return self\n"
        "    def fit_transform(self, X, y): raise ValueError('no luck')\n"
        "    def transform(self, X): return X\n"
    )
    done = ddr_here("embed", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
