"""Competing methods that ddr implements or takes from scikit-learn equal their definitions."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

from ddr_cli.data import Sources, load_dataset
from ddr_cli.reducers import (
    HSICPCA,
    LDA,
    LOL,
    LSDA,
    MMC,
    OLDA,
    PLSDA,
    RDA,
    RFM,
    SAVE,
    ForestDiffusion,
    ForestEmbedding,
    KernelApproximationLDA,
    LogisticProjection,
    ShrinkageLDA,
)

RAW, WINE_Y = load_wine(return_X_y=True)
WINE = scale(RAW)
# Fewer samples than features, and classes of different sizes.
GENERATOR = np.random.default_rng(0)
WIDE_Y = np.repeat([0, 1, 2], [4, 9, 7])
WIDE = GENERATOR.normal(size=(20, 30)) + 2 * np.eye(3, 30)[WIDE_Y]
BOTH = pytest.mark.parametrize(("X", "y"), [(WINE, WINE_Y), (WIDE, WIDE_Y)], ids=["tall", "wide"])


def angle(A, B):
    return scipy.linalg.subspace_angles(A.T, B.T).max()


def means_of(X, y):
    return np.array([X[y == k].mean(axis=0) for k in np.unique(y)])


def scatters(X, y):
    within, between = np.zeros((2, X.shape[1], X.shape[1]))
    for x, label in zip(X, y, strict=True):
        inside, outside = (
            x - X[y == label].mean(axis=0),
            X[y == label].mean(axis=0) - X.mean(axis=0),
        )
        within += np.outer(inside, inside)
        between += np.outer(outside, outside)
    return within, between


@BOTH
def test_mmc_is_the_eigenvectors_of_the_difference_of_scatters(X, y):
    within, between = scatters(X, y)
    M = (between - within) / len(y)
    model = MMC(4).fit(X, y)
    A = model.components_
    assert_allclose(A @ A.T, np.eye(4), atol=1e-10)
    assert_allclose(M @ A.T, A.T * model.eigenvalues_, atol=1e-9 * abs(M).max())
    # The null space of the data has eigenvalue 0, which may exceed others, but MMC excludes it.
    inside = PCA().fit(X).components_[: np.linalg.matrix_rank(X - X.mean(axis=0))]
    assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(inside @ M @ inside.T)[:-5:-1])


@BOTH
@pytest.mark.parametrize("m", [1, 2])
def test_olda_is_an_orthonormal_basis_of_the_definitions_solutions(X, y, m):
    within, between = scatters(X, y)
    values, vectors = scipy.linalg.eig(np.linalg.pinv(within + between) @ between)
    order = np.argsort(-values.real)[:m]
    model = OLDA(m).fit(X, y)
    assert_allclose(model.components_ @ model.components_.T, np.eye(m), atol=1e-10)
    assert_allclose(model.eigenvalues_, values.real[order], atol=1e-8)
    if X is WINE or m == 2:  # if the eigenvalues are equal, the first solution is not unique
        assert angle(model.components_, vectors.real[:, order].T) < 1e-6


def test_olda_maps_the_points_of_a_class_to_one_place_where_there_are_few():
    placed = OLDA(2).fit_transform(WIDE, WIDE_Y)
    assert_allclose(placed, means_of(placed, WIDE_Y)[WIDE_Y], atol=1e-10)


@BOTH
def test_lol_is_the_means_then_the_principal_components_within(X, y):
    order = np.argsort(-np.bincount(y), kind="stable")
    means = means_of(X, y)
    _, _, axes = np.linalg.svd(X - means[y])
    columns = np.vstack([means[order[1:]] - means[order[0]], axes]).T
    model = LOL(6).fit(X, y)
    assert_allclose(abs(np.linalg.qr(columns)[0][:, :6].T), abs(model.components_), atol=1e-8)


def test_lol_leaves_out_what_is_no_new_direction():
    # Three class means are on a line, so the second difference of means adds no direction.
    X = np.array([[0.0, 1], [0, 3], [1, 1], [1, 3], [2, 1], [2, 3]])
    model = LOL(2).fit(X, [0, 0, 1, 1, 2, 2])
    assert_allclose(abs(model.components_), np.eye(2), atol=1e-12)


@BOTH
@pytest.mark.parametrize(("weight", "m"), [(0.0, 2), (1.0, 5)])
def test_hsic_pca_is_the_leading_eigenvectors_of_x_h_l_h_x(X, y, weight, m):
    n = len(y)
    H, L = np.eye(n) - 1 / n, (y[:, None] == y) + weight * np.eye(n)
    Q = X.T @ H @ L @ H @ X
    model = HSICPCA(m, pca_weight=weight).fit(X, y)
    A = model.components_
    assert_allclose(A @ A.T, np.eye(m), atol=1e-10)
    assert_allclose(Q @ A.T, A.T * model.eigenvalues_, atol=1e-9 * abs(Q).max())
    assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(Q)[: -m - 1 : -1])


def test_hsic_pca_becomes_pca():
    model = HSICPCA(3, pca_weight=1e12).fit(WINE, WINE_Y)
    assert angle(model.components_, PCA(3).fit(WINE).components_) < 1e-6


def root(S):
    values, vectors = np.linalg.eigh(S)
    return vectors / np.sqrt(values) @ vectors.T


@pytest.mark.parametrize("reg", [0.0, 0.3])
@pytest.mark.parametrize("method", ["save", "dr"])
def test_save_and_directional_regression_are_their_definitions(method, reg):
    X = WINE[:, :6] @ GENERATOR.normal(size=(6, 6))
    covariance = np.cov(X.T, bias=True)
    whiten = root(covariance + reg * np.trace(covariance) / 6 * np.eye(6))
    z, shares = (X - X.mean(axis=0)) @ whiten, np.bincount(WINE_Y) / len(X)
    T, M = np.cov(z.T, bias=True), np.zeros((6, 6))
    for k, share in enumerate(shares):
        if method == "save":
            gap = T - np.cov(z[k == WINE_Y].T, bias=True)
            M += share * gap @ gap
            continue
        for other, its_share in enumerate(shares):
            # Li and Wang's E[(z - z')(z - z')' | y, y'], over all pairs of samples.
            pairs = (z[k == WINE_Y][:, None] - z[other == WINE_Y]).reshape(-1, 6)
            gap = 2 * T - pairs.T @ pairs / len(pairs)
            M += share * its_share * gap @ gap
    model = SAVE(3, method=method, reg=reg).fit(X, WINE_Y)
    values, vectors = np.linalg.eigh(M)
    assert_allclose(model.eigenvalues_, values[:-4:-1])
    expected = z @ vectors[:, :-4:-1]
    assert_allclose(abs(model.transform(X)), abs(expected), atol=1e-8)


@pytest.mark.parametrize("method", ["save", "dr"])
@pytest.mark.filterwarnings("ignore:The eigenvalues")
def test_save_does_not_depend_on_the_order_of_the_rows_and_warns_of_a_cut_eigenspace(method):
    order = GENERATOR.permutation(len(WIDE))
    for X, reg in ((WIDE, 0.0), (WIDE, 0.1), (PCA(3).fit_transform(WIDE), 0.0)):
        fitted = SAVE(2, method=method, reg=reg).fit(X, WIDE_Y)
        other = clone(fitted).fit(X[order], WIDE_Y[order])
        assert angle(fitted.components_, other.components_) < 1e-6
    with pytest.warns(UserWarning, match="eigenvalues 2 and 3 are equal"):
        SAVE(2, method=method).fit(WIDE, WIDE_Y)


def test_lsda_has_no_directions_with_a_negative_eigenvalue():
    with pytest.raises(ValueError, match=r"n_components=19, .* \d+ .*positive eigenvalue.* Lower"):
        LSDA(19).fit(WIDE, WIDE_Y)


def test_lsda_with_its_authors_weight_tells_raw_wines_apart():
    knn = make_pipeline(LSDA(), KNeighborsClassifier(5))
    assert cross_val_score(knn, RAW, WINE_Y, cv=StratifiedKFold(5)).mean() > 0.9


def test_save_finds_classes_that_differ_in_their_variance_alone():
    rng = np.random.default_rng(1)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 5))
    X[:, 2] *= np.where(y, 4.0, 0.5)
    assert angle(SAVE(1).fit(X, y).components_, np.eye(5)[[2]]) < 0.1


@BOTH
def test_lsda_solves_its_eigenproblem_on_the_two_graphs(X, y):
    n, k, alpha = len(y), 5, 0.3
    near = np.argsort(cdist(X, X) + 1e9 * np.eye(n), axis=1)[:, :k]
    connected = np.zeros((n, n), dtype=bool)
    for i in range(n):
        connected[i, near[i]] = connected[near[i], i] = True
    W_w, W_b = (connected & side for side in (y[:, None] == y, y[:, None] != y))
    D_w, D_b = (np.diag(W.sum(axis=1).astype(float)) for W in (W_w, W_b))
    Z = X - X.mean(axis=0)
    A, B = Z.T @ (alpha * (D_b - W_b) + (1 - alpha) * W_w) @ Z, Z.T @ D_w @ Z
    model = LSDA(3, n_neighbors=k, alpha=alpha).fit(X, y)
    V = model.components_.T
    V = V / np.sqrt(V[:, 0] @ B @ V[:, 0])
    assert_allclose(V.T @ B @ V, np.eye(3), atol=1e-8)
    assert_allclose(A @ V, B @ V * model.eigenvalues_, atol=1e-8 * abs(A).max())
    if X is WINE:
        assert_allclose(model.eigenvalues_, scipy.linalg.eigvalsh(A, B)[:-4:-1])


@BOTH
@pytest.mark.parametrize("shrinkage", ["ledoit_wolf", 0.2])
def test_shrinkage_lda_has_scikit_learns_covariance(X, y, shrinkage):
    inside = X - means_of(X, y)[y]
    if shrinkage == "ledoit_wolf":
        covariance, s = ledoit_wolf(inside, assume_centered=True)
    else:
        s, S = shrinkage, inside.T @ inside / len(y)
        covariance = (1 - s) * S + s * np.trace(S) / len(S) * np.eye(len(S))
    values, vectors = scipy.linalg.eigh(scatters(X, y)[1] / len(y), covariance)
    model = ShrinkageLDA(2, shrinkage).fit(X, y)
    assert_allclose(model.shrinkage_, s)
    assert_allclose(model.eigenvalues_, values[:-3:-1])
    assert_allclose(abs(model.components_), abs(vectors[:, :-3:-1].T), atol=1e-8)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("X", "y", "pooling", "shrinkage"),
    [
        (WINE, WINE_Y, 0.0, 0.2),
        (WINE, WINE_Y, 0.4, 0.0),
        (WINE, WINE_Y, 1.0, 0.5),
        (WIDE, WIDE_Y, 0.0, 0.2),
        (WIDE, WIDE_Y, 0.5, 0.7),
    ],
)
def test_rda_has_the_distances_of_the_regularised_gaussians_scores(X, y, pooling, shrinkage, make):
    # If there are few training samples, the new samples are outside their span.
    n, d, scores = len(X), X.shape[1], []
    new = np.vstack([X, X[:10] + np.random.default_rng(1).normal(size=(10, d))])
    pooled = scatters(X, y)[0]
    for k in range(3):
        members = X[k == y]
        own = np.cov(members.T, bias=True) * len(members)
        S = (1 - pooling) * own + pooling * pooled
        S /= (1 - pooling) * len(members) + pooling * n
        S = (1 - shrinkage) * S + shrinkage * np.trace(S) / d * np.eye(d)
        density = multivariate_normal(members.mean(axis=0), S)
        scores.append(density.logpdf(new) + np.log(len(members) / n))
    centred = np.array(scores).T - np.mean(scores, axis=0)[:, None]
    placed = RDA(2, pooling, shrinkage).fit(make(X), y).transform(make(new))
    # Two dimensions contain the differences between the scores of three classes.
    assert_allclose(pdist(placed), pdist(centred), rtol=1e-6, atol=1e-8)
    assert_allclose(np.cov(placed[:n].T)[0, 1], 0, atol=1e-8 * placed.var())


def test_rda_tells_classes_of_unlike_spread_apart_with_more_features_than_samples():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 500)) * np.array([1.0, 1.3, 1.7])[y][:, None]
    train, test = slice(0, 60), slice(60, None)
    model = RDA(2, pooling=0.0, shrinkage=0.1).fit(X[train], y[train])
    knn = KNeighborsClassifier(3).fit(model.transform(X[train]), y[train])
    assert knn.score(model.transform(X[test]), y[test]) > 0.9


def test_rda_with_one_covariance_is_a_projection_on_the_discriminants():
    placed = RDA(2, pooling=1.0, shrinkage=0.0).fit_transform(WINE, WINE_Y)
    discriminants = LDA(2).fit_transform(WINE, WINE_Y)
    fitted = discriminants @ np.linalg.lstsq(discriminants, placed, rcond=None)[0]
    assert_allclose(placed, fitted, atol=1e-8 * abs(placed).max())


def test_rda_names_the_class_whose_covariance_is_singular():
    with pytest.raises(ValueError, match=r"class 0 is singular. Increase shrinkage"):
        RDA(2, pooling=0.0, shrinkage=0.0).fit(WIDE, WIDE_Y)


@BOTH
@pytest.mark.parametrize("scale", [False, True])
def test_pls_da_deflates_by_leading_singular_vectors(X, y, scale):
    E, Y = X - X.mean(axis=0), np.eye(3)[y] - np.mean(np.eye(3)[y], axis=0)
    if scale:
        E, Y = E / E.std(axis=0, ddof=1), Y / Y.std(axis=0, ddof=1)
    expected = []
    for _ in range(4):
        t = E @ np.linalg.svd(E.T @ Y)[0][:, 0]
        E = E - np.outer(t, t) @ E / (t @ t)
        expected.append(t)
    found = PLSDA(4, scale=scale).fit_transform(X, y)
    assert_allclose(abs(found), abs(np.transpose(expected)), atol=1e-9 * abs(found).max())
    its_own = PLSRegression(4, scale=scale, max_iter=5000, tol=1e-16).fit(X, np.eye(3)[y])
    assert_allclose(abs(found), abs(its_own.x_scores_), atol=1e-6 * abs(found).max())


@pytest.mark.parametrize("scale", [False, True])
def test_pls_da_computes_no_component_of_rounding(scale):
    # With so few samples, one whitened component reproduces both classes, and the rest is rounding.
    rng = np.random.default_rng(0)
    X, y = PCA().fit_transform(rng.normal(size=(60, 200)))[:, :-1], np.arange(60) % 2
    order = rng.permutation(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if scale else "error")
        found = PLSDA(10, scale=scale).fit_transform(X, y)
        again = PLSDA(10, scale=scale).fit_transform(X[order], 1 - y[order])
    assert found.shape == (60, 1 if scale else 10)
    assert_allclose(abs(again), abs(found[order]), atol=1e-9 * abs(found).max())


@pytest.mark.parametrize("name", ["colon", "golub", "strawberry", "wine_ftir"])
@pytest.mark.filterwarnings("ignore:n_components")
def test_pls_da_depends_neither_on_the_order_of_the_rows_nor_on_class_codes(name, data_mirror):
    data = load_dataset(name, sources=Sources((data_mirror,), data_mirror, offline=True))
    X, y = scale(data.X)[::3], np.unique(data.y, return_inverse=True)[1][::3]
    whole = PCA(min(X.shape) - 1, svd_solver="full").fit_transform(X)
    order = np.random.default_rng(0).permutation(len(y))
    for points in (X, whole):
        for model in (PLSDA(5), PLSDA(5, scale=True)):
            found = model.fit_transform(points, y)
            again = model.fit_transform(points[order], y.max() - y[order])
            assert_allclose(abs(again), abs(found[order]), atol=1e-9 * abs(found).max())


def test_pls_da_stops_where_nothing_is_left_to_explain():
    X = np.array([[0.0, 1], [0, 2], [1, 1], [1, 2]])
    with pytest.warns(UserWarning, match="n_components=2, but 1 components already reproduce"):
        model = PLSDA(2).fit(X, [0, 0, 1, 1])
    assert model.components_.shape == (1, 2)


def logistic_weights(X, y, C):
    """Minimise the docstring's objective by Newton's method, with one row of weights per class."""
    (n, d), K = X.shape, y.max() + 1
    Z, one_hot = np.column_stack([X, np.ones(n)]), np.eye(K)[y]
    penalty = np.append(np.ones(d), 0.0)
    V = np.zeros((K, d + 1))

    def objective(V):
        logits = Z @ V.T
        return C * (logsumexp(logits, axis=1) - logits[range(n), y]).sum() + (
            (penalty * V**2).sum() / 2
        )

    for _ in range(100):
        chances = softmax(Z @ V.T, axis=1)
        gradient = C * (chances - one_hot).T @ Z + penalty * V
        inner = np.einsum("nk,kl->nkl", chances, np.eye(K)) - chances[:, :, None] * chances[:, None]
        hessian = C * np.einsum("nkl,ni,nj->kilj", inner, Z, Z, optimize=True)
        hessian = hessian.reshape(V.size, V.size) + np.diag(np.tile(penalty, K))
        # The Hessian is singular, because an equal change of all intercepts changes nothing.
        step = np.linalg.lstsq(hessian, gradient.ravel(), rcond=1e-15)[0].reshape(V.shape)
        length = 1.0
        while objective(V - length * step) > objective(V) and length > 1e-9:
            length /= 2
        V = V - length * step
    return V[:, :-1]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("X", "C", "classes"),
    [(WINE, 1.0, 3), (WINE, 1.0, 2), (7 * WINE + 3, 100.0, 3), (RAW, 1.0, 3), (RAW, 1e3, 3),
     (RAW, 1e3, 2)],
)  # fmt: skip
def test_logistic_projection_minimises_its_objective(X, C, classes, make):
    among = np.isin(WINE_Y, range(classes))
    X, y = X[among], WINE_Y[among]
    weights = logistic_weights(X - X.mean(axis=0), y, C)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticProjection(C=C).fit(make(X), y)
    expected = pdist(X @ weights.T)
    found = pdist(model.transform(make(X)))
    assert_allclose(found, expected, rtol=0, atol=3e-3 * expected.max())
    assert_allclose(model.singular_values_, np.linalg.svd(weights)[1][: classes - 1], rtol=1e-3)


def test_logistic_projection_names_what_would_help_it_to_converge():
    with pytest.warns(ConvergenceWarning, match=r"after 3 iterations: .* Increase max_iter .now 3"):
        LogisticProjection(max_iter=3).fit(WINE, WINE_Y)


def test_forest_embedding_is_kernel_pca_of_the_shares_of_common_leaves():
    X, y = WINE[::4], WINE_Y[::4]
    model = ForestEmbedding(len(X) - 1, n_estimators=10, random_state=0).fit(X, y)
    leaves = model.forest_.apply(X * model.scale_)
    proximity = np.array([[np.mean(a == b) for b in leaves] for a in leaves])
    placed = model.transform(X)
    assert_allclose(cdist(placed, placed, "sqeuclidean"), 2 - 2 * proximity, atol=1e-8)
    assert_allclose(placed.T @ placed / (len(X) - 1), np.diag(model.explained_variance_), atol=1e-8)
    assert (np.diff(model.explained_variance_) <= 0).all()


def brute_force_proximities(forest, X, new=None):
    """Return the proximities of the training samples, or of new ones, by the definition."""
    counts = np.array([np.bincount(r, minlength=len(X)) for r in forest.estimators_samples_])
    ends = forest.apply(X)
    reached = ends if new is None else forest.apply(new)
    P = np.zeros((len(reached), len(X)))
    for i, leaves in enumerate(reached):
        trees = range(len(counts)) if new is not None else np.flatnonzero(counts[:, i] == 0)
        for tree in trees:
            inside = counts[tree] * (ends[:, tree] == leaves[tree])
            P[i] += inside / inside.sum() / len(trees)
    return P


@pytest.mark.parametrize("time", [1, 3])
def test_forest_diffusion_solves_the_eigenproblem_of_out_of_bag_proximities(time):
    X, y, new = WINE[::4], WINE_Y[::4], WINE[1::9]
    model = ForestDiffusion(3, n_estimators=50, diffusion_time=time, random_state=0).fit(X, y)
    scaled, scaled_new = ((points - model.shift_) * model.scale_ for points in (X, new))
    P = brute_force_proximities(model.forest_, scaled)
    W = (P + P.T) / 2
    D = np.diag(W.sum(axis=1))
    values, vectors = scipy.linalg.eigh(W, D)
    values, vectors = values[-2:-5:-1], vectors[:, -2:-5:-1] * np.sqrt(len(X))
    assert_allclose(model.eigenvalues_, values, atol=1e-9)
    assert_allclose(abs(model.embedding_), abs(vectors * values**time), atol=1e-7)
    placed = brute_force_proximities(model.forest_, scaled, scaled_new) @ vectors
    assert_allclose(abs(model.transform(new)), abs(placed * values ** (time - 1)), atol=1e-7)
    # Votes weighted by proximity are the out-of-bag votes of the forest.
    forest = RandomForestClassifier(50, min_samples_leaf=1, random_state=0, oob_score=True)
    forest.fit(scaled, y)
    assert_allclose(P @ np.eye(3)[y], forest.oob_decision_function_, atol=1e-12)


def test_forest_diffusion_separates_groups_without_any_proximity_first():
    X = np.repeat([[0.0], [1.0], [2.0]], 20, axis=0) + 1e-3 * GENERATOR.normal(size=(60, 1))
    y = np.repeat([0, 1, 2], 20)
    model = ForestDiffusion(3, random_state=0).fit(X, y)
    assert_allclose(model.eigenvalues_[:2], 1)
    assert model.eigenvalues_[2] < 0.999
    assert_allclose(model.transform(X)[:, :2], model.embedding_[:, :2], atol=1e-9)
    assert len(np.unique(model.embedding_[:, :2].round(6), axis=0)) == 3


def predictor(X, y, M, bandwidth, reg):
    """Return scikit-learn's kernel ridge regression of the class indicators in a metric."""
    centred = X - X.mean(axis=0)
    sigma = bandwidth * np.sqrt(np.trace(M @ centred.T @ centred) / len(X))

    def kernel(A):
        gaps = A[:, None] - X
        squares = np.einsum("ijk,kl,ijl->ij", gaps, M, gaps)
        return np.exp(-np.sqrt(np.maximum(squares, 0)) / sigma)

    ridge = KernelRidge(alpha=reg, kernel="precomputed").fit(kernel(X), np.eye(y.max() + 1)[y])
    return lambda A, left_out: kernel(A)[:, left_out] @ ridge.dual_coef_[left_out]


