"""Data sets made of arrays that a program passes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ddr_cli.core.errors import DataUnavailableError, InputError
from ddr_cli.data.card import ARRAYS, Card
from ddr_cli.data.cards import card_names, check_card, in_memory, load_card
from ddr_cli.data.dataset import Dataset, assemble, canonical, expect_of, fingerprint
from ddr_cli.data.formats import RawData

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_datasets: dict[str, Dataset] = {}


def make_dataset(
    X: Any,
    y: ArrayLike,
    *,
    name: str = "arrays",
    title: str | None = None,
    groups: ArrayLike | None = None,
    unlabelled: bool = False,
) -> Dataset:
    """Make a data set from arrays.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        Numbers; they are copied. The columns of a DataFrame name the features. NaN is a missing
        value, which a spec's step ``impute`` fills in.
    y : array of shape (n_samples,)
        The class of each row: numbers or text.
    name, title : str, optional
        Name in specs, and title in tables. The splits of the data set depend on the name.
    groups : array of shape (n_samples,), optional
        The group of each sample, such as a subject, for grouped splits.
    unlabelled : bool
        Treat samples whose label is -1 or missing as unlabelled training samples. Otherwise -1 is a
        class, and a missing label is an error.

    Returns
    -------
    Dataset
        The data set, for `run`.

    Raises
    ------
    InputError
        If an array has the wrong shape or type.

    Examples
    --------
    >>> make_dataset([[0.0, 1.0], [2.0, 3.0], [2.0, 4.0]], ["a", "b", "b"], name="tiny")
    <Dataset tiny: 3 samples x 2 features; a 1, b 2>
    """
    columns = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InputError(f"y has the shape {labels.shape}, but y needs one class per row of X.")
    missing = np.array([each is None or each != each for each in labels.tolist()])
    if missing.all() or (missing.any() and not unlabelled):
        raise InputError("y has missing values; remove these samples or set unlabelled=True.")
    try:
        points = canonical(X)
    except (TypeError, ValueError) as error:
        raise InputError(f"X is not numeric ({error}); use pandas.get_dummies for text.") from None
    keep = {"unlabelled": "keep"} if unlabelled else {}
    card = _card(name, title or name, **keep)
    if points.ndim != 2:
        raise InputError(f"X must be a table (samples x features), but has shape {points.shape}.")
    raw = RawData(
        points,
        # A missing label is replaced by an existing one, so that the labels can be sorted.
        np.where(missing, labels[~missing][:1], labels) if missing.any() else labels,
        feature_names=columns,
        unlabelled=missing if unlabelled else None,
        groups=None if groups is None else np.asarray(groups),
    )
    return assemble(card, raw)


@contextmanager
def held_in_memory(dataset: Dataset) -> Iterator[str | dict[str, Any]]:
    """Yield the name by which a spec can use a data set in the block, with the card's options.

    Arrays that equal a shipped data set are that data set; others get their own card.
    """
    dataset = replace(dataset, X=canonical(dataset.X))
    dataset = replace(dataset, fingerprint=fingerprint(dataset))
    if dataset.name in card_names():
        shipped = load_card(dataset.name)
        known = [({}, shipped.expect), *((each.options, each.expect) for each in shipped.variants)]
        for options, expect in known:
            if expect.fingerprint == dataset.fingerprint:
                yield {"name": dataset.name, **options}
                return
        raise InputError(f"'{dataset.name}' is a shipped data set; choose another name.")
    bare = _card(dataset.name, dataset.title)
    more = {} if dataset.split is None else {"split": "by_file"}
    more |= {"unlabelled": "keep"} if dataset.n_unlabelled else {}
    card = _card(dataset.name, dataset.title, **more, expect=expect_of(bare, dataset))
    in_memory[card.name], _datasets[card.name] = card, dataset
    try:
        yield card.name
    finally:
        del in_memory[card.name], _datasets[card.name]


def dataset_in_memory(name: str) -> Dataset:
    """Return the data set that this program registered under that name."""
    if name not in _datasets:
        raise DataUnavailableError(
            f"The arrays of the data set '{name}' are not in memory; pass the arrays again."
        )
    return _datasets[name]


def _card(name: str, title: str, **more: Any) -> Card:
    content = {"name": name, "title": title, "generate": ARRAYS, **more}
    return check_card(content, Path(name))
