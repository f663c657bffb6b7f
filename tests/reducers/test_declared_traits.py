"""Each shipped method behaves as its traits declare."""

import inspect
import re
import warnings
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pytest

from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers.registry import REDUCERS, get_traits, year

NAMES = [entry.name for entry in REDUCERS.entries() if entry.origin == "ddr"]
FEW = {"max_iter": 5, "n_estimators": 5, "n_landmarks": 10}
# Their maximum depends on the number of samples; a graph may allow fewer dimensions.
BY_THEIR_GRAPH = {"ccdr", "isomap", "laplacian_eigenmaps", "lsda"}
# These parameters affect how a result is computed, not which result is sought.
NOT_TUNED = {
    "random_state", "max_iter", "tol", "solver", "max_condition", "n_landmarks", "n_estimators",
}  # fmt: skip
# These parameters have no grid. If you remove a grid, add its parameter here.
WITHOUT_GRID = {
    "ccdr": {"epsilon", "n_subsamples", "neighbors"},
    "discriminative_projections": {
        "epsilon",
        "labels",
        "neighbors",
        "normalize",
        "rank",
        "unlabelled",
    },
    "kernel_approximation_lda": {"kernel"},
    "kernel_lfda": {"coef0", "degree", "embedding_type", "kernel"},
    "kernel_mfa": {"coef0", "degree", "kernel", "n_neighbors_within"},
    "kernel_pca": {"coef0", "degree"},
    "laplacian_eigenmaps": {"epsilon", "neighbors"},
    "laplacian_rls": {
        "coef0",
        "degree",
        "epsilon",
        "fit_intercept",
        "gamma",
        "neighbors",
        "weights",
    },
    "lda": {"scaling"},
    "lmnn": {"directions"},
    "lpp": {"epsilon", "neighbors"},
    "mcml": {"directions"},
    "pca": {"whiten"},
    "slle": {"reg"},
    "supcon_net": {"batch_size"},
    "triplet_net": {"batch_size"},
}


def is_missing(library):
    try:
        version(library)
    except PackageNotFoundError:
        return True
    return False


HERE = [name for name in NAMES if not (get_traits(REDUCERS.load(name)()).library or "")]


def points(n=30, d=5):
    generator = np.random.default_rng(0)
    y = np.arange(n) % 3
    return generator.normal(size=(n, d)) + 1.5 * y[:, None] * np.eye(3, d)[y], y


def make(name, **params):
    cls = REDUCERS.load(name)
    known = cls().get_params()
    quick = {key: value for key, value in {**FEW, "random_state": 0}.items() if key in known}
    return cls(**quick | params)


def embed(name, X, y, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(make(name, **params).fit_transform(X, y))


def has_width(name):
    return "n_components" in REDUCERS.load(name)().get_params()


# These parameters need no source for their defaults.
WITHOUT_SOURCE = {"random_state", "gamma", "label_values", "fit_intercept"}


@pytest.mark.parametrize(
    "name", sorted(set(NAMES) - {"none", "kernel_pca", "laplacian_rls", "forest_embedding"})
)
def test_the_source_of_each_default_is_named(name):
    text = (
        inspect.getdoc(REDUCERS.load(name)).split("Parameters\n---")[1].split("Attributes\n---")[0]
    )
    entries = re.split(r"\n(?=\w)", text)
    missing = [
        entry.split(" : ")[0]
        for entry in entries
        if ", default=" in entry and "Default: " not in " ".join(entry.split())
    ]
    assert set(missing) <= WITHOUT_SOURCE


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"none"}))
def test_the_first_reference_has_a_year(name):
    assert 1900 < year(REDUCERS.load(name)) < 2030


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A. Author, Title, NIPS 16, 2003; Journal 17, 2006, 157-165.", 2003),
        ("A. Author, Title, Journal 12, 1990-2010, 1995.", 1995),
        ("A. Author, Title, arXiv:2005.01234, 2020.", 2020),
        ("A. Author, Title.", None),
    ],
)
def test_the_year_is_that_of_the_first_publication(text, expected):
    documented = type("Method", (), {"__doc__": f"Method.\n\n.. [1] {text}\n"})
    assert year(documented) == expected


