"""`ddr describe` explains every kind of name and prints lines that a spec accepts."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.core import own_code
from ddr_cli.core.extras import missing_library
from ddr_cli.papers.schema import describe_paper, paper_names
from ddr_cli.reducers.registry import get_traits
from ddr_cli.report.descriptions import describe
from ddr_cli.spec import load_spec
from ddr_cli.spec.estimators import PREFIXES, registry_of

PIECES = [(section, name) for section in PREFIXES for name in registry_of(section).names()]


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.startswith("  {name: ")]


@pytest.mark.parametrize(
    ("section", "name"), [*PIECES, ("classifiers", "sklearn.svm:SVC")], ids=lambda part: part
)
def test_a_line_that_describe_prints_can_be_pasted_into_a_spec(section, name, tmp_path):
    if section == "reducers":
        library = get_traits(registry_of(section).load(name)()).library
        if library and missing_library(library):
            pytest.skip(f"{library} is not installed")
    text = describe(name)
    # pca is both a reducer and a preprocessing step; it is described twice, first as a reducer.
    (line,) = lines_of(text)[-1 if section == "preprocess" else 0 :][:1]
    lists = {"reducers": "[none]", "classifiers": "[knn]", section: f"[{line}]"}
    spec = tmp_path / "pasted.yaml"
    spec.write_text(
        "dataset: landsat\nsplit: {kind: predefined}\n"
        + "".join(f"{key}: {items}\n" for key, items in lists.items())
    )
    (item,) = getattr(load_spec(spec), section)
    assert item.name == name


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("csv", ["csv (format)", "format: {name: csv, separator: comma"]),
        ("swiss_roll", ["swiss_roll (generator)", "generate: {name: swiss_roll"]),
        ("dp", ["dp (paper)", "Learning Locality-Preserving", "dp_mushroom"]),
        ("lfda", ["lfda (reducer)", "lfda (paper)"]),
        ("pca", ["pca (reducer)", "pca (preprocessor)", "{name: pca, n_components: full"]),
        ("sklearn.svm:SVC", ["sklearn.svm:SVC (classifier)", "{name: 'sklearn.svm:SVC', C: 1.0"]),
    ],
)
def test_a_name_is_found_among_all_kinds(name, says):
    text = describe(name, (paper_names(), describe_paper))
    for part in says:
        assert part in text


def test_a_spec_and_a_card_of_ones_own_are_described_by_their_path(tmp_path):
    spec = tmp_path / "own.yaml"
    spec.write_text(
        "dataset: iris\nsplit: {kind: fraction, train: 0.5}\nreducers: [none]\nclassifiers: [knn]\n"
    )
    assert "trials: 10\n" in describe(str(spec))
    card = tmp_path / "card.yaml"
    card.write_text("name: own\ntitle: My rings\ngenerate: rings\n")
    assert describe(str(card)).startswith("own (data set)\n\nMy rings")


def test_a_data_set_of_openml_is_no_code(monkeypatch):
    monkeypatch.setenv("DDR_OFFLINE", "1")
    done = CliRunner().invoke(app, ["describe", "openml:999999"])
    assert done.exit_code == 0
    assert "home: https://www.openml.org/d/999999" in done.output


def test_code_is_described_with_the_users_word_only(tmp_path, monkeypatch):
    monkeypatch.setattr(own_code, "_trusted", set())
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    '''It maps.'''\n    def __init__(self, width, *, power=2):\n"
        "        pass\n    fit = fit_transform = transform = None\n"
    )
    name = f"{tmp_path}/mine.py:Mine"
    refused = CliRunner().invoke(app, ["describe", name])
    assert refused.exit_code == 2
    assert "--trust" in refused.output
    shown = CliRunner().invoke(app, ["describe", name, "--trust"])
    assert shown.exit_code == 0
    assert shown.output.startswith("./mine.py:Mine (reducer)\n\nIt maps.\n")
    assert "{name: './mine.py:Mine', power: 2}" in shown.output
    assert "needs: width" in shown.output


@pytest.mark.parametrize("name", ["lite", "suites/lite.yaml"])
def test_a_suite_is_described_by_name_and_by_path(name, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    shown = CliRunner().invoke(app, ["describe", name])
    assert shown.exit_code == 0
    assert shown.output.startswith("lite (suite, version ")
    assert f"leaderboard: ddr suite table {name}" in shown.output


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("ddr run digits_ccdr_b", ["digits_ccdr_beta"]),
        ("ddr plan fair_land", ["fair_landsat"]),
        ("ddr new spec x --dataset usps_", ["usps_1234"]),
        ("ddr new spec x --reducer kernel_l", ["kernel_lfda"]),
        ("ddr new spec x --classifier kn", ["knn"]),
        ("ddr plan lit", ["lite"]),
        ("ddr data fetch lands", ["landsat"]),
        ("ddr describe balanced_", ["balanced_accuracy"]),
        ("ddr describe tfi", ["tfidf"]),
        ("ddr run ./configs/", []),
    ],
)
def test_the_shell_completes_names(words, completed):
    environment = {
        "_DDR_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = CliRunner().invoke(app, [], prog_name="ddr", env=environment)
    found = [line for line in done.output.splitlines() if line]
    assert found == completed or set(completed) & set(found)
