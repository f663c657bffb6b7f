"""The commands of `ddr data`, and `ddr new data`."""

import re

import pytest
import yaml
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.data import load_dataset
from tests.data.conftest import TABLE, sha256


@pytest.fixture
def ddr(tmp_path, monkeypatch):
    """Return a function that runs a command with an empty cache and no mirror."""
    monkeypatch.setenv("DDR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DDR_DATA", "")
    monkeypatch.setenv("DDR_OFFLINE", "")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("DDR_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return CliRunner().invoke(app, ["data", *map(str, arguments)])

    return run


@pytest.fixture
def toy(server, write_card):
    """A card whose file is on the server."""
    server.files["toy.csv"] = TABLE
    file = {"path": "toy/toy.csv", "urls": [f"{server.url}/toy.csv"], "sha256": sha256(TABLE)}
    return write_card(files=[file])


def test_status_shows_each_data_set(ddr):
    result = ddr("status")
    assert result.exit_code == 0
    assert re.search(r"landsat +6435 +36 +6 +763 kB .*CC BY 4\.0", result.output)
    assert "embedded" in result.output
    assert "DDR_DATA=FOLDER" in result.output


def test_status_names_folders_and_missing_files(ddr, tmp_path, monkeypatch):
    mirror = tmp_path / "mirror"
    (mirror / "thyroid").mkdir(parents=True)
    (mirror / "thyroid" / "new-thyroid.data").write_bytes(b"12345")
    monkeypatch.setenv("DDR_DATA", str(mirror))
    result = ddr("status", "thyroid", "landsat")
    assert result.exit_code == 0
    assert re.search(r"thyroid +215 +5 +3 +5 bytes +mirror", result.output)
    assert f"mirror: {mirror}" in result.output
    assert "Missing files of landsat: landsat/sat.trn, landsat/sat.tst\n" in result.output


def test_fetch_then_status(ddr, toy):
    result = ddr("fetch", toy)
    assert result.exit_code == 0
    assert "downloaded" in result.output
    assert "available (cache)" in ddr("fetch", toy).output
    assert "cache" in ddr("status", toy).output


@pytest.mark.parametrize("fault", ["404", "503", "corrupts", "truncates"])
def test_fetch_that_fails_exits_with_3_and_goes_on_with_the_others(
    fault, ddr, toy, server, write_card
):
    server.files["other.csv"] = TABLE
    other = write_card("other", files=[{"path": "o.csv", "urls": [f"{server.url}/other.csv"]}])
    server.faults["toy.csv"] = fault if fault == "404" else f"{fault} once"
    result = ddr("fetch", toy, other)
    if fault == "404":
        assert result.exit_code == 3
        assert "toy.csv: the server answered 404" in result.output
        assert "1 of 2 data sets are unavailable: toy" in result.output
    assert "other: downloaded" in result.output
    assert "Traceback" not in result.output


def test_fetch_of_a_suite_names_what_it_could_not_get_and_resumes(
    ddr, server, write_card, tmp_path
):
    sets = ["toy", "other", "gone"]
    for name in sets:
        server.files[f"{name}.csv"] = TABLE
        file = {"path": f"{name}.csv", "urls": [f"{server.url}/{name}.csv"]}
        write_card(name, files=[{**file, "sha256": sha256(TABLE)}])
    del server.files["gone.csv"]
    server.faults["other.csv"] = "404 once"
    suite = {
        "title": "Ours",
        "version": 1,
        "classifiers": ["knn"],
        "methods": {"none": None, "pca": None},
        "datasets": {
            **{f"./{name}.yaml": {"split": {"kind": "fraction", "train": 0.5}} for name in sets},
            "iris": {"split": {"kind": "fraction", "train": 0.5}},
        },
        "tracks": {"inductive": {}},
    }
    path = tmp_path / "cards" / "ours.yaml"
    path.write_text(yaml.safe_dump(suite, sort_keys=False))

    first = ddr("fetch", path)
    assert first.exit_code == 3
    assert "1/4 toy: downloaded" in first.output
    assert "404" in first.output.split("gone.csv:")[1].splitlines()[0]
    assert "4/4 iris: needs no files" in first.output
    assert "2 of 4 data sets are unavailable: other, gone." in first.output
    assert "DDR_DATA=FOLDER" in first.output

    server.asked.clear()
    again = ddr("fetch", path)
    assert again.exit_code == 3
    assert "1/4 toy: available (cache)" in again.output
    assert "2/4 other: downloaded" in again.output
    assert "1 of 4 data sets are unavailable: gone." in again.output
    assert "toy.csv" not in server.asked

    server.files["gone.csv"] = TABLE
    assert ddr("fetch", path).exit_code == 0


def test_offline_variable(ddr, toy, server, monkeypatch):
    monkeypatch.setenv("DDR_OFFLINE", "1")
    assert ddr("fetch", toy).exit_code == 3
    several = ddr("fetch", toy, "landsat", "letter")
    assert several.exit_code == 3
    assert several.output.count("DDR_DATA") == 1
    assert several.output.count("downloads are off") == 3
    assert server.asked == []


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["status", "landsta"], "Did you mean 'landsat'"),
        (["fetch"], "Name a data set"),
        (["fetch", "iris", "--all"], "not both"),
        (["fetch", "light"], "light"),
    ],
)
def test_mistakes_end_in_a_sentence_and_exit_with_2(arguments, what, ddr):
    result = ddr(*arguments)
    assert result.exit_code == 2
    assert what in result.output
    assert "Traceback" not in result.output


