"""The table of classifiers and their traits, and that listing them is fast."""

import inspect

import pytest

from ddr_cli.core.parameters import parameter_model
from ddr_cli.evaluation.evaluators import (
    CLASSIFIERS,
    PREPROCESSORS,
    EvaluatorTraits,
    get_evaluator_traits,
)


@pytest.mark.parametrize("name", CLASSIFIERS.names())
def test_classifier_is_there_with_traits_that_fit_its_parameters(name):
    factory = CLASSIFIERS.load(name)
    model = parameter_model(factory)
    traits = get_evaluator_traits(factory())
    assert traits.version >= 1
    assert traits.shared is None or traits.shared in model.model_fields
    assert (traits.shared is not None) == hasattr(factory, "predict_many")
    for parameter, values in traits.grids.items():
        for value in values:
            model(**{parameter: value})


@pytest.mark.parametrize("registry", [CLASSIFIERS, PREPROCESSORS], ids=lambda each: each.kind)
def test_every_parameter_out_of_range_is_named(registry):
    for name in registry.names():
        factory = registry.load(name)
        for parameter in inspect.signature(factory).parameters:
            with pytest.raises(ValueError, match=f"{parameter}='no such value' is not valid"):
                factory(**{parameter: "no such value"}).fit([[0.0], [1.0], [2.0]], [0, 1, 1])


def test_knn_grid():
    traits = get_evaluator_traits(CLASSIFIERS.load("knn")())
    assert traits.grids["n_neighbors"] == tuple(range(1, 16))


def test_classifier_without_traits_gets_the_defaults():
    assert get_evaluator_traits(object()) == EvaluatorTraits()
