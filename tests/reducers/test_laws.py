"""Changes of the data that leave the embedding of each method unchanged.

`docs/invariances.md` lists the exceptions, each with its reason.
"""

from __future__ import annotations

import re
import traceback
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from scipy.stats import ortho_group
from sklearn.decomposition import PCA

from ddr_cli.core.extras import missing_library
from ddr_cli.reducers import REDUCERS, get_traits
from ddr_cli.reducers.partial_labels import encode_labels

LITTLE = settings(max_examples=2, derandomize=True, phases=[Phase.generate])
PAGE = (Path(__file__).parents[2] / "docs" / "invariances.md").read_text(encoding="utf-8")
OURS = [name for name in REDUCERS.names() if get_traits(REDUCERS.load(name)()).library is None]
OPTIONS: dict[str, dict[str, Any]] = {
    "ccdr": {"n_neighbors": 6},
    "laplacian_eigenmaps": {"n_neighbors": 10},
    "isomap": {"n_neighbors": 10},
    "lle": {"n_neighbors": 10},
    "slle": {"n_neighbors": 10},
    "forest_diffusion": {"n_estimators": 5},
    "forest_embedding": {"n_estimators": 5},
    "lmnn": {"n_neighbors": 1, "max_iter": 20},
    "mcml": {"max_iter": 20},
    "nca": {"max_iter": 20},
}
SCALED = (
    "none pca nmmp sde ssde mds isomap kernel_pca random_projection lol hsic_pca mmc olda pls_da"
)
"""Methods whose embeddings are in the unit of the points; the others' have none."""
ITERATIVE = "lmnn mcml nca logistic_projection"
"""Methods that end within a tolerance."""


def make(name, n_components=2):
    """Return a method with fixed random state and options."""
    reducer = REDUCERS.load(name)(**OPTIONS.get(name, {}))
    given_here = {"n_components": n_components, "random_state": 0}
    return reducer.set_params(
        **{key: value for key, value in given_here.items() if key in reducer.get_params()}
    )


LABELS = [
    np.array(["c", "a", "b"]),
    np.array(["", "10", "9"], dtype=object),
    np.array([7, -5, 3]),
    np.array([-(2**62), 2**62 + 1, 2**62]),
    np.array([255, 3, 0], dtype=np.uint8),
    np.array([2.0, -3.0, 0.0], dtype=np.float32),
    np.array([2, -3, 1], dtype=object),
]


def shift(rng, X, y, new):
    by = 10 * rng.normal(size=X.shape[1])
    return X + by, y, new + by


def rotation(rng, X, y, new):
    turn = ortho_group.rvs(X.shape[1], random_state=rng)
    return X @ turn, y, new @ turn


def unit(rng, X, y, new):
    factor = 10.0 ** rng.integers(-12, 13)
    return X * factor, y, new * factor


def units(rng, X, y, new):
    factors = 10.0 ** rng.permutation(np.linspace(-2, 2, X.shape[1]))
    return X * factors, y, new * factors


def constant(_, X, y, new):
    wide, new_wide = (np.column_stack([part, np.full(len(part), 3.0)]) for part in (X, new))
    return wide, y, new_wide


def order(_, X, y, new):
    return X[::-1], y[::-1], new


def classes(rng, X, y, new):
    return X, LABELS[rng.integers(len(LABELS))][y], new


def layout(_, X, y, new):
    return read_only(X), read_only(y), read_only(new)


def float32(_, X, y, new):
    return X.astype(np.float32), y, new.astype(np.float32)


CHANGES = [shift, rotation, unit, units, constant, order, classes, layout, float32]


def read_only(X):
    """Return a read-only copy in Fortran order."""
    copy = np.array(X, order="F")
    copy.setflags(write=False)
    return copy


def distances(name, X, y, new, kernel=None):
    """Return the distances between all training and new samples in the embedding."""
    reducer = make(name) if kernel is None else make(name).set_params(kernel=kernel)
    fitted = reducer.fit_transform(X, y)
    return pdist(np.vstack([fitted, reducer.transform(new)]).astype(float))