@pytest.fixture
def new(ddr):  # noqa: ARG001 (it sets the environment)
    """Return a function that runs `ddr new data`."""
    return lambda *words: CliRunner().invoke(app, ["new", "data", *map(str, words)])


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nothing.csv", "--format", "csv"], "nothing.csv"),
        ([".", "--format", "cvs"], "Did you mean 'csv'"),
        ([".", "--format", "csv", "--set", "header"], "KEY=VALUE"),
        (["."], "contains no files"),
    ],
)
def test_mistakes_about_new_data_end_in_a_sentence(arguments, what, new):
    result = new(*arguments)
    assert (result.exit_code, what in result.output) == (2, True)


def test_new_writes_a_card_that_loads(new, tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "own.csv").write_text(
        "size,colour,kind\n"
        + "".join(f"{i},{'rg'[i % 2]},{'no' if i % 3 else 'yes'}\n" for i in range(9))
    )
    result = new(
        *("files/own.csv", "--format", "csv", "--label", "kind", "--set", "header=true"),
        *("--set", "categorical=[colour]", "--set", "categories=columns"),
    )
    assert result.exit_code == 0, result.output
    assert "9 samples x 3 features; no 6, yes 3" in result.output
    dataset = load_dataset(tmp_path / "own.yaml")
    assert dataset.class_counts == {"no": 6, "yes": 3}
    assert f"fingerprint: {dataset.fingerprint}" in (tmp_path / "own.yaml").read_text()
    assert "path: files/own.csv" in (tmp_path / "own.yaml").read_text()

    result = new("files/own.csv", "--format", "csv", "--set", "names=[a")
    assert result.exit_code == 2
    assert "--set names=[a: " in result.output
    assert new("files/own.csv", "--format", "csv").exit_code == 2


def test_new_replaces_a_card_only_when_forced(new, tmp_path):
    (tmp_path / "a.csv").write_text("1,x\n2,y\n")
    arguments = ["a.csv", "--format", "csv", "--label"]
    assert new(*arguments, 1).exit_code == 0
    card = tmp_path / "a.yaml"
    assert "path: a.csv" in card.read_text()
    assert "--force" in new(*arguments, 0).output
    assert load_dataset(card).target_names == ("x", "y")
    assert new(*arguments, 0, "--set", "ignore=1", "--force").exit_code == 2
    (tmp_path / "a.csv").write_text("1,7\n2,8\n")
    assert new(*arguments, 0, "--force").exit_code == 0
    assert load_dataset(card).target_names == ("1", "2")


def test_new_with_a_test_part(new, tmp_path):
    (tmp_path / "a.csv").write_text("1,x\n2,y\n3,x\n")
    (tmp_path / "b.csv").write_text("4,y\n")
    result = new("a.csv", "--format", "csv", "--test", "b.csv")
    assert result.exit_code == 0, result.output
    split = load_dataset(tmp_path / "a.yaml").split
    assert split is not None
    assert (split.train.tolist(), split.test.tolist()) == ([0, 1, 2], [3])


def test_new_with_a_name_that_looks_like_a_number(new, tmp_path):
    (tmp_path / "1e-3.csv").write_text("1,1e5\n2,0o7\n")
    result = new("1e-3.csv", "--format", "csv")
    assert result.exit_code == 0, result.output
    assert load_dataset(tmp_path / "1e-3.yaml").title == "1e-3"
