"""`ddr new method`: a file with a method that works as it stands, and a test of it."""

from __future__ import annotations

import keyword
from pathlib import Path

from ddr_cli.core.atomic import atomic_write, clear_messages
from ddr_cli.core.errors import InputError

_METHOD = '''"""CLASS: say here what it optimises, and where that was published."""

from typing import Annotated

import numpy as np
from annotated_types import Ge
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ddr_cli.core.parameters import check_parameters
from ddr_cli.reducers.registry import Traits, one_less_than_classes


class CLASS(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Project on the directions along which the means of the classes differ most."""

    # Specs are checked against these types, ranges and defaults.
    def __init__(self, n_components: Annotated[int, Ge(1)] = 2) -> None:
        self.n_components = n_components

    def fit(self, X, y):
        check_parameters(self)
        X, y = validate_data(self, X, y)
        self.classes_ = np.unique(y)
        self.mean_ = X.mean(axis=0)
        means = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        self.components_ = np.linalg.svd(means - self.mean_)[2][: self.n_components]
        return self

    def transform(self, X):
        check_is_fitted(self)
        return (validate_data(self, X, reset=False) - self.mean_) @ self.components_.T

    @property
    def _n_features_out(self):
        return len(self.components_)

    # What a run may rely on: see 'ddr check' and the Traits' own documentation.
    def __ddr_traits__(self):
        return Traits(
            nested=True,
            grids={"n_components": (1, 2, 3, 5, 10)},
            max_components=one_less_than_classes,
        )
'''

_TEST = '''"""What is expected of CLASS; 'pytest TEST' runs it."""

from pathlib import Path

from MODULE import CLASS
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from ddr_cli.core.own_code import trusting
from ddr_cli.engine.contracts import check_piece

X, y = load_iris(return_X_y=True)


def test_neighbours_in_the_embedding_are_of_one_class():
    model = make_pipeline(CLASS(n_components=2), KNeighborsClassifier())
    assert cross_val_score(model, X, y).mean() > 0.9


def test_it_keeps_the_contracts():
    file = Path(__file__).with_name("MODULE.py")
    with trusting(True):
        (checked,) = check_piece(f"{file}:CLASS")
    assert checked.failing == []
'''


def write_method(name: str) -> tuple[Path, Path, str]:
    """Write ``<name>.py`` and its test here; return both and what a spec calls the method."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError(f"'{name}' can't be a Python module; use a name such as my_method.")
    words = {"CLASS": "".join(word[:1].upper() + word[1:] for word in name.split("_"))}
    words |= {"MODULE": name, "TEST": f"test_{name}.py"}
    files = {Path(f"{name}.py"): _METHOD, Path(words["TEST"]): _TEST}
    for path in files:
        if path.exists():
            raise InputError(f"{path} is there already; choose another name.")
    for path, text in files.items():
        for word, meant in words.items():
            text = text.replace(word, meant)
        with clear_messages(path):
            atomic_write(path, text)
    code, test = files
    return code, test, f"./{code}:{words['CLASS']}"
