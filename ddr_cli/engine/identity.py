"""What makes a trial the trial it is.

A trial's id is a hash of its own settings and of the versions of what computes it. Two trials with
one id have the same numbers to the last bit, so rows of earlier runs can be kept; nothing that
leaves the numbers alone (names of files, labels, order, number of jobs) is part of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ddr_cli.engine.datasets import Datasets
    from ddr_cli.spec import Spec


def canonical(value: object) -> str:
    """Return JSON that is the same text for equal values: sorted keys, ``1.0`` written as ``1``."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


def digest(text: str) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of `text`."""
    return sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class DataIdentity:
    """Which data set a run is on.

    Parameters
    ----------
    name : str
        The card's name; the random splits depend on it.
    fingerprint : str
        Of the arrays; see `ddr_cli.data.dataset`.
    version : int
        The card's version.
    options : mapping
        All options of the card, defaults included.
    """

    name: str
    fingerprint: str
    version: int
    options: Mapping[str, Any]

    @cached_property
    def text(self) -> str:
        """Canonical JSON."""
        return canonical(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return {
            "name": self.name,
            "fingerprint": self.fingerprint,
            "version": self.version,
            "options": dict(self.options),
        }


def identify_data(spec: Spec, datasets: Datasets) -> DataIdentity:
    """Return which data set a spec is on, without loading it if its card states the fingerprint.

    Raises
    ------
    InputError
        If there is no such data set or option.
    DataUnavailableError
        If the card states no fingerprint and the data can't be had.
    """
    from ddr_cli.data import load_card

    card = load_card(spec.card)
    given: Any = spec.dataset.options
    options = card.choose(given)
    fingerprint = card.expected(options).fingerprint
    if fingerprint is None:
        fingerprint = datasets.load(spec, options).fingerprint
    return DataIdentity(card.name, fingerprint, card.version, options)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
