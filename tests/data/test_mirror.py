"""The real data sets are as the papers and their distributors describe them."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tarfile
from dataclasses import replace
from hashlib import sha256
from urllib.parse import urlsplit

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from ddr_cli.data import Dataset, Sources, card_names, load_card, load_dataset
from ddr_cli.data.files import read_members


@pytest.fixture(scope="module")
def mirrored(data_mirror, tmp_path_factory):
    """The mirror, with one cache for all tests of this file."""
    return Sources((data_mirror,), tmp_path_factory.mktemp("cache"), offline=True)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is there on Linux only")
@pytest.mark.parametrize("name", ["tdt2", "newsgroups_rec"])
def test_peak_memory_is_small(name, mirrored):
    code = (
        "import sys; from pathlib import Path;"
        "from ddr_cli.data import Sources, load_dataset;"
        "load_dataset(sys.argv[1], sources=Sources((Path(sys.argv[2]),), Path(sys.argv[3]), True));"
        # ru_maxrss would begin with the memory of the process that started this one.
        "print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
    )
    places = [str(mirrored.data_dirs[0]), str(mirrored.cache_dir)]
    output = subprocess.run(
        [sys.executable, "-c", code, name, *places], capture_output=True, text=True, check=True
    )
    assert int(output.stdout) * 1024 < 250e6


# Reading these takes 14 s each, and test_formats_idx.py tests the same code.
LARGE = ("mnist", "fashion_mnist")


@pytest.mark.parametrize("name", LARGE)
def test_the_files_of_large_sets_are_those_of_the_card(name, mirrored):
    for file in load_card(name).files:
        assert sha256((mirrored.data_dirs[0] / file.path).read_bytes()).hexdigest() == file.sha256


@pytest.mark.parametrize("name", sorted({*card_names()} - {*LARGE}))
def test_every_card_and_its_first_variant_is_what_it_says(name, mirrored):
    # All variants would take long.
    card = load_card(name)
    variants = () if name == "newsgroups_rec" else card.variants[:1]
    for options in ({}, *(variant.options for variant in variants)):
        dataset = load_dataset(name, options=options, sources=mirrored)
        assert dataset.fingerprint == card.expected(options).fingerprint


PINNED = ["coffee", "colon", "golub", "mayonnaise", "nci60", "olive_oil", "srbct", "strawberry"]


@pytest.mark.parametrize("name", [*PINNED, "vowel"])
def test_the_file_at_the_address_has_the_checksum_and_the_arrays_of_the_card(
    name, data_mirror, server, tmp_path
):
    card = load_card(name)
    layout = next(each for each in card.layouts if each.files[0].urls)
    if layout.format.name == "rdata":
        pytest.importorskip("rdata", reason="the extra rdata is not installed")
    for file in layout.files:
        raw = (data_mirror / file.path).read_bytes()
        # The mirror compresses files that the distributor offers as plain text.
        unpack = file.path.endswith(".txt.gz")
        server.files[urlsplit(file.urls[0].url).path[1:]] = gzip.decompress(raw) if unpack else raw
    text = card.path.read_text().replace("https://raw.githubusercontent.com", server.url)
    moved = tmp_path / "card.yaml"
    moved.write_text(text)
    dataset = load_dataset(moved, sources=Sources((), tmp_path / "cache", attempts=1))
    assert dataset.fingerprint == card.expect.fingerprint
    assert len(server.asked) == len(layout.files)


def test_predefined_splits(mirrored):
    for name, train, test in [
        ("landsat", 4435, 2000),
        ("usps", 7291, 2007),
        ("segment", 210, 2100),
    ]:
        split = load_dataset(name, sources=mirrored).split
        assert split is not None
        assert np.concatenate([split.train, split.test]).tolist() == list(range(train + test))
        assert len(split.train) == train


@pytest.mark.parametrize(
    ("name", "accuracy"),
    [
        ("pendigits", 0.9774),  # stated by the distributor, as is the next
        ("optdigits", 0.9800),
        ("vowel", 0.5628),
        ("golub", 0.8235),
        ("srbct", 0.7),
        ("mayonnaise", 0.5238),
        ("strawberry", 0.9459),
        ("coffee", 1.0),
        ("olive_oil", 0.8667),
    ],
)
def test_the_nearest_neighbour_errs_as_often_as_published(name, accuracy, mirrored):
    dataset = load_dataset(name, sources=mirrored)
    split = dataset.split or (dataset.parts or {})["part"]
    model = KNeighborsClassifier(1).fit(dataset.X[split.train], dataset.y[split.train])
    score = model.score(dataset.X[split.test], dataset.y[split.test])
    assert score == pytest.approx(accuracy, abs=5e-5)


def test_usps_1234_is_a_part_of_usps(mirrored):
    whole = load_dataset("usps", sources=mirrored)
    part = load_dataset("usps_1234", sources=mirrored)
    rows = np.isin(whole.y, [1, 2, 3, 4])
    np.testing.assert_array_equal(part.X, whole.X[rows])
    np.testing.assert_array_equal(part.y + 1, whole.y[rows])
    assert (whole.X.min(), whole.X.max(), whole.image_shape) == (-1.0, 1.0, (16, 16))


def test_embedded_iris_and_balance_equal_the_uci_files(mirrored, data_mirror, tmp_path):
    for name, rest in [
        ("iris", "format: csv\nnames: {Iris-setosa: setosa, Iris-versicolor: versicolor, "
                 "Iris-virginica: virginica}"),
        ("balance", "format: {name: csv, label: 0}\nnames: {B: balanced, L: left, R: right}"),
    ]:  # fmt: skip
        (file,) = (data_mirror / name).glob("*.data")
        card = tmp_path / f"{name}.yaml"
        card.write_text(f"name: {name}\ntitle: x\nfiles: [{{path: {file}}}]\n{rest}\n")
        ours, theirs = (load_dataset(source, sources=mirrored) for source in (name, card))
        assert ours.fingerprint == theirs.fingerprint


def repack_gz(mirror, target):
    for source in mirror.iterdir():
        (target / f"{source.name}.gz").write_bytes(gzip.compress(source.read_bytes(), 1))


def repack_to_tar(mirror, target):
    (source,) = mirror.glob("*.zip")
    folder = target / "unpacked"
    folder.mkdir()
    for name, content in reversed(list(read_members(source))):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    with tarfile.open(target / f"{source.stem}.tar.gz", "w:gz", compresslevel=1) as archive:
        archive.add(folder, "elsewhere")


@pytest.mark.parametrize(
    ("name", "folder", "repack"), [("thyroid", "thyroid", repack_gz), ("orl", "orl", repack_to_tar)]
)
def test_packed_anew_has_the_same_fingerprint(
    name, folder, repack, mirrored, data_mirror, tmp_path
):
    target = tmp_path / folder
    target.mkdir()
    repack(data_mirror / folder, target)
    other = Sources((tmp_path,), tmp_path / "cache", offline=True)
    anew: Dataset = load_dataset(name, sources=other)
    assert anew.fingerprint == load_dataset(name, sources=mirrored).fingerprint


def test_tdt2_from_the_other_file(mirrored, data_mirror, tmp_path):
    (tmp_path / "tdt2").mkdir()
    name = "tdt2/TDT2_with_label_and_date.mat"
    (tmp_path / name).symlink_to(data_mirror / name)
    other = replace(mirrored, data_dirs=(tmp_path,))
    assert (
        load_dataset("tdt2", sources=other).fingerprint
        == load_dataset("tdt2", sources=mirrored).fingerprint
    )
