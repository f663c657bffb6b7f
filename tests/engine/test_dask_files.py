from __future__ import annotations

import gc
import pickle
import sys
import tempfile
from pathlib import Path

import pytest

from ddr_cli.engine.dask_files import Files


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def sent(files: Files) -> Files:
    """Return what arrives: the contents travel beside the pickle, as dask has it."""
    buffers: list[pickle.PickleBuffer] = []
    packed = pickle.dumps(files, protocol=5, buffer_callback=buffers.append)
    assert len(packed) < 500
    arrived: Files = pickle.loads(packed, buffers=[bytes(buffer) for buffer in buffers])
    return arrived


def contents(files: Files) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in files.path.iterdir()}


def test_a_folder_arrives_with_what_was_added_to_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    wanted = {"rows.npy": b"\x00" * 5000, "empty": b""}
    for name, content in wanted.items():
        (folder / name).write_bytes(content)
    first = sent(Files.read(folder))
    assert contents(first) == wanted
    assert first.path != folder
    (first.path / "points.npy").write_bytes(b"1")
    second = sent(sent(first))
    assert contents(second) == wanted | {"points.npy": b"1"}
    assert second.path != first.path


def test_nothing_is_written_where_it_only_passes_through(scratch: Path) -> None:
    assert contents(pickle.loads(pickle.dumps(sent(Files({"a": b"1"})), protocol=4))) == {"a": b"1"}
    gc.collect()
    assert not list(scratch.iterdir())


def test_the_folder_goes_with_the_value() -> None:
    files = Files({"a": b"1"})
    folder = files.path
    assert folder.is_dir()
    del files
    gc.collect()
    assert not folder.exists()


def test_its_size_is_that_of_the_files() -> None:
    small, large = Files({"a": b"1"}), Files({"a": bytes(10**6)})
    difference = sys.getsizeof(large) - sys.getsizeof(small)
    assert difference == 10**6 - 1
    assert large.path
    assert small.path
    assert sys.getsizeof(large) - sys.getsizeof(small) == difference
