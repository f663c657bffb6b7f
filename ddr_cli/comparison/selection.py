"""The methods that are compared: one row per run and method, each with a unique name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os.path import realpath
from pathlib import Path
from typing import Any, Literal, get_args

import pandas as pd

from ddr_cli.comparison.names import method_name, metric_name, parameter_name, plain
from ddr_cli.comparison.runs import Run
from ddr_cli.comparison.summary import (
    AXES,
    TUNED,
    TUNED_SUFFIX,
    Row,
    Summary,
    best_index,
    parameter_columns,
    same_value,
    summary_of,
    with_tuned_names,
)
from ddr_cli.core.errors import InputError, did_you_mean, listed, printable
from ddr_cli.core.registry import spec_word
from ddr_cli.core.yaml_loader import parse_value
from ddr_cli.evaluation.metrics import get_scale
from ddr_cli.spec.budgets import ALL, LABELS
from ddr_cli.spec.controls import SHUFFLED_LABELS

Track = Literal["inductive", "inductive, tuned", "transductive", "transductive, tuned"]
TRACKS: tuple[Track, ...] = get_args(Track)
"""Methods that are compared in separate tables: those that saw the test set, and tuned ones."""

PREDEFINED = "predefined"


# -- the runs -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """A compared run: its unique label, summary, data set, and sentences about its comparison."""

    label: str
    tag: str
    summary: Summary
    dataset: str
    remarks: list[str] = field(default_factory=list)

    @property
    def run(self) -> Run:
        """What its folder holds."""
        return self.summary.run


def load_compared(runs: Sequence[Path | Summary]) -> tuple[ComparedRun, ...]:
    """Read the runs given as folders; runs of the same name are labelled with their folder."""
    folders = [run if isinstance(run, Path) else run.run.folder for run in runs]
    # Unlike Path.resolve, realpath accepts a link to itself, which reading the run reports later.
    given = {Path(realpath(folder)): run for folder, run in zip(folders, runs, strict=True)}
    twice = len({folder.name for folder in given}) < len(given)
    parents = {folder.parent for folder in given} if twice else set()
    found = []
    for folder, as_given in given.items():
        summary = as_given
        if isinstance(summary, Path):
            summary = summary_of(summary if summary.name else folder)
        run = summary.run
        dataset = run.spec.dataset.name
        if len(run.trials):
            dataset = str(run.trials["dataset"].iloc[0])
        tag = _end_of(folder.parent, parents - {folder.parent}) if twice else ""
        found.append(
            ComparedRun(f"{folder.name} ({tag})" if tag else run.name, tag, summary, dataset)
        )
    return tuple(_with_own_data(found))


def remarks_on(places: Sequence[ComparedRun]) -> tuple[str, ...]:
    """Return the remarks on runs; those that do not apply to all name theirs."""
    labels: dict[str, list[str]] = {}
    for place in places:
        for sentence in dict.fromkeys(place.remarks):
            labels.setdefault(sentence, []).append(place.label)
    return tuple(
        f"{sentence}." if len(own) == len(places) else f"{sentence} ({listed(own)})."
        for sentence, own in labels.items()
    )


def _with_own_data(places: Sequence[ComparedRun]) -> Iterator[ComparedRun]:
    """Yield the runs; data sets of one name with different content get the label of a run.

    All arrays that a program passes are called "arrays", for example.
    """
    keys = [f"{place.dataset} {place.run.spec.dataset.options}" for place in places]
    labels: dict[str, dict[str, str]] = {key: {} for key in keys}
    for key, place in zip(keys, places, strict=True):
        labels[key].setdefault(place.run.fingerprint, place.label)
    for key, place in zip(keys, places, strict=True):
        name = f"{place.dataset} ({labels[key][place.run.fingerprint]})"
        yield replace(place, dataset=name) if len(labels[key]) > 1 else place


def _end_of(folder: Path, others: Collection[Path]) -> str:
    """Return the shortest end of a folder's path that no other folder has."""
    for length in range(1, len(folder.parts) + 1):
        end = folder.parts[-length:]
        if all(other.parts[-length:] != end for other in others):
            return "/".join(end)
    return str(folder)


