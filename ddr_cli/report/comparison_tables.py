"""A comparison of methods as tables, and all of it as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from ddr_cli.comparison.across_datasets import SIGNED_RANKS
from ddr_cli.comparison.compare import Comparison
from ddr_cli.comparison.names import (
    amount_text,
    difference_text,
    lower_is_better,
    metric_axis,
    number,
    p_text,
)
from ddr_cli.comparison.selection import TRACKS
from ddr_cli.core.errors import counted, listed
from ddr_cli.evaluation.statistics import fewest_for_signed_ranks
from ddr_cli.show import html
from ddr_cli.show.markdown import markdown
from ddr_cli.show.page import Grid, Text

_ALPHA = 0.05


class ShownComparison(Comparison):
    """A comparison that `print` shows as Markdown, and a notebook like the report page."""

    def __str__(self) -> str:
        return markdown([*comparison_tables(self), *map(Text, self.notes)])

    def _repr_html_(self) -> str:
        shown = Markup("")
        for table in comparison_tables(self):
            shown += Markup("<h4>{}</h4>\n{}\n").format(table.title, html.table(table))
            shown += Markup("").join(Markup("<p>{}</p>\n").format(note) for note in table.notes)
        return shown + Markup("").join(Markup("<p>{}</p>\n").format(note) for note in self.notes)


def comparison_tables(found: Comparison) -> Iterator[Grid]:
    """Yield the differences of each run, then the pairs and the scores across data sets.

    Methods that used the unlabelled test set, and tuned methods, have separate tables.
    """
    for (run, track), rows in found.methods.groupby(["run", "track"], sort=False):
        yield _of_a_run(found, str(run), str(track), rows)
    for track in TRACKS:
        # The table of a run already compares methods that share only its data set.
        pairs = found.pairs[(found.pairs["track"] == track) & (found.pairs["datasets"] > 1)]
        scores = found.scores[found.scores["track"] == track]
        if not pairs.empty:
            yield _of_pairs(found, track, pairs)
            if len(scores):
                yield _of_scores(found, track, scores, pairs)


def comparison_json(found: Comparison) -> str:
    """Return everything as JSON; missing values are null."""
    tables = {
        name: json.loads(getattr(found, name).to_json(orient="records", double_precision=12))
        for name in ("methods", "differences", "pairs", "scores")
    }
    head = {"metric": found.metric, "equivalence": found.equivalence}
    return json.dumps(head | tables | {"notes": found.notes}, indent=2, ensure_ascii=False) + "\n"


# -- one run ---------------------------------------------------------------------------------------


def _of_a_run(found: Comparison, run: str, track: str, rows: pd.DataFrame) -> Grid:
    metric = found.metric
    of_run = (found.differences["run"] == run) & (found.differences["track"] == track)
    differences = found.differences[of_run].set_index("method")
    cells = {
        name: _difference_cells(row, metric) for name, row in differences.to_dict("index").items()
    }
    columns = ["method", "mean ± sd"]
    if len(differences):
        columns += ["difference", "95 % interval", "p", "p, Holm"]
    records = [
        _mean_cells(row, metric) | cells.get(row["method"], {}) for row in rows.to_dict("records")
    ]
    frame = pd.DataFrame(records, columns=columns).fillna("")
    title = f"{run}: {metric_axis(metric)}{_track_words(found, track)}"
    notes = tuple(_notes_of_a_run(found, differences, track, rows))
    return Grid(frame, title, notes, best=_best(rows["p_best"]), best_note=_best_note(rows))


def _best(p_values: pd.Series[float]) -> frozenset[int]:
    return frozenset(np.flatnonzero(p_values >= _ALPHA).tolist())


def _best_note(rows: pd.DataFrame) -> str:
    others, tests = len(rows) - 1, int(rows["p_best"].notna().sum()) - 1
    if not others:
        return ""
    if not tests:
        return "Bold: the best mean."
    untested = " A mean without a test is not bold." if tests < others else ""
    return (
        "Bold: the best mean, and means that do not differ from the best mean at 5 % (paired "
        f"t-test; Holm's correction for {counted(tests, 'comparison')}).{untested}"
    )


def _mean_cells(row: Mapping[Any, Any], metric: str) -> dict[str, str]:
    name = f"{row['method']} ({row['setting']})" if row["setting"] else row["method"]
    mean = number(row["mean"], metric, unit=False)
    if not pd.isna(row["sd"]):
        mean += f" ± {number(row['sd'], metric, unit=False)}"
    if row["failed"]:
        mean = f"{'failed' if row['failed'] == row['n'] else mean} †{row['failed']}"
    return {"method": name, "mean ± sd": mean}


def _difference_cells(row: Mapping[Any, Any], metric: str) -> dict[str, str]:
    signed = [
        difference_text(row[name], metric, unit=False) for name in ("difference", "low", "high")
    ]
    return {
        "difference": signed[0],
        "95 % interval": "" if pd.isna(row["low"]) else f"{signed[1]} to {signed[2]}",
        "p": p_text(row["p_value"]),
        "p, Holm": p_text(row["p_holm"]),
    }


def _notes_of_a_run(
    found: Comparison, differences: pd.DataFrame, track: str, rows: pd.DataFrame
) -> Iterator[str]:
    """Yield a run's splits, the reference of its differences, and their interval and test."""
    splits = "; ".join(rows["splits"].unique())
    yield f"Mean and standard deviation on {rows['dataset'].iloc[0]} over {splits}."
    wanted = set(found.differences["against"])
    against = next(iter(differences["against"]), "")
    is_tested = differences["p_value"].notna()
    corrections = differences.loc[is_tested, "interval"].unique()
    if against:
        yield f"Difference: method minus {against}."
        yield from _common_splits(found, differences, rows)
    elif len(rows) > 1 and wanted and not wanted & set(rows["method"]):
        names = " or ".join(sorted(wanted))
        yield f"There are no differences, because {names} was not run on these splits."
    if len(corrections):
        tests = int(found.differences["p_value"].notna().sum())
        yield (
            f"The intervals and p are {'; '.join(corrections)}. 'p, Holm' is adjusted for "
            f"{counted(tests, 'comparison')}."
        )
    elif differences["interval"].isna().any():
        yield "There is no interval, because the sizes of the training and test sets are unknown."
    for reason, untested in differences[~is_tested].groupby("interval"):
        yield f"{listed(list(untested.index))}: {reason}."
    theirs = next(iter(differences["against_track"]), track)
    if theirs != track:
        yield f"{against} is {_kind(theirs)}; the methods in this table are {_kind(track)}."
    if rows["failed"].any():
        yield (
            "†: number of failed splits; a failed split is scored as the majority class of its "
            "training set."
        )


