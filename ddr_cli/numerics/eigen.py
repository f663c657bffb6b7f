"""Symmetric eigen-solvers with complete, verified and reproducible results.

Eigenvectors of equal eigenvalues are determined up to a rotation, and a solver's choice depends on
rounding. `canonical` replaces it by one that depends on the eigenspace alone.

The sparse solver is ARPACK's implicitly restarted Lanczos iteration with a fixed start vector. On
neighbour graphs it is faster than shift-and-invert, whose factors fill in as the number of
neighbours grows, and than LOBPCG, which is four to ten times slower without a preconditioner:
``benchmarks/bench_ccdr_solver.py`` measures both. Where a coarse tolerance is enough, it iterates
on a polynomial of the matrix in single precision.
"""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from ddr_cli.numerics.neighbors import Floats

_SIMILAR = 1e-6  # sizes that differ by less than this fraction count as equal
_SHARP = 1e-13  # ARPACK's tolerance; columns then agree to about 1e-11 in fits with different m
_COARSE = 1e-6  # from this tolerance upwards, `_filtered` is accurate enough in single precision
_DEGREE, _FILTERED_WIDTH = 8, 32  # degree of the filter's polynomial, and size of its Lanczos basis
TIED = 1e-12
"""Eigenvalues this close, relative to the matrix' norm, count as equal."""
_DENSE = 300  # below this order LAPACK is faster than any iteration
# ARPACK draws random vectors when it meets an invariant subspace, so it gets a seed. Older versions
# of SciPy use a fixed stream.
_SEEDED: dict[str, Any] = {"rng": 0} if "rng" in signature(eigsh).parameters else {}


def deterministic_signs(vectors: Floats) -> Floats:
    """Return the columns with signs such that the largest absolute entry of each is positive.

    Entries within one part in a million of the largest count as equal, and the first of them
    decides, so rounding can't change the sign of a column with two opposite extremes.
    """
    return np.asarray(vectors * _signs(vectors))


def _signs(vectors: Floats) -> Floats:
    size = np.abs(vectors)
    first = np.argmax(size >= (1 - _SIMILAR) * size.max(axis=0), axis=0)
    signs = np.sign(vectors[first, np.arange(vectors.shape[1])])
    return np.where(signs == 0, 1.0, signs)


def canonical(
    values: Floats, vectors: Floats, *along: Floats, norm: float | None = None
) -> tuple[Floats, ...]:
    """Return eigenvectors that do not depend on rounding, and other columns turned with them.

    Values that are up to `TIED` from the one before, relative to the norm (default: the largest
    value), belong to one eigenspace. In its basis, the row with the largest norm has an entry in
    the first column only, and so on with the rest of the rows and columns; of equal norms the first
    row counts. The signs are `deterministic_signs`.
    """
    norm = float(np.abs(values).max(initial=0.0)) if norm is None else norm
    turned = [vectors, *along]
    starts = np.flatnonzero(np.abs(np.diff(values)) > TIED * norm) + 1
    if len(starts) + 1 < len(values):
        turned = [other.copy() for other in turned]
        for columns in np.split(np.arange(len(values)), starts):
            if len(columns) > 1:
                turn = _first_rows(turned[0][:, columns])
                for other in turned:
                    other[:, columns] = other[:, columns] @ turn
    signs = _signs(turned[0])
    return tuple(other * signs for other in turned)


def _first_rows(V: Floats) -> Floats:
    """Return the rotation of the columns by which `canonical` chooses the basis of their span."""
    rest, turn = V.copy(), np.empty((V.shape[1],) * 2)
    for column in turn.T:
        size = np.einsum("ij,ij->i", rest, rest)
        pivot = int(np.argmax(size >= (1 - _SIMILAR) * size.max()))
        column[:] = rest[pivot] / np.sqrt(size[pivot])
        rest -= np.outer(rest @ column, column)
    return turn


