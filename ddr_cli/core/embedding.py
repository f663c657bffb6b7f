"""How a transformer is seeded and called, for every library's conventions."""

from __future__ import annotations

import inspect
from typing import Any

from ddr_cli.core.errors import InputError


def embedding_of(returned: Any) -> Any:
    """Return the embedding: if it is a tuple, as in scikit-learn's PLS classes, its first array."""
    return returned[0] if isinstance(returned, tuple) and returned else returned


def fit_transform(reducer: Any, X: Any, y: Any, **more: Any) -> Any:
    """Return the embedding of the training set, by `fit` and `transform` if needed."""
    if hasattr(reducer, "fit_transform"):
        return embedding_of(reducer.fit_transform(X, y, **more))
    return transform(reducer.fit(X, y, **more), X)


def transform(reducer: Any, X: Any, **more: Any) -> Any:
    """Return the embedding of samples."""
    return embedding_of(reducer.transform(X, **more))


def refuse_labels(factory: Any, name: str) -> None:
    """Raise InputError if `transform` of a class requires more than samples, such as labels."""
    try:
        parameters = list(inspect.signature(factory.transform).parameters.values())[2:]
    except (AttributeError, TypeError, ValueError):
        return
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    required = [each for each in parameters if each.default is each.empty]
    needed = [each.name for each in required if each.kind not in several]
    if needed:
        raise InputError(
            f"{name}.transform must not require {' and '.join(needed)}; write {needed[0]}=None."
        )


def seeded(estimator: Any, seed: int) -> Any:
    """Set the seed of a component that would otherwise use a global random stream."""
    params = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    if params.get("random_state", seed) is None:
        estimator.set_params(random_state=seed)
    return estimator