def differences(X, y, M, bandwidth, reg):
    """Return the average gradient outer product by finite differences."""
    f, (n, d), total = predictor(X, y, M, bandwidth, reg), X.shape, np.zeros((X.shape[1],) * 2)
    step = 1e-5 * X.std() * np.eye(d)
    for i, x in enumerate(X):
        others = np.arange(n) != i  # a sample's own term has a kink there
        rise = (f(x + step, others) - f(x - step, others)) / (2e-5 * X.std())
        total += rise @ rise.T
    return total / n


@BOTH
@pytest.mark.parametrize(("n_iter", "bandwidth", "reg"), [(1, 1.0, 1e-3), (3, 0.7, 0.1)])
def test_rfm_iterates_the_average_gradient_outer_product(X, y, n_iter, bandwidth, reg):
    X, y = 3 * X[::2] + 1, y[::2]
    M = np.eye(X.shape[1])
    for _ in range(n_iter):
        M = differences(X, y, M, bandwidth, reg)
    model = RFM(4, n_iter=n_iter, bandwidth=bandwidth, reg=reg).fit(X, y)
    values, vectors = np.linalg.eigh(M)
    assert_allclose(model.eigenvalues_, values[:-5:-1], rtol=1e-4)
    expected = vectors[:, :-5:-1].T * np.sqrt(values[:-5:-1, None])
    assert_allclose(abs(model.components_), abs(expected), atol=1e-4 * abs(expected).max())