def eigenpairs(
    S: Floats, m: int, *, largest: bool = True, norm: float | None = None
) -> tuple[Floats, Floats]:
    """Return `m` eigenpairs of a dense symmetric S, the vectors `canonical`.

    The largest eigenvalues are descending, the smallest ascending. If the `m`-th and the next are
    equal, which vectors are returned depends on the order of the coordinates, with a warning. The
    norm, default that of S, is the size to which rounding is relative.
    """
    norm = float(np.abs(S).sum(axis=0).max()) if norm is None else norm
    more = min(m + 1, len(S))
    values, vectors = _some_eigenpairs(S, more, largest=largest)
    if more > m and abs(values[m] - values[m - 1]) <= TIED * norm:
        warnings.warn(
            f"The eigenvalues {m} and {m + 1} are equal, so which {m} directions are returned "
            "depends on the order of the features or samples.",
            stacklevel=2,
        )
        values, vectors = _some_eigenpairs(S, len(S), largest=largest)
    (vectors,) = canonical(values, vectors, norm=norm)
    return values[:m], vectors[:, :m]


def _some_eigenpairs(S: Floats, m: int, *, largest: bool) -> tuple[Floats, Floats]:
    """Return LAPACK's eigenpairs.

    Its search for a few eigenvalues misses some tied ones, silently or with an internal error; then
    all are computed.
    """
    n = len(S)
    try:
        chosen = (n - m, n - 1) if largest else (0, m - 1)
        values, vectors = scipy.linalg.eigh(S, subset_by_index=chosen)
    except np.linalg.LinAlgError:
        values = np.empty(0)
    if len(values) < m:
        values, vectors = scipy.linalg.eigh(S)
        part = slice(n - m, n) if largest else slice(m)
        values, vectors = values[part], vectors[:, part]
    return (values[::-1], vectors[:, ::-1]) if largest else (values, vectors)


def all_eigenpairs(S: Floats) -> tuple[Floats, Floats]:
    """Return all eigenpairs of a dense symmetric S, ascending, with `canonical` vectors."""
    values, vectors = np.linalg.eigh(S)
    return values, canonical(values, vectors)[0]


def extreme_eigenvalue(S: Floats, B: Floats | None = None, *, largest: bool) -> float:
    """Return the largest or the smallest eigenvalue of S, or of the pencil of S and B."""
    place = len(S) - 1 if largest else 0
    try:
        return float(scipy.linalg.eigh(S, B, eigvals_only=True, subset_by_index=(place,) * 2)[0])
    except (np.linalg.LinAlgError, IndexError):  # LAPACK can fail on tied eigenvalues
        return float(scipy.linalg.eigh(S, B, eigvals_only=True)[place])


def top_eigenpairs(
    A: Any,
    m: int,
    *,
    known: Floats | None = None,
    floor: float | None = None,
    tol: float = 1e-10,
) -> tuple[Floats, Floats]:
    """Return the `m` largest eigenvalues of a symmetric matrix, descending, and eigenvectors.

    Repeated eigenvalues are returned as often as they occur. The vectors are orthonormal and
    `canonical`; a vector does not depend on `m`, up to rounding, unless `m` separates equal
    eigenvalues of a large matrix. Orthonormal eigenvectors that are `known` beforehand are not
    counted, and the result is exactly orthogonal to them. `floor` is a lower bound on the
    eigenvalues (default: the largest absolute row sum, negated), `tol` the largest residual ``|A v
    - v theta|`` allowed, relative to ``max(1, |floor|)``: above it ``LinAlgError`` is raised. With
    a `tol` of 1e-6 or more, a large sparse matrix is filtered by a polynomial, which takes a third
    of the time.
    """
    n = A.shape[0]
    known = np.empty((n, 0)) if known is None else known
    if not 1 <= m <= n - known.shape[1]:
        raise ValueError(f"{m} eigenvectors are requested, but only {n - known.shape[1]} exist.")
    if floor is None:
        floor = -float(np.max(abs(A).sum(axis=1)))
    # With m >= n / 4, the eigenvectors alone have a quarter of the entries of a dense A, so a dense
    # A does not need much more memory.
    if n <= max(_DENSE, 4 * m):
        values, vectors = _dense(A, m, known, floor)
    elif tol < _COARSE or not sp.issparse(A):
        values, vectors = _lanczos(A, m, known, floor)
        values, vectors = _complete(A, values, vectors, known, floor)
    else:
        values, vectors = _filtered(A, m, known, floor, tol / 10)
    residual = float(np.linalg.norm(A @ vectors - vectors * values, axis=0).max())
    if residual > tol * max(1.0, abs(floor)):
        raise np.linalg.LinAlgError(
            f"The eigenvectors have a residual of {residual:.1e}, above the tolerance {tol:.0e}."
        )
    return values, canonical(values, vectors, norm=max(abs(float(values[0])), abs(floor)))[0]


