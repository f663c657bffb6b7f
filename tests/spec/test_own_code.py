"""Components given by file or module: they need trust and are identified by their content."""

import json
import pickle
import re
from importlib.metadata import EntryPoint

import pytest
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.core import own_code, registry
from ddr_cli.core.errors import InputError
from ddr_cli.engine import make_plan
from ddr_cli.evaluation import evaluators
from ddr_cli.reducers import registry as reducers
from ddr_cli.spec import load_spec
from ddr_cli.suite.definition import load_suite

METHOD = """
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin


class Leading(TransformerMixin, BaseEstimator):
    def __init__(self, n_components=2, scale=1.0):
        self.n_components = n_components
        self.scale = scale

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return self.scale * np.asarray(X)[:, : self.n_components]
"""

SPEC = """
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 2}
reducers:
  - none
  - {name: ./mine.py:Leading, n_components: 3}
classifiers:
  - {name: "sklearn.neighbors:KNeighborsClassifier", n_neighbors: 3}
controls: []
"""


@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.setattr(own_code, "_memory", lambda: tmp_path / "trusted")
    monkeypatch.setattr(own_code, "_trusted", set())
    (tmp_path / "mine.py").write_text(METHOD)
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC)
    return path


def test_code_is_not_run_before_it_is_trusted(spec):
    mark = spec.with_name("mark")
    spec.with_name("mine.py").write_text(f"open({str(mark)!r}, 'w')\n" + METHOD)
    with pytest.raises(own_code.UntrustedCodeError, match=r"\./mine\.py:Leading.*--trust"):
        load_spec(spec)
    assert not mark.exists()
    with own_code.trusting(True):
        load_spec(spec)
    assert mark.exists()
    with pytest.raises(own_code.UntrustedCodeError):
        load_spec(spec)


def test_an_answer_holds_for_the_text_that_was_looked_at(spec):
    with pytest.raises(own_code.UntrustedCodeError) as refused:
        load_spec(spec)
    own_code.trust(refused.value.source, remember=True)
    own_code._trusted.clear()
    load_spec(spec)
    with spec.with_name("mine.py").open("a") as file:
        file.write("# edited\n")
    with pytest.raises(own_code.UntrustedCodeError):
        load_spec(spec)


def test_scikit_learns_own_estimators_need_no_trust(spec):
    spec.write_text(SPEC.replace("  - {name: ./mine.py:Leading, n_components: 3}\n", ""))
    assert load_spec(spec).classifiers[0].label == "KNeighborsClassifier"


AGGLOMERATION = 'name: "sklearn.cluster:FeatureAgglomeration"'
REST = """
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 1}
classifiers: [knn]
controls: []
"""
SUITE = """
title: Agglomeration
version: 1
methods: {agglomeration: {name: "sklearn.cluster:FeatureAgglomeration", memory: ./cache}}
datasets: {iris: {split: {kind: fraction, train: 0.5}}}
classifiers: [knn]
tracks: {inductive: {}}
"""


