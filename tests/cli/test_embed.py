"""`ddr embed` fits reducers to a data set once, with the options of specs."""

import io

import pytest
from PIL import Image

from ddr_cli.data import load_dataset
from ddr_cli.evaluation.knn import KNNClassifier
from ddr_cli.evaluation.splits import make_split
from ddr_cli.reducers import LFDA


def test_the_error_is_that_of_the_specs_run(ddr_here, work):
    done = ddr_here(
        *("embed", "iris", "--reducer", "lfda", "--set", "n_neighbors=5"),
        *("--set", "split.train=0.6", "--set", "split.seed=3"),
    )
    assert done.returncode == 0, done.stderr
    iris = load_dataset("iris")
    split = make_split("fraction", iris.y, seed=3, dataset="iris", index=0, train=0.6)
    X, y = iris.X[split.train], iris.y[split.train]
    fitted = LFDA(n_components=2, n_neighbors=5).fit(X, y)
    classifier = KNNClassifier().fit(fitted.transform(X), y)
    wrong = classifier.predict(fitted.transform(iris.X[split.test])) != iris.y[split.test]
    assert f" {100 * wrong.mean():.2f} %" in done.stdout
    # `ddr embed` keeps the figure but not the folder of its run.
    assert [path.name for path in work.iterdir()] == ["iris_lfda.png"]


def test_a_picture_has_a_panel_for_each_reducer_and_two_kinds_of_points(ddr_here, work):
    done = ddr_here("embed", "iris", "--reducer", "lda", "--reducer", "pca", "--picture", "a.svg")
    assert done.returncode == 0, done.stderr
    # `ddr embed` runs only the requested reducers, not the controls of a comparison.
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["lda", "pca", "  a.svg"]
    drawn = (work / "a.svg").read_text()
    for text in ("LDA", "PCA", "training sample", "test sample", "setosa"):
        assert f">{text}</text>" in drawn
    done = ddr_here(
        "embed",
        "iris",
        "--reducer",
        "lda",
        "--set",
        "n_components=1",
        "--set",
        "preprocess=[rescale]",
    )
    assert done.returncode == 0
    assert Image.open(io.BytesIO((work / "iris_lda.png").read_bytes())).size[0] > 500


def test_the_data_sets_own_split_is_taken(ddr_here, work):
    (work / "mine.csv").write_text("x,y,c\n" + "".join(f"{i},{i % 3},{i % 2}\n" for i in range(12)))
    (work / "b.csv").write_text("x,y,c\n1,2,0\n2,2,0\n")
    words = ("--format", "csv", "--test", "b.csv", "--label", "c")
    assert ddr_here("new", "data", "mine.csv", *words).returncode == 0
    done = ddr_here(
        "embed", "./mine.yaml", "--reducer", "none", "--set", "classifier.n_neighbors=1"
    )
    assert done.returncode == 0, done.stderr
    # The nearest training samples of the two test samples have the classes 1 and 0.
    assert " 50.00 %" in done.stdout


def test_no_group_is_on_both_sides(ddr_here, work):
    # The groups are far apart and alternate in class: the nearest other group has the wrong class.
    rows = [f"{10 * (i // 8)},s{i // 8},{i // 8 % 2}\n" for i in range(80)]
    (work / "a.csv").write_text("x,who,c\n" + "".join(rows))
    (work / "a.yaml").write_text(
        "name: a\ntitle: A\nfiles: [{path: a.csv}]\nformat: {name: csv, label: c, groups: who}\n"
    )
    words = ("embed", "./a.yaml", "--reducer", "none", "--set", "classifier.n_neighbors=1")
    done = ddr_here(*words)
    assert done.returncode == 0, done.stderr
    assert " 0.00 %" not in done.stdout
    assert " 0.00 %" in ddr_here(*words, "--set", "split.kind=fraction").stdout


def test_unlabelled_samples_are_refused(ddr_here, work):
    (work / "a.csv").write_text("x,c\n" + "".join(f"{i},{i % 2}\n" for i in range(12)) + "3,\n")
    (work / "a.yaml").write_text(
        "name: a\ntitle: A\nfiles: [{path: a.csv}]\nunlabelled: keep\n"
        "format: {name: csv, label: c}\n"
    )
    done = ddr_here("embed", "./a.yaml", "--reducer", "pca")
    assert done.returncode == 2
    assert "unlabelled" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("iris", "--reducer", "ldda"), 2, "Did you mean 'lda'"),
        (("irs", "--reducer", "lda"), 2, "Did you mean 'iris'"),
        (("t.csv", "--reducer", "lda"), 2, "'ddr new data t.csv' writes"),
        (("./t.csv", "--reducer", "lda"), 2, "'ddr new data t.csv' writes"),
        (("./u.csv", "--reducer", "lda"), 2, "u.csv"),
        (("iris", "--reducer", "lda", "--set", "n_components=3"), 2, "at most 2 dimensions"),
        (("iris", "--reducer", "none", "--set", "n_components=3"), 2, "n_components"),
        (("iris", "--reducer", "lfda", "--set", "beta=1"), 2, "reducer.beta"),
        (("iris", "--reducer", "lda", "--picture", "a.jpg"), 2, "must end in .png, .svg or .pdf"),
        (("iris", "--reducer", "./no.py:Mine", "--trust"), 2, "no.py can't be read"),
        (("iris", "--reducer", "./bad.py:Bad", "--trust"), 1, "Bad failed: ValueError: no luck"),
    ],
)
def test_a_mistake_is_reported_in_one_sentence(ddr_here, work, words, code, says):
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


def test_two_classes_are_drawn_along_the_one_direction_that_lda_has(ddr_here, work):
    done = ddr_here("embed", "breast_cancer", "--reducer", "lda")
    assert done.returncode == 0
    assert (work / "breast_cancer_lda.png").is_file()