@pytest.mark.parametrize("name", HERE)
def test_nested(name):
    X, y = points()
    if has_width(name):
        one, two = (np.abs(embed(name, X, y, n_components=n)) for n in (1, 2))
        is_nested = bool(np.allclose(one, two[:, :1], rtol=1e-4, atol=1e-7))
    else:
        is_nested = False
    assert get_traits(make(name)).nested == is_nested


@pytest.mark.parametrize("name", HERE)
def test_supervised(name):
    X, y = points()
    other = np.random.default_rng(1).permutation(y)
    uses_labels = not np.allclose(embed(name, X, y), embed(name, X, other))
    assert get_traits(make(name)).supervised == uses_labels


@pytest.mark.parametrize("name", HERE)
def test_out_of_sample_and_transductive(name):
    (X, y), traits = points(), get_traits(make(name))
    new = X[:4] + 0.01
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = make(name).fit(X, y)
    assert traits.out_of_sample == hasattr(fitted, "transform")
    if traits.out_of_sample:
        assert np.isfinite(np.asarray(fitted.transform(new))).all()
    if traits.transductive:
        hidden = np.where(np.arange(len(y)) < 15, y, -1)
        found = embed(name, X, hidden)
        assert len(found) == len(X)
        assert np.isfinite(found).all()
        # Hidden labels change the embedding only if the method uses labels.
        assert traits.supervised == (not np.allclose(found, embed(name, X, y)))


@pytest.mark.parametrize("name", HERE)
def test_neighbors_that_are_given_are_those_of_its_own_search(name):
    (X, y), traits = points(), get_traits(make(name))
    assert traits.neighbors == (
        "neighbors" in inspect.signature(REDUCERS.load(name).fit).parameters
    )
    if traits.neighbors:
        given = make(name).fit(X, y, neighbors=kneighbors(X, 12))
        np.testing.assert_array_equal(given.transform(X), make(name).fit(X, y).transform(X))


@pytest.mark.parametrize("name", HERE)
def test_max_components_is_the_most_that_can_be_fitted(name):
    X, y = points(18)
    most = get_traits(make(name)).max_components
    assert (most is None) == (not has_width(name))
    if most is None:
        return
    width = most(len(X), X.shape[1], 3)
    if name not in BY_THEIR_GRAPH:
        assert embed(name, X, y, n_components=width).shape[1] == width
    try:
        wider = embed(name, X, y, n_components=width + 1).shape[1]
    except ValueError:
        return
    assert wider <= width


@pytest.mark.parametrize("name", NAMES)
def test_library(name):
    (X, y), library = points(), get_traits(make(name)).library
    if library and is_missing(library):
        with pytest.raises(ImportError, match=library):
            embed(name, X, y)
    else:
        embed(name, X, y)


def tunable(name):
    """Return the parameters whose default is a number or one of several words."""
    return {
        key
        for key, value in make(name).get_params().items()
        if key not in NOT_TUNED and isinstance(value, int | float | str)
    }


@pytest.mark.parametrize("name", NAMES)
def test_grids(name):
    grids = get_traits(make(name)).grids
    assert tunable(name) - grids.keys() == WITHOUT_GRID.get(name, set())
    defaults = REDUCERS.load(name)().get_params()
    for key, values in grids.items():
        assert len(set(values)) == len(values) > 1
        numbers = [value for value in values if isinstance(value, int | float)]
        assert numbers == sorted(numbers)
        default = defaults[key]
        if numbers and isinstance(default, int | float):
            assert numbers[0] <= default <= numbers[-1]
        elif not numbers:
            assert default in values or default == "auto"


@pytest.mark.parametrize("name", HERE)
def test_the_ends_of_a_grid_can_be_fitted(name):
    X, y = points(18)
    for key, values in get_traits(make(name)).grids.items():
        # The numbers of samples and features limit the values of integer parameters.
        for value in {values[0], values[-1]} - {each for each in values if type(each) is int}:
            embed(name, X, y, **{key: value})


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_has_an_entry_for_each_parameter(name):
    method = REDUCERS.load(name)
    text = inspect.cleandoc(method.__doc__).partition("Parameters\n----------\n")[2]
    entries = re.findall(r"^\w[\w, ]*", text.partition("\n\n")[0], re.MULTILINE)
    documented = {parameter.strip() for entry in entries for parameter in entry.split(",")}
    assert set(inspect.signature(method).parameters) <= documented