class Command:
    """Unpickling it creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_no_parameter_makes_scikit_learn_unpickle_or_write_files(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec.write_text(f"reducers: [{{{AGGLOMERATION}, memory: ./cache}}]{REST}")
    ran = CliRunner().invoke(app, ["run", str(spec), "--out", "first", "--trust"])
    assert ran.exit_code == 0, ran.output
    cached = list((tmp_path / "cache").rglob("output.pkl"))
    assert cached
    own_code._trusted.clear()
    mark = tmp_path / "mark"
    for path in cached:
        path.write_bytes(pickle.dumps(Command(mark)))
    for command in (["plan", str(spec)], ["run", str(spec), "--out", "second"]):
        ran = CliRunner().invoke(app, command)
        assert not mark.exists()
        assert ran.exit_code == 2, ran.output
        assert re.search(r"spec\.yaml:1:.*memory.*--trust", ran.output)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        (f"reducers: [{{{AGGLOMERATION}, memory: ./c}}]", "memory"),
        (f"reducers: [{{{AGGLOMERATION}, memory: {{grid: [./c]}}}}]", "memory"),
        (f"reducers: [{{{AGGLOMERATION}}}]\nsweep: {{reducer.memory: [./c]}}", "memory"),
        (f"reducers: [none]\npreprocess: [{{{AGGLOMERATION}, memory: ./c}}]", "memory"),
        (
            'reducers: [none]\npreprocess: [{name: "sklearn.preprocessing:OneHotEncoder", '
            "categories: [[./c]]}]",
            "categories",
        ),
        ('reducers: ["sklearn.pipeline:Pipeline"]', "Pipeline is not on ddr's list"),
        ('reducers: ["sklearn.cluster._agglomerative:FeatureAgglomeration"]', "not on ddr's list"),
        ('reducers: ["joblib.memory:Memory"]', "doesn't come with ddr"),
    ],
)
def test_a_value_that_is_no_number_or_choice_needs_trust(spec, keys, says):
    spec.write_text(REST + keys)
    with pytest.raises(InputError, match=f"(?s){says}.*--trust"):
        load_spec(spec)


def test_an_option_or_a_suite_gives_no_path_either(spec):
    spec.write_text(f"reducers: [{{{AGGLOMERATION}}}]{REST}")
    assert load_spec(spec, overrides=["reducer.linkage=average"])
    with pytest.raises(InputError, match=r"memory.*--trust"):
        load_spec(spec, overrides=["reducer.memory=./cache"])
    suite = spec.with_name("suite.yaml")
    suite.write_text(SUITE)
    with pytest.raises(InputError, match=r"memory.*--trust"):
        list(load_suite(suite).specs())


def test_edited_code_has_other_ids_and_a_moved_file_the_same(spec, tmp_path):
    def ids(path):
        with own_code.trusting(True):
            return set(make_plan(load_spec(path)).trials)

    before = ids(spec)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("mine.py", "spec.yaml"):
        (elsewhere / name).write_bytes((tmp_path / name).read_bytes())
    assert ids(elsewhere / "spec.yaml") == before
    spec.with_name("mine.py").write_text(METHOD.replace("self.scale *", "2 * self.scale *"))
    # The trials of the method that was not edited keep their ids.
    assert len(ids(spec) & before) == len(before) / 2


def test_a_run_shows_no_folder_of_this_machine(spec, tmp_path):
    ran = CliRunner().invoke(app, ["run", str(spec), "--out", str(tmp_path / "out")])
    assert ran.exit_code == 2
    assert not (tmp_path / "out").exists()
    ran = CliRunner().invoke(app, ["run", str(spec), "--out", str(tmp_path / "out"), "--trust"])
    assert ran.exit_code == 0, ran.output
    folder = tmp_path / "out" / "spec"
    journal = (folder / "trials.csv").read_text()
    assert journal.count("./mine.py:Leading") == 2
    manifest = (folder / "manifest.json").read_text()
    assert str(tmp_path) not in journal + manifest
    packages = json.loads(manifest)["environments"][0]["packages"]
    assert packages["./mine.py"].startswith("sha256:")
    words = ["plan", str(spec), "--trust", "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, words).exit_code == 0
    swept = [*("sweep", str(spec), "--param", "scale", "--values", "1,2", "--trust")]
    ran = CliRunner().invoke(app, [*swept, "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("mine.py:Leading", "mine.py:Leadin", r"spec\.yaml:6.*no class 'Leadin'.*'Leading'"),
        ("mine.py:Leading", "gone.py:Leading", r"gone\.py can't be read"),
        ("n_components: 3", "n_component: 3", r"spec\.yaml:6.*'n_component'.*'n_components'"),
        ("n_neighbors: 3", "n_neighbors: 0", r"spec\.yaml:8.*n_neighbors.*Got 0"),
        ("n_neighbors: 3", "n_neighbors: {grid: [3, 0]}", r"spec\.yaml:8:.*n_neighbors.*Got 0"),
        ("n_neighbors: 3", "weights: {grid: [even]}", r"spec\.yaml:8:.*weights.*Got 'even'"),
        ("KNeighborsClassifier", "KNeighborsTransformer", r"spec\.yaml:8.*no predict"),
    ],
)
def test_mistakes_are_reported_with_their_line(spec, old, new, says):
    spec.write_text(SPEC.replace(old, new))
    with own_code.trusting(True), pytest.raises(InputError, match=f"(?s){says}"):
        load_spec(spec)


def test_a_swept_parameter_of_scikit_learns_is_held_against_its_constraints(spec):
    spec.write_text(SPEC + "sweep: {classifier.n_neighbors: [1, -3]}\n")
    says = r"spec\.yaml:\d+:.*n_neighbors.*Got -3"
    with own_code.trusting(True), pytest.raises(InputError, match=says):
        load_spec(spec)
    with (
        own_code.trusting(True),
        pytest.raises(InputError, match=r"--set sweep\.classifier.*Got -4"),
    ):
        load_spec(spec, overrides=["sweep.classifier.n_neighbors=[-4]"])


def test_an_entry_point_needs_no_code(spec, monkeypatch):
    offered = {
        "ddr.reducers": EntryPoint("ica", "sklearn.decomposition:FastICA", "ddr.reducers"),
        "ddr.classifiers": EntryPoint("nu_svc", "sklearn.svm:NuSVC", "ddr.classifiers"),
        "ddr.preprocessors": EntryPoint("fill", "sklearn.impute:SimpleImputer", "ddr"),
    }
    monkeypatch.setattr(registry, "entry_points", lambda group: [offered[group]])
    homes = {"REDUCERS": reducers, "CLASSIFIERS": evaluators, "PREPROCESSORS": evaluators}
    for name, home in homes.items():
        real = getattr(home, name)
        ours = [entry for entry in real.entries() if entry.origin == "ddr"]
        monkeypatch.setattr(home, name, registry.Registry(real.kind, ours, real.group))
    text = SPEC.replace("./mine.py:Leading", "ica").replace(
        '"sklearn.neighbors:KNeighborsClassifier", n_neighbors: 3', "nu_svc, nu: 0.3"
    )
    spec.write_text(text)
    read = load_spec(spec)
    assert [read.reducers[1].name, read.classifiers[0].params["nu"]] == ["ica", 0.3]
    spec.write_text(text.replace("nu: 0.3", "nu: 3.0"))
    with pytest.raises(InputError, match=r"'nu' parameter of NuSVC .* Got 3\.0"):
        load_spec(spec)
    spec.write_text(text + "preprocess: [{name: fill, fill_value: ./file}]\n")
    with pytest.raises(InputError, match=r"fill_value.*--trust"):
        load_spec(spec)


def test_a_file_that_fails_names_its_line(spec):
    spec.with_name("mine.py").write_text("import math\n\nmath.sqrt(-1)\n")
    with own_code.trusting(True), pytest.raises(InputError, match=r"line 3: ValueError"):
        load_spec(spec)


def test_a_strangers_results_are_read_without_running_their_code(spec, tmp_path, monkeypatch):
    swept = SPEC + "sweep: {reducer.n_components: [1, 2]}\n"
    spec.write_text(swept.replace(", n_components: 3", ""))
    out = tmp_path / "out"
    ran = CliRunner().invoke(app, ["run", str(spec), "--out", str(out), "--trust"])
    assert ran.exit_code == 0, ran.output
    own_code._trusted.clear()
    # The reader has a file with the name in the manifest; it must not run.
    mark = tmp_path / "mark"
    (tmp_path / "mine.py").write_text(f"open({str(mark)!r}, 'w')\n" + METHOD)
    monkeypatch.chdir(tmp_path)
    for command in (["report", str(out)], ["status", str(out / "spec")], ["compare", "out/spec"]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    assert not mark.exists()
    refused = CliRunner().invoke(app, ["plan", str(spec), "--set", "reducer.n_components=1"])
    assert refused.exit_code == 2
    assert not mark.exists()
