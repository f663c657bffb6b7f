"""The classifiers' table and traits, and that listing them is cheap."""

from __future__ import annotations

import pytest

from ddr_cli.core.parameters import parameter_model
from ddr_cli.evaluation.registry import CLASSIFIERS, EvaluatorTraits, get_evaluator_traits


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


def test_knn_grid():
    traits = get_evaluator_traits(CLASSIFIERS.load("knn")())
    assert traits.grids["n_neighbors"] == tuple(range(1, 16))


def test_classifier_without_traits_gets_the_defaults():
    assert get_evaluator_traits(object()) == EvaluatorTraits()
