"""The contracts of all estimators with scikit-learn, the engine and users, from one table."""

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers import (
    CCDR,
    HSICPCA,
    LDA,
    LFDA,
    LPP,
    MDS,
    NCA,
    PCA,
    PLSDA,
    REDUCERS,
    SAVE,
    SDE,
    DiscriminativeProjections,
    ForestDiffusion,
    ForestEmbedding,
    KernelPCA,
    LaplacianEigenmaps,
    LaplacianRLS,
    SupervisedLLE,
    get_traits,
)

# Half of iris, with noise that removes equal samples and distances, so that ties do not matter.
X, Y = load_iris(return_X_y=True)
X, Y = (X + np.random.default_rng(0).normal(0, 0.01, X.shape))[::2], Y[::2]

# test_extras.py tests the adapters of libraries that may not be installed.
EVERY = [entry.name for entry in REDUCERS.entries() if entry.origin == "ddr"]
OURS = [name for name in REDUCERS.names() if get_traits(REDUCERS.load(name)()).library is None]
# Every reducer with its defaults (forests with few trees), then options that change the checked
# behaviour.
AT_THE_CHECKS = [
    *(REDUCERS.load(name)() for name in OURS if not name.startswith("forest_")),
    ForestEmbedding(n_estimators=5),
    ForestDiffusion(n_estimators=5),
    CCDR(n_components=1, subsample=0.8, n_subsamples=2, random_state=0),
    LFDA(embedding_type="orthonormalized", reg=0.1),
    LPP(weights="local_scaling"),
    DiscriminativeProjections(labels="continuous", n_neighbors=4),
    LaplacianRLS(n_neighbors=4, kernel="rbf"),
    KernelPCA(kernel="rbf"),
]
# The parameters that a method needs for so few samples.
NEEDS = {
    "forest_diffusion": {"n_estimators": 5},
    "forest_embedding": {"n_estimators": 5},
    "isomap": {"n_neighbors": 8},
    "laplacian_eigenmaps": {"n_neighbors": 8},
    "lle": {"n_neighbors": 30},
    "nca": {"n_components": 2},
    "slle": {"n_neighbors": 10},
}


def small(name):
    """Return a method with three components, or its maximum for three classes."""
    model = REDUCERS.load(name)()
    parameters, most = model.get_params(), get_traits(model).max_components
    if "n_components" in parameters:
        model.set_params(n_components=3 if most is None else min(3, most(75, 4, 3)))
    if "random_state" in parameters:
        model.set_params(random_state=0)
    return model.set_params(**NEEDS.get(name, {}))


# Each of ddr's methods, then options that change the tested behaviour.
TABLE = [
    *map(small, OURS),
    CCDR(3, weights="heat", beta=2.0),
    CCDR(3, subsample=0.8, n_subsamples=2, random_state=0),
    LFDA(3, reg=0.01, embedding_type="orthonormalized"),
    LPP(3, weights="binary"),
    LPP(3, weights="local_scaling"),
    DiscriminativeProjections(3, labels="continuous"),
    LaplacianRLS(kernel="rbf"),
    SupervisedLLE(3, n_neighbors=10, alpha=1.0),
    NCA(2, init="random", random_state=0),
    LaplacianEigenmaps(3, n_neighbors=8, weights="binary"),
    MDS(3, "cityblock"),
    KernelPCA(3, "rbf"),
    PLSDA(3, scale=True),
    HSICPCA(3, pca_weight=1.0),
    SAVE(3, method="dr"),
]
NESTED = [model for model in TABLE if get_traits(model).nested]
SHARING = [model for model in TABLE if get_traits(model).neighbors]


def expected_failures(estimator):
    """Return the checks of scikit-learn that an estimator need not pass, with the reason."""
    excused = {}
    if getattr(estimator, "n_neighbors", 0) == 10:
        reason = "some of the checks have ten points or fewer, which have no ten neighbours"
        excused |= dict.fromkeys(("check_estimators_nan_inf", "check_fit2d_1feature"), reason)
    if isinstance(estimator, LaplacianRLS):
        excused["check_classifiers_classes"] = "it names a class -1, which means unlabelled here"
    if isinstance(estimator, SDE | SupervisedLLE):
        # The regression does not reproduce the embedding that it was fitted to. (SSDE's does, on
        # the checks' three well-separated clusters.)
        reason = "fit_transform returns the embedding, transform the regression on it"
    elif isinstance(estimator, ForestDiffusion):
        reason = "fit_transform uses trees grown without a sample, transform all trees"
    elif isinstance(estimator, CCDR) and estimator.subsample is None:
        # Eq. 18 embeds a training sample with its label, Eq. 20 with c = 0 a new sample without.
        reason = "fit_transform uses the labels, transform has none to use"
    else:
        return excused
    return excused | {
        "check_transformer_general": reason,
        "check_transformer_data_not_an_array": reason,
    }


def ordered(labels):
    """Return an order of the rows that mixes the classes."""
    return np.argsort(np.random.default_rng(1).random(len(labels)))


pytestmark = pytest.mark.filterwarnings("ignore:.*(parts|groups|converged|n_neighbors|classes)")