# -- the methods ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ComparedMethod:
    """A method of a run at the compared setting, the best of `settings` settings."""

    place: ComparedRun
    row: Row
    settings: int
    name: str = ""

    @property
    def track(self) -> Track:
        """Whether it was fitted with the unlabelled test set, and whether it is tuned."""
        has_mode = "reducer.mode" in self.place.summary.rows
        saw_test = has_mode and self.row["reducer.mode"] == "transductive"
        if self.row.is_tuned:
            return "transductive, tuned" if saw_test else "inductive, tuned"
        return "transductive" if saw_test else "inductive"


@dataclass(frozen=True)
class Selection:
    """The compared methods of the compared runs."""

    metric: str
    places: tuple[ComparedRun, ...]
    entries: tuple[ComparedMethod, ...]


def select(
    runs: Sequence[Path | Summary],
    *,
    metric: str | None,
    methods: Sequence[str],
    classifier: str | None,
    at: Sequence[str],
) -> Selection:
    """Return one row per run and method; an `InputError` states why there is none."""
    places = load_compared(runs)
    metric = _metric(metric, places)
    settings = _settings(at, places)
    if classifier is not None:
        _check_classifier(classifier, places)
    found: list[ComparedMethod] = []
    for place in places:
        rows = _repeated(place, metric)
        if not rows.empty:
            rows = _one_classifier_setting(place, rows, classifier)
        if not rows.empty:
            rows = _one_budget(place, rows, settings)
        found += _best(place, rows, metric, settings)
    entries = _named(found, places)
    if methods and entries:
        names = list(dict.fromkeys(entry.name for entry in entries))
        wanted = {name for text in _split_names(methods, names) for name in matching(text, names)}
        entries = [entry for entry in entries if entry.name in wanted]
    if not entries:
        raise InputError(" ".join(["Nothing can be compared.", *remarks_on(places)]))
    return Selection(metric, places, tuple(entries))


def _metric(requested: str | None, places: Sequence[ComparedRun]) -> str:
    metric = requested or places[0].run.spec.metrics[0]
    known = list(dict.fromkeys(name for place in places for name in place.run.spec.metrics))
    if metric not in known:
        hint = did_you_mean(metric, known) or f" The metrics are {', '.join(known)}."
        who = f"{places[0].label} has" if len(places) == 1 else "The runs have"
        raise InputError(f"{who} no metric '{metric}'.{hint}")
    if get_scale(metric).better is None:
        raise InputError(f"For '{metric}', neither high nor low is better; use another metric.")
    return metric


# -- rows -----------------------------------------------------------------------------------------


def _repeated(place: ComparedRun, metric: str) -> pd.DataFrame:
    """Return the rows of a metric over all of a run's repeated splits."""
    run, rows = place.run, place.summary.rows
    if metric not in run.spec.metrics:
        place.remarks.append(f"Not compared, because the run has no metric '{metric}'")
        return rows.iloc[:0]
    own = run.spec.split.kind == PREDEFINED
    rows = rows[(rows["metric"] == metric) & ((rows["split"] == PREDEFINED) == own)]
    if (shuffled := rows["control"] == SHUFFLED_LABELS).any():
        place.remarks.append("Results on shuffled labels are controls and are not compared")
        rows = rows[~shuffled]
    complete = rows["n"] == rows["planned"]
    if rows.empty:
        place.remarks.append("Not compared, because no trial of the run succeeded")
    elif rows["planned"].max() < 2:
        place.remarks.append("Methods are not compared on one split; use for example --repeats 20")
        return rows.iloc[:0]
    elif len(partial := rows[~complete]):
        names = dict.fromkeys(
            f"{row['reducer_label']}, {row['classifier_label']} ({row['n']} of {row['planned']} "
            "splits)"
            for row in partial.to_dict("records")
        )
        why = "some splits failed" if run.is_complete else "the run is unfinished"
        place.remarks.append(f"Not compared, because {why}: {listed(list(names))}")
        if not run.is_complete:
            word = printable(spec_word(run.folder.name))
            place.remarks.append(f"'ddr run {word}' resumes the run")
    return rows[complete]


