"""Data sets that several runs share, so that each is read once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ddr_cli.engine.identity import canonical

if TYPE_CHECKING:
    from ddr_cli.data import Dataset, Sources
    from ddr_cli.spec import Spec

_KEPT_BYTES = 500_000_000


class Datasets:
    """Reads data sets, and keeps those read last for other runs that are on them.

    Parameters
    ----------
    sources : Sources, optional
        Where to look for them; the environment decides if not given.
    kept_bytes : int
        How much may be kept; the one read last is kept whatever its size.
    """

    def __init__(self, sources: Sources | None = None, kept_bytes: int = _KEPT_BYTES) -> None:
        self._sources = sources
        self._kept_bytes = kept_bytes
        self._kept: OrderedDict[str, Dataset] = OrderedDict()

    def load(self, spec: Spec, options: Mapping[str, Any]) -> Dataset:
        """Return the data set of a spec.

        Parameters
        ----------
        spec : Spec
            The spec.
        options : mapping
            All options of its card.

        Raises
        ------
        InputError
            If there is no such data set.
        DataUnavailableError
            If it can't be had.
        """
        from ddr_cli.data import load_dataset

        key = canonical([str(spec.card), options])
        found = self._kept.pop(key, None)
        if found is None:
            found = load_dataset(spec.card, options=options, sources=self._sources)
        self._kept[key] = found
        while len(self._kept) > 1 and sum(map(_n_bytes, self._kept.values())) > self._kept_bytes:
            self._kept.popitem(last=False)
        return found


def _n_bytes(dataset: Dataset) -> int:
    parts: Any = [
        getattr(dataset.X, name, None) for name in ("data", "indices", "indptr")
    ]  # a sparse matrix has all three, an array a buffer of that name
    return sum(int(part.nbytes) for part in parts if part is not None)
