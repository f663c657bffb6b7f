"""Reducers and preprocessing steps return data frames, by `set_output` or for a whole session."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils import estimator_checks

from ddr_cli.evaluation.evaluators import PREPROCESSORS
from ddr_cli.reducers import REDUCERS, ForestEmbedding, get_traits

# test_extras.py tests the reducers of libraries that may not be installed.
OURS = [name for name in REDUCERS.names() if get_traits(REDUCERS.load(name)()).library is None]
STEPS = [name for name in PREPROCESSORS.names() if name != "svd"]
ESTIMATORS = [
    *(REDUCERS.load(name)() for name in OURS if not name.startswith("forest_")),
    ForestEmbedding(n_estimators=5, min_samples_leaf=2),
    *(PREPROCESSORS.load(name)() for name in STEPS),
    PREPROCESSORS.load("svd")(n_components=2),
]
for estimator in ESTIMATORS:
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
# scikit-learn's `check_estimator` has none of these checks.
CHECKS = [
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
]

UNUSED = r"ignore:.*(parts|groups|converged|n_neighbors|classes|feature names)"
pytestmark = pytest.mark.filterwarnings(UNUSED)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_scikit_learn_checks_of_data_frames(estimator, check):
    getattr(estimator_checks, check)(type(estimator).__name__, clone(estimator))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_a_session_of_data_frames_has_the_same_numbers_and_the_samples_names(estimator):
    # scikit-learn's own check accepts an error about sparse output, also from an inner transformer.
    if type(estimator).__name__ == "Tfidf":
        pytest.skip("its output is sparse, which scikit-learn puts into no data frame")
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, y = X[::2].set_index(X.index[::2].map("flower {}".format)), y[::2].to_numpy()
    expected = clone(estimator).fit(X, y)
    with config_context(transform_output="pandas"):
        fitted = clone(estimator).fit(X, y)
        for found in (fitted.transform(X[:10]), clone(estimator).fit_transform(X, y)[:10]):
            assert isinstance(found, pd.DataFrame)
            assert list(found.index) == list(X.index[:10])
            assert list(found.columns) == list(expected.get_feature_names_out())
        found = fitted.transform(X)
    np.testing.assert_array_equal(found, expected.transform(X))


def test_columns_keep_their_names():
    X = pd.DataFrame({"length": [1.0, 2.0, 4.0], "constant": 1.0, "colour": [0.0, 1.0, 1.0]})
    kept = PREPROCESSORS.load("variance_threshold")().set_output(transform="pandas")
    assert list(kept.fit_transform(X).columns) == ["length", "colour"]
    one_hot = PREPROCESSORS.load("one_hot")().set_output(transform="pandas")
    after = one_hot.fit_transform(X, categorical=(2,))
    assert list(after.columns) == ["colour_0.0", "colour_1.0", "length", "constant"]