def _common_splits(
    found: Comparison, differences: pd.DataFrame, rows: pd.DataFrame
) -> Iterator[str]:
    """Yield on how many splits a difference is, if a method or the reference has more."""
    methods = found.methods
    theirs = methods[methods["method"].isin(differences["against"])]
    theirs = theirs[theirs["dataset"].isin(rows["dataset"])]
    own = rows.set_index("method")["n"].reindex(differences.index)
    fewer = differences[differences["n"] < np.maximum(own, theirs["n"].max())]
    for n, several in fewer.groupby("n"):
        names, against = listed(list(several.index)), several["against"].iloc[0]
        yield f"{names}: the difference is over the {n} splits in common with {against}."


def _track_words(found: Comparison, track: str) -> str:
    """Return a description of a table's methods, empty if it is not needed."""
    tracks = set(found.methods["track"])
    words, after = ["methods"], ""
    if _sees_test_set(track) or len(set(map(_sees_test_set, tracks))) > 1:
        words.insert(0, "transductive" if _sees_test_set(track) else "inductive")
    if _is_tuned(track):
        words.insert(0, "tuned")
    elif any(map(_is_tuned, tracks)):
        after = " at their defaults"
    return f", {' '.join(words)}{after}" if len(words) > 1 or after else ""


def _kind(track: str) -> str:
    seen = "transductive" if _sees_test_set(track) else "inductive"
    return f"{seen} and {'tuned' if _is_tuned(track) else 'at the defaults'}"


