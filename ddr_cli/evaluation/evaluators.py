"""The classifiers, measures and preprocessing steps by name, and the traits that they declare.

A classifier or a measure scores an embedding: each trial has one evaluator, of either kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ddr_cli.core.registry import Registry, components


@dataclass(frozen=True)
class EvaluatorTraits:
    """What the engine may share between fits of a classifier, and its other properties.

    A classifier declares its traits in a method ``__ddr_traits__(self) -> EvaluatorTraits``, or has
    the default traits. The same holds for a measure, whose ``score_many(embedded, settings)`` takes
    the role of a classifier's ``predict_many``.

    Parameters
    ----------
    version : int
        Raised by hand whenever the classifier's numbers change; part of a trial's identity.
    shared : str or None
        The parameter over which the class method ``predict_many(X_train, y_train, X_test,
        settings)`` shares its work: several values of it cost about as much as one.
    grids : mapping of str to tuple
        The default grid of each parameter, for ``ddr sweep --param`` without values.
    """

    version: int = 1
    shared: str | None = None
    grids: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


def get_evaluator_traits(evaluator: Any) -> EvaluatorTraits:
    """Return the traits of a classifier's or measure's instance."""
    declare = getattr(evaluator, "__ddr_traits__", None)
    return declare() if declare is not None else EvaluatorTraits()


_PACKAGE = "ddr_cli.evaluation"


def _registry(kind: str) -> Registry:
    return Registry(kind, components(kind, _PACKAGE), f"ddr.{kind}s", is_sealed=True)


CLASSIFIERS = _registry("classifier")
MEASURES = _registry("measure")
PREPROCESSORS = _registry("preprocessor")


def evaluator_registry(name: str) -> Registry:
    """Return the registry in which a classifier or measure called `name` is to be looked up."""
    return MEASURES if name in MEASURES.names() else CLASSIFIERS
