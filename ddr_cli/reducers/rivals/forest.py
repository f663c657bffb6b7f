"""Common code of embeddings by a random forest, on features in units of their range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge
from numpy.typing import NDArray
from sklearn import ensemble
from sklearn.utils.sparsefuncs import min_max_axis

from ddr_cli.numerics.neighbors import is_sparse
from ddr_cli.reducers.reducer import Codes, Reducer

_LARGEST_EXPONENT = 1023  # of a double-precision number


@dataclass(eq=False, repr=False)
class ForestReducer(Reducer):
    """An embedding by the leaves that samples reach in a random forest."""

    n_components: Annotated[int, Ge(1)] = 2
    n_estimators: Annotated[int, Ge(1)] = 100
    min_samples_leaf: Annotated[int, Ge(1)] = 5
    random_state: int | np.random.RandomState | None = None

    def _grow(self, points: Any, code: Codes) -> None:
        self.shift_, self.scale_ = _shift_and_scale(points)
        self.forest_ = ensemble.RandomForestClassifier(
            self.n_estimators,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
            n_jobs=1,
        ).fit(self._scaled(points), code)

    def _reached(self, points: Any) -> NDArray[np.intp]:
        """Return the number of the leaf that each sample reaches in each tree."""
        return np.asarray(self.forest_.apply(self._scaled(points)))

    def _scaled(self, points: Any) -> Any:
        shift: Any = self.shift_
        if is_sparse(points):
            shift = sp.csr_array(np.ones((points.shape[0], 1))) @ sp.csr_array(shift[None])
        return (points.astype(np.float64) - shift) @ sp.diags_array(self.scale_)


def _shift_and_scale(points: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the shift and factor of each feature, because trees do not split tiny ranges."""
    sparse = is_sparse(points)
    low, high = min_max_axis(points, axis=0) if sparse else (points.min(axis=0), points.max(axis=0))
    low, high = low.astype(np.float64), high.astype(np.float64)
    exponent = np.minimum(1 - np.frexp(high - low)[1], _LARGEST_EXPONENT)
    scale = np.where(high > low, np.ldexp(1.0, exponent), 0.0)
    return np.clip(0.0, low, high), scale
