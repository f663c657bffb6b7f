"""A reducer can fit the maximum of n_components that it declares, and refuses one more."""

import warnings

import numpy as np
import pytest

from ddr_cli.reducers import REDUCERS, get_traits

# How many dimensions these methods have depends on their graph, so the maximum is only a bound.
BOUNDS = ("ccdr", "laplacian_eigenmaps", "lsda")
GENERATOR = np.random.default_rng(0)
Y = np.repeat([0, 1, 2, 3], 5)
# More samples than features, and fewer.
SHAPES = [GENERATOR.normal(size=(20, 7)) + Y[:, None], GENERATOR.normal(size=(20, 30))]
OPTIONS = {
    "forest_diffusion": {"n_estimators": 5},
    "forest_embedding": {"n_estimators": 5},
    # With fewer neighbours, the path lengths are not Euclidean distances.
    "isomap": {"n_neighbors": 19},
    "lda": {"max_condition": 1e9},
    "lfda": {"reg": 0.1},
    "mfa": {"reg": 0.1},
    "nca": {"max_iter": 2},
    "mcml": {"max_iter": 2},
    "lmnn": {"max_iter": 2},
}


def most(reducer, X):
    offered = get_traits(reducer).max_components
    assert offered is not None
    return offered(*X.shape, len(np.unique(Y)))


def width(name, X, n_components, **options):
    reducer = REDUCERS.load(name)(n_components=n_components, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return reducer.fit_transform(X, Y).shape[1]


NAMES = [name for name in REDUCERS.names() if "n_components" in REDUCERS.load(name)().get_params()]


OURS = [name for name in NAMES if get_traits(REDUCERS.load(name)()).library is None]


@pytest.mark.parametrize("X", SHAPES, ids=["tall", "wide"])
@pytest.mark.parametrize("name", OURS)
def test_the_declared_maximum_can_be_fitted_and_one_more_cannot(name, X):
    options = OPTIONS.get(name, {})
    m = most(REDUCERS.load(name)(**options), X)
    if name not in BOUNDS:
        assert width(name, X, m, **options) == m
    try:
        wider = width(name, X, m + 1, **options)
    except ValueError:
        return
    # If the fit does not raise, it has only m columns, which the engine refuses.
    assert wider == m


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ccdr", {"beta": 0.0}),
        ("kernel_lfda", {"kernel": "linear"}),
        ("kernel_mfa", {"kernel": "cosine"}),
        ("discriminative_projections", {"labels": "continuous"}),
    ],
)
def test_options_change_what_is_offered(name, options):
    X = SHAPES[0]
    m = most(REDUCERS.load(name)(**options), X)
    assert m < most(REDUCERS.load(name)(), X)
    assert width(name, X, m, **options) == m
    with pytest.raises(ValueError):  # noqa: PT011 (each says it in its own words)
        width(name, X, m + 1, **options)
