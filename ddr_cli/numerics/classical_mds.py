r"""Classical multidimensional scaling, and Gower's formula for points of known distances.

With :math:`B = -\frac12 J \Delta J`, :math:`\Delta` being the squared distances and :math:`J = I -
1 1^T / n`, the columns of the embedding are :math:`\sqrt{\lambda_l} v_l` for the leading eigenpairs
of B. A new point at the distances :math:`d_i` from the others has the coordinates :math:`y_l =
\frac{1}{2 \lambda_l} \sum_i y_{il} (b_{ii} - d_i^2)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ddr_cli.numerics.eigen import top_eigenpairs
from ddr_cli.numerics.neighbors import Floats

_ZERO = 1e-10  # fraction of the largest absolute row sum below which an eigenvalue counts as 0


@dataclass(frozen=True, eq=False)
class Scaling:
    """Eigenvalues, descending, and the coordinates; zero in dimensions without extent."""

    eigenvalues: Floats
    embedding: Floats
    from_centre: Floats  # squared distances of the points from their centre

    def placed(self, squared: Floats) -> Floats:
        """Return coordinates of new points by Gower's formula, from rows of squared distances."""
        axes = np.divide(
            self.embedding,
            2 * self.eigenvalues,
            out=np.zeros_like(self.embedding),
            where=self.embedding != 0,
        )
        return np.asarray((self.from_centre - squared) @ axes)


def classical_scaling(squared: Floats, m: int, *, rank: int | None = None) -> Scaling:
    """Return `m` dimensions from the squared distances, which are overwritten.

    Dimensions beyond the `rank`, if it is known, are zero. Dimensions with negative eigenvalues are
    rejected.
    """
    count = m if rank is None else min(m, rank)
    B = squared
    B -= B.mean(axis=0)
    B -= B.mean(axis=1, keepdims=True)
    from_centre = np.diag(B) / -2
    unit = float(np.linalg.norm(B, np.inf)) / 2 or 1.0
    B /= -2 * unit
    values, vectors = top_eigenpairs(B, count, floor=-1.0)
    if values[-1] < -_ZERO:
        raise ValueError(
            f"n_components={m}, but the distances yield only {int(np.sum(values > _ZERO))} "
            "dimensions of positive variance. Lower n_components."
        )
    values = np.where(values > _ZERO, values, 0.0) * unit
    embedding = np.pad(vectors * np.sqrt(values), ((0, 0), (0, m - count)))
    return Scaling(np.pad(values, (0, m - count)), embedding, from_centre)
