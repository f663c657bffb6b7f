"""The data sets of several runs; each data set is read once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ddr_cli.engine.plan.identity import canonical_json
from ddr_cli.rows.manifest import DataIdentity

if TYPE_CHECKING:
    from ddr_cli.data import Dataset, Sources
    from ddr_cli.spec import Spec

_KEPT_BYTES = 500_000_000


class Datasets:
    """Reads data sets and keeps the most recent ones, up to 0.5 GB, for runs that share them.

    Without `sources`, the environment determines where to search for them.
    """

    def __init__(self, sources: Sources | None = None) -> None:
        from ddr_cli.data import Sources

        self._sources = sources or Sources.from_environment()
        self._kept: OrderedDict[str, Dataset] = OrderedDict()

    def identify(self, spec: Spec) -> DataIdentity:
        """Return a spec's data set, which is loaded only if its card has no fingerprint."""
        from ddr_cli.data import load_card

        card = load_card(spec.card)
        given: Any = spec.dataset.options
        usual = card.choose(None)
        options = {key: each for key, each in card.choose(given).items() if each != usual[key]}
        fingerprint = card.expected(options).fingerprint or self.load(spec, options).fingerprint
        return DataIdentity(
            name=card.name, fingerprint=fingerprint, version=card.version, options=options
        )

    def missing(self, spec: Spec) -> tuple[str, ...]:
        """Return the files of a spec's data set that are neither in a mirror nor in the cache."""
        from ddr_cli.data import load_card
        from ddr_cli.data.store.sources import missing

        if self.place(spec) is not None:
            return ()
        return tuple(file.path for file in missing(load_card(spec.card), self._sources))

    def place(self, spec: Spec) -> str | None:
        """Return where the files of a spec's data set are: card, mirror, cache, or embedded."""
        from ddr_cli.data import load_card
        from ddr_cli.data.store.sources import locate

        card = load_card(spec.card)
        if card.embedded:
            return "embedded"
        found = locate(card, self._sources)
        return found.kind if found else None

    def load(self, spec: Spec, options: Mapping[str, Any]) -> Dataset:
        """Return a spec's data set with the given options of its card."""
        from ddr_cli.data import load_dataset

        key = canonical_json([str(spec.card), options])
        found = self._kept.pop(key, None)
        if found is None:
            found = load_dataset(spec.card, options=options, sources=self._sources)
        self._kept[key] = found
        while len(self._kept) > 1 and sum(map(_n_bytes, self._kept.values())) > _KEPT_BYTES:
            self._kept.popitem(last=False)
        return found


def _n_bytes(dataset: Dataset) -> int:
    # A sparse matrix has all three attributes; the `data` of an array is its buffer.
    parts: Any = [getattr(dataset.X, name, None) for name in ("data", "indices", "indptr")]
    return sum(int(part.nbytes) for part in parts if part is not None)
