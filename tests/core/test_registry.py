"""The registry finds components of other packages and reports what it cannot load."""

from pathlib import Path

import pytest

from ddr_cli.core import registry as registry_module
from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import Entry, Registry, components

OURS = [Entry("mean", "statistics:mean", "the mean"), Entry("broken", "no_such_module:x", "gone")]


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Return a function that installs a package with entry points, as a wheel would."""

    def install(name, lines):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[ddr.tests]\n{lines}\n")
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


def test_a_name_that_is_nearly_right_is_named():
    with pytest.raises(InputError, match=r"no average called 'maen'\. Did you mean 'mean'\?"):
        Registry("average", OURS, "ddr.tests").load("maen")


def test_a_piece_that_cannot_be_imported_is_the_users_problem():
    with pytest.raises(InputError, match=r"'broken' .*no_such_module"):
        Registry("average", OURS, "ddr.tests").load("broken")


def test_another_packages_piece_is_found(offer):
    offer("theirs", "median = statistics:median")
    registry = Registry("average", OURS, "ddr.tests")
    assert registry.names() == ["mean", "broken", "median"]
    assert registry.get("median").origin == "theirs"
    assert registry.load("median")([1, 2, 9]) == 2


def test_a_component_is_found_in_its_file_without_importing_it(tmp_path, monkeypatch):
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "kinds.py").write_text(
        "import no_such_module\n\n\n"
        '@registered(\n    "mean",\n    "median",\n    "the middle (of "\n    "values)",\n'
        '    label="Median",\n    look=("blue", "o"),\n)\n'
        "class Median:\n    pass\n\n\n"
        '@registered("mean", "average", "the mean")\ndef average():\n    pass\n\n\n'
        '@registered("spread", "range", "the range")\nclass Range:\n    pass\n'
    )
    monkeypatch.setattr(registry_module, "PACKAGE", tmp_path / "ddr_cli")
    assert list(components("mean", "ours")) == [
        Entry("average", "ours.kinds:average", "the mean"),
        Entry(
            "median",
            "ours.kinds:Median",
            "the middle (of values)",
            label="Median",
            look=("blue", "o"),
        ),
    ]


def test_every_registered_component_of_the_package_is_found_once():
    package = Path(registry_module.__file__).parents[1]
    declared = sum(
        line.startswith("@registered(")
        for path in package.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    found = [
        (kind, entry.name)
        for part in ("data", "evaluation", "reducers")
        for kind, entries in registry_module._components(f"ddr_cli.{part}").items()
        for entry in entries
    ]
    assert len(set(found)) == len(found) == declared


def test_two_pieces_of_one_name_are_refused(offer):
    offer("theirs", "mean = statistics:median")
    with pytest.raises(InputError, match=r"Both ddr and theirs .*'mean'"):
        Registry("average", OURS, "ddr.tests").names()


def test_a_module_that_fails_on_import_gives_no_traceback(offer, tmp_path):
    (tmp_path / "their_module.py").write_text("1 / 0\n")
    offer("theirs", "mode = their_module:mode")
    with pytest.raises(InputError, match=r"'mode' .from theirs. .*ZeroDivisionError"):
        Registry("average", OURS, "ddr.tests").load("mode")
