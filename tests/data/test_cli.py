"""The commands of `ddr data`."""

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
    assert "ddr data import" in result.output


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


def test_fetch_then_status_and_verify(ddr, toy):
    result = ddr("fetch", toy)
    assert result.exit_code == 0
    assert "downloaded" in result.output
    assert "available (cache)" in ddr("fetch", toy).output
    assert "cache" in ddr("status", toy).output
    verified = ddr("verify", toy)
    assert verified.exit_code == 0
    assert verified.output.startswith("ok")
    assert "300 x 2, 2 classes, cache" in verified.output


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

    first = ddr("fetch", "--suite", path)
    assert first.exit_code == 3
    assert "1/4 toy: downloaded" in first.output
    assert "404" in first.output.split("gone.csv:")[1].splitlines()[0]
    assert "4/4 iris: needs no files" in first.output
    assert "2 of 4 data sets are unavailable: other, gone." in first.output
    assert "ddr data import NAME" in first.output

    server.asked.clear()
    again = ddr("fetch", "--suite", path)
    assert again.exit_code == 3
    assert "1/4 toy: available (cache)" in again.output
    assert "2/4 other: downloaded" in again.output
    assert "1 of 4 data sets are unavailable: gone." in again.output
    assert "toy.csv" not in server.asked

    server.files["gone.csv"] = TABLE
    assert ddr("fetch", "--suite", path).exit_code == 0


def test_offline_option_and_variable(ddr, toy, server, monkeypatch):
    assert ddr("fetch", toy, "--offline").exit_code == 3
    several = ddr("fetch", toy, "landsat", "letter", "--offline")
    assert several.exit_code == 3
    assert several.output.count("DDR_DATA") == 1
    assert several.output.count("downloads are off") == 3
    monkeypatch.setenv("DDR_OFFLINE", "1")
    assert ddr("fetch", toy).exit_code == 3
    assert server.asked == []


def test_verify_tells_right_wrong_and_missing_apart(ddr, write_card, tmp_path):
    right, wrong, gone = (
        write_card(name, files=[{"path": f"{name}.csv"}]) for name in ("right", "wrong", "gone")
    )
    (tmp_path / "cards" / "right.csv").write_bytes(TABLE)
    (tmp_path / "cards" / "wrong.csv").write_bytes(TABLE + b"1,2,left\n")
    result = ddr("verify", right, wrong, gone)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "differs", "missing"]
    assert "they have 301 samples, not 300" in lines[1]
    assert ddr("verify", right).exit_code == 0
    assert ddr("verify", right, gone).exit_code == 3


def test_verify_reads_the_files_and_not_the_cached_arrays(ddr, write_card, tmp_path):
    card = write_card(files=[{"path": "toy.csv"}])
    (tmp_path / "cards" / "toy.csv").write_bytes(TABLE)
    assert ddr("verify", card).exit_code == 0
    assert ddr("verify", "iris").output.splitlines()[1].startswith("ok      iris (source=fisher)")


def test_verify_counts_duplicates_and_compares_them_with_the_card(ddr, write_card, tmp_path):
    stated = {"exact": 300, "exact_across": 0, "near": 0, "near_across": 0}
    expect = {"samples": 600, "duplicates": stated}
    card = write_card(files=[{"path": "toy.csv"}], expect=expect)
    (tmp_path / "cards" / "toy.csv").write_bytes(TABLE + TABLE)
    wrong = ddr("verify", card)
    assert wrong.exit_code == 1
    assert "600 of 600 samples (100.0%) have an exact duplicate" in wrong.output
    assert "the card states: 300 of 600" in wrong.output
    write_card(
        files=[{"path": "toy.csv"}], expect={**expect, "duplicates": {**stated, "exact": 600}}
    )
    assert ddr("verify", card).exit_code == 0


