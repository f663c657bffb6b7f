"""A suite's archive: whole, the same bytes twice, and described for programs that read it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import sys
import zipfile

import pandas as pd
import pytest
import yaml

from ddr_cli.core.errors import InputError
from ddr_cli.engine.suite import parts_of
from ddr_cli.report.archive import require_rocrate, write_archive
from ddr_cli.spec.suite import load_suite


def test_an_archive_holds_all_and_describes_it(tiny_suite, tmp_path):
    pytest.importorskip("rocrate", reason="rocrate, which describes archives, is an extra")
    suite, folder = tiny_suite.suite, tiny_suite.folder
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    names = write_archive(suite, parts_of(suite, folder), folder, first)
    write_archive(suite, parts_of(suite, folder), folder, second)
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        held = {
            name.removeprefix("suite_tiny_v1/"): archive.read(name) for name in archive.namelist()
        }
    assert sorted(held) == names
    # The folder says the same of itself.
    assert all((folder / name).read_bytes() == content for name, content in held.items())
    sums = dict(reversed(line.split("  ")) for line in held["SHA256SUMS"].decode().splitlines())
    assert sums == {
        name: hashlib.sha256(content).hexdigest()
        for name, content in held.items()
        if name != "SHA256SUMS"
    }
    rows = pd.read_csv(io.BytesIO(gzip.decompress(held["rows.csv.gz"])))
    assert set(rows["method"]) == {"none", "lda"}
    assert held["suite.yaml"] == suite.path.read_bytes()
    cited = yaml.safe_load(held["CITATION.cff"])
    assert (cited["cff-version"], cited["type"], cited["version"]) == ("1.2.0", "dataset", "1")
    assert cited["authors"] == [{"name": "The makers of the suite tiny"}]
    graph = {each["@id"]: each for each in json.loads(held["ro-crate-metadata.json"])["@graph"]}
    assert {"./", "iris/", "rows.csv.gz", "iris/trials.csv", "CITATION.cff"} <= graph.keys()
    assert graph["./"].keys() >= {"name", "description", "datePublished", "license", "hasPart"}
    assert graph["iris/trials.csv"]["sha256"] == sums["iris/trials.csv"]


def test_what_keeps_an_archive_from_being_made(tiny_suite, tmp_path, monkeypatch):
    suite, folder = tiny_suite.suite, tiny_suite.folder
    monkeypatch.setitem(sys.modules, "rocrate", None)
    with pytest.raises(InputError, match=r"pip install 'ddr\[export\]'"):
        require_rocrate()
    suite.path.write_text(suite.path.read_text().replace("version: 1", "version: 2"))
    later = load_suite(suite.path)
    with pytest.raises(InputError, match="2 rows are of an older version"):
        write_archive(later, parts_of(later, folder), folder, tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()