@parametrize_with_checks(AT_THE_CHECKS, expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", TABLE, ids=repr)
def test_a_second_fit_and_a_pickled_one_have_the_same_bits(model):
    fitted = clone(model)
    embedding = fitted.fit_transform(X, Y)
    assert embedding.shape == (75, len(fitted.get_feature_names_out()))
    assert_array_equal(clone(model).fit_transform(X, Y), embedding)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.transform(X + 0.01), fitted.transform(X + 0.01))


# A fit on subsamples stores each subsample.
WHOLE = [model for model in TABLE if not getattr(model, "subsample", None)]


@pytest.mark.parametrize("model", WHOLE, ids=repr)
def test_a_kept_model_is_hardly_larger_than_its_training_data(model):
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    points = rng.normal(size=(240, 60)) + y[:, None] * 0.5
    fitted = clone(model).fit(points, y)
    fitted.transform(points[:5])
    file = io.BytesIO()
    joblib.dump(fitted, file)
    # n^2 numbers would take 4 times the memory of the training data.
    assert file.tell() < 1.7 * points.nbytes


@pytest.mark.parametrize("model", NESTED, ids=repr)
def test_narrower_fits_are_the_first_columns_of_a_wide_one(model):
    fitted = clone(model)
    wide, placed = fitted.fit_transform(X, Y), fitted.transform(X + 0.01)
    for m in range(1, wide.shape[1]):
        narrow = clone(model).set_params(n_components=m)
        assert_allclose(narrow.fit_transform(X, Y), wide[:, :m], atol=1e-7 * abs(wide).max())
        assert_allclose(narrow.transform(X + 0.01), placed[:, :m], atol=1e-6 * abs(placed).max())


@pytest.mark.parametrize("model", TABLE, ids=repr)
def test_single_precision_stays(model):
    single, double = clone(model), clone(model)
    small = X.astype(np.float32)
    found = single.fit_transform(small, Y)
    assert found.dtype == single.transform(small).dtype == np.float32
    expected = double.fit_transform(small.astype(float), Y)
    assert_allclose(found, expected, atol=2e-3 * abs(expected).max())


@pytest.mark.parametrize("model", SHARING, ids=repr)
def test_neighbours_that_are_known_spare_the_search(model):
    known = kneighbors(X, 15)
    expected = clone(model).fit_transform(X, Y)
    assert_array_equal(clone(model).fit_transform(X, Y, neighbors=known), expected)
    order = ordered(Y)[:50]
    with pytest.raises(ValueError, match="neighbors covers 75 samples, but X has 50"):
        clone(model).fit(X[order], Y[order], neighbors=known)


@pytest.mark.parametrize("name", OURS)
def test_every_parameter_out_of_range_is_named(name):
    for parameter in REDUCERS.load(name)().get_params():
        model = REDUCERS.load(name)(**{parameter: "no such value"})
        wrong = rf"{type(model).__name__}: {parameter}='no such value'"
        with pytest.raises(ValueError, match=wrong):
            model.fit(X, Y)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (CCDR(beta=-1.0), "CCDR: beta=-1.0"),
        (CCDR(epsilon=0.0), "CCDR: epsilon=0.0"),
        (PCA(n_components=0), "PCA: n_components=0"),
    ],
    ids=repr,
)
def test_numbers_out_of_range_are_named(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, Y)


@pytest.mark.parametrize("reducer", [LDA(1), LFDA(), CCDR(), LaplacianRLS()], ids=repr)
def test_a_missing_label_is_named(reducer):
    labels = np.array(["a", "b", None] * 25, dtype=object)
    with pytest.raises(ValueError, match=r"position 2 is None"):
        clone(reducer).fit(X, labels)


DAYS = (np.datetime64("2020-01-01") + np.arange(300)).reshape(75, 4)
NO_NUMBERS = {
    "dates": DAYS,
    "durations": DAYS - DAYS[0, 0],
    "list": DAYS.tolist(),
    "objects": np.column_stack([X[:, :3].astype(object), list(DAYS[:, 0])]),
    "frame": pd.DataFrame(X).assign(day=DAYS[:, 0]),
    "time zones": pd.DataFrame(X).assign(day=pd.to_datetime(DAYS[:, 0]).tz_localize("Asia/Tokyo")),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize("name", EVERY)
def test_dates_are_no_numbers(name, kind):
    model = small(name)
    with pytest.raises(ValueError, match=r"dates or durations.* convert"):
        model.fit(NO_NUMBERS[kind], Y)
    if name in OURS:
        with pytest.raises(ValueError, match=r"dates or durations.* convert"):
            model.fit(X, Y).transform(NO_NUMBERS[kind])


@pytest.mark.parametrize("name", EVERY)
def test_labels_of_other_samples_are_refused(name):
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples.*\[75, 74\]"):
        small(name).fit(X, Y[:-1])


@pytest.mark.parametrize("name", [name for name in OURS if not get_traits(small(name)).supervised])
def test_an_unsupervised_method_needs_no_labels(name):
    small(name).fit(X, None)