def test_import(ddr, toy, tmp_path):
    (tmp_path / "mine.csv").write_bytes(TABLE)
    result = ddr("import", toy, tmp_path / "mine.csv")
    assert result.exit_code == 0
    assert "toy: imported and verified; 300 samples x 2 features, 2 classes." in result.output
    assert "available (cache)" in ddr("fetch", toy, "--offline").output
    assert ddr("import", toy, "nothing.csv").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["status", "landsta"], "Did you mean 'landsat'"),
        (["fetch"], "Name a data set"),
        (["fetch", "iris", "--all"], "not both"),
        (["fetch", "iris", "--suite", "lite"], "--suite"),
        (["fetch", "--suite", "light"], "no suite"),
        (["verify"], "Name a data set"),
        (["import", "iris", "."], "needs no files"),
        (["new", "x", "--format", "csv", "--path", "nothing.csv"], "nothing.csv"),
        (["new", "x", "--format", "cvs", "--path", "."], "Did you mean 'csv'"),
        (["new", "x", "--format", "csv", "--path", ".", "--option", "header"], "KEY=VALUE"),
        (["new", "."], "contains no files"),
    ],
)
def test_mistakes_end_in_a_sentence_and_exit_with_2(arguments, what, ddr):
    result = ddr(*arguments)
    assert result.exit_code == 2
    assert what in result.output
    assert "Traceback" not in result.output


def test_new_writes_a_card_that_loads(ddr, tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "own.csv").write_text(
        "size,colour,kind\n"
        + "".join(f"{i},{'rg'[i % 2]},{'no' if i % 3 else 'yes'}\n" for i in range(9))
    )
    result = ddr(
        "new", "own", "--format", "csv", "--path", "files/own.csv", "--label", "kind",
        "--option", "header=true", "--option", "categorical=[colour]",
        "--option", "categories=columns",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "9 samples x 3 features; no 6, yes 3" in result.output
    dataset = load_dataset(tmp_path / "own.yaml")
    assert dataset.class_counts == {"no": 6, "yes": 3}
    assert f"fingerprint: {dataset.fingerprint}" in (tmp_path / "own.yaml").read_text()
    assert "path: files/own.csv" in (tmp_path / "own.yaml").read_text()

    result = ddr("new", "x", "--format", "csv", "--path", "files/own.csv", "--option", "names=[a")
    assert result.exit_code == 2
    assert "--option names=[a: " in result.output
    assert ddr("new", "own", "--format", "csv", "--path", "files/own.csv").exit_code == 2
    (tmp_path / "files" / "own.csv").write_text("size,colour,kind\n1,r,no\n")
    assert ddr("verify", "./own.yaml").exit_code == 1


def test_new_replaces_a_card_only_when_forced(ddr, tmp_path):
    (tmp_path / "a.csv").write_text("1,x\n2,y\n")
    arguments = ["new", "own", "--format", "csv", "--path", "a.csv", "--label"]
    assert ddr(*arguments, 1).exit_code == 0
    card = tmp_path / "own.yaml"
    assert "path: a.csv" in card.read_text()
    assert "--force" in ddr(*arguments, 0).output
    assert load_dataset(card).target_names == ("x", "y")
    assert ddr(*arguments, 0, "--ignore", 1, "--force").exit_code == 2
    (tmp_path / "a.csv").write_text("1,7\n2,8\n")
    assert ddr(*arguments, 0, "--force").exit_code == 0
    assert load_dataset(card).target_names == ("1", "2")


def test_new_with_a_test_part(ddr, tmp_path):
    (tmp_path / "a.csv").write_text("1,x\n2,y\n3,x\n")
    (tmp_path / "b.csv").write_text("4,y\n")
    result = ddr("new", "own", "--format", "csv", "--path", "a.csv", "--test", "b.csv")
    assert result.exit_code == 0, result.output
    split = load_dataset(tmp_path / "own.yaml").split
    assert split is not None
    assert (split.train.tolist(), split.test.tolist()) == ([0, 1, 2], [3])


def test_new_with_a_name_that_looks_like_a_number(ddr, tmp_path):
    (tmp_path / "a.csv").write_text("1,1e5\n2,0o7\n")
    result = ddr("new", "1e-3", "--format", "csv", "--path", "a.csv")
    assert result.exit_code == 0, result.output
    assert load_dataset(tmp_path / "1e-3.yaml").title == "1e-3"
