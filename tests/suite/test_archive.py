"""A suite's archive contains all rows, and two archives of the same rows have the same bytes."""

import hashlib
import tarfile

import pytest
import yaml

from ddr_cli.core.errors import InputError
from ddr_cli.suite.archive import write_archive
from ddr_cli.suite.definition import load_suite
from ddr_cli.suite.remaining import parts_of


def unpacked(file):
    with tarfile.open(file) as archive:
        return [(each.name, archive.extractfile(each).read()) for each in archive]


def test_an_archive_holds_all_and_describes_it(tiny_suite, tmp_path):
    suite, folder = tiny_suite.suite, tiny_suite.folder
    first, second = tmp_path / "a.tar.xz", tmp_path / "b.tar.xz"
    names = write_archive(suite, parts_of(suite, folder), folder, first)
    write_archive(suite, parts_of(suite, folder), folder, second)
    assert first.read_bytes() == second.read_bytes()
    held = {name.removeprefix("suite_tiny_v1/"): content for name, content in unpacked(first)}
    assert sorted(held) == names
    sums = dict(reversed(line.split("  ")) for line in held["SHA256SUMS"].decode().splitlines())
    assert sums == {
        name: hashlib.sha256(content).hexdigest()
        for name, content in held.items()
        if name != "SHA256SUMS"
    }
    trials = (folder / "iris" / "trials.csv").read_bytes()
    assert (held["suite_tiny/iris/trials.csv"], trials.count(b"\n") > 1) == (trials, True)
    assert held["suite.yaml"] == suite.path.read_bytes()
    cited = yaml.safe_load(held["CITATION.cff"])
    assert (cited["cff-version"], cited["type"], cited["version"]) == ("1.2.0", "dataset", "1")
    assert cited["authors"] == [{"name": "The makers of the suite tiny"}]


def test_an_archive_is_not_made_of_stale_rows(tiny_suite, tmp_path):
    suite, folder = tiny_suite.suite, tiny_suite.folder
    suite.path.write_text(suite.path.read_text().replace("version: 1", "version: 2"))
    later = load_suite(suite.path)
    with pytest.raises(InputError, match=r"^2 rows .*'ddr suite run tiny'"):
        write_archive(later, parts_of(later, folder), folder, tmp_path / "a.tar.xz")
    assert not (tmp_path / "a.tar.xz").exists()
