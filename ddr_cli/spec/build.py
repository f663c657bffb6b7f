"""A document becomes a spec: every part is read, and every problem of it is reported at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from ddr_cli.core.document import Document
from ddr_cli.core.errors import InputError
from ddr_cli.core.problems import as_clause
from ddr_cli.core.sentences import no_mapping, unknown_key
from ddr_cli.spec.cards import check_neighbors, check_split, read_dataset
from ddr_cli.spec.cells import combinations, count_trials
from ddr_cli.spec.components import (
    Component,
    read_components,
    unsupported_mode,
)
from ddr_cli.spec.estimators import PREFIXES, reducer_traits
from ddr_cli.spec.labels import unique_labels
from ddr_cli.spec.model import (
    KEYS,
    ClassifierSpec,
    DatasetRef,
    MeasureSpec,
    ReducerSpec,
    Spec,
    SplitSpec,
    StepSpec,
)
from ddr_cli.spec.reading import Reader
from ddr_cli.spec.sections import (
    read_embeddings,
    read_metrics,
    read_paper,
    read_plot,
    read_split,
    read_text,
)
from ddr_cli.spec.sweeps import read_sweep

MAX_TRIALS = 1_000_000
_REQUIRED = ("dataset", "split", "reducers")


def build(document: Document, *, name: str, path: Path | None = None) -> Spec:
    """Return the spec that a document describes.

    Parameters
    ----------
    document : Document
        What was read from a file, or put together from options.
    name : str
        The name of the spec.
    path : Path, optional
        Its file, to which the path of a card is relative.

    Raises
    ------
    InputError
        With every problem, each with its place.
    """
    reader = Reader(document)
    raw = _read_top(reader)
    title = read_text(reader, "title", raw.get("title", name))
    description = read_text(reader, "description", raw.get("description", ""))
    paper = read_paper(reader, raw.get("paper"))
    preprocess = read_components(reader, "preprocess", raw.get("preprocess", []))
    reducers = read_components(reader, "reducers", raw["reducers"]) if "reducers" in raw else None
    evaluators = _read_evaluators(reader, raw)
    lists = {"reducers": reducers, "classifiers": evaluators}
    before = len(reader.problems)
    sweep = read_sweep(reader, raw.get("sweep", {}), lists)
    axes = sweep if len(reader.problems) == before else None
    metrics = _read_metrics(reader, raw, evaluators)
    plot = read_plot(reader, raw.get("plot", {}), sweep=axes, metrics=metrics)
    embeddings = read_embeddings(reader, raw.get("embeddings"))
    split = read_split(reader, raw["split"]) if "split" in raw else None
    if split is not None and split.kind == "whole" and raw.get("classifiers"):
        reader.problem(
            ("split", "kind"), "the kind whole leaves no test points for classifiers; use measures."
        )
    estimators = [*(reducers or ()), *(evaluators or ())]
    dataset = _read_data(reader, raw, path.parent if path else None, split, estimators, sweep)
    reducer_labels = unique_labels(reader, reducers or (), _swept_names("reducers", sweep))
    evaluator_labels = unique_labels(reader, evaluators or (), _swept_names("classifiers", sweep))
    if preprocess is None or reducers is None or evaluators is None:
        raise reader.error()
    if reader.problems or plot is None or split is None or dataset is None:
        raise reader.error()
    spec = Spec(
        name=name,
        path=path,
        title=title,
        description=description,
        paper=paper,
        dataset=dataset,
        split=split,
        preprocess=tuple(StepSpec(name=item.name, params=item.params) for item in preprocess),
        reducers=tuple(
            _reducer(item, label) for item, label in zip(reducers, reducer_labels, strict=True)
        ),
        classifiers=tuple(
            ClassifierSpec(name=item.name, label=label, params=item.params)
            for item, label in zip(evaluators, evaluator_labels, strict=True)
            if item.section == "classifiers"
        ),
        measures=tuple(
            MeasureSpec(name=item.name, label=label, params=item.params)
            for item, label in zip(evaluators, evaluator_labels, strict=True)
            if item.section == "measures"
        ),
        sweep=sweep,
        metrics=metrics,
        plot=plot,
        embeddings=embeddings,
    )
    _check_trials(reader, spec, reducers)
    if reader.problems:
        raise reader.error()
    return spec


def _read_evaluators(reader: Reader, raw: Mapping[str, Any]) -> list[Component] | None:
    """Return the classifiers, then the measures; None if any has a problem."""
    given = [section for section in ("classifiers", "measures") if section in raw]
    if not given:
        reader.problem(("classifiers",), "a spec needs classifiers or measures.")
        return None
    read = [read_components(reader, section, raw[section]) for section in given]
    good = [items for items in read if items is not None]
    return [item for items in good for item in items] if len(good) == len(read) else None


def _read_metrics(
    reader: Reader, raw: Mapping[str, Any], evaluators: Sequence[Component] | None
) -> tuple[str, ...]:
    """Return the metrics of the classifiers and those that the measures give."""
    measured = [
        item.factory.scale.name  # type: ignore[attr-defined]  # what makes it a measure
        for item in evaluators or ()
        if item.section == "measures"
    ]
    given: tuple[str, ...] = ()
    if "classifiers" in raw or not measured:
        given = read_metrics(reader, raw.get("metrics", ["error"]))
    elif "metrics" in raw:
        reader.problem(
            ("metrics",), "metrics score classifiers, and there are none; measures bring their own."
        )
    return tuple(dict.fromkeys([*given, *measured]))


def _reducer(item: Component, label: str) -> ReducerSpec:
    assert item.mode is not None, "read_components gives every reducer a mode"
    return ReducerSpec(name=item.name, mode=item.mode, label=label, params=item.params)


def _read_top(reader: Reader) -> dict[str, Any]:
    data = reader.document.data
    if not isinstance(data, dict):
        reader.problem((), no_mapping(data, "a spec", (*_REQUIRED, "classifiers")))
        raise reader.error()
    for key in data:
        if key not in KEYS:
            reader.problem((key,), unknown_key(key, "a spec", KEYS), key=True)
    # A key with nothing after it is as good as absent.
    present = {key: value for key, value in data.items() if value is not None}
    for key in _REQUIRED:
        if key not in present:
            reader.problem((key,), f"a spec needs {key}.")
    return present


def _read_data(
    reader: Reader,
    raw: Mapping[str, Any],
    base: Path | None,
    split: SplitSpec | None,
    estimators: Sequence[Component],
    sweep: Mapping[str, Sequence[JsonValue]],
) -> DatasetRef | None:
    read = read_dataset(reader, raw["dataset"], base) if "dataset" in raw else None
    if read is None:
        return None
    reference, expect, card = read
    n_train = check_split(reader, split, card, expect) if split else None
    if n_train is not None:
        check_neighbors(reader, estimators, sweep, n_train, expect.samples)
    return reference


def _swept_names(section: str, sweep: Mapping[str, Any]) -> list[str]:
    prefix = f"{PREFIXES[section]}."
    return [key.removeprefix(prefix) for key in sweep if key.startswith(prefix)]


def _check_trials(reader: Reader, spec: Spec, reducers: Sequence[Component]) -> None:
    count = count_trials(spec)
    if count > MAX_TRIALS:
        reader.problem(
            ("sweep",) if spec.sweep else ("split",),
            f"the spec has {count} trials, and {MAX_TRIALS} is the most there can be.",
        )
        return
    wanted = spec.sweep.get("reducer.mode", ())
    for i, mode in enumerate(wanted):
        if not any(getattr(reducer_traits(r.factory, r.params), str(mode)) for r in reducers):
            reader.problem(
                ("sweep", "reducer.mode", i), f"no reducer can be used with mode: {mode}."
            )
    # Whether a reducer can embed in some mode may depend on the parameters that are swept.
    for item, component in zip(spec.reducers, reducers, strict=True):
        try:
            for params, mode in combinations(item, spec.sweep):
                if not getattr(reducer_traits(component.factory, params), str(mode)):
                    path = (*component.path, "mode")
                    reader.problem(path, unsupported_mode(item.name, str(mode)))
                    break
        except InputError as error:
            reader.problem(component.path, as_clause(error))