def laplacian_eigenpairs(G: Any, m: int, *, tol: float = 1e-10) -> tuple[Floats, Floats]:
    r"""Return the `m` smallest eigenpairs of ``L u = lambda D u``, without the constant vector.

    G is a graph with non-negative weights and no empty row; :math:`D = \mathrm{diag}(G 1)` and
    :math:`L = D - G`. The values ascend in [0, 2]; the vectors satisfy ``U' D U = I`` and
    ``U' D 1 = 0``, with `deterministic_signs`. They are the coordinates Z that minimise
    :math:`\mathrm{tr}(Z L Z^T)` under these constraints.

    The problem is solved for the largest eigenvalues :math:`1 - \lambda` of :math:`D^{-1/2} G
    D^{-1/2}`, which only needs products with a sparse matrix. The eigenvectors of :math:`\lambda =
    0` are known in closed form (they are constant on the connected components), so they are
    computed directly and excluded from the iteration. `tol` is that of `top_eigenpairs`.
    """
    n = G.shape[0]
    if m > n - 1:
        raise ValueError(f"{m} dimensions are requested, but the graph yields at most {n - 1}.")
    degree = np.asarray(G.sum(axis=1)).ravel()
    root = np.sqrt(degree)
    n_parts, part = connected_components(G, directed=False)

    flat = _contrasts(degree, part, n_parts)[:, :m]
    if flat.shape[1] == m:
        return np.zeros(m), flat
    scaling = sp.diags_array(1 / root)
    similarity = sp.csr_array(scaling @ G @ scaling)
    indicators = np.zeros((n, n_parts))
    indicators[np.arange(n), part] = root
    indicators /= np.linalg.norm(indicators, axis=0)
    values, vectors = top_eigenpairs(
        similarity, m - flat.shape[1], known=indicators, floor=-1.0, tol=tol
    )
    smooth = deterministic_signs(vectors / root[:, None])
    return np.concatenate([np.zeros(flat.shape[1]), 1 - values]), np.hstack([flat, smooth])


def _contrasts(degree: Floats, part: NDArray[Any], n_parts: int) -> Floats:
    """Return the D-orthonormal vectors that are constant on components, except the constant one.

    Starting from the heaviest component, each column contrasts one component with all lighter ones,
    so the basis depends neither on the order of the nodes nor on the eigen-solver.
    """
    mass = np.bincount(part, weights=degree, minlength=n_parts)
    order = np.argsort(-mass, kind="stable")
    lighter = np.cumsum(mass[order][::-1])[::-1]
    columns = np.zeros((n_parts, n_parts - 1))
    for j in range(n_parts - 1):
        own, rest = mass[order[j]], lighter[j + 1]
        columns[order[j], j] = np.sqrt(rest / (own * (own + rest)))
        columns[order[j + 1 :], j] = -np.sqrt(own / (rest * (own + rest)))
    return deterministic_signs(columns[part]) if n_parts > 1 else columns[part]


def _dense(A: Any, m: int, known: Floats, floor: float) -> tuple[Floats, Floats]:
    full = A.toarray() if hasattr(A, "toarray") else np.array(A, dtype=float)
    full += (known * _sinking(A, known, floor)) @ known.T
    return eigenpairs(full, m)


def _sinking(A: Any, known: Floats, floor: float) -> Floats:
    """Return the shift along each known vector that moves its eigenvalue below the others."""
    return np.asarray(floor - 1.0 - np.einsum("ij,ij->j", known, A @ known))


def _iterate(
    A: Any, m: int, known: Floats, floor: float, *, tol: float, seed: int, width: int
) -> tuple[Floats, Floats]:
    n = A.shape[0]
    dtype: Any = np.float32 if A.dtype == np.float32 else np.float64
    weight = _sinking(A, known, floor).astype(dtype)
    rows = np.ascontiguousarray(known.T, dtype=dtype)
    # For a dense matrix, `dsymv` reads only one triangle, which takes half the time.
    half = np.asfortranarray(A.T, np.float64) if isinstance(A, np.ndarray) else None

    def apply(x: Floats) -> Floats:
        x = x.ravel()
        product = A @ x if half is None else scipy.linalg.blas.dsymv(1.0, half, x)
        return np.asarray(product + (weight * (rows @ x)) @ rows)

    start = np.random.default_rng(seed).standard_normal(n).astype(dtype)
    start -= (rows @ start) @ rows
    operator = LinearOperator((n, n), matvec=apply, dtype=dtype)
    try:
        values, vectors = eigsh(
            operator, k=m, which="LA", v0=start, ncv=min(n, width), tol=tol, **_SEEDED
        )
    except ArpackError as error:
        raise np.linalg.LinAlgError(f"The Lanczos iteration failed: {error}") from error
    return values[::-1], vectors[:, ::-1]