def _one_classifier_setting(
    place: ComparedRun, rows: pd.DataFrame, requested: str | None
) -> pd.DataFrame:
    """Return the rows of one setting of each classifier: the requested one, or the spec's first.

    3-NN with two rules for ties counts as one classifier, not as two methods.
    """
    here = set(rows["classifier_label"])
    items = [item for item in place.run.spec.evaluators if method_name(item.label) in here]
    if requested is not None:
        labels = [item for item in items if _is_called(item.label, requested)]
        items = labels or [item for item in items if _is_called(item.name, requested)]
        if not items:
            place.remarks.append(f"Not compared, because the run has no classifier '{requested}'")
    kept: dict[str, str] = {}
    for item in items:
        label = method_name(item.label)
        if item.name in kept:
            place.remarks.append(
                f"{method_name(item.name)} is compared as '{kept[item.name]}', not as '{label}'"
            )
        kept.setdefault(item.name, label)
    return rows[rows["classifier_label"].isin(kept.values())]


def _check_classifier(requested: str, places: Sequence[ComparedRun]) -> None:
    items = [item for place in places for item in place.run.spec.evaluators]
    known = list(dict.fromkeys(text for item in items for text in (item.name, item.label)))
    if not any(_is_called(text, requested) for text in known):
        hint = did_you_mean(requested, known) or f" The classifiers are {', '.join(known)}."
        raise InputError(f"No classifier is called '{requested}'.{hint}")


def _is_called(name: str, requested: str) -> bool:
    return requested.casefold() in (name.casefold(), method_name(name).casefold())


def _settings(at: Sequence[str], places: Sequence[ComparedRun]) -> dict[str, Any]:
    """Return the columns and values that ``NAME=VALUE`` texts request."""
    columns = list(dict.fromkeys(str(name) for place in places for name in place.summary.rows))
    parameters = parameter_columns(columns)
    parameters += [name for name in AXES if name in columns]
    found: dict[str, Any] = {}
    for text in at:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            raise InputError(f"--at {text} must be NAME=VALUE, such as --at n_components=10.")
        found[_column(name, parameters, places)] = parse_value(value)
    return found


def _column(name: str, parameters: Sequence[str], places: Sequence[ComparedRun]) -> str:
    """Return the one parameter that a name means; if several match, the one that is swept."""
    meant = [column for column in parameters if name in (column, column.partition(".")[2])]
    if len(meant) > 1:
        swept = {key for place in places for key in place.run.spec.sweep}
        meant = [column for column in meant if column in swept] or meant
    if len(meant) == 1:
        return meant[0]
    hint = did_you_mean(name, [*parameters, *(each.split(".")[-1] for each in parameters)])
    if meant:
        hint = f" Write the whole name, {' or '.join(meant)}."
    problem = "is ambiguous" if meant else "does not exist in the results"
    raise InputError(f"The parameter '{name}' {problem}.{hint}")


def _one_budget(
    place: ComparedRun, rows: pd.DataFrame, settings: Mapping[str, Any]
) -> pd.DataFrame:
    """Return the rows with the most labels per class and the most training samples.

    These sizes are not settings of a method, so the score never selects them; another size can be
    requested.
    """
    for name in AXES:
        if name not in rows or name in settings or rows.empty:
            continue
        values = rows[name]
        most = ALL if (values == ALL).any() else values.max()
        if not (values == most).all():
            place.remarks.append(f"Methods are compared at {name} = {plain(most)}")
        rows = rows[values == most]
    return rows


def _best(
    place: ComparedRun,
    rows: pd.DataFrame,
    metric: str,
    settings: Mapping[str, Any],
) -> list[ComparedMethod]:
    """Return each method at the requested setting, or else at the setting with the best mean."""
    keys = ["reducer_label", "classifier_label", *([TUNED] if TUNED in rows else [])]
    found = []
    for _, group in rows.groupby(keys, sort=False, dropna=False):
        for column, value in settings.items():
            group = _with_value(place, group, column, value)
        if group.empty:
            continue
        row = Row(place.summary, best_index(group["mean"], metric))
        found.append(ComparedMethod(place, row, len(group)))
    most = max((each.settings for each in found), default=1)
    if most > 1:
        place.remarks.append(
            f"Each swept method is compared at the best of its settings (up to {most}) by mean "
            f"{metric_name(metric)} on the test sets, which favours larger grids"
        )
    return found


