"""Two methods across data sets: each data set counts once, and no third method plays a part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from ddr_cli.comparison.controls import largest_class_score, scaled
from ddr_cli.comparison.names import lower_is_better
from ddr_cli.comparison.pairing import (
    difference_interval,
    meetings,
    paired,
)
from ddr_cli.comparison.selection import TRACKS, Entry, Selection
from ddr_cli.comparison.summary import MEAN_LEVEL
from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.statistics import bootstrap_interval, holm, signed_ranks

_PAIR_COLUMNS = [
    *("track", "first", "second", "datasets", "wins", "equal", "losses"),
    *("median_difference", "low", "high", "test", "p_value", "p_holm"),
]
SIGNED_RANKS, T_TEST = "Wilcoxon's signed ranks", "corrected t"


def table_of_pairs(selection: Selection, equivalence: float) -> pd.DataFrame:
    """Return a row per two methods of a track that met on a data set."""
    sign = -1 if lower_is_better(selection.metric) else 1
    records = []
    for track in TRACKS:
        entries = [entry for entry in selection.entries if entry.track == track]
        names = dict.fromkeys(entry.name for entry in entries)
        for first, second in combinations(names, 2):
            met = _by_dataset(entries, first, second)
            if not met:
                continue
            # Twelve digits: what differs by rounding alone stands on the same side of the border.
            means = np.round([_mean_difference(found) for found in met.values()], 12)
            record: dict[str, object] = {
                "track": track,
                "first": first,
                "second": second,
                "datasets": len(met),
                "wins": int((sign * means > equivalence).sum()),
                "equal": int((np.abs(means) <= equivalence).sum()),
                "losses": int((sign * means < -equivalence).sum()),
                "median_difference": float(np.median(means)),
            }
            if len(met) > 1:
                record |= {"test": SIGNED_RANKS, "p_value": signed_ranks(means)}
            else:
                record |= _within(next(iter(met.values())))
            records.append(record)
    table = pd.DataFrame(records).reindex(columns=_PAIR_COLUMNS)
    for test in (SIGNED_RANKS, T_TEST):
        same = table["test"] == test
        table.loc[same, "p_holm"] = holm(table.loc[same, "p_value"].to_numpy(dtype=float))
    return table


def _by_dataset(
    entries: Sequence[Entry], first: str, second: str
) -> dict[str, list[tuple[Entry, Entry]]]:
    """Return where two methods met, by data set."""
    found = {}
    for dataset in dict.fromkeys(entry.place.dataset for entry in entries):
        here = [entry for entry in entries if entry.place.dataset == dataset]
        met = meetings(*([e for e in here if e.name == name] for name in (first, second)))
        if met:
            found[dataset] = met
    return found


def _mean_difference(met: Sequence[tuple[Entry, Entry]]) -> float:
    """Return a data set's difference: the mean over the runs in which the two met."""
    return float(np.mean([paired(a.row, b.row).values.mean() for a, b in met]))


def _within(met: Sequence[tuple[Entry, Entry]]) -> dict[str, object]:
    try:
        found = difference_interval(*((a.row, b.row) for a, b in met))
    except InputError:
        return {}
    if found is None:
        return {}
    return {"low": found.low, "high": found.high, "test": T_TEST, "p_value": found.p_value}


def scaled_scores(selection: Selection) -> pd.DataFrame:
    """Return each method's mean scaled score with its bootstrap interval over data sets.

    The scale's ends belong to the data set, so that a score doesn't depend on the other methods.
    """
    metric = selection.metric
    records = []
    for track in TRACKS:
        entries = [entry for entry in selection.entries if entry.track == track]
        for name in dict.fromkeys(entry.name for entry in entries):
            scores: dict[str, list[float]] = {}
            for entry in entries:
                own = entry.name == name
                floor = largest_class_score(entry.place.run.spec, metric) if own else None
                if floor is not None:
                    perfect = 0.0 if lower_is_better(metric) else 1.0
                    score = scaled(entry.row["mean"], floor, perfect)
                    scores.setdefault(entry.place.dataset, []).append(score)
            means = [float(np.mean(each)) for each in scores.values()]
            if means:
                low, high = bootstrap_interval(means, MEAN_LEVEL)
                values = (track, name, len(means), float(np.mean(means)), low, high)
                records.append(values)
    return pd.DataFrame(records, columns=["track", "method", "datasets", "score", "low", "high"])
