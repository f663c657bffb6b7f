"""A data set as the rest of the program sees it: arrays, names and a fingerprint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ddr_cli.data.raw import Features


@dataclass(frozen=True)
class PredefinedSplit:
    """The split into training and test part that a data set comes with.

    Parameters
    ----------
    train, test : ndarray of int64
        Row numbers, ascending, without common rows.
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True)
class Dataset:
    """A loaded and verified data set.

    Parameters
    ----------
    name, title : str
        As in the card.
    X : ndarray or csr_array of shape (n_samples, n_features), float64
        The features. A CSR array has sorted indices, no duplicates and no stored zeros.
    y : ndarray of shape (n_samples,), int64
        The class of each row, an index into `target_names`.
    target_names : tuple of str
        The classes' names.
    fingerprint : str
        ``"sha256:<hex>"`` over all of this but the name and title; see
        `ddr_cli.data.fingerprint`.
    split : PredefinedSplit, optional
        The split that the data set comes with.
    image_shape : (int, int), optional
        Height and width in pixels when each row is an image, its pixels row by row.
    feature_names : tuple of str, optional
        One name per column.
    groups : ndarray of shape (n_samples,), int64, optional
        What belongs together, such as the query of a query-document pair.
    subclasses : ndarray of shape (n_samples,), int64, optional
        The class of each row before classes were merged, an index into `subclass_names`.
    subclass_names : tuple of str, optional
        The names of the classes before they were merged.
    """

    name: str
    title: str
    X: Features
    y: NDArray[np.int64]
    target_names: tuple[str, ...]
    fingerprint: str
    split: PredefinedSplit | None = None
    image_shape: tuple[int, int] | None = None
    feature_names: tuple[str, ...] | None = None
    groups: NDArray[np.int64] | None = None
    subclasses: NDArray[np.int64] | None = None
    subclass_names: tuple[str, ...] | None = None

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return int(self.X.shape[1])

    @property
    def class_counts(self) -> dict[str, int]:
        """How many rows each class has."""
        counts: Any = _bincount(self.y, len(self.target_names))
        return dict(zip(self.target_names, counts, strict=True))


def _bincount(y: NDArray[np.int64], n_classes: int) -> list[int]:
    import numpy as np

    return [int(count) for count in np.bincount(y, minlength=n_classes)]
