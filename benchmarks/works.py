"""Define the benchmarked works: ddr's method, the peers, and the goals.

ddr's environment and that of the peers both import this file, so each fit imports what it needs. If
a work names a check, `checks.py` checks the results of the fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

Points = tuple[np.ndarray, np.ndarray]
Fit = Callable[[np.ndarray, np.ndarray], Any]


@dataclass(frozen=True)
class Method:
    """A fit with its largest n, its environment (ddr's or the peers'), and its threads."""

    fit: Fit
    most: int = 10**9
    peers: bool = False
    threads: int = 1


@dataclass(frozen=True)
class Goal:
    """A limit on the cost at a size: times a peer's seconds, seconds, megabytes, or an exponent.

    `ours` names ddr's method if it is not the first.
    """

    n: int
    peer: str = ""
    ours: str = ""
    times: float | None = None
    seconds: float | None = None
    megabytes: float | None = None
    exponent: float | None = None


@dataclass(frozen=True)
class Work:
    """A computation at several sizes; the first method is ddr's."""

    methods: dict[str, Method]
    points: Callable[[int], Points]
    sizes: tuple[int, ...]
    goals: tuple[Goal, ...] = ()
    check: str = ""
    least: int = 200


def gaussians(n: int, d: int = 36, classes: int = 6, apart: float = 1 / 2) -> Points:
    """Return overlapping Gaussian classes, whose neighbour graph is connected."""
    rng = np.random.default_rng(n)
    y = np.arange(n) % classes
    return rng.standard_normal((n, d)) + apart * rng.standard_normal((classes, d))[y], y


def overlapping(n: int) -> Points:
    return gaussians(n, apart=1 / 3)


def narrow(n: int) -> Points:
    return gaussians(n, d=50, classes=5, apart=1 / 3)


def wide(n: int) -> Points:
    return gaussians(n, d=100, classes=10, apart=1 / 3)


def swiss_roll(n: int) -> Points:
    from sklearn.datasets import make_swiss_roll

    return make_swiss_roll(n, random_state=0)


def digits(n: int) -> Points:
    """Return samples whose classes SLLE's neighbour graph almost separates."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X[:n], y[:n]


def digits_and_letters(n: int) -> Points:
    """Return the first binary images of each of the 36 classes of the SSDE paper."""
    from ddr_cli.data import load_dataset

    data = load_dataset("binary_alphadigits")
    rows = [np.flatnonzero(data.y == label)[: n // 36] for label in np.unique(data.y)]
    return data.X[np.concatenate(rows)].astype(float), data.y[np.concatenate(rows)]


@lru_cache(maxsize=1)
def points(work: str, n: int) -> Points:
    return work_of(work).points(n)


def ours(name: str, *answer: str, threads: int = 1, **settings: Any) -> Method:
    """Return one of ddr's reducers; `answer` names the attributes to check."""

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        from ddr_cli import reducers

        model = getattr(reducers, name)(**settings).fit(X, y)
        return [getattr(model, each) for each in answer]

    return Method(fit, threads=threads)


def theirs(place: str, *answer: str, most: int = 10**9, peers: bool = False, **settings: Any):
    """Return an estimator of another library, given as "module:class"."""

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        from importlib import import_module

        module, name = place.split(":")
        model = getattr(import_module(module), name)(**settings).fit(X, y)
        return [getattr(model, each) for each in answer]

    return Method(fit, most, peers)


def exact_neighbours(X: np.ndarray, _: np.ndarray) -> np.ndarray:
    from ddr_cli.numerics.neighbors import kneighbors

    return kneighbors(X, 12).indices


def brute_neighbours(X: np.ndarray, _: np.ndarray) -> np.ndarray:
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=12, algorithm="brute").fit(X)
    return search.kneighbors(return_distance=False)


FEW_QUERIES = 2000


def exact_few(X: np.ndarray, _: np.ndarray) -> np.ndarray:
    from ddr_cli.numerics.neighbors import kneighbors

    return kneighbors(X, 12, queries=X[:FEW_QUERIES]).indices


def brute_few(X: np.ndarray, _: np.ndarray) -> np.ndarray:
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=12, algorithm="brute").fit(X)
    return search.kneighbors(X[:FEW_QUERIES], return_distance=False)


def one_eigenproblem_and_a_subset(X: np.ndarray, _: np.ndarray) -> None:
    from scipy.linalg import eigh
    from sklearn.metrics.pairwise import rbf_kernel

    K = rbf_kernel(X, gamma=1 / (X.shape[1] * X.var()))
    eigh(K)
    eigh(K, subset_by_index=(len(K) - 5, len(K) - 1))


