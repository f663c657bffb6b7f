"""How the YAML of a spec is read, and what its settings are called."""

from __future__ import annotations

from ddr_cli.core.document import Rules
from ddr_cli.core.problems import KeyPath, dotted
from ddr_cli.spec.estimators import PREFIXES


def setting(path: KeyPath) -> str:
    """Return the name of a setting as ``--set`` takes it.

    Examples
    --------
    >>> setting(("split", "train")), setting(("reducers", 0, "beta")), setting(("reducers", 0))
    ('split.train', 'reducer.beta', 'reducers')
    """
    name = dotted(path)
    section, dot, rest = name.partition(".")
    return f"{PREFIXES.get(section, section)}.{rest}" if dot else name


RULES = Rules(name=setting)