def _lanczos(A: Any, m: int, known: Floats, floor: float) -> tuple[Floats, Floats]:
    try:
        _, vectors = _iterate(A, m, known, floor, tol=_SHARP, seed=0, width=max(40, 2 * m + 8))
    except np.linalg.LinAlgError:
        # With a larger basis, the iteration converges even where eigenvalues are close together.
        _, vectors = _iterate(A, m, known, floor, tol=_SHARP, seed=0, width=6 * m + 60)
    return _rayleigh_ritz(A, vectors, known)


def _filtered(A: Any, m: int, known: Floats, floor: float, tol: float) -> tuple[Floats, Floats]:
    """Return eigenpairs to a coarse tolerance, copies of repeated eigenvalues included.

    A Chebyshev polynomial T(A) has the eigenvectors of A. It is at most 1 in size between `floor`
    and a lower bound on the `m`-th eigenvalue, and grows steeply above. Lanczos' basis for it is an
    eighth as long as for A, and the products with A are most of the work.
    """
    rough, _ = _iterate(A, m, known, floor, tol=0.1, seed=0, width=2 * m + 17)
    middle, half = (rough[-1] + floor) / 2, (rough[-1] - floor) / 2
    doubled = sp.csr_array((2 / half) * (A - middle * sp.eye_array(A.shape[0])), dtype=np.float32)

    def chebyshev(x: Any) -> Any:
        before, last = x.astype(np.float32), doubled @ x.astype(np.float32) / 2
        for _ in range(_DEGREE - 1):
            following = doubled @ last
            following -= before
            before, last = last, following
        return last

    T = LinearOperator(A.shape, matvec=chebyshev, matmat=chebyshev, dtype=np.float32)
    width = max(_FILTERED_WIDTH, 2 * m + 4)
    _, vectors = _iterate(T, m, known, -1.0, tol=tol, seed=0, width=width)
    values, vectors = _rayleigh_ritz(A, vectors, known)
    for seed in range(1, m + 1):  # finds missed copies of repeated eigenvalues, as in `_complete`
        rest = np.hstack([known, vectors])
        _, missed = _iterate(T, 1, rest, -1.0, tol=0.1, seed=seed, width=20)
        least = values[-1]
        values, vectors = _rayleigh_ritz(A, np.hstack([vectors, missed]), known)
        values, vectors = values[:m], vectors[:, :m]
        if values[-1] <= least + tol:
            break
    return values, vectors


def _rayleigh_ritz(A: Any, vectors: Floats, known: Floats) -> tuple[Floats, Floats]:
    basis, _ = np.linalg.qr(vectors - known @ (known.T @ vectors))
    small = basis.T @ (A @ basis)
    values, rotation = np.linalg.eigh((small + small.T) / 2)
    return values[::-1], basis @ rotation[:, ::-1]


def _complete(
    A: Any, values: Floats, vectors: Floats, known: Floats, floor: float
) -> tuple[Floats, Floats]:
    """Add the copies of repeated eigenvalues that a Krylov space from one start vector lacks.

    In the complement of the result, no eigenvalue may exceed the smallest one found. A second,
    coarse iteration from another start checks this; on graphs without symmetries it finds none.
    """
    m = len(values)
    for seed in range(1, m + 1):
        rest = np.hstack([known, vectors])
        coarse, _ = _iterate(A, 1, rest, floor, tol=1e-3, seed=seed, width=20)
        if coarse[0] <= values[-1] + 1e-8:
            break
        _, missed = _iterate(A, 1, rest, floor, tol=_SHARP, seed=seed, width=40)
        values, vectors = _rayleigh_ritz(A, np.hstack([vectors, missed]), known)
        values, vectors = values[:m], vectors[:, :m]
    return values, vectors
