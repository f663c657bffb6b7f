"""The files that `ddr new` writes work without changes."""

import importlib
import json
import sys
from types import SimpleNamespace

import pandas as pd
import pytest
from typer.testing import CliRunner

from ddr_cli.cli import new
from ddr_cli.cli.app import app
from ddr_cli.core import extras, own_code
from ddr_cli.engine import read_trials
from ddr_cli.reducers import REDUCERS
from ddr_cli.spec import load_spec
from ddr_cli.spec.cells import expand
from ddr_cli.spec.feasible import limits_of


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(own_code, "_trusted", set())
    return tmp_path


def ddr(*words, code=0, **given):
    done = CliRunner().invoke(app, [*words], **given)
    assert done.exit_code == code, done.output
    return done.output


def test_a_new_method_keeps_its_contracts_and_passes_its_test(folder, monkeypatch):
    said = ddr("new", "method", "next_paper")
    assert "ddr check ./next_paper.py:NextPaper" in said
    assert "fails 0" in ddr("check", "./next_paper.py:NextPaper", "--trust")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    test = importlib.import_module("test_next_paper")
    functions = [each for name, each in vars(test).items() if name.startswith("test_")]
    assert len(functions) == 2
    for function in functions:
        function()
    # The last line that `ddr new` prints is a command that writes a valid spec.
    words = said.splitlines()[-1].split()[1:]
    assert "trials. Next:\n  ddr run my_spec.yaml" in ddr(*words, "--trust")
    assert "my_spec: " in ddr("plan", "my_spec.yaml", "--trust")


@pytest.mark.parametrize(
    ("name", "says"),
    [("mine", "mine.py already exists"), ("my-method", "is not a Python identifier")],
)
def test_a_method_is_not_written_over_another_file(name, says, folder):
    (folder / "mine.py").write_text("kept")
    assert says in ddr("new", "method", name, code=2)
    assert [path.name for path in folder.iterdir()] == ["mine.py"]
    assert (folder / "mine.py").read_text() == "kept"


def test_force_replaces_a_file_and_a_wrong_spec_leaves_it(folder):
    words = ("new", "spec", "mine", "--dataset", "iris", "--reducer")
    ddr(*words, "lda")
    assert "--force" in ddr(*words, "pca", code=2)
    ddr(*words, "pca", "--force")
    kept = (folder / "mine.yaml").read_text()
    assert "pca" in kept
    ddr(*words, "nothing_of_this_name", "--force", code=2)
    assert (folder / "mine.yaml").read_text() == kept
    ddr("new", "method", "mine")
    ddr("new", "method", "mine", "--force")


def test_a_new_spec_is_commented_right_and_checked_by_editors(folder):
    ddr(
        *("new", "spec", "first", "--dataset", "mushroom", "--reducer", "lda"),
        *("--reducer", "pca", "--classifier", "knn", "--classifier", "sklearn.svm:SVC"),
    )
    text = (folder / "first.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=spec.schema.json\n")
    assert json.loads((folder / "spec.schema.json").read_text())["required"]
    spec = load_spec(folder / "first.yaml")
    # With two classes, LDA has at most one dimension.
    widths = {item.name: item.params.get("n_components") for item in spec.reducers[:2]}
    assert widths == {"lda": 1, "pca": 2}
    assert "shuffled_labels" in spec.controls
    words = ("--dataset", "iris", "--reducer", "pca")
    assert "already exists" in ddr("new", "spec", "first", *words, code=2)


def test_a_new_spec_sweeps_or_tunes(folder):
    words = ("--dataset", "iris", "--reducer", "pca")
    ddr("new", "spec", "swept.yaml", *words, "--sweep", "reducer.n_components=1,2,3")
    assert load_spec(folder / "swept.yaml").sweep == {"reducer.n_components": (1, 2, 3)}
    ddr("new", "spec", "tuned", *words, "--tune")
    assert load_spec(folder / "tuned.yaml").tune is not None


@pytest.mark.parametrize("dataset", ["breast_cancer", "digits"])  # two classes, ten classes
def test_tune_varies_every_parameter_of_the_grid_that_a_method_declares(
    dataset, folder, monkeypatch
):
    monkeypatch.setattr(extras, "missing_library", lambda _: "")
    names = [word for name in REDUCERS.names() for word in ("--reducer", name)]
    ddr("new", "spec", "tuned", "--dataset", dataset, *names, "--tune")
    spec = load_spec(folder / "tuned.yaml")
    limits = limits_of(spec)
    items = {item.name: item for item in spec.reducers}
    searches = {c.reducer.name: c.tuning for c in expand(spec) if c.tuning and not c.is_ceiling}
    assert searches.keys() == set(REDUCERS.names())
    for name, search in searches.items():
        tried = pd.DataFrame([dict(reducer.params) for reducer, _ in search.candidates])
        varied = {column for column in tried if tried[column].astype(str).nunique() > 1}
        declared = set(items[name].traits().grids)
        if limits.most(items[name].traits(), None) == 1:
            declared -= {"n_components"}
        assert varied == declared, name
        assert len(search.candidates) <= spec.tune.budget


def test_a_tuned_spec_runs_on_two_classes_and_on_ten(folder):
    for dataset, methods in {"breast_cancer": ("lda", "pls_da"), "digits": ("lol",)}.items():
        words = [word for name in methods for word in ("--reducer", name)]
        ddr("new", "spec", dataset, "--dataset", dataset, *words, "--tune")
        less = ("--repeats", "1", "--set", "controls=[]", "--set", "split.train=0.2")
        ddr("run", f"{dataset}.yaml", *less)
        rows = read_trials(folder / "results" / dataset)
        assert set(rows["status"]) == {"ok"}
        assert rows["tuned"].max() > 10


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--dataset", "irs", "--reducer", "pca"], "Did you mean 'iris'"),
        (["--dataset", "iris", "--reducer", "pka"], "Did you mean 'pca'"),
        (["--dataset", "iris", "--reducer", "pca", "--sweep", "beta"], "is not a sweep"),
        (["--dataset", "iris", "--reducer", "pca", "--sweep", "reducer.x=1"], "parameter 'x'"),
        (["--reducer", "pca"], "--dataset iris"),
    ],
)
def test_an_invalid_spec_is_not_written(words, says, folder):
    assert says in ddr("new", "spec", "wrong", *words, code=2)
    assert list(folder.iterdir()) == []


def test_a_terminal_is_asked(folder, monkeypatch):
    terminal = SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(new, "sys", terminal)
    said = ddr("new", "spec", "asked", input="digits\nlda pca\n")
    assert "'ddr list datasets'" in said
    spec = load_spec(folder / "asked.yaml")
    assert spec.dataset.name == "digits"
    assert [item.name for item in spec.reducers][:2] == ["lda", "pca"]
