"""`ddr data import` puts a user's files into the cache only if all are verified."""

from __future__ import annotations

import tarfile
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from ddr_cli.core.errors import InputError
from ddr_cli.data import load_card, load_dataset
from ddr_cli.data.import_files import import_files
from tests.data.conftest import TABLE, files_below, gz, zipped

HALF = len(TABLE) // 2 + TABLE[len(TABLE) // 2 :].index(b"\n") + 1


@pytest.fixture
def card(write_card):
    """A card of two files."""
    return write_card(
        files=[
            {"path": "toy/part/train.csv", "also": ["toy/part/train.csv.gz"], "role": "train"},
            {"path": "toy/part/test.csv", "role": "test"},
        ],
        split="by_file",
    )


def write(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


FORMS: dict[str, dict[str, bytes]] = {
    "plain": {"train.csv": TABLE[:HALF], "test.csv": TABLE[HALF:]},
    "gz": {"train.csv.gz": gz(TABLE[:HALF]), "test.csv": TABLE[HALF:]},
    "upper case": {"TRAIN.CSV": TABLE[:HALF], "Test.csv": TABLE[HALF:]},
    "deep": {"x/part/train.csv": TABLE[:HALF], "x/part/test.csv": TABLE[HALF:]},
    "among others": {
        "other/train.csv": b"9,9,left\n",
        "part/train.csv": TABLE[:HALF],
        "other/test.csv": b"9,9,left\n",
        "part/test.csv": TABLE[HALF:],
    },
    "archive": {"all.zip": zipped({"d/train.csv": TABLE[:HALF], "d/test.csv": TABLE[HALF:]})},
}


@pytest.mark.parametrize("form", FORMS)
def test_import_then_load(form, card, tmp_path, sources):
    given = write(tmp_path / "given", FORMS[form])
    paths = [given / "all.zip"] if form == "archive" else [given]
    imported = import_files(load_card(card), paths, sources)
    kept = files_below(sources.cache_dir)
    assert len([name for name in kept if "/part/t" in name]) == 2
    loaded = load_dataset(card, sources=replace(sources, offline=True))
    assert loaded.fingerprint == imported.fingerprint
    assert loaded.split is not None
    assert len(loaded.split.train) == TABLE[:HALF].count(b"\n")


def test_files_may_be_given_one_by_one(card, tmp_path, sources):
    given = write(tmp_path / "given", FORMS["plain"])
    files = [given / "test.csv", given / "train.csv"]
    assert import_files(load_card(card), files, sources).n_samples == 300


def test_single_file_may_have_any_name(write_card, tmp_path, sources):
    given = write(tmp_path / "given", {"downloaded (1)": gz(TABLE)})
    card = load_card(write_card())
    assert import_files(card, [given / "downloaded (1)"], sources).n_samples == 300


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"train.csv": TABLE[:HALF]}, "missing: .*toy/part/test.csv"),
        ({"readme.txt": b"hello"}, "missing: toy/part/train.csv, toy/part/test.csv"),
        ({"train.csv": TABLE, "test.csv": TABLE}, "they have 600 samples, not 300"),
        ({"train.csv": TABLE[:HALF], "test.csv": b"<html>"}, "can't be read"),
        ({"train.csv.gz": gz(TABLE[:HALF])[:-20], "test.csv": TABLE[HALF:]}, "damaged"),
    ],
)
def test_files_of_other_data_are_not_imported(files, what, card, tmp_path, sources):
    given = write(tmp_path / "given", files)
    with pytest.raises(InputError, match=what) as caught:
        import_files(load_card(card), [given], sources)
    assert caught.value.exit_code == 2
    assert files_below(sources.cache_dir) == []


def test_path_that_is_not_there(card, tmp_path, sources):
    with pytest.raises(InputError, match="no file or folder"):
        import_files(load_card(card), [tmp_path / "nothing"], sources)


def test_embedded_data_needs_no_import(tmp_path, sources):
    with pytest.raises(InputError, match="needs no files"):
        import_files(load_card("iris"), [tmp_path], sources)


@pytest.mark.parametrize("ending", ["zip", "tar.gz"])
def test_unpacked_folder_stands_for_its_archive_with_the_same_fingerprint(
    ending, write_card, tmp_path, sources
):
    folder = tmp_path / "pictures"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for index in range(12):
        pixels = rng.integers(0, 256, (4, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"obj{index % 2}__{index}.png")
    card = load_card(
        write_card(
            files=[{"path": f"pictures/all.{ending}"}],
            format={"name": "images", "label": "obj([0-9]+)__"},
            expect={"samples": 12, "features": 12, "classes": {0: 6, 1: 6}},
        )
    )
    unpacked = import_files(card, [folder], sources)

    names = sorted(folder.iterdir(), reverse=True)  # as packed by someone else, in another order
    packed = tmp_path / f"all.{ending}"
    if ending == "zip":
        with zipfile.ZipFile(packed, "w") as archive:
            for name in names:
                archive.write(name, f"their/folder/{name.name}")
    else:
        with tarfile.open(packed, "w:gz") as archive:
            for name in names:
                archive.add(name, f"./their/{name.name}")
    elsewhere = replace(sources, cache_dir=tmp_path / "elsewhere")
    assert import_files(card, [packed], elsewhere).fingerprint == unpacked.fingerprint
    assert unpacked.image_shape == (4, 3)