@cache
def before(name, seed, kernel=None):
    """Return a data set, and the distances in its embedding."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], rng.integers(6, 11, 3))
    d = int(rng.integers(3, 7))
    X = rng.normal(size=(len(y), d)) + 1.5 * rng.normal(size=(3, d))[y]
    new = rng.normal(size=(5, d))
    if kernel == "chi2":
        X, new = abs(X), abs(new)
    return (X, y, new), distances(name, X, y, new, kernel)


def is_unchanged(name, change, seed, kernel=None):
    """Return whether a change of the data leaves the distances in the embedding unchanged."""
    data, expected = before(name, seed, kernel)
    changed = change(np.random.default_rng(seed), *data)
    try:
        found = distances(name, *changed, kernel)
    except ValueError:
        return False
    if change is order:
        n = len(data[0])
        rows = np.r_[n - 1 : -1 : -1, n : n + len(data[2])]
        found = squareform(squareform(found)[np.ix_(rows, rows)])
    if change is units or kernel:
        found = found * expected.max() / found.max()
    elif change is unit and name in SCALED.split():
        found = found * data[0][0, 0] / changed[0][0, 0]
    tolerance = 1e-2 if name in ITERATIVE.split() else 1e-3 if change is float32 else 1e-5
    return bool(np.abs(found - expected).max() <= tolerance * expected.max())


def rows(heading):
    """Return the rows of a table of the page."""
    lines = PAGE.partition(heading)[2].partition("\n## ")[0].splitlines()
    return [line.strip("|").split("|") for line in lines if line.startswith("| `")]


CHANGED_BY = {
    (name, change.strip(" `"))
    for change, names, _ in rows("## What changes an embedding")
    for name in re.findall(r"`(\w+)`", names)
}
KERNELS = {
    kernel.strip(" `"): re.findall(r"`(\w+)`", unchanged_by)
    for kernel, _, _, unchanged_by in rows("## The default bandwidth")
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", OURS)
def test_the_page_lists_what_changes_an_embedding(name, change):
    unchanged = all(is_unchanged(name, change, seed) for seed in range(2))
    assert unchanged == ((name, change.__name__) not in CHANGED_BY)


def test_the_page_names_methods_and_changes_that_exist():
    assert {name for name, _ in CHANGED_BY} <= set(OURS)
    assert {change for _, change in CHANGED_BY} <= {change.__name__ for change in CHANGES}


IGNORING = {
    (name, option)
    for names, _ in rows("## Methods that ignore the scale of each feature")
    for name, option in re.findall(r"`(\w+)`(?: with `([^`]+)`)?", names)
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "option"), sorted({(name, "") for name in REDUCERS.names()} | IGNORING)
)
def test_the_page_lists_what_ignores_the_scale_of_principal_components(name, option):
    reducer, params = make(name), yaml.safe_load(option or "{}")
    library = get_traits(reducer).library
    if library and missing_library(library):
        pytest.skip(f"needs {library}")
    reducer.set_params(**params)
    rng, y = np.random.default_rng(0), np.arange(45) % 3
    X = (rng.normal(size=(45, 4)) + 1.5 * np.eye(3, 4)[y]) @ rng.normal(size=(4, 4))
    components = PCA(random_state=0).fit_transform(X)
    found = []
    for scaled in (components, components / components.std(axis=0)):
        embedded = pdist(np.asarray(reducer.fit_transform(scaled, y), dtype=float))
        found.append(embedded / embedded.max())
    tolerance = 1e-2 if name in ITERATIVE.split() else 1e-5
    assert (np.abs(found[1] - found[0]).max() <= tolerance) == ((name, option) in IGNORING)


def accepted_kernels(name):
    kind = get_type_hints(REDUCERS.load(name))["kernel"]
    return [text for part in (kind, *get_args(kind)) for text in get_args(part)]


WITH_KERNELS = [name for name in OURS if "gamma" in make(name).get_params()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", [shift, rotation, unit, constant], ids=lambda c: c.__name__)
@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        (name, kernel)
        for name in WITH_KERNELS
        for kernel in KERNELS
        if kernel in accepted_kernels(name)
    ],
)
def test_the_page_lists_what_changes_a_kernel(name, kernel, change):
    assert f"`{name}`" in PAGE.partition("## The default bandwidth")[2]
    unchanged = all(is_unchanged(name, change, seed, kernel) for seed in range(2))
    assert unchanged == (change.__name__ in KERNELS[kernel])


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
    # Few values give equal samples and constant features; a class may have a single sample.
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
    with pytest.raises(ValueError, match=r"absolute value in X is .* Rescale the features"):
        make(name).fit(factor * X, np.arange(12) % 3)