def from_scaled_components(place: str, *, peers: bool = False, **settings: Any) -> Method:
    """Return another library's NCA with the initial matrix of ddr's."""

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        from sklearn.decomposition import PCA

        mapped = PCA(5).fit(X)
        scale = np.sqrt(mapped.explained_variance_.mean() * (1 - 1 / len(X)))
        start = mapped.components_ / scale
        return theirs(place, "components_", init=start, n_components=5, **settings).fit(X, y)

    return Method(fit, peers=peers)


def slle_and_map(X: np.ndarray, y: np.ndarray) -> None:
    from ddr_cli.reducers import SupervisedLLE

    SupervisedLLE(2, n_neighbors=12).fit(X, y).transform(X[:500])


MAPPED = "fit and first transform"
SLLE = {
    "ddr": ours("SupervisedLLE", n_components=2, n_neighbors=12),
    "scikit-learn's LLE": theirs(
        "sklearn.manifold:LocallyLinearEmbedding", n_components=2, n_neighbors=12
    ),
    MAPPED: Method(slle_and_map),
}
FLOOR = Method(one_eigenproblem_and_a_subset)
UMAP_SETTINGS = {"n_jobs": 1, "random_state": 0, "peers": True}
SMALL = (500, 1000, 2000, 4000)

WORKS: dict[str, Work] = {
    "12 neighbours": Work(
        {"ddr": Method(exact_neighbours), "scikit-learn, brute": Method(brute_neighbours)},
        gaussians,
        (3_000, 10_000, 30_000, 100_000),
        (Goal(100_000, "scikit-learn, brute", times=1.0),),
        check="neighbours",
    ),
    "12 neighbours of 2,000 samples among n": Work(
        {"ddr": Method(exact_few), "scikit-learn, brute": Method(brute_few)},
        gaussians,
        (10_000, 100_000, 1_000_000),
        (Goal(1_000_000, "scikit-learn, brute", times=1.0),),
        check="neighbours",
        least=2_500,
    ),
    "CCDR": Work(
        {
            "ddr": ours("CCDR", n_components=14, n_neighbors=12),
            "SpectralEmbedding": theirs(
                "sklearn.manifold:SpectralEmbedding",
                most=4_000,
                n_components=14,
                n_neighbors=12,
                affinity="nearest_neighbors",
            ),
            "UMAP, supervised": theirs(
                "umap:UMAP", n_components=14, n_neighbors=12, **UMAP_SETTINGS
            ),
        },
        gaussians,
        (*SMALL, 10_000),
        (Goal(4_000, "SpectralEmbedding", times=1.0), Goal(10_000, "UMAP, supervised", times=1.0)),
    ),
    "Laplacian eigenmaps": Work(
        {
            "ddr": ours("LaplacianEigenmaps", n_components=2, n_neighbors=12, weights="binary"),
            "SpectralEmbedding": theirs(
                "sklearn.manifold:SpectralEmbedding",
                n_components=2,
                n_neighbors=12,
                affinity="nearest_neighbors",
            ),
        },
        gaussians,
        SMALL,
        (Goal(4_000, "SpectralEmbedding", times=1.0),),
    ),
    "Isomap": Work(
        {
            "ddr": ours("Isomap", n_components=2, n_neighbors=12),
            "scikit-learn": theirs("sklearn.manifold:Isomap", n_components=2, n_neighbors=12),
        },
        gaussians,
        (500, 1_000, 2_000, 4_435),
        tuple(Goal(n, "scikit-learn", times=1.0) for n in (1_000, 2_000, 4_435)),
    ),
    "SLLE": Work(
        SLLE,
        gaussians,
        (500, 1_000, 2_000),
        (
            Goal(2_000, "scikit-learn's LLE", times=1.3),
            Goal(2_000, "scikit-learn's LLE", ours=MAPPED, times=10.0),
        ),
    ),
    "SLLE, digits": Work(
        SLLE,
        digits,
        (500, 1_000, 1_797),
        (
            Goal(1_797, "scikit-learn's LLE", times=1.3),
            Goal(1_797, "scikit-learn's LLE", ours=MAPPED, times=10.0),
        ),
    ),
    "KernelLFDA": Work(
        {"ddr": ours("KernelLFDA", n_components=5), "full eigh and a subset": FLOOR},
        gaussians,
        (500, 1_000, 2_000),
        tuple(Goal(n, "full eigh and a subset", times=1.0) for n in (1_000, 2_000)),
    ),
    "KernelMFA": Work(
        {"ddr": ours("KernelMFA", n_components=5), "full eigh and a subset": FLOOR},
        gaussians,
        (500, 1_000, 2_000),
        (Goal(2_000, "full eigh and a subset", times=1.5),),
    ),
    "KernelLFDA, 500 landmarks": Work(
        {"ddr": ours("KernelLFDA", n_components=5, n_landmarks=500, random_state=0)},
        gaussians,
        (1_000, 2_000, 4_000, 8_000),
        least=600,
    ),
    "KernelLFDA, two BLAS threads": Work(
        {
            "ddr": ours("KernelLFDA", n_components=5, threads=2),
            "ddr, one thread": ours("KernelLFDA", n_components=5),
        },
        gaussians,
        (1_000, 2_000),
        (Goal(2_000, "ddr, one thread", times=1.2),),
    ),
    "SSDE": Work(
        {"ddr": ours("SSDE", n_components=5)},
        digits_and_letters,
        (288, 576, 1_116),
        (Goal(1_116, seconds=3.0),),
        least=108,
    ),
    "SDE": Work(
        {"ddr": ours("SDE", n_components=2, n_neighbors=6)},
        swiss_roll,
        (100, 200, 400, 1_000),
        (Goal(400, seconds=4.0), Goal(1_000, seconds=30.0)),
        least=60,
    ),
    "LMNN, d = 50": Work(
        {
            "ddr": ours("LMNN", "components_", n_components="full"),
            "metric-learn": theirs("metric_learn:LMNN", "components_", peers=True),
        },
        narrow,
        (250, 500, 1_000),
        tuple(Goal(n, "metric-learn", times=1.0) for n in (500, 1_000)),
        check="lmnn",
        least=80,
    ),
    "LMNN, d = 100": Work(
        {
            "ddr": ours("LMNN", "components_", n_components="full"),
            "metric-learn": theirs("metric_learn:LMNN", "components_", peers=True),
        },
        wide,
        (5_000,),
        (Goal(5_000, "metric-learn", times=1.0),),
        check="lmnn",
        least=80,
    ),
    "NCA": Work(
        {
            "ddr": ours("NCA", "components_", n_components=5, init="pca"),
            "scikit-learn": from_scaled_components(
                "sklearn.neighbors:NeighborhoodComponentsAnalysis", tol=1e-7, max_iter=500
            ),
            "metric-learn": from_scaled_components(
                "metric_learn:NCA", peers=True, tol=1e-7, max_iter=500
            ),
        },
        overlapping,
        (500, 1_000, 2_000),
        (Goal(2_000, "scikit-learn", times=1.0), Goal(2_000, "metric-learn", times=1.0)),
        check="nca",
    ),
    "MCML": Work(
        {"ddr": ours("MCML")}, overlapping, (125, 250, 500), (Goal(500, seconds=1.1),), least=60
    ),
    "NMMP": Work(
        {"ddr": ours("NMMP", n_components=5)},
        gaussians,
        (2_000, 8_000, 20_000, 50_000),
        (Goal(8_000, seconds=1.0), Goal(50_000, megabytes=2_000)),
    ),
    "LFDA": Work(
        {
            "ddr": ours("LFDA", "components_", n_components=5),
            "metric-learn": theirs(
                "metric_learn:LFDA",
                "components_",
                peers=True,
                n_components=5,
                k=7,
                embedding_type="plain",
            ),
        },
        wide,
        (1_250, 2_500, 5_000, 10_000),
        (Goal(5_000, "metric-learn", times=1.0), Goal(5_000, seconds=0.13)),
        check="lfda",
    ),
}