def _sees_test_set(track: str) -> bool:
    return track.startswith("transductive")


def _is_tuned(track: str) -> bool:
    return track.endswith("tuned")


# -- across data sets -----------------------------------------------------------------------------


def _of_pairs(found: Comparison, track: str, pairs: pd.DataFrame) -> Grid:
    metric = found.metric
    frame = pd.DataFrame(
        [
            {
                "first": row["first"],
                "second": row["second"],
                "data sets": str(row["datasets"]),
                "wins, equal, losses": f"{row['wins']}-{row['equal']}-{row['losses']}",
                "median difference": difference_text(row["median_difference"], metric, unit=False),
                "p": p_text(row["p_value"]),
                "p, Holm": p_text(row["p_holm"]),
            }
            for row in pairs.to_dict("records")
        ]
    )
    better = "lower" if lower_is_better(metric) else "higher"
    below = [
        f"The difference is the first method minus the second; {better} values are better. Two "
        f"means are equal if they differ by at most {amount_text(found.equivalence, metric)}.",
        *_power_words(found),
    ]
    title = f"Pairs across data sets: {metric_axis(metric)}{_track_words(found, track)}"
    return Grid(frame, title, tuple(below), left=("second",))


def _power_words(found: Comparison) -> Iterator[str]:
    """Yield the definition of p, and a note if there are too few data sets for it to be small."""
    tested = found.pairs[found.pairs["test"] == SIGNED_RANKS]
    n, most = len(tested), tested["datasets"].max()
    yield (
        f"p is from Wilcoxon's signed-rank test over data sets. 'p, Holm' is adjusted for "
        f"{counted(n, 'pair')}; p does not depend on the number of methods."
    )
    alone, together = (fewest_for_signed_ranks(_ALPHA, tests) for tests in (1, n))
    needed = f"{alone} data sets" + (f", or {together} for {n} pairs" if together > alone else "")
    if most < alone:
        yield f"With {most} data sets this test cannot reach p < 0.05; it needs {needed}."
    elif most < together:
        yield f"With {most} data sets, 'p, Holm' cannot reach 0.05; it needs {needed}."


def _of_scores(found: Comparison, track: str, scores: pd.DataFrame, pairs: pd.DataFrame) -> Grid:
    frame = pd.DataFrame(
        [
            {
                "method": row["method"],
                "data sets": str(row["datasets"]),
                "scaled score": f"{row['score']:.3f}",
                "95 % interval": ""
                if pd.isna(row["low"])
                else f"{row['low']:.3f} to {row['high']:.3f}",
            }
            for row in scores.to_dict("records")
        ]
    )
    below = [
        "A score of 0 is the majority-class baseline, and 1 is no error. The interval is a "
        "bootstrap over data sets."
    ]
    if found.methods["failed"].any():
        below.append(
            "The 0 is the largest class of all samples; a failed split is scored as the majority "
            "class of its training set."
        )
    if scores["datasets"].nunique() > 1:
        below.append("Compare methods on different data sets by the pairs, not by this mean.")
    title = f"Mean scaled score: {metric_axis(found.metric)}{_track_words(found, track)}"
    best = scores["method"].iloc[int(scores["score"].argmax())]
    apart = pairs[pairs["p_holm"] < _ALPHA]
    apart = apart[(apart[["first", "second"]] == best).any(axis=1)]
    title = title.replace(" (%)", "")
    if apart.empty:
        below.append("No method differs from the best method at 5 % ('p, Holm' of the pairs).")
        return Grid(frame, title, tuple(below))
    worse = scores["method"].isin(apart[["first", "second"]].to_numpy().ravel())
    return Grid(
        frame,
        title,
        tuple(below),
        best=frozenset(np.flatnonzero(~worse | (scores["method"] == best)).tolist()),
        best_note="Bold: the best score, and scores of methods that do not differ from the best "
        "method at 5 % ('p, Holm' of the pairs).",
    )
