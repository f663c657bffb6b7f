"""NMMP equals the paper's formulas, computed pair by pair."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA

from ddr_cli.data import Sources, load_dataset
from ddr_cli.evaluation.evaluators import PREPROCESSORS
from ddr_cli.evaluation.knn import KNNClassifier
from ddr_cli.evaluation.splits import make_split
from ddr_cli.reducers import NMMP


def nearest(X, candidates, i, k):
    return set(sorted(candidates, key=lambda j: (np.linalg.norm(X[i] - X[j]).round(9), j))[:k])


def scatters(X, y, k_w, k_b):
    """Return equations 3 and 5 as sums over the pairs in each other's neighbourhood."""
    n, d = X.shape
    own, other = [], []
    for i in range(n):
        same = [j for j in range(n) if j != i and y[j] == y[i]]
        n_i = len(same) + 1
        k = min(n_i // 2 + 2, n_i - 1) if k_w == "half" else k_w
        own.append(nearest(X, same, i, k))
        other.append(nearest(X, [j for j in range(n) if y[j] != y[i]], i, k_b))
    S_w, S_b = np.zeros((d, d)), np.zeros((d, d))
    for i in range(n):
        for j in range(n):
            pair = np.outer(X[i] - X[j], X[i] - X[j])
            if j in own[i] and i in own[j]:
                S_w += pair
            if j in other[i] and i in other[j]:
                S_b += pair
    return S_w, S_b


def table_1(A, B, m, epsilon=1e-13):
    """Return the result of the paper's algorithm for m > d - rank(B)."""
    alpha, beta = np.linalg.eigvalsh(A)[::-1], np.linalg.eigvalsh(B)
    low, high = np.trace(A) / np.trace(B), alpha[:m].sum() / beta[:m].sum()
    while high - low > epsilon * high:
        middle = (low + high) / 2
        if np.linalg.eigvalsh(A - middle * B)[-m:].sum() > 0:
            low = middle
        else:
            high = middle
    return np.linalg.eigh(A - low * B)[1][:, -m:], low


DATA = {
    "iris": load_iris(return_X_y=True),
    "wine": (load_wine().data / load_wine().data.std(axis=0), load_wine().target),
}


@pytest.mark.parametrize("solver", ["newton", "bisection"])
@pytest.mark.parametrize(("k_w", "k_b"), [("half", 10), (3, 4)])
@pytest.mark.parametrize("name", DATA)
def test_it_is_the_paper_s_definition(name, k_w, k_b, solver):
    X, y = DATA[name]
    X, y = X[::2], y[::2]
    S_w, S_b = scatters(X, y, k_w, k_b)
    for m in (1, 2, 4):
        expected, value = table_1(S_b, S_w, m)
        fitted = NMMP(m, n_neighbors_within=k_w, n_neighbors_between=k_b, solver=solver).fit(X, y)
        W = fitted.components_.T
        assert_allclose(fitted.trace_ratio_, value, rtol=1e-8)
        assert_allclose(np.trace(W.T @ S_b @ W) / np.trace(W.T @ S_w @ W), value, rtol=1e-8)
        assert_allclose(W.T @ W, np.eye(m), atol=1e-12)
        if m < X.shape[1]:
            assert scipy.linalg.subspace_angles(W, expected).max() < 1e-6


def test_pca_to_the_full_rank_first_changes_nothing():
    X, y = DATA["wine"]
    pca = PCA().fit(X)
    direct, after = NMMP(3).fit(X, y), NMMP(3).fit(pca.transform(X), y)
    assert_allclose(after.trace_ratio_, direct.trace_ratio_, rtol=1e-9)
    back = pca.components_.T @ after.components_.T
    assert scipy.linalg.subspace_angles(back, direct.components_.T).max() < 1e-6


def test_where_classes_are_flat_the_ratio_is_infinite():
    # In two parallel planes, samples of a class do not differ along the normal.
    rng = np.random.default_rng(0)
    X = np.vstack([np.c_[rng.standard_normal((30, 2)), np.full(30, z)] for z in (0.0, 1.0)])
    y = np.repeat([0, 1], 30)
    fitted = NMMP(1).fit(X, y)
    assert fitted.trace_ratio_ == np.inf
    assert_allclose(fitted.components_, [[0, 0, 1]], atol=1e-9)
    assert np.isfinite(NMMP(2).fit(X, y).trace_ratio_)


def test_the_null_space_of_the_data_is_never_a_component():
    # 12 samples in 40 dimensions: without step 0, directions without variance would be solutions.
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 40)), np.repeat([0, 1], 6)
    embedding = NMMP(5, n_neighbors_between=3).fit_transform(X, y)
    assert np.all(embedding.std(axis=0) > 1e-3)


def test_rings_in_noise_are_found():
    # In the paper's Figure 2, the class means coincide, and the noise has a large variance.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 100)
    angle, radius = rng.uniform(0, 2 * np.pi, 300), 1 + y + rng.normal(0, 0.1, 300)
    plane = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    X = np.hstack([plane, rng.normal(0, 3, (300, 8))])
    angles = scipy.linalg.subspace_angles(NMMP(2).fit(X, y).components_.T, np.eye(10, 2))
    pca = scipy.linalg.subspace_angles(PCA(2).fit(X).components_.T, np.eye(10, 2))
    assert np.rad2deg(angles.max()) < 25
    assert np.rad2deg(pca.max()) > 60


# On real data, NMMP's accuracy is compared with the paper's Table 4.
_UNIT = [("rescale", {"by": "all"}), ("unit_length", {})]


@pytest.mark.parametrize(
    ("name", "per_class", "m", "steps", "printed", "sd"),
    [
        ("iris", 20, 3, [], 96.5, 1.6),
        ("balance", 20, 2, [], 72.9, 4.2),
        ("coil20", 6, 60, [], 86.5, 2.0),
        ("usps_1234", 20, 60, _UNIT, 94.5, 0.9),
    ],
)
def test_accuracy_on_real_data_is_that_of_table_4(
    name, per_class, m, steps, printed, sd, data_mirror, tmp_path
):
    data = load_dataset(name, sources=Sources((data_mirror,), tmp_path, offline=True))
    accuracy = []
    for index in range(8):
        split = make_split("per_class", data.y, index=index, seed=0, dataset=name, train=per_class)
        train, test = data.X[split.train], data.X[split.test]
        for step, params in [*steps, ("pca", {"n_components": "full"})]:
            fitted = PREPROCESSORS.load(step)(**params)
            train, test = fitted.fit_transform(train), fitted.transform(test)
        reducer = NMMP(m)
        classifier = KNNClassifier(3, ties="smallest_label")
        classifier.fit(reducer.fit_transform(train, data.y[split.train]), data.y[split.train])
        accuracy.append(classifier.score(reducer.transform(test), data.y[split.test]))
    # The standard error of a mean over 8 splits is about a third of the standard deviation.
    assert abs(100 * np.mean(accuracy) - printed) <= 1.5 * sd
