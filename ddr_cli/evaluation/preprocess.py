"""Which preprocessing steps there are; every one is fitted on the training part alone.

A step is a scikit-learn transformer. Its class attribute ``version`` (1 where
there is none) is raised by hand whenever its numbers change, and is part of a
trial's identity.
"""

from __future__ import annotations

from typing import Any

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.registry import Entry, Registry

_STEPS = "ddr_cli.evaluation.steps"

PREPROCESSORS = Registry(
    "preprocessor",
    [
        Entry(
            "pca",
            f"{_STEPS}:PrincipalComponents",
            "principal components: a number, a share of variance, or all but the null space",
        ),
        Entry("svd", f"{_STEPS}:SingularVectors", "leading singular vectors, not centred; sparse"),
        Entry("standardize", f"{_STEPS}:Standardize", "mean 0 and standard deviation 1"),
        Entry("rescale", f"{_STEPS}:Rescale", "the training part's range to [0, 1]"),
        Entry("unit_length", f"{_STEPS}:UnitLength", "every row to Euclidean length 1"),
        Entry("tfidf", f"{_STEPS}:Tfidf", "word counts times the words' rarity"),
    ],
    "ddr.preprocessors",
)


def make_preprocessor(name: str, **params: Any) -> Any:
    """Return an unfitted preprocessing step.

    Parameters
    ----------
    name : str
        One of ``PREPROCESSORS.names()``.
    **params
        The step's parameters.

    Returns
    -------
    scikit-learn transformer

    Raises
    ------
    InputError
        If there is no such step, or a parameter is unknown or not valid.
    """
    # Not at the top, so that listing the steps needs neither NumPy nor pydantic.
    from ddr_cli.core.parameters import check_parameters, parameter_model

    factory = PREPROCESSORS.load(name)
    known = parameter_model(factory).model_fields
    for given in params:
        if given not in known:
            raise InputError(
                f"The preprocessor '{name}' has no parameter '{given}'."
                f"{did_you_mean(given, known)} It takes {', '.join(known) or 'none'}."
            )
    step = factory(**params)
    try:
        check_parameters(step)
    except ValueError as error:
        raise InputError(f"The preprocessor '{name}': {error}") from error
    return step