def test_rfm_finds_the_directions_of_a_function_that_is_not_linear():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    y = (X[:, 3] * X[:, 7] > 0).astype(int)
    assert angle(LDA(1).fit(X, y).components_, np.eye(10)[[3, 7]]) > 0.3
    assert angle(RFM(2).fit(X, y).components_, np.eye(10)[[3, 7]]) < 0.2


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("factor", [2.0**-40, 2.0**400])
def test_forest_embedding_has_the_same_bits_in_any_unit(make, factor):
    model = ForestEmbedding(n_estimators=5, random_state=0)
    expected = model.fit_transform(make(WINE), WINE_Y)
    assert np.ptp(expected, axis=0).min() > 0
    assert_array_equal(model.fit_transform(make(WINE * factor), WINE_Y), expected)


def test_kernel_approximation_with_all_points_is_kernel_discriminant_analysis():
    model = KernelApproximationLDA(2, n_landmarks=178, gamma=0.05, reg=0.01, random_state=0)
    placed = model.fit_transform(WINE, WINE_Y)
    H = np.eye(178) - 1 / 178
    values, vectors = np.linalg.eigh(H @ np.exp(-0.05 * cdist(WINE, WINE, "sqeuclidean")) @ H)
    Z = (vectors * np.sqrt(abs(values)))[:, 1:]  # the constant vector is left out
    within, between = scatters(Z, WINE_Y)
    ridge = 0.01 * np.trace(within) / len(within)
    # Dividing by n gives covariances, so that the scale does not depend on the number of samples.
    _, A = scipy.linalg.eigh(between / 178, (within + ridge * np.eye(len(within))) / 178)
    assert_allclose(pdist(placed), pdist(Z @ A[:, :-3:-1]), rtol=1e-6)


