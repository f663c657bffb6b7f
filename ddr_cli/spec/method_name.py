"""The usual spelling of a method's label."""

from __future__ import annotations

from functools import cache

from ddr_cli.evaluation.evaluators import CLASSIFIERS, MEASURES
from ddr_cli.reducers.registry import REDUCERS


def method_name(label: str) -> str:
    """Return the label of a spec's reducer, classifier or measure in its usual spelling.

    Examples
    --------
    >>> method_name("ccdr"), method_name("ccdr (heat)"), method_name("my way")
    ('CCDR', 'CCDR (heat)', 'my way')
    """
    name, gap, rest = label.replace("(n_components=", "(dim = ").partition(" (")
    labels = _labels()
    # Of a name's words, those that are an acronym's.
    words = [word.upper() if labels.get(word) == word.upper() else word for word in name.split("_")]
    return labels.get(name, " ".join(words)) + gap + rest.replace("_", " ")


@cache
def _labels() -> dict[str, str]:
    """Return the declared spelling of each of our methods that has one."""
    entries = [entry for each in (REDUCERS, CLASSIFIERS, MEASURES) for entry in each.ours.values()]
    return {entry.name: entry.label for entry in entries if entry.label}
