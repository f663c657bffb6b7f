"""Whatever a document contains, files are only written to the output folder and the cache."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from ddr_cli.cli.app import app

NASTY = {
    "parent": "../../../../../escaped",
    "absolute": "ABOVE/escaped",
    "nul": "escaped\0x",
    "long": "e" * 500,
    "windows": "..\\..\\escaped",
    "drive": "C:escaped",
    "dots": "..",
}
SPEC = {
    "dataset": "./data.yaml",
    "split": {"kind": "fraction", "train": 0.5, "repeats": 1},
    "reducers": ["none"],
    "classifiers": ["knn"],
    "controls": [],
}
CARD = {
    "name": "data",
    "title": "Data",
    "files": [{"path": "data.csv"}],
    "format": {"name": "csv", "label": 2, "header": False},
}
SUITE = {
    "title": "Suite",
    "version": 1,
    "repeats": 1,
    "classifiers": ["knn"],
    "methods": {"none": {}, "lda": {}},
    "datasets": {"./data.yaml": {"split": {"kind": "fraction", "train": 0.5}}},
    "tracks": {"inductive": {}},
}
ROWS = "".join(f"{i % 7},{i % 5},{'ab'[i % 7 + i % 3 > 3]}\n" for i in range(40))


@pytest.fixture
def inner(tmp_path, monkeypatch):
    """A folder two levels below the test's, with all documents; `out` is created in it."""
    folder = tmp_path / "above" / "inner"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DDR_CACHE", str(folder / "cache"))
    (folder / "data.csv").write_text(ROWS)
    for name, content in (("spec", SPEC), ("data", CARD), ("suite", SUITE)):
        (folder / f"{name}.yaml").write_text(json.dumps(content))
    return folder


def outside(inner):
    """Return the files outside the folders that may be written to."""
    top = inner.parent.parent
    mine = (inner / "out", inner / "cache")
    return {path for path in top.rglob("*") if not any(path.is_relative_to(one) for one in mine)}


def ran(inner, *commands):
    """Run commands; none may end in a traceback or write a file elsewhere."""
    before = outside(inner)
    codes = []
    for command in commands:
        result = CliRunner().invoke(app, [*command])
        assert result.exception is None or isinstance(result.exception, SystemExit), command
        codes.append(result.exit_code)
    assert outside(inner) == before
    return codes


def changed(document, keys, value):
    """Return a copy of a document with another value, or another key if the last key is ``KEY``."""
    copy = json.loads(json.dumps(document))
    *way, last = keys
    place = copy
    for key in way:
        place = place[key]
    if last == "KEY":
        place[value] = place.pop(next(iter(place)))
    elif last == "NEW":
        place[value] = json.loads(json.dumps(next(iter(place.values()))))
    else:
        place[last] = value
    return copy


RUN = (("run", "spec.yaml", "--out", "out"), ("report", "out"))
SUITE_RUN = (
    ("suite", "run", "suite.yaml", "--out", "out"),
    ("suite", "page", "suite.yaml", "--out", "out"),
)
PATHS: list[tuple[str, dict[str, Any], tuple[str | int, ...], tuple[tuple[str, ...], ...]]] = [
    ("spec", SPEC, ("dataset",), RUN),
    ("spec", {**SPEC, "split": {"kind": "given"}}, ("split", "file"), RUN),
    ("data", CARD, ("name",), RUN),
    ("data", CARD, ("files", 0, "path"), RUN),
    ("data", {**CARD, "files": [{"path": "gone.csv"}]}, ("files", 0, "also"), RUN),
    ("suite", SUITE, ("datasets", "KEY"), SUITE_RUN[:1]),
    ("suite", SUITE, ("tracks", "NEW"), SUITE_RUN[:1]),
    ("suite", SUITE, ("methods", "NEW"), SUITE_RUN),
]


@pytest.mark.parametrize("kind", NASTY)
@pytest.mark.parametrize("case", PATHS, ids=lambda case: ".".join(map(str, (case[0], *case[2]))))
def test_no_key_leads_a_file_elsewhere(inner, case, kind):
    name, document, keys, commands = case
    value = NASTY[kind].replace("ABOVE", str(inner.parent))
    text = json.dumps(changed(document, keys, [value] if keys[-1] == "also" else value))
    (inner / f"{name}.yaml").write_text(text)
    ran(inner, *commands)


@pytest.mark.parametrize("kind", ["parent", "long", "windows"])
def test_texts_that_are_shown_name_no_file(inner, kind):
    text = NASTY[kind]
    spec = {
        **SPEC,
        "title": text,
        "description": text,
        "reducers": [{"name": "pca", "label": text}, "none"],
        "classifiers": [{"name": "knn", "label": f"{text}-"}],
        "embeddings": {},
    }
    card = {**CARD, "title": text, "names": {"a": text, "b": f"{text} b"}, "home": text}
    suite = {
        **SUITE,
        "title": text,
        "description": text,
        "methods": {text: {"name": "none"}, "lda": {}},
        "baseline": text,
        "groups": {text: ["./data.yaml"]},
    }
    for name, content in (("spec", spec), ("data", card), ("suite", suite)):
        (inner / f"{name}.yaml").write_text(json.dumps(content))
    assert ran(inner, *RUN, SUITE_RUN[0])[:2] == [0, 0]


@pytest.mark.parametrize("name", ["...yaml", "..yaml", "..\\x.yaml"])
def test_a_document_s_own_name_leads_no_folder_elsewhere(inner, name):
    (inner / "out").mkdir()
    (inner / name).write_text(json.dumps(SPEC))
    assert ran(inner, ("run", name, "--out", "out/folder")) == [2]
    (inner / name).write_text(json.dumps(SUITE))
    ran(inner, ("suite", "run", name, "--out", "out"))


@pytest.mark.parametrize("kind", ["parent", "nul"])
def test_a_strangers_results_lead_no_file_elsewhere(inner, kind):
    value = NASTY[kind].replace("ABOVE", str(inner.parent))
    (inner / "spec.yaml").write_text(json.dumps({**SPEC, "embeddings": {}}))
    assert ran(inner, *RUN) == [0, 0]
    path = inner / "out" / "spec" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["spec"]["name"] = manifest["spec"]["title"] = value
    manifest["data"]["name"] = manifest["spec"]["dataset"]["name"] = value
    path.write_text(json.dumps(manifest))
    ran(inner, RUN[1], ("status", "out/spec"), ("compare", "out/spec"), *RUN)