EVERY = [
    PLSDA(2), PLSDA(2, scale=True), ShrinkageLDA(2), RDA(2), LogisticProjection(2),
    ForestEmbedding(2, n_estimators=30, random_state=0), KernelApproximationLDA(2, random_state=0),
    ForestDiffusion(2, random_state=0), RFM(2),
    LOL(2), HSICPCA(2), SAVE(5), SAVE(2, method="dr"), MMC(2), OLDA(2), LSDA(2),
]  # fmt: skip


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_neighbours_in_the_embedding_tell_new_wines_apart(model):
    train, test = slice(0, None, 2), slice(1, None, 2)
    fitted = clone(model).fit(WINE[train], WINE_Y[train])
    knn = KNeighborsClassifier(3).fit(fitted.transform(WINE[train]), WINE_Y[train])
    assert knn.score(fitted.transform(WINE[test]), WINE_Y[test]) > 0.9


@pytest.mark.parametrize("model", [model for model in EVERY if model._takes_sparse], ids=repr)
def test_sparse_points_are_placed_as_dense_ones(model):
    X = WINE * (abs(WINE) > 0.5)
    dense, sparse = clone(model).fit(X, WINE_Y), clone(model).fit(sp.csr_array(X), WINE_Y)
    expected = dense.transform(X)
    tolerance = (3e-3 if isinstance(model, LogisticProjection) else 1e-6) * abs(expected).max()
    assert_allclose(sparse.transform(sp.csr_array(X)), expected, atol=tolerance)


