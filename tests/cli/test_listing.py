"""Messages that refer to `ddr list` name something that it can list."""

import json

import pytest
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.cli.listing import KINDS
from ddr_cli.core.errors import InputError
from ddr_cli.data.cards import load_card
from ddr_cli.data.formats import FORMATS, GENERATORS
from ddr_cli.evaluation.evaluators import CLASSIFIERS, PREPROCESSORS
from ddr_cli.evaluation.splits import SPLITS
from ddr_cli.reducers.registry import REDUCERS

REGISTRIES = [CLASSIFIERS, FORMATS, GENERATORS, PREPROCESSORS, REDUCERS]


def listed(kind):
    result = CliRunner().invoke(app, ["list", kind])
    assert result.exit_code == 0, result.output
    return [line.split()[0] for line in result.output.splitlines()]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_names(kind):
    assert listed(kind)


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_a_registry_leads_to_the_list_of_its_names(registry):
    with pytest.raises(InputError, match=f"'ddr list {registry.listed_as}' lists all"):
        registry.load("nothing-of-this-name")
    assert listed(registry.listed_as) == registry.names()


def test_without_a_kind_all_kinds_are_listed():
    assert listed("") == list(KINDS)


def test_a_list_is_printed_as_json():
    result = CliRunner().invoke(app, ["list", "splits", "--json"])
    assert [each["name"] for each in json.loads(result.output)] == listed("splits")


def test_metrics_and_splits_are_listed():
    result = CliRunner().invoke(app, ["list", "metrics"])
    assert "scikit-learn" in result.output
    assert {"kfold", "grouped", "given"} < set(listed("splits"))


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        *((kind, ["(split)", f"split: {{kind: {kind}"]) for kind in SPLITS),
        ("given", ["A cell is train, test or"]),
        ("neg_log_loss", ["(metric)", "better: higher", "those with predict_proba"]),
        ("error", ["(metric)", "better: lower", "range: 0 to 1"]),
    ],
)
def test_a_kind_of_split_or_a_metric_is_described(name, parts):
    result = CliRunner().invoke(app, ["describe", name])
    assert result.exit_code == 0
    for part in parts:
        assert part in result.output


def test_an_unknown_data_set_leads_to_their_list():
    with pytest.raises(InputError, match=r"'ddr list datasets'"):
        load_card("nothing-of-this-name")
    assert "landsat" in listed("datasets")
