"""The usual spelling of a method's label."""

from __future__ import annotations

from functools import cache

from ddr_cli.evaluation.evaluators import CLASSIFIERS, MEASURES
from ddr_cli.reducers.registry import REDUCERS


def method_name(label: str) -> str:
    """Return the label of a spec's reducer, classifier or measure in its usual spelling.

    Examples
    --------
    >>> method_name("ccdr"), method_name("kernel_ccdr (heat)"), method_name("my way")
    ('CCDR', 'kernel CCDR (heat)', 'my way')
    """
    name, gap, rest = label.replace("(n_components=", "(dim = ").partition(" (")
    labels = _labels()
    # Words that are acronyms are written in capitals.
    words = [word.upper() if labels.get(word) == word.upper() else word for word in name.split("_")]
    head, _, tail = name.partition("_")
    spelled = f"{head} {labels[tail]}" if tail in labels else " ".join(words)
    return labels.get(name, spelled) + gap + rest.replace("_", " ")


@cache
def _labels() -> dict[str, str]:
    """Return the declared spelling of each of our methods that has one."""
    entries = [entry for each in (REDUCERS, CLASSIFIERS, MEASURES) for entry in each.ours.values()]
    return {entry.name: entry.label for entry in entries if entry.label}
