"""``openml:ID``: a data set of OpenML as a table and its card in the user's cache.

scikit-learn fetches it once, and checks what it gets by OpenML's own checksum. The card keeps the
fingerprint of the arrays, so that a table that changes later is not taken for the same.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

from ddr_cli.core.errors import DataUnavailableError, InputError
from ddr_cli.data.store.locate import Sources

_MOST_CLASSES = 50


def openml_id(name: str) -> int | None:
    """Return the number in ``openml:31``; None of any other name."""
    if not name.startswith("openml:"):
        return None
    if not re.fullmatch(r"[1-9][0-9]*", number := name.partition(":")[2]):
        raise InputError(f"'{name}' names no data set: OpenML's have numbers, as in openml:31.")
    return int(number)


def kept_card(number: int, sources: Sources) -> Path:
    """Return where the card of a data set of OpenML is once it was fetched."""
    return sources.cache_dir / "openml" / str(number) / f"openml-{number}.yaml"


def fetch_openml(number: int, sources: Sources) -> Path:
    """Fetch a data set, write its table and its card, and return the card's path."""
    path = kept_card(number, sources)
    if sources.offline:
        raise DataUnavailableError(
            f"openml:{number} is not in the cache {sources.cache_dir}, and downloads are off; run "
            f"'ddr data fetch openml:{number}' once where there is a connection."
        )
    bunch = _fetched(number, sources)
    frame, target = bunch.data, bunch.target
    name = str(bunch.details.get("name", f"OpenML {number}"))
    if target is None or getattr(target, "ndim", 1) != 1:
        raise InputError(f"openml:{number} ({name}) has no one column of classes.")
    if target.dtype.name != "category" and target.nunique() > _MOST_CLASSES:
        raise InputError(
            f"openml:{number} ({name}) has no classes: its target '{target.name}' is a number "
            f"with {target.nunique()} values."
        )
    from ddr_cli.data.new_card import write_new_card

    categorical = [str(c) for c in frame.columns if not _is_numeric(frame[c])]
    path.parent.mkdir(parents=True, exist_ok=True)
    table = path.with_name("data.csv")
    frame.assign(**{str(target.name): target}).to_csv(table, index=False)
    options: dict[str, Any] = {"label": str(target.name), "header": True, "missing": "keep"}
    if categorical:
        options |= {"categorical": categorical, "categories": "codes"}
    write_new_card(
        path.stem,
        format_name="csv",
        paths=[table],
        options={**options, "missing_values": [""]},
        title=name,
        unlabelled=bool(target.isna().any()),
        folder=path.parent,
        force=True,
        sources=sources,
    )
    return path


def _fetched(number: int, sources: Sources) -> Any:
    from http.client import HTTPException

    from sklearn import datasets

    try:
        with warnings.catch_warnings():
            # What it says of an attempt that failed is said once, when all have.
            warnings.simplefilter("ignore")
            return datasets.fetch_openml(
                data_id=number,
                as_frame=True,
                data_home=str(sources.cache_dir / "scikit-learn"),
                n_retries=sources.attempts,
            )
    except (OSError, HTTPException) as error:
        reason = str(getattr(error, "reason", error)) or type(error).__name__
        raise DataUnavailableError(
            f"openml:{number} is not in the cache and can't be fetched from OpenML ({reason}); try "
            "again where there is a connection."
        ) from None
    except (ValueError, ImportError) as error:  # an unknown number, a sparse table
        raise InputError(f"openml:{number} can't be used: {error}") from None


def _is_numeric(column: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return bool(is_numeric_dtype(column)) and not bool(is_bool_dtype(column))
