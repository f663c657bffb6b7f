"""``openml:ID``: a data set of OpenML, downloaded by scikit-learn into the user's cache.

scikit-learn checks OpenML's own checksum. The card that is written keeps the fingerprint of the
arrays, so that a table that changes later is not taken for the same.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from ddr_cli.core.errors import DataUnavailableError, InputError
from ddr_cli.data.store.sources import Sources

_MOST_CLASSES = 50


def download_table(number: int, sources: Sources) -> tuple[Path, dict[str, Any]]:
    """Download a data set as a table; return the path and the content of the card for it."""
    path = sources.openml_card(number)
    if sources.offline:
        raise DataUnavailableError(
            f"openml:{number} is not in the cache {sources.cache_dir}, and downloads are off; run "
            f"'ddr data fetch openml:{number}' once where there is a connection."
        )
    bunch = _fetched(number, sources)
    frame, target = bunch.data, bunch.target
    name = str(bunch.details.get("name", f"OpenML {number}"))
    if target is None or getattr(target, "ndim", 1) != 1:
        raise InputError(f"openml:{number} ({name}) does not have exactly one column of classes.")
    if target.dtype.name != "category" and target.nunique() > _MOST_CLASSES:
        raise InputError(
            f"openml:{number} ({name}) has no classes: its target '{target.name}' is a number "
            f"with {target.nunique()} values."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    table = path.with_name("data.csv")
    frame.assign(**{str(target.name): target}).to_csv(table, index=False)
    options: dict[str, Any] = {"label": str(target.name), "header": True, "missing": "keep"}
    if categorical := [str(c) for c in frame.columns if not _is_numeric(frame[c])]:
        options |= {"categorical": categorical, "categories": "codes"}
    content: dict[str, Any] = {
        "name": path.stem,
        "title": name,
        "version": 1,
        "files": [{"path": table.name}],
        "format": {"name": "csv", **options, "missing_values": [""]},
    }
    if target.isna().any():
        content["unlabelled"] = "keep"
    return path, content


def _fetched(number: int, sources: Sources) -> Any:
    from http.client import HTTPException

    from sklearn import datasets

    try:
        with warnings.catch_warnings():
            # It warns of each failed attempt; one message follows when all have failed.
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
