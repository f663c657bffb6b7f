"""What every reducer owes scikit-learn and the engine."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr_cli.core.errors import InputError
from ddr_cli.reducers import (
    CCDR,
    LDA,
    LLE,
    LMNN,
    MCML,
    MDS,
    NCA,
    PCA,
    REDUCERS,
    SDE,
    SSDE,
    Identity,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    SupervisedLLE,
    get_traits,
)

X, Y = load_iris(return_X_y=True)
REDUCERS_AT_WORK = [
    CCDR(),
    CCDR(n_components=1, subsample=0.8, n_subsamples=2, random_state=0),
    PCA(),
    LDA(1),
    Identity(),
    SDE(),
    SDE(map="nadaraya_watson"),
    SSDE(),
    SupervisedLLE(),
    LMNN(),
    MCML(),
    NCA(),
    # Some of scikit-learn's checks have ten points, which have no ten neighbours.
    LaplacianEigenmaps(n_neighbors=5),
    LaplacianEigenmaps(n_neighbors=5, weights="binary"),
    MDS(),
    MDS(metric="cityblock"),
    Isomap(),
    LLE(),
    KernelPCA(),
    KernelPCA(kernel="rbf"),
]


def expected_failures(estimator):
    if isinstance(estimator, SDE | SupervisedLLE):
        # A regression does not pass through the embedding that it was fitted to. (SSDE's does, on
        # the checks' three well separated clusters.)
        reason = "fit_transform returns the embedding, transform the regression on it"
        return {"check_transformer_general": reason, "check_transformer_data_not_an_array": reason}
    if isinstance(estimator, LMNN):
        reason = "three points of a class have no three others as target neighbours"
        return {"check_fit2d_1feature": reason}
    if not isinstance(estimator, CCDR) or estimator.subsample is not None:
        return {}
    # Eq. 18 places a training point with its label, Eq. 20 with c = 0 a new one without.
    reason = "fit_transform uses the labels, transform has none to use"
    return {"check_transformer_general": reason, "check_transformer_data_not_an_array": reason}


@parametrize_with_checks(REDUCERS_AT_WORK, expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", REDUCERS_AT_WORK, ids=repr)
def test_feature_names_count_the_columns(estimator):
    embedding = estimator.fit_transform(X, Y)
    assert embedding.shape == (150, len(estimator.get_feature_names_out()))


@pytest.mark.parametrize("estimator", REDUCERS_AT_WORK, ids=repr)
def test_fitting_twice_gives_the_same_bits(estimator):
    np.testing.assert_array_equal(estimator.fit_transform(X, Y), estimator.fit_transform(X, Y))


@pytest.mark.parametrize("estimator", [CCDR(6), PCA(4), LDA(2)], ids=repr)
def test_a_nested_reducer_has_narrower_fits_in_its_first_columns(estimator):
    assert get_traits(estimator).nested
    wide = estimator.fit_transform(X, Y)
    for m in range(1, wide.shape[1] + 1):
        narrow = estimator.set_params(n_components=m).fit_transform(X, Y)
        np.testing.assert_allclose(narrow, wide[:, :m], atol=1e-9)


@pytest.mark.parametrize("name", REDUCERS.names())
def test_registry_loads_every_reducer(name):
    reducer = REDUCERS.load(name)()
    assert get_traits(reducer).version >= 1
    assert set(get_traits(reducer).grids) <= set(reducer.get_params())


def test_registry_suggests_the_nearest_name():
    with pytest.raises(InputError, match="Did you mean 'ccdr'"):
        REDUCERS.get("ccrd")


def test_listing_the_reducers_imports_no_numerical_library():
    code = (
        "import sys; from ddr_cli.reducers.registry import REDUCERS; REDUCERS.names();"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'scipy', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (CCDR(beta=-1.0), "CCDR: beta=-1.0"),
        (CCDR(weights="cosine"), "CCDR: weights='cosine'"),
        (CCDR(epsilon=0.0), "CCDR: epsilon=0.0"),
        (CCDR(n_components=0), "CCDR: n_components=0"),
        (CCDR(subsample=1.5), "CCDR: subsample=1.5"),
        (PCA(n_components=0), "PCA: n_components=0"),
        (LDA(n_components="two"), "LDA: n_components='two'"),
    ],
    ids=lambda value: repr(value),
)
def test_parameters_out_of_range_are_named(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, Y)
