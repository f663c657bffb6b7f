"""The published rows of a suite are fetched, verified, and used if there are no other rows."""

import io
import shutil
import tarfile

import pytest
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.core import registry
from ddr_cli.core.errors import InputError
from ddr_cli.suite.published import address_of, fetch


def ddr(*words):
    return CliRunner().invoke(app, [*map(str, words)], prog_name="ddr", catch_exceptions=False)


@pytest.fixture
def published(tiny_suite, tmp_path, monkeypatch):
    """Return the archive of a shipped suite; the present folder has no rows of it."""
    monkeypatch.setenv("DDR_CACHE", str(tmp_path / "cache"))
    shipped = registry.shipped_yaml
    tiny = {"tiny": tiny_suite.suite.path}
    both = lambda folder: tiny if folder == "suites" else shipped(folder)  # noqa: E731
    monkeypatch.setattr("ddr_cli.spec.load.shipped_yaml", both)
    monkeypatch.setattr("ddr_cli.core.registry.shipped_yaml", both)
    archive = tmp_path / "tiny.tar.xz"
    assert ddr("suite", "page", "tiny", "--rows", archive, "--out", tmp_path).exit_code == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return archive


def changed(archive, name, old, new):
    """Write a copy of an archive in which a file is changed."""
    with tarfile.open(archive) as before:
        files = {each.name: before.extractfile(each).read() for each in before}
    with tarfile.open(archive, "w:xz") as after:
        for each, content in files.items():
            assert old in content or not each.endswith(name)
            changed = content.replace(old, new) if each.endswith(name) else content
            entry = tarfile.TarInfo(each)
            entry.size = len(changed)
            after.addfile(entry, io.BytesIO(changed))


def test_an_archive_among_the_results_has_the_rows(published, tmp_path):
    results = tmp_path / "elsewhere" / "results"
    results.mkdir()
    shutil.copy(published, results / "suite_tiny_v1.tar.xz")
    for _ in range(2):
        assert "1 data set\n" in ddr("suite", "table", "tiny").output
    assert [path.name for path in results.iterdir()] == ["suite_tiny_v1.tar.xz"]
    assert "2 of 2 trials" in ddr("suite", "run", "tiny").output
    assert (results / "suite_tiny" / "iris" / "trials.csv").is_file()


def test_every_command_uses_fetched_rows_where_there_are_no_others(published, tmp_path):
    nothing = ddr("suite", "table", "tiny")
    assert (nothing.exit_code, "'ddr suite fetch'" in nothing.output) == (2, True)
    assert ddr("suite", "fetch", "tiny", "--from", published).exit_code == 0
    assert "1 data set\n" in ddr("suite", "table", "tiny").output
    assert "2 of 2 trials" in ddr("status", "tiny").output
    added = ddr("suite", "add", "pca", "tiny")
    assert "rank " in added.output
    assert [path.name for path in (tmp_path / "elsewhere" / "results").iterdir()] == [
        "suite_tiny_pca"
    ]
    # A run continues from the published rows in its own copy.
    assert "2 of 2 trials" in ddr("suite", "run", "tiny").output
    assert (tmp_path / "elsewhere/results/suite_tiny/iris/trials.csv").is_file()


def test_an_archive_that_is_damaged_or_of_another_version_is_refused(published, tmp_path):
    suite = tmp_path / "tiny.yaml"
    suite.write_text(suite.read_text().replace("version: 1", "version: 2"))
    with pytest.raises(InputError, match=r"version 1 of the suite .* needs version 2"):
        fetch(suite, str(published))
    changed(published, "iris/trials.csv", b"0.", b"1.")
    with pytest.raises(InputError, match=r"iris/trials.csv does not match its checksum"):
        fetch(suite, str(published))
    published.write_bytes(published.read_bytes()[:-50])
    with pytest.raises(InputError, match="damaged archive"):
        fetch(suite, str(published))
    assert not (tmp_path / "cache" / "suites").exists()


@pytest.mark.usefixtures("published")
def test_without_a_connection_the_command_says_what_to_do(monkeypatch):
    monkeypatch.setenv("DDR_OFFLINE", "1")
    done = ddr("suite", "fetch", "tiny", "--from", "https://localhost/tiny.tar.xz")
    assert (done.exit_code, "--from FILE_OR_URL" in done.output) == (2, True)
    assert len(done.output.splitlines()) == 1


def test_the_address_is_that_of_the_release_in_the_metadata(monkeypatch):
    class Installed:
        class metadata:  # noqa: N801
            get_all = staticmethod(lambda _: ["Repository, https://example.org/ddr"])

    monkeypatch.setattr("ddr_cli.suite.published.distribution", Installed)
    start, _, version = address_of("lite", 2).partition("/releases/download/v")
    assert (start, version.endswith("/suite_lite_v2.tar.xz")) == ("https://example.org/ddr", True)
