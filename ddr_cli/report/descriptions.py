"""Descriptions of names: a data set, a component of a spec or of a card, or a spec."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.own_code import display_name, is_code
from ddr_cli.core.parameters import parameter_model
from ddr_cli.core.registry import Registry, shipped_yaml
from ddr_cli.core.yaml_loader import flow, read_document
from ddr_cli.data.cards import card_names, load_card
from ddr_cli.data.formats import FORMATS, GENERATORS
from ddr_cli.engine.plan.growth import growths
from ddr_cli.evaluation.evaluators import get_evaluator_traits
from ddr_cli.evaluation.metrics import get_scale, metric_names, scorer_names, scorer_needs
from ddr_cli.evaluation.splits import SPLITS
from ddr_cli.reducers.registry import get_traits
from ddr_cli.spec.estimators import PREFIXES, load_factory, registry_of, sections_of, usual

if TYPE_CHECKING:
    from ddr_cli.evaluation.intrinsic_dimension import ClassDimension, DimensionEstimate
    from ddr_cli.show.page import Grid

_SPLIT_EXAMPLES = {
    "predefined": ("",),
    "resample": (", repeats: 50, seed: 0", ", repeats: 50, predefined: true"),
    "per_class": (", train: 20, repeats: 10",),
    "fraction": (", train: 0.7, repeats: 10",),
    "labelled": (", train: 500, repeats: 10",),
    "kfold": (", folds: 5, repeats: 2",),
    "grouped": (", folds: 5, repeats: 2", ", folds: leave_one_out", ", train: 0.8, repeats: 20"),
    "given": (", file: splits.csv", ", column: part"),
    "whole": (", repeats: 10",),
}
_SPLIT_NOTES = {
    "grouped": "The card names the column of the groups: 'ddr new data ... --groups "
    "subject'. Groups are\ndrawn such that every training set has all classes.",
    "given": "The file is a CSV table next to the spec. Its first line names the splits; each "
    "further line belongs\nto a row of the data set. A cell is train, test or, if the row is in "
    "neither set, empty. Instead of\na file, a column of the data table can have these values; "
    "the card's format lists it in 'parts'.",
}


Kind = tuple[Iterable[str], Callable[[str], str]]


def describe(name: str, *more: Kind) -> str:
    """Return the description of a name or a path; of all things if several have this name.

    `more` has further names: each table comes with the function that describes its entries.
    """
    if name.startswith("openml:"):
        return _dataset(name)
    if is_code(name):
        return "\n\n\n".join(_piece(section, name) for section in sections_of(name))
    if name.endswith((".yaml", ".yml")):
        data = read_document(Path(name)).data if Path(name).is_file() else None
        return _spec(name) if isinstance(data, dict) and "reducers" in data else _dataset(name)
    tables = [*_kinds(), *more]
    found = [described(name) for names, described in tables if name in names]
    if not found:
        known = list(dict.fromkeys(each for names, _ in tables for each in names))
        raise InputError(f"Unknown name {name!r}.{did_you_mean(name, known)} See 'ddr list'.")
    return "\n\n\n".join(found)


def _kinds() -> list[Kind]:
    return [
        (card_names(), _dataset),
        *((registry_of(section).names(), partial(_piece, section)) for section in PREFIXES),
        ([*metric_names(), *scorer_names()], _metric),
        (SPLITS, _split),
        (FORMATS.names(), partial(_reader, FORMATS)),
        (GENERATORS.names(), partial(_reader, GENERATORS)),
        (shipped_yaml("configs"), _spec),
    ]


def _piece(section: str, name: str) -> str:
    factory, kind = load_factory(section, name), registry_of(section).kind
    text = inspect.getdoc(factory) or "There is no description."
    usage = flow({"name": display_name(name), **usual(factory)})
    head = f"{display_name(name)} ({kind})\n\n{text}\n\nIn a spec:\n  {usage}"
    required = [
        key for key, field in parameter_model(factory).model_fields.items() if field.is_required()
    ]
    facts: dict[str, Any] = {"needs": ", ".join(required)}
    if kind != "preprocessor" and not required:
        facts |= _traits(section, factory())
    if section == "reducers":
        facts["cost"] = growths().get(name)
    return _with_facts(head, facts)


def _traits(section: str, piece: Any) -> dict[str, Any]:
    if section != "reducers":
        traits = get_evaluator_traits(piece)
        grids = ", ".join(traits.grids)
        return {"version": traits.version, "default grids": grids}
    reducer = get_traits(piece)
    labels = "uses the labels" if reducer.supervised else "ignores the labels"
    if reducer.semi_supervised:
        labels += ", and also uses unlabelled samples (y = -1)"
    modes = [mode for mode in ("out_of_sample", "transductive") if getattr(reducer, mode)]
    return {
        "authors": reducer.author_check,
        "version": reducer.version,
        "labels": labels,
        "modes": ", ".join(modes),
        "dimensions": "nested: a fit with more components contains the fits with fewer"
        if reducer.nested
        else None,
        "usually after": ", ".join(reducer.preprocess),
        "library": reducer.library,
        "default grids": f"{', '.join(reducer.grids)} (source: {reducer.grid_source})"
        if reducer.grids
        else None,
    }


def _metric(name: str) -> str:
    scale = get_scale(name)
    needs = () if name in metric_names() else scorer_needs(name)
    return _with_facts(
        f"{name} (metric)\n\n{scale.title}",
        {
            "better": scale.better,
            "range": "0 to 1, shown in percent" if scale.rate else None,
            "classifiers": f"those with {' or '.join(needs)}" if needs else None,
            "in a spec": f"metrics: [{name}]",
        },
    )


def _split(kind: str) -> str:
    examples = [f"  split: {{kind: {kind}{rest}}}" for rest in _SPLIT_EXAMPLES[kind]]
    lines = [f"{kind} (split)", "", SPLITS[kind], "", "In a spec:", *examples]
    return "\n".join([*lines, *(["", _SPLIT_NOTES[kind]] if kind in _SPLIT_NOTES else [])])


def _reader(registry: Registry, name: str) -> str:
    """Describe a format or a generator: its keyword parameters are the options of a card."""
    function = registry.load(name)
    kind, key = registry.kind, "format" if registry is FORMATS else "generate"
    options = inspect.signature(function).parameters.values()
    own = [each for each in options if each.kind is each.KEYWORD_ONLY]
    defaults = {each.name: each.default for each in own if each.default is not each.empty}
    required = [each.name for each in own if each.default is each.empty]
    return _with_facts(
        f"{name} ({kind})\n\n{inspect.getdoc(function)}\n\nIn a card:\n"
        f"  {key}: {flow({'name': name, **defaults})}",
        {"needs": ", ".join(required)},
    )


def _spec(name: str) -> str:
    from ddr_cli.spec import expand, load_spec

    spec = load_spec(name)
    text = (spec.path or Path(name)).read_text(encoding="utf-8")
    facts = {
        "description": spec.description,
        "paper": f"{spec.paper.name}, {spec.paper.artefact}" if spec.paper else None,
        "data set": spec.dataset.name,
        "trials": len(expand(spec)),
        "run it": f"ddr run {name}",
    }
    # The line that shows editors where the schema is does not belong to the spec.
    text = re.sub(r"\A# yaml-language-server:.*\n", "", text)
    head = _with_facts(f"{name} (spec)\n\n{spec.title}", facts)
    return f"{head}\n\n{text.rstrip()}"


def _dataset(name: str) -> str:
    card = load_card(name)
    expect, duplicates = card.expect, card.expect.duplicates
    facts = {
        "samples x features": f"{expect.samples} x {expect.features}" if expect.samples else None,
        "images": " x ".join(map(str, card.image_shape)) if card.image_shape else None,
        "split": f"{expect.split.train} train, {expect.split.test} test" if expect.split else None,
        "classes": ", ".join(f"{label} {n}" for label, n in (expect.classes or {}).items()),
        "groups": expect.groups,
        "duplicates": duplicates.shown(expect.samples) if duplicates and expect.samples else None,
        "papers": ", ".join(card.papers),
        "citation": card.citation,
        "licence": card.licence,
        "home": card.home,
        "version": card.version,
        "fingerprint": expect.fingerprint,
    }
    for option, meaning in card.options.items():
        shown_values = " | ".join(
            f"{value} (default)" if value == meaning.default else str(value)
            for value in meaning.choices or (meaning.default,)
        )
        facts[f"option {option}"] = f"{shown_values}; {meaning.summary}"
    head = f"{card.name} (data set)\n\n{card.title}\n\n{card.description}".rstrip()
    return _with_facts(head, facts)


def _with_facts(head: str, facts: dict[str, Any]) -> str:
    lines = [f"{label}: {value}" for label, value in facts.items() if value not in (None, "")]
    return "\n".join([head, *(["", *lines] if lines else [])])


# -- intrinsic dimensions -------------------------------------------------------------------------


def dimension_table(dataset: str, classes: Sequence[ClassDimension]) -> Grid:
    """Return the estimates for the classes of a data set."""
    import pandas as pd

    from ddr_cli.show.page import Grid

    parts = [group.estimates["gmst"].components if group.estimates else 0 for group in classes]
    rows = [
        {
            "class": group.name,
            "samples": str(group.samples),
            "GMST": _range(group.estimates.get("gmst")),
            "k-NN graph": _range(group.estimates.get("knn")),
        }
        | ({"parts": str(n or "")} if any(n > 1 for n in parts) else {})
        for group, n in zip(classes, parts, strict=True)
    ]
    return Grid(pd.DataFrame(rows), f"{dataset}: intrinsic dimension")


def _range(estimate: DimensionEstimate | None) -> str:
    if estimate is None:
        return "-"
    low, high = estimate.dimensions.min(), estimate.dimensions.max()
    return f"{estimate.dimension:.1f} ({low:.1f} to {high:.1f})"


def dimension_notes(classes: Sequence[ClassDimension]) -> list[str]:
    """Return how the dimensions were estimated, and why some are missing, as sentences."""
    from ddr_cli.evaluation.intrinsic_dimension import DEFAULT_NEIGHBORS, DEFAULT_SIZES

    first, last = DEFAULT_SIZES[0], DEFAULT_SIZES[-1]
    return [
        "The table shows the median (and range) of the repetitions, with random_state 0. Each "
        f"repetition uses subsamples of {len(DEFAULT_SIZES)} sizes, from {first:.0%} to {last:.0%} "
        "of the distinct samples.",
        "GMST is the minimal spanning tree of the geodesic distances in the graph of "
        f"{DEFAULT_NEIGHBORS['gmst']} neighbours. The k-NN graph has {DEFAULT_NEIGHBORS['knn']} "
        "neighbours per sample.",
        *(f"{group.name}: {group.reason}" for group in classes if group.reason is not None),
    ]
