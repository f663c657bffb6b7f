"""A run as text for a paper's "Experiments" section, with BibTeX of the methods and data set."""

from __future__ import annotations

import inspect
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ddr_cli.comparison.names import method_name, metric_name, plain
from ddr_cli.comparison.runs import Run, load_run
from ddr_cli.comparison.summary import summary_of, swept_columns
from ddr_cli.comparison.within_dataset import difference_interval
from ddr_cli.core.errors import InputError
from ddr_cli.data.cards import load_card
from ddr_cli.spec.components import Item
from ddr_cli.spec.estimators import load_factory

_LIBRARIES = ("ddr", "numpy", "scipy", "scikit-learn")
_REFERENCE = re.compile(r'(?P<authors>[^"]*?),? *"(?P<title>[^"]+?),?",? *(?P<rest>.*)', re.DOTALL)
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")
_FIRST = re.compile(r"^ *\.\. \[1\] (.*?)(?=\n *\n|\n *\.\. \[|\Z)", re.MULTILINE | re.DOTALL)


def experiments(folder: Path) -> str:
    """Return sentences on a run's data, splits, methods, tuning, statistics and versions.

    BibTeX entries of the methods and the data set follow. Everything comes from the run's manifest,
    the methods' references and the data set's card.
    """
    run = load_run(folder)
    entries = dict(_entries(run))
    text = " ".join(_sentences(run, entries))
    return "\n\n".join([text, *(each for each in dict.fromkeys(entries.values()) if each)])


def _sentences(run: Run, entries: dict[str, str]) -> Iterator[str]:
    spec, cited = run.spec, {name: _key(entry) for name, entry in entries.items()}

    def named(item: Item) -> str:
        key = cited.get(item.name, "")
        return method_name(item.label) + (f"~\\cite{{{key}}}" if key else "")

    yield _data(run, cited.get(spec.dataset.name, ""))
    yield from _splits(run)
    steps = [_step(step.name, step.params) for step in spec.preprocess]
    if steps:
        yield f"Preprocessing, fitted to the training set: {', '.join(steps)}."
    yield f"Methods: {', '.join(dict.fromkeys(map(named, spec.reducers)))}."
    evaluators = [*spec.classifiers, *spec.measures]
    yield f"Evaluation: {', '.join(dict.fromkeys(map(named, evaluators)))}."
    yield f"Metrics: {', '.join(metric_name(each) for each in spec.metrics)}."
    for column in swept_columns(run):
        values = spec.axes.get(column, spec.labels)
        name = column.partition(".")[2] or column
        yield f"We varied {name} over {', '.join(map(plain, values))}."
    if (tune := spec.tune) is not None:
        times = f", repeated {tune.repeats} times" if tune.repeats > 1 else ""
        yield (
            "Besides its defaults, each method was tuned inside every training set: of at most "
            f"{tune.budget} settings, the best by mean {metric_name(str(tune.metric))} over "
            f"{tune.folds} stratified inner folds{times}."
        )
    yield from _statistics(run)
    if run.failed:
        yield (
            f"{run.failed} of {run.planned} fits failed; such a split is scored as the "
            "majority-class baseline of its training set."
        )
    yield _software(run)


def _data(run: Run, key: str) -> str:
    name = run.spec.dataset.name
    cite = f"~\\cite{{{key}}}" if key else ""
    with suppress(InputError):
        expect = load_card(name).expect
        if expect.samples:
            classes = f", {len(expect.classes)} classes" if expect.classes else ""
            size = f"{expect.samples:,} samples, {expect.features:,} features{classes}"
            return f"We used the data set {name}{cite} ({size})."
    return f"We used the data set {name}{cite}."


def _splits(run: Run) -> Iterator[str]:
    for family in dict.fromkeys(run.trials["family"]):
        yield f"All methods were evaluated on {run.splits_text(family)}."


def _step(name: str, params: dict[str, Any]) -> str:
    shown = [f"{key} = {plain(value)}" for key, value in params.items() if value is not None]
    return f"{name} ({', '.join(shown)})" if shown else name


def _statistics(run: Run) -> Iterator[str]:
    several = [family for family, own in run.trials.groupby("family") if own["split"].nunique() > 1]
    if not several:
        return
    yield "We report means and standard deviations over the splits."
    rows = summary_of(run.folder)
    found = [rows.row(int(i)) for i in rows.methods.index[rows.methods["split"] == several[-1]]]
    with suppress(InputError):
        interval = difference_interval((found[0], found[1])) if len(found) > 1 else None
        if interval is not None:
            yield (
                "Differences between methods are paired on the same splits; their 95 % intervals "
                f"and t-tests are {interval.name}, and p-values are adjusted by Holm's method."
            )


def _software(run: Run) -> str:
    environments = run.manifest.environments
    if not environments:
        return ""
    last = environments[-1]
    versions = [f"{name} {last.versions[name]}" for name in _LIBRARIES if name in last.versions]
    return f"Software: Python {last.python}, {', '.join(versions)}."


# -- BibTeX ----------------------------------------------------------------------------------------


def _entries(run: Run) -> Iterator[tuple[str, str]]:
    """Yield a BibTeX entry for each component and the data set, empty if it states no source."""
    spec = run.spec
    lists = {"reducers": spec.reducers, "classifiers": spec.classifiers, "measures": spec.measures}
    for section, items in lists.items():
        for item in items:
            with suppress(InputError):
                doc = inspect.getdoc(load_factory(section, item.name)) or ""
                reference = _FIRST.search(doc)
                yield item.name, bibtex(reference[1]) if reference else ""
    with suppress(InputError):
        yield spec.dataset.name, bibtex(load_card(spec.dataset.name).citation or "")


def bibtex(reference: str) -> str:
    """Return a reference as a BibTeX entry.

    >>> print(bibtex('L. Breiman, "Random Forests", Machine Learning 45, 2001.'))
    @misc{breiman2001random,
      author = {L. Breiman},
      title = {{Random Forests}},
      howpublished = {Machine Learning 45},
      year = {2001},
    }
    """
    text = " ".join(reference.split()).rstrip(".")
    found = _REFERENCE.fullmatch(text)
    if found is None:
        year = _YEAR.search(text)
        key = _ascii(text)[0].lower() + (year[0] if year else "")
        return f"@misc{{{key},\n  note = {{{text}}},\n}}" if text else ""
    authors = re.split(r", and |, | and ", found["authors"].replace(" et al.", " and others"))
    year = _YEAR.search(found["rest"])
    rest = _YEAR.sub("", found["rest"], count=1).strip(" ,")
    fields = {
        "author": " and ".join(authors),
        "title": f"{{{found['title']}}}",
        "howpublished": re.sub(" *, *,", ",", rest),
        "year": year[0] if year else "",
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    key = f"{_ascii(authors[0])[-1]}{fields['year']}{_ascii(found['title'])[0]}".lower()
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def _ascii(text: str) -> Sequence[str]:
    """Return the words of a text without accents, at least one."""
    plain_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.findall(r"[A-Za-z]+", plain_text) or ["reference"]


def _key(entry: str) -> str:
    found = re.match(r"@misc\{([^,]*),", entry)
    return found[1] if found else ""
