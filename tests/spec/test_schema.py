"""The JSON Schemas accept what the loader accepts, and match the models."""

import json
from pathlib import Path

import pytest

from ddr_cli.core.registry import shipped_yaml
from ddr_cli.core.yaml_loader import parse, read_document
from ddr_cli.data.card import Card
from ddr_cli.data.cards import load_card
from ddr_cli.engine import make_plan
from ddr_cli.spec import load_spec
from ddr_cli.spec.json_schema import FIRST_LINE, model_schema, schema_text, spec_schema
from ddr_cli.suite.definition import Suite

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

HOMES = {"spec": "configs", "suite": "suites", "card": "datasets"}
SCHEMAS = Path(__file__).parents[2] / "docs" / "schema"
FILES = [(kind, path) for kind, folder in HOMES.items() for path in shipped_yaml(folder).values()]
RIGHT = {
    "dataset": "iris",
    "split": {"kind": "fraction", "train": 0.5},
    "reducers": ["none"],
    "classifiers": ["knn"],
}


@pytest.fixture(scope="module")
def validators():
    return {kind: jsonschema.Draft202012Validator(schema) for kind, schema in schemas().items()}


def schemas():
    own = {"spec": spec_schema(installed=False), "card": model_schema(Card)}
    return own | {"suite": model_schema(Suite, without=("name", "path"))}


@pytest.mark.parametrize("kind", HOMES)
def test_the_committed_schema_is_that_of_the_models(kind):
    path = SCHEMAS / f"{kind}.schema.json"
    how = "'python tests/spec/test_schema.py' writes it again"
    # Versions of Pydantic differ in writing a bound of 1 as 1 or 1.0.
    committed = json.loads(path.read_text(encoding="utf-8"))
    assert committed == json.loads(schema_text(schemas()[kind])), how


@pytest.mark.parametrize(("kind", "path"), FILES, ids=lambda part: getattr(part, "stem", part))
def test_every_shipped_file_names_its_schema_and_follows_it(kind, path, validators):
    modeline, _, schema = path.read_text(encoding="utf-8").partition("\n")[0].partition("=")
    assert modeline == "# yaml-language-server: $schema"
    assert (path.parent / schema).resolve() == SCHEMAS / f"{kind}.schema.json"
    validators[kind].validate(read_document(path).data)


@pytest.mark.parametrize(
    "yaml",
    [
        "preprocess: [standardize, {name: pca, n_components: 0.9}]",
        "reducers: [ccdr, {name: lda, label: Fisher, mode: out_of_sample}]",
        "reducers: [{name: ccdr, beta: {log: [0.1, 1, 3]}, epsilon: mean}]",
        "reducers: [{name: pca, n_components: {grid: [1, 2]}}]",
        "reducers: [{name: pca, n_components: {grid: {range: [1, 3, 1]}}}]",
        "classifiers: ['sklearn.svm:SVC', {name: 'sklearn.svm:SVC', C: 10.0}]",
        "classifiers: [{name: linear, only_on: none}]",
        "dataset: {name: iris, source: fisher}",
        "sweep: {classifier.n_neighbors: [1, 3]}\nplot: {interval: 0.9}",
        "sweep: {split.train: [0.3, 0.5]}",
        "labels: [1, 2, all]",
        "tune: none\npreprocess:\nsweep:\n",
        "tune: {folds: 2}\ncontrols: [none, pca]\nmetrics: [error, f1_macro]",
        "measures: [{name: topology, n_neighbors: 2}]",
    ],
)
def test_the_short_forms_that_the_loader_takes(yaml, tmp_path, validators):
    from ddr_cli.core.yaml_loader import dump

    document = {**RIGHT, **parse(yaml.encode(), "given").data}
    if "labels" in document:
        document["classifiers"] = [{"name": "knn", "n_neighbors": 1}]
    path = tmp_path / "x.yaml"
    path.write_text(dump(document))
    load_spec(path)
    validators["spec"].validate(document)


@pytest.mark.parametrize(
    "yaml",
    [
        "titel: x",
        "title: 3",
        "dataset: irs",
        "split: {kind: fracton, train: 0.5}",
        "split: {kind: fraction, train: half}",
        "reducers: []",
        "reducers: [ldaa]",
        "reducers: [{name: ccdr, betta: 1}]",
        "reducers: [{name: ccdr, beta: -1}]",
        "reducers: [{name: ccdr, weights: warm}]",
        "reducers: [{name: ccdr, mode: both}]",
        "reducers: [{name: ccdr, beta: {log: [1, 2]}}]",
        "preprocess: pca",
        "sweep: {beta: [1]}",
        "sweep: {reducer.beta: 1}",
        "tune: {fold: 3}",
        "controls: [nothing]",
        "metrics: [eror]",
        "labels: [0]",
    ],
)
def test_a_mistake_is_seen(yaml, validators):
    document = {**RIGHT, **parse(yaml.encode(), "given").data}
    assert not validators["spec"].is_valid(document)


def test_the_first_line_changes_nothing(tmp_path):
    text = shipped_yaml("configs")["digits_ccdr_beta"].read_text(encoding="utf-8")
    plans, cards = [], []
    for i, first in enumerate(["", f"{FIRST_LINE}\n"]):
        path = tmp_path / str(i) / "x.yaml"
        path.parent.mkdir()
        path.write_text(first + text.partition("\n")[2])
        spec = load_spec(path)
        plans.append((spec.resolved(), list(make_plan(spec).trials)))
        path.write_text(first + "name: own\ntitle: rings\ngenerate: rings\n")
        cards.append(load_card(path).model_dump())
    assert plans[0] == plans[1]
    assert cards[0] == cards[1]


if __name__ == "__main__":
    for kind, schema in schemas().items():
        (SCHEMAS / f"{kind}.schema.json").write_text(schema_text(schema), encoding="utf-8")
