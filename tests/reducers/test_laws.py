"""What may be done to the data without an embedding changing, as properties of each method.

Points may be moved, turned, put in another order or given in another unit, and classes renamed:
the distances in the embedding, of the points fitted and of new ones, are the same then, but for
what the table names.
"""

from __future__ import annotations

import re
import traceback
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from scipy.stats import ortho_group

from ddr_cli.reducers import REDUCERS, get_traits
from ddr_cli.reducers.partial_labels import encode_labels

LITTLE = settings(max_examples=2, derandomize=True, phases=[Phase.generate])
OURS = [name for name in REDUCERS.names() if get_traits(REDUCERS.load(name)()).library is None]
OPTIONS: dict[str, dict[str, Any]] = {
    "ccdr": {"n_neighbors": 6},
    "laplacian_eigenmaps": {"n_neighbors": 10},
    "isomap": {"n_neighbors": 10},
    "lle": {"n_neighbors": 10},
    "slle": {"n_neighbors": 10},
    "forest_embedding": {"n_estimators": 5},
    "lmnn": {"n_neighbors": 1, "max_iter": 20},
    "mcml": {"max_iter": 20},
    "nca": {"max_iter": 20},
}
NOT = {
    # X'LX a = lambda X'DX a is about the origin, as in the paper.
    "lpp": "shift constant",
    # Their default gamma is scikit-learn's "scale": of the variance of all entries of X.
    "kernel_lfda": "shift turn constant",
    "kernel_mfa": "shift turn constant",
    "kernel_approximation_lda": "shift turn constant order",
    # Directions, and rows to grow trees from, are drawn.
    "random_projection": "turn constant",
    "forest_embedding": "turn constant order",
    # Each feature has a part of its own: it is standardised, or shrunk to the features' mean.
    "pls_da": "turn",
    "shrinkage_lda": "constant",
    "rda": "constant",
    # Their penalties have a unit of their own.
    "laplacian_rls": "unit",
    "logistic_projection": "unit",
}
SCALED = "none pca nmmp sde ssde mds isomap kernel_pca random_projection lol hsic_pca mmc olda"
"""Methods whose embeddings are in the unit of the points; the others' have none."""
ITERATIVE = "lmnn mcml nca logistic_projection"
"""Methods that end within a tolerance."""


def make(name, n_components=2):
    """Return a method that is the same each time."""
    reducer = REDUCERS.load(name)(**OPTIONS.get(name, {}))
    given_here = {"n_components": n_components, "random_state": 0}
    return reducer.set_params(
        **{key: value for key, value in given_here.items() if key in reducer.get_params()}
    )


NAMES = [
    np.array(["c", "a", "b"]),
    np.array(["", "10", "9"], dtype=object),
    np.array([7, -5, 3]),
    np.array([-(2**62), 2**62 + 1, 2**62]),
    np.array([255, 3, 0], dtype=np.uint8),
    np.array([2.0, -3.0, 0.0], dtype=np.float32),
    np.array([2, -3, 1], dtype=object),
]


def distances(name, X, y, new, order=None):
    """Return those of all pairs in the embedding, training points in the order of the case."""
    reducer = make(name)
    fitted = reducer.fit_transform(X, y)
    fitted = fitted if order is None else fitted[np.argsort(order)]
    return pdist(np.vstack([fitted, reducer.transform(new)]).astype(float))


def read_only(X):
    """Return a copy in Fortran's order which can't be written to."""
    copy = np.array(X, order="F")
    copy.setflags(write=False)
    return copy


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OURS)
@LITTLE
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.tuples(*[st.integers(6, 10)] * 3),
    d=st.integers(3, 6),
    exponent=st.integers(-12, 12),
    labels=st.sampled_from(NAMES),
)
def test_what_changes_no_embedding(name, seed, sizes, d, exponent, labels):
    rng = np.random.default_rng(seed)
    code = np.repeat([0, 1, 2], sizes)
    X = rng.normal(size=(len(code), d)) + 1.5 * rng.normal(size=(3, d))[code]
    new = rng.normal(size=(5, d))
    expected = distances(name, X, code, new)
    excepted = NOT.get(name, "").split()
    rtol = 1e-2 if name in ITERATIVE.split() else 1e-5

    def same(found, rtol=rtol):
        np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * expected.max())

    same(distances(name, X, labels[code], new))
    same(distances(name, read_only(X), read_only(code), read_only(new)))
    same(distances(name, X.astype(np.float32), code, new.astype(np.float32)), max(rtol, 1e-3))
    if "unit" not in excepted:
        factor = 10.0**exponent
        found = distances(name, X * factor, code, new * factor)
        same(found / factor if name in SCALED.split() else found)
    if "shift" not in excepted:
        shift = 10 * rng.normal(size=d)
        same(distances(name, X + shift, code, new + shift))
    if "turn" not in excepted:
        turn = ortho_group.rvs(d, random_state=rng)
        same(distances(name, X @ turn, code, new @ turn))
    if "order" not in excepted:
        order = rng.permutation(len(code))
        same(distances(name, X[order], code[order], new, order))
    if "constant" not in excepted:
        wide, new_wide = (np.column_stack([part, np.full(len(part), 3.0)]) for part in (X, new))
        same(distances(name, wide, code, new_wide))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OURS)
@settings(LITTLE, max_examples=6)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 12),
    d=st.integers(1, 20),
    values=st.sampled_from([1, 2, 100]),
    n_components=st.integers(1, 3),
)
def test_ties_constants_and_few_points_are_fitted_or_refused(
    name, seed, n, d, values, n_components
):
    # With few values there are equal points and constant features; classes may have one point.
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, size=(n, d), endpoint=True).astype(float)
    y = np.append(rng.integers(0, 3, size=n - 1), 3)
    reducer = make(name, n_components)
    try:
        embedded = [reducer.fit_transform(X, y), reducer.transform(X)]
    except ValueError as error:
        raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
        if isinstance(error, np.linalg.LinAlgError) or not re.search("ddr_cli|sklearn", raised_in):
            raise
        return
    for part in embedded:
        assert np.isfinite(part).all()
        assert part.shape[0] == n
        assert part.shape[1] <= reducer.get_params().get("n_components", part.shape[1])


@pytest.mark.parametrize("dtype", [None, object])
@given(
    names=st.one_of(
        st.lists(st.text("ab1- "), min_size=2, max_size=4, unique=True),
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=4, unique=True),
        st.just([True, False]),
    ).filter(lambda names: not {-1, "-1"} & set(names))
)
@settings(LITTLE, max_examples=40)
def test_classes_are_told_by_labels_of_any_type(dtype, names):
    y = np.array(names, dtype=dtype)
    classes, code = encode_labels(y)
    assert classes.tolist() == sorted(names)
    assert classes[code].tolist() == names


@pytest.mark.parametrize("labels", [["a", 1], [True, 2], [1.5, 2.5], [(1, 2), (3, 4)]])
def test_labels_that_are_no_classes_are_refused(labels):
    y = np.empty(2, dtype=object)
    y[:] = labels
    with pytest.raises(ValueError, match=r"types|Unknown label type: continuous"):
        encode_labels(y)


@pytest.mark.parametrize("name", ["pca", "lda", "mds", "slle", "kernel_lfda", "forest_embedding"])
@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_points_whose_squares_are_nothing_or_infinite_are_refused(name, factor):
    X = np.random.default_rng(0).normal(size=(12, 3))
    with pytest.raises(ValueError, match=r"magnitude in X is .* Rescale the features"):
        make(name).fit(factor * X, np.arange(12) % 3)
