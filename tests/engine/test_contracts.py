"""`ddr check` passes the shipped methods and names the contract that a user's method breaks."""

import json
import re

import pytest
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.core import own_code
from ddr_cli.core.errors import InputError
from ddr_cli.engine.contracts import check_piece

# A method that passes; each case below replaces one line of it.
METHOD = """
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from ddr_cli.reducers.registry import Traits


class Mine(TransformerMixin, BaseEstimator):
    def __init__(self, n_components: int = 2, random_state: int | None = None) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y):
        means = np.array([X[y == label].mean(axis=0) for label in np.unique(y[y >= 0])])
        _, _, axes = np.linalg.svd(means - means.mean(axis=0))
        self.axes_ = axes[: self.n_components]
        return self

    def transform(self, X):
        return np.asarray(X) @ self.axes_.T

    def __ddr_traits__(self):
        return Traits(nested=True, transductive=True)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        return tags
"""
WRONG = {
    "shapes": ("@ self.axes_.T", "@ self.axes_.T[:, :1]"),
    "input unchanged": ("means = np", "X -= X.mean(axis=0)\n        means = np"),
    "determinism": ("np.asarray(X)", "np.random.random() * np.asarray(X)"),
    "ignores other test samples": (
        "np.asarray(X) @ self.axes_.T",
        "(X - (0 if len(X) == 44 else X.mean(axis=0))) @ self.axes_.T",
    ),
    "ignores the test order": (
        "np.asarray(X) @ self.axes_.T",
        "(X + np.arange(len(X))[:, None] % 2) @ self.axes_.T",
    ),
    "labels of -1": ("np.unique(y[y >= 0])", "np.unique(y)"),
    "n_components": ("axes[: self.n_components]", "axes[self.n_components - 1 :: -1]"),
    "transform(X_train)": (
        "    def transform(self, X):",
        "    def transform(self, X):\n        self.axes_ = 2 * self.axes_",
    ),
    "sparse": ("return tags", "tags.input_tags.sparse = True\n        return tags"),
    "clone": ("self.random_state = random_state", "self.random_state = None"),
    "pickle": ("return self\n", "self.map_ = lambda X: X\n        return self\n"),
}
# One wrong line can break more than one contract.
ALSO = {
    "input unchanged": {"transform(X_train)"},
    "determinism": {
        *("transform(X_train)", "pickle", "n_components", "ignores test labels"),
        *("ignores other test samples", "ignores the test order"),
    },
    "transform(X_train)": {"determinism", "pickle", "ignores other test samples"},
    # A copy may have another memory layout, for which some versions of NumPy round differently.
    "n_components": {"pickle"},
    "ignores the test order": {
        "ignores other test samples",
        "transform(X_train)",
    },
}


@pytest.fixture(autouse=True)
def trusted(monkeypatch):
    monkeypatch.setattr(own_code, "_trusted", {"*"})


def failing(name):
    return {f.contract: f.note for checked in check_piece(name) for f in checked.failing}


@pytest.mark.parametrize(
    "name", ["none", "pca", "ccdr", "lda", "lle", "nmmp", "knn", "linear", "svc"]
)
def test_what_ships_keeps_its_contracts(name):
    assert failing(name) == {}


def test_a_class_that_is_both_is_checked_as_both():
    name = "sklearn.discriminant_analysis:LinearDiscriminantAnalysis"
    assert [checked.section for checked in check_piece(name)] == ["reducers", "classifiers"]
    assert failing(name) == {}


def test_a_right_method_of_ones_own_keeps_them(tmp_path):
    (tmp_path / "mine.py").write_text(METHOD)
    (checked,) = check_piece(f"{tmp_path}/mine.py:Mine")
    assert checked.failing == []
    assert {f.contract for f in checked.findings if f.holds is None} == {"sparse"}


@pytest.mark.parametrize("contract", WRONG)
def test_a_broken_contract_is_seen(contract, tmp_path):
    old, new = WRONG[contract]
    assert METHOD.count(old) == 1
    (tmp_path / "mine.py").write_text(METHOD.replace(old, new))
    found = set(failing(f"{tmp_path}/mine.py:Mine"))
    assert contract in found
    assert found <= {contract} | ALSO.get(contract, set())


PLS = """
from sklearn.cross_decomposition import PLSRegression


class Scores(PLSRegression):
    pass


class Bare:
    def get_params(self, deep=True):
        return {}

    def fit(self, X, y):
        return self

    def transform(self, X):
        return X[:, :2]


class Asks(Bare):
    def transform(self, X, y):
        return X
"""


def test_a_tuple_or_no_fit_transform_is_an_embedding_too(tmp_path):
    # scikit-learn's PLS classes return the scores of X and of y.
    path = tmp_path / "pls.py"
    path.write_text(PLS)
    with own_code.trusting(True):
        for name in ("Scores", "Bare"):
            (checked,) = check_piece(f"{path}:{name}")
            assert checked.section == "reducers"
            assert [each.contract for each in checked.failing if each.contract == "shapes"] == []
            assert "2 columns" in checked.findings[0].note
        with pytest.raises(InputError, match=r"transform must not require y.*y=None"):
            check_piece(f"{path}:Asks")


def test_the_command_says_what_a_failure_means(tmp_path):
    (tmp_path / "mine.py").write_text(METHOD.replace(*WRONG["pickle"]))
    name = f"{tmp_path}/mine.py:Mine"
    run = CliRunner().invoke
    done = run(app, ["check", name, "--trust", "--set", "n_components=3"])
    assert done.exit_code == 1
    assert "3 columns" in done.output
    assert "pickle: " in done.output
    assert str(tmp_path) not in done.output
    done = run(app, ["check", "none", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.output)[0]["findings"][0]["contract"] == "shapes"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["topology"], "'topology'"),
        (["knm"], "Did you mean 'knn'"),
        (["knn", "--set", "n_neighbors=0"], "n_neighbors .*equal to 1"),
        (["sklearn.svm:SVC", "--set", "C=-1"], "'C' parameter of SVC must be"),
        (["knn", "--set", "five"], "KEY=VALUE"),
    ],
)
def test_a_mistake_is_reported_in_one_sentence(words, says):
    done = CliRunner().invoke(app, ["check", *words])
    assert done.exit_code == 2
    assert re.search(says, done.output)
