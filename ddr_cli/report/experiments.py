"""A run as text for a paper's "Experiments" section, with BibTeX of the methods and data set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from ddr_cli.comparison.names import method_name, metric_name, plain
from ddr_cli.comparison.runs import Run, load_run
from ddr_cli.comparison.summary import summarize, swept_columns
from ddr_cli.core.errors import InputError
from ddr_cli.data.cards import load_card
from ddr_cli.reducers.registry import reference
from ddr_cli.report.bibtex import bibtex
from ddr_cli.show.latex import escaped
from ddr_cli.spec.cells import expand
from ddr_cli.spec.components import Item
from ddr_cli.spec.estimators import load_factory
from ddr_cli.spec.model import Spec

_LIBRARIES = ("ddr", "numpy", "scipy", "scikit-learn")
# A citation, between null characters until the text has been escaped for LaTeX.
_CITED = re.compile(r"\0(\w+)\0")


def experiments(folder: Path) -> str:
    """Return sentences on a run's data, splits, methods, tuning, statistics and versions.

    BibTeX entries of the methods and the data set follow. Everything comes from the run's manifest,
    the methods' references and the data set's card.
    """
    run = load_run(folder)
    entries = dict(_entries(run))
    text = _CITED.sub(r"~\\cite{\1}", escaped(" ".join(_sentences(run, entries))))
    by_key = {_key(each): each for each in reversed(entries.values()) if each}
    return "\n\n".join([text, *reversed(by_key.values())])


def _sentences(run: Run, entries: dict[str, str]) -> Iterator[str]:
    spec, cited = run.spec, {name: f"\0{_key(each)}\0" for name, each in entries.items() if each}
    swept = [*swept_columns(run), *spec.axes]
    tried = _tried(spec)

    def told(item: Item) -> str:
        facts = _settings(item, swept, tried.get(item.label, item.grids), tuned=bool(spec.tune))
        if getattr(item, "mode", "") == "transductive":
            facts.append("fitted with the unlabelled test samples")
        if only := getattr(item, "only_on", ""):
            facts.append("only on all features" if only == "none" else f"only after {only}")
        name = method_name(item.label) + cited.get(item.name, "")
        return f"{name} ({', '.join(facts)})" if facts else name

    yield _data(run, cited.get(spec.dataset.name, ""))
    splits = " and on ".join(map(run.splits_text, dict.fromkeys(run.trials["family"])))
    if run.is_complete:
        yield f"All methods were evaluated on {splits}."
    else:
        done = f"only {len(run.trials)} of {run.planned} trials are done"
        yield f"The run is unfinished: {done}. All methods are to be evaluated on {splits}."
    steps = [_step(step.name, step.params) for step in spec.preprocess]
    yield (
        f"The preprocessing steps were fitted to the training set: {', '.join(steps)}."
        if steps
        else "The features were not preprocessed."
    )
    yield f"Methods: {'; '.join(dict.fromkeys(map(told, spec.reducers)))}."
    evaluators = [*spec.classifiers, *spec.measures]
    yield f"Evaluation: {'; '.join(dict.fromkeys(map(told, evaluators)))}."
    yield f"Metrics: {', '.join(metric_name(each) for each in spec.metrics)}."
    for column in swept_columns(run):
        values = spec.axes.get(column, spec.labels)
        name = column.partition(".")[2] or f"the number of {column} per class"
        yield f"We varied {name} over {', '.join(map(plain, values))}."
    if (tune := spec.tune) is None:
        yield "No parameter was tuned."
    else:
        times = f", repeated {tune.repeats} times" if tune.repeats > 1 else ""
        yield (
            "We evaluated each method at its defaults and tuned, inside every training set, over "
            f"the values in brackets. Tuning chose from at most {tune.budget} settings by the mean "
            f"{metric_name(str(tune.metric))} over {tune.folds} stratified inner folds{times}."
        )
    yield from _statistics(run)
    if run.failed:
        yield (
            f"{run.failed} of {run.planned} trials failed; we scored each failed trial as the "
            "majority-class baseline of the training set."
        )
    yield _software(run)


def _tried(spec: Spec) -> dict[str, dict[str, Sequence[Any]]]:
    """Return the values of each tuned parameter that are in a candidate, by the item's label.

    They are fewer than in its grid, as the budget and the data set exclude some.
    """
    found: dict[str, dict[str, list[Any]]] = {}
    with suppress(InputError):
        tunings = {id(cell.tuning): cell.tuning for cell in expand(spec) if cell.tuning}
        for setting in chain.from_iterable(
            chain.from_iterable(tuning.candidates) for tuning in tunings.values()
        ):
            own = found.setdefault(setting.label, {})
            for name, value in setting.params.items():
                values = own.setdefault(name, [])
                values += [value] if value not in values else []
    return {
        label: {name: values for name, values in own.items() if len(values) > 1}
        for label, own in found.items()
    }


def _settings(
    item: Item, swept: Sequence[str], tried: Mapping[str, Sequence[Any]], *, tuned: bool
) -> list[str]:
    """Return an item's parameters that are not swept, each with its values for tuning."""
    facts = []
    for name, value in item.params.items():
        grid = f" [{', '.join(map(plain, tried[name]))}]" if name in tried else ""
        is_swept = f"{item.prefix}.{name}" in swept and not (tuned and grid)
        if value is not None and value is not False and not is_swept:
            facts.append(f"{name} = {plain(value)}{grid if tuned else ''}")
    return facts


def _data(run: Run, key: str) -> str:
    name = run.spec.dataset.name
    with suppress(InputError):
        expect = load_card(name).expect
        if expect.samples:
            classes = f", {len(expect.classes)} classes" if expect.classes else ""
            size = f"{expect.samples:,} samples, {expect.features:,} features{classes}"
            return f"We used the data set {name}{key} ({size})."
    return f"We used the data set {name}{key}."


def _step(name: str, params: dict[str, Any]) -> str:
    shown = [f"{key} = {plain(value)}" for key, value in params.items() if value is not None]
    return f"{name} ({', '.join(shown)})" if shown else name


def _statistics(run: Run) -> Iterator[str]:
    several = [family for family, own in run.trials.groupby("family") if own["split"].nunique() > 1]
    if not several:
        return
    yield "We report means and standard deviations over the splits."
    rows = summarize(run).methods
    rows = rows[(rows["split"] == several[-1]) & (rows["metric"] == run.spec.metrics[0])]
    if len(rows) > 1 and rows["mean_interval"].notna().any():
        correction = rows["mean_interval"].dropna().iloc[0]
        yield (
            "Differences between methods are paired on the same splits. The 95 % intervals and "
            f"t-tests are {correction}, and the p-values are adjusted by Holm's method."
        )


def _software(run: Run) -> str:
    environments = run.manifest.environments
    if not environments:
        return ""
    last = environments[-1]
    versions = [f"{name} {last.versions[name]}" for name in _LIBRARIES if name in last.versions]
    return f"Software: Python {last.python}, {', '.join(versions)}."


def _entries(run: Run) -> Iterator[tuple[str, str]]:
    """Yield a BibTeX entry for each component and the data set, empty if it states no source."""
    spec = run.spec
    lists = {"reducers": spec.reducers, "classifiers": spec.classifiers, "measures": spec.measures}
    for section, items in lists.items():
        for item in items:
            with suppress(InputError):
                yield item.name, bibtex(reference(load_factory(section, item.name)) or "")
    with suppress(InputError):
        yield spec.dataset.name, bibtex(load_card(spec.dataset.name).citation or "")


def _key(entry: str) -> str:
    return entry.partition("{")[2].partition(",")[0]
