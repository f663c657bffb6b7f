"""Shell completion (`ddr --install-completion`): names of specs, data sets and methods.

The shell itself completes paths, and typer keeps the names with the prefix that was typed. This
module imports no heavy library.
"""

from __future__ import annotations


def specs() -> list[str]:
    """Return the shipped specs."""
    from ddr_cli.core.registry import shipped_yaml

    return list(shipped_yaml("configs"))


def suites() -> list[str]:
    """Return the shipped suites."""
    from ddr_cli.core.registry import shipped_yaml

    return list(shipped_yaml("suites"))


def specs_and_suites() -> list[str]:
    """Return the shipped specs and suites."""
    return [*specs(), *suites()]


def datasets() -> list[str]:
    """Return the data sets."""
    from ddr_cli.data.cards import card_names

    return list(card_names())


def datasets_and_suites() -> list[str]:
    """Return the data sets and the suites."""
    return [*datasets(), *suites()]


def reducers() -> list[str]:
    """Return the reducers."""
    from ddr_cli.reducers.registry import REDUCERS

    return list(REDUCERS.names())


def classifiers() -> list[str]:
    """Return the classifiers."""
    from ddr_cli.evaluation.evaluators import CLASSIFIERS

    return list(CLASSIFIERS.names())


def pieces() -> list[str]:
    """Return the reducers and classifiers."""
    return [*reducers(), *classifiers()]


def describable() -> list[str]:
    """Return the names that `ddr describe` knows."""
    from ddr_cli.data.formats import FORMATS, GENERATORS
    from ddr_cli.evaluation.evaluators import MEASURES, PREPROCESSORS
    from ddr_cli.evaluation.metrics import metric_names
    from ddr_cli.evaluation.splits import SPLITS

    tables = (MEASURES, PREPROCESSORS, FORMATS, GENERATORS)
    more = [name for table in tables for name in table.names()]
    more += [*metric_names(), *SPLITS, *specs_and_suites()]
    return list(dict.fromkeys([*datasets(), *pieces(), *more]))