@cache
def growth() -> Work:
    """Return the work of `bench_growth.py`, with every reducer whose library is installed."""
    from ddr_cli.core.parameters import parameter_model
    from ddr_cli.reducers.registry import REDUCERS, get_traits
    from ddr_cli.spec.estimators import missing_of

    def embedding(name: str, **given: Any) -> Method:
        def fit(X: np.ndarray, y: np.ndarray) -> None:
            known = parameter_model(REDUCERS.load(name)).model_fields
            settings = {"n_components": 5, "random_state": 0, **given}
            reducer = REDUCERS.load(name)(
                **{key: value for key, value in settings.items() if key in known}
            )
            reducer.fit_transform(X, y)
            if get_traits(reducer).out_of_sample:
                reducer.transform(X[:1])

        return Method(fit)

    methods = {
        name: embedding(name)
        for name in REDUCERS.ours
        if not missing_of("reducers", REDUCERS.load(name), {})
    }
    # The suite lite uses this name.
    methods["kernel_laplacian_rls"] = embedding("laplacian_rls", kernel="rbf")
    if "opentsne" in methods:
        methods["opentsne"] = embedding("opentsne", n_components=2)  # 2 is its maximum.
    return Work(methods, gaussians, (1_000, 2_000, 4_000, 8_000, 16_000))


def work_of(name: str) -> Work:
    return growth() if name == "growth" else WORKS[name]