@pytest.mark.parametrize(
    "model",
    [LDA(3), ShrinkageLDA(3), RDA(3), LogisticProjection(3), HSICPCA(3), OLDA(3),
     KernelApproximationLDA(3, random_state=0)],
    ids=repr,
)  # fmt: skip
def test_more_dimensions_than_the_class_means_span_are_refused(model):
    with pytest.raises(ValueError, match=r"n_components=3, .* at most 2 .*n_classes - 1.*because"):
        clone(model).fit(WINE, WINE_Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = clone(model).set_params(n_components=None).fit(WINE, WINE_Y)
        two = clone(model).set_params(n_components=2).fit(WINE, WINE_Y)
        binary = clone(model).set_params(n_components=None).fit_transform(WINE, WINE_Y > 0)
    assert_allclose(fitted.transform(WINE), two.transform(WINE))
    assert binary.shape == (178, 1)


@pytest.mark.parametrize(
    "model",
    [LDA(2), ShrinkageLDA(2), RDA(2), LogisticProjection(2), HSICPCA(2), OLDA(2)],
    ids=repr,
)
def test_features_limit_the_dimensions_too(model):
    with pytest.raises(ValueError, match=r"at most 1 .*n_features, .*X has 1 feat"):
        clone(model).fit(WINE[:, :1], WINE_Y)
    # With two classes, two features give the same message as four.
    for d in (2, 4):
        with pytest.raises(ValueError, match=rf"X has {d} features and y has 2 classes"):
            clone(model).fit(WINE[:, :d], WINE_Y > 0)


def test_hsic_pca_with_a_weight_has_all_dimensions_of_the_data():
    assert HSICPCA(pca_weight=1.0).fit_transform(WINE, WINE_Y).shape == (178, 13)