def _with_value(
    place: ComparedRun,
    group: pd.DataFrame,
    column: str,
    value: Any,
) -> pd.DataFrame:
    """Return the rows of a method that have a parameter's value.

    A method without the parameter stays unchanged; a tuned method has selected its own value.
    """
    if group.empty:
        return group
    tuned = TUNED in group and bool(group[TUNED].iloc[0])
    name = with_tuned_names(group)["reducer_label"].iloc[0]
    shown = f"{parameter_name(column, short=True)} = {plain(value)}"
    absent = column not in group or group[column].isna().all()
    if absent and tuned:
        # A tuned method selects its values split by split, so its own row has none. The other rows
        # of the same component show whether it has this parameter at all.
        piece = column.partition(".")[0]
        rows = place.summary.rows
        same = rows[rows[piece] == group[piece].iloc[0]] if piece in rows else rows
        tuned = column in rows and bool(same[column].notna().any())
    if absent and (value is None or (column == LABELS and value == ALL)):
        return group
    if absent and not tuned and column not in AXES:
        short = column.partition(".")[2]
        place.remarks.append(f"{name} has no {short} and is compared at its own setting")
        return group
    chosen = group.iloc[:0]
    if not absent:
        chosen = group[[same_value(each, value) for each in group[column]]]
    if chosen.empty:
        place.remarks.append(f"{name} cannot have {shown} and is not compared")
    return chosen


# -- names ----------------------------------------------------------------------------------------


def _named(
    entries: Sequence[ComparedMethod], places: Sequence[ComparedRun]
) -> list[ComparedMethod]:
    """Return the entries by their names.

    The name contains the classifier if a run has several. If runs have the same name, every method
    has its folder; if all runs are on one data set, a method that occurs in several runs has its
    run.
    """
    several = any(
        len({entry.row["classifier_label"] for entry in entries if entry.place is place}) > 1
        for place in places
    )
    names = []
    for entry in entries:
        name = entry.row["reducer_label"]
        name += f", {entry.row['classifier_label']}" * several + TUNED_SUFFIX * entry.row.is_tuned
        names.append(name)
    counts = Counter(names)
    tagged = any(place.tag for place in places)
    one_dataset = len({place.dataset for place in places}) == 1
    named = []
    for name, entry in zip(names, entries, strict=True):
        which = entry.place.tag if tagged else ""
        if not tagged and one_dataset and counts[name] > 1:
            which = entry.place.label
        named.append(replace(entry, name=f"{name} ({which})" if which or tagged else name))
    return named


def _split_names(texts: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names in comma-separated texts; a name may itself contain commas."""
    found = []
    for text in texts:
        pieces = [piece.strip() for piece in text.split(",")]
        while any(pieces):
            for length in range(len(pieces), 0, -1):
                joined = ", ".join(pieces[:length])
                if length == 1 or _known(joined, names):
                    break
            found.append(joined)
            pieces = pieces[length:]
    return [each for each in found if each]


def _known(requested: str, names: Sequence[str]) -> list[str]:
    """Return the names that equal this one or, if there are none, start with it."""
    for wanted in (requested.casefold(), method_name(requested).casefold()):
        exact = [name for name in names if name.casefold() == wanted]
        begun = [
            name for name in names if name.casefold().startswith((f"{wanted},", f"{wanted} ("))
        ]
        if exact or begun:
            return exact or begun
    return []


def matching(requested: str, names: Sequence[str]) -> list[str]:
    """Return the methods that a name means: those with this name, else those that start with it."""
    found = _known(requested, names)
    if not found:
        hint = did_you_mean(requested, names) or f" The methods are {'; '.join(names)}."
        raise InputError(f"No method is called '{requested}'.{hint}")
    return found


def what_each_has(selection: Selection) -> str:
    """Return a line per run: its methods and its splits."""
    lines = []
    for place in selection.places:
        names = dict.fromkeys(e.name for e in selection.entries if e.place is place)
        splits = place.run.splits_text(place.run.spec.split.kind)
        lines.append(f"  {place.label}: {', '.join(names) or 'nothing'}; {place.dataset}, {splits}")
    return "\n".join(lines)
