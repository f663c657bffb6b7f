"""Shell completion (`ddr --install-completion`): names of specs, data sets and methods.

The shell itself completes paths. This module imports no heavy library.
"""

from __future__ import annotations

from collections.abc import Iterable


def specs(incomplete: str) -> list[str]:
    """Return the shipped specs with this prefix."""
    from ddr_cli.core.registry import shipped_yaml

    return _beginning(incomplete, shipped_yaml("configs"))


def suites(incomplete: str) -> list[str]:
    """Return the shipped suites with this prefix."""
    from ddr_cli.core.registry import shipped_yaml

    return _beginning(incomplete, shipped_yaml("suites"))


def datasets(incomplete: str) -> list[str]:
    """Return the data sets with this prefix."""
    from ddr_cli.data.cards import card_names

    return _beginning(incomplete, card_names())


def reducers(incomplete: str) -> list[str]:
    """Return the reducers with this prefix."""
    from ddr_cli.reducers.registry import REDUCERS

    return _beginning(incomplete, REDUCERS.names())


def classifiers(incomplete: str) -> list[str]:
    """Return the classifiers with this prefix."""
    from ddr_cli.evaluation.evaluators import CLASSIFIERS

    return _beginning(incomplete, CLASSIFIERS.names())


def pieces(incomplete: str) -> list[str]:
    """Return the reducers and classifiers with this prefix."""
    return [*reducers(incomplete), *classifiers(incomplete)]


def describable(incomplete: str) -> list[str]:
    """Return the names with this prefix that `ddr describe` knows."""
    from ddr_cli.core.registry import shipped_yaml
    from ddr_cli.data.formats import FORMATS, GENERATORS
    from ddr_cli.evaluation.evaluators import MEASURES, PREPROCESSORS
    from ddr_cli.evaluation.metrics import metric_names
    from ddr_cli.evaluation.splits import SPLITS

    more = [
        name for table in (MEASURES, PREPROCESSORS, FORMATS, GENERATORS) for name in table.names()
    ]
    known = [*more, *metric_names(), *SPLITS, *shipped_yaml("configs")]
    found = [*datasets(incomplete), *pieces(incomplete), *_beginning(incomplete, known)]
    return list(dict.fromkeys(found))


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
