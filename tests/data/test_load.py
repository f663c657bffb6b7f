"""Loading: classes, splits, verification, and the cache of parsed arrays."""

from __future__ import annotations

import errno
import warnings
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from ddr_cli.core.errors import DataUnavailableError, InputError
from ddr_cli.data import Sources, load, load_card, load_dataset
from ddr_cli.data.dataset import DataMismatchError
from ddr_cli.data.formats import FORMATS
from ddr_cli.data.store import cache
from tests.data.conftest import TABLE, files_below, gz


@pytest.fixture
def toy(tmp_path, write_card):
    """Return a function that writes a card and its file next to it."""

    def write(**changes):
        path = tmp_path / "cards" / "toy" / "toy.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(TABLE)
        return write_card(**changes)

    return write


def parsed(sources):
    return sorted((sources.cache_dir / "parsed").glob("*.npz"))


def test_arrays_and_names(toy, sources):
    dataset = load_dataset(toy(), sources=sources)
    assert dataset.name == "toy"
    assert dataset.title == "A toy"
    assert dataset.X.shape == (300, 2)
    assert dataset.X.dtype == np.float64
    assert dataset.y.dtype == np.int64
    assert dataset.target_names == ("left", "right")
    assert dataset.class_counts == {"left": 200, "right": 100}
    np.testing.assert_array_equal(dataset.X[:, 1], np.arange(300))
    np.testing.assert_array_equal(dataset.y == 1, np.arange(300) % 3 == 0)


def test_names_order_the_classes(toy, sources):
    names = {"right": "R", "left": "L"}
    dataset = load_dataset(toy(names=names, expect={}), sources=sources)
    assert dataset.class_counts == {"R": 100, "L": 200}


def test_label_without_a_name_is_an_error(toy, sources):
    with pytest.raises(InputError, match=r"label 'left'.*Did you mean 'lefd'"):
        load_dataset(toy(names={"right": "R", "lefd": "L"}, expect={}), sources=sources)


def test_kept_classes_keep_their_part_of_the_split(toy, sources):
    card = toy(
        files=[{"path": "toy/toy.csv", "role": "train"}, {"path": "toy/two.csv", "role": "test"}],
        split="by_file",
        keep=["right"],
        expect={"split": {"train": 100, "test": 1}},
    )
    card.parent.joinpath("toy", "two.csv").write_bytes(b"1,2,left\n3,4,right\n")
    dataset = load_dataset(card, sources=sources)
    assert dataset.split is not None
    assert dataset.split.train.tolist() == list(range(100))
    assert dataset.split.test.tolist() == [100]
    assert dataset.class_counts == {"right": 101}


# Labels that are fractions, rows without a label, groups and a given split.
FRACTIONS = "size,site,fold,kind\n" + "".join(
    f"{i},{'abc'[i % 3]},{('train', 'test')[i % 2]},{(0.5, 1.5, 2.5, '')[i % 4]}\n"
    for i in range(24)
)


@pytest.mark.parametrize("kept", [None, ["0.5", "1.5"]])
def test_rows_without_a_label_stay_unlabelled(kept, tmp_path, write_card, sources):
    card = write_card(
        files=[{"path": "toy.csv"}],
        format={"name": "csv", "label": "kind", "groups": "site", "parts": ["fold"]},
        unlabelled="keep",
        expect={},
        **({"keep": kept} if kept else {}),
    )
    (tmp_path / "cards" / "toy.csv").write_text(FRACTIONS)
    dataset = load_dataset(card, sources=sources)
    names = kept or ["0.5", "1.5", "2.5"]
    rows = [i for i in range(24) if not kept or i % 4 != 2]
    assert dataset.class_counts == dict.fromkeys(names, 6)
    assert dataset.n_unlabelled == 6
    assert dataset.X[:, 0].tolist() == rows
    assert (dataset.y == -1).tolist() == [i % 4 == 3 for i in rows]
    assert dataset.groups.tolist() == [i % 3 for i in rows]
    split = dataset.parts["fold"]
    assert dataset.X[split.train, 0].tolist() == [i for i in rows if i % 2 == 0]
    assert dataset.X[split.test, 0].tolist() == [i for i in rows if i % 2 == 1]


def test_rows_without_a_label_are_refused_by_default(tmp_path, write_card, sources):
    card = write_card(
        files=[{"path": "toy.csv"}],
        format={"name": "csv", "label": "kind", "ignore": ["site", "fold"]},
        expect={},
    )
    (tmp_path / "cards" / "toy.csv").write_text(FRACTIONS)
    with pytest.raises(InputError, match=r"line 5.*`unlabelled: keep`"):
        load_dataset(card, sources=sources)


def test_merged_classes_keep_their_subclasses(sources):
    dataset = load_dataset("iris_lfda", sources=sources)
    assert dataset.class_counts == {"setosa or virginica": 100, "versicolor": 50}
    assert dataset.subclass_names == ("setosa", "versicolor", "virginica")
    assert dataset.subclasses is not None
    np.testing.assert_array_equal(np.bincount(dataset.subclasses), [50, 50, 50])
    np.testing.assert_array_equal(dataset.y == 1, dataset.subclasses == 1)


@pytest.mark.parametrize(
    ("expect", "what"),
    [
        ({"samples": 299}, "300 samples.*299"),
        ({"features": 3}, "2 features.*3"),
        ({"classes": {"left": 201, "right": 99}}, "'left'.*200.*201"),
        ({"classes": {"left": 200, "rihgt": 100}}, "classes.*left, right.*rihgt"),
        ({"split": {"train": 1, "test": 1}}, "split.*0 training and 0 test.*1 and 1"),
        ({"fingerprint": "sha256:" + 64 * "0"}, "fingerprint"),
    ],
)
def test_data_that_is_not_what_the_card_says_is_refused(expect, what, toy, sources):
    for _ in range(2):  # the second time, the arrays could be in the cache
        with pytest.raises(DataMismatchError, match=what) as caught:
            load_dataset(toy(expect=expect), sources=sources)
        assert caught.value.exit_code == 3
        assert "toy.csv" in str(caught.value)
    assert parsed(sources) == []


def test_what_the_card_expects_also_holds_for_the_cached_arrays(toy, sources):
    load_dataset(toy(), sources=sources)
    with pytest.raises(DataMismatchError, match=r"300 samples.*12"):
        load_dataset(toy(expect={"samples": 12}), sources=sources)


def test_users_own_unreadable_file_is_the_users_mistake(toy, sources):
    card = toy()
    card.parent.joinpath("toy", "toy.csv").write_bytes(b"1,2,left\n3,x,right\n")
    with pytest.raises(InputError, match="line 2") as caught:
        load_dataset(card, sources=sources)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("format_", "what"),
    [
        ({"name": "cvs"}, "Did you mean 'csv'"),
        ({"name": "csv", "haeder": True}, "has no 'haeder'. Did you mean 'header'"),
        ({"name": "csv", "header": "perhaps"}, "header must be true or false"),
    ],
)
def test_wrong_format_is_reported(format_, what, toy, sources):
    with pytest.raises(InputError, match=what):
        load_dataset(toy(format=format_), sources=sources)


def test_missing_data_says_what_was_tried_and_what_can_be_done(sources, tmp_path):
    offline = replace(sources, data_dirs=(tmp_path,), offline=True)
    with pytest.raises(DataUnavailableError) as caught:
        load_dataset("landsat", sources=offline)
    message = str(caught.value)
    assert caught.value.exit_code == 3
    for part in (
        f"data folder {tmp_path}",
        str(sources.cache_dir),
        "landsat/sat.trn, landsat/sat.tst",
        "downloads are off",
        "FOLDER/landsat/sat.trn",
        "DDR_DATA=FOLDER",
        "digits_ccdr_beta",
    ):
        assert part in message


@pytest.mark.parametrize("content", [b"", b"1 2 3\n", b"\x1f\x8b damaged", b"<html></html>"])
def test_damaged_mirror_of_a_shipped_set_is_no_mistake_of_the_users(content, sources, tmp_path):
    folder = tmp_path / "mirror" / "landsat"
    folder.mkdir(parents=True)
    for name in ("sat.trn", "sat.tst"):
        (folder / name).write_bytes(content)
    with pytest.raises(DataMismatchError, match=r"can't be read|match the card") as caught:
        load_dataset("landsat", sources=replace(sources, data_dirs=(tmp_path / "mirror",)))
    assert caught.value.exit_code == 3
    assert str(folder / "sat.trn") in str(caught.value)


def count_parses(monkeypatch):
    calls: list[str] = []
    assemble = load.assemble

    def counted(*args):
        calls.append("parsed")
        return assemble(*args)

    monkeypatch.setattr(load, "assemble", counted)
    return calls


def same(one, other):
    return (
        one.fingerprint == other.fingerprint
        and one.target_names == other.target_names
        and one.image_shape == other.image_shape
        and one.feature_names == other.feature_names
        and bool((one.X != other.X).sum() == 0)
        and one.X.dtype == other.X.dtype
        and bool((one.y == other.y).all())
    )


def test_second_load_parses_nothing(toy, sources, monkeypatch):
    calls = count_parses(monkeypatch)
    card = toy(image_shape=[1, 2])
    first = load_dataset(card, sources=sources)
    assert same(first, load_dataset(card, sources=sources))
    assert len(calls) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"decimals": 1},
        {"names": {"left": "L", "right": "R"}, "expect": {}},
        {"format": {"name": "csv", "label": 2, "ignore": [0]}, "expect": {}},
    ],
)
def test_changed_card_is_parsed_anew(changes, toy, sources, monkeypatch):
    load_dataset(toy(), sources=sources)
    calls = count_parses(monkeypatch)
    load_dataset(toy(**changes), sources=sources)
    assert len(calls) == 1


def test_another_version_of_ddr_parses_anew(toy, sources, monkeypatch):
    load_dataset(toy(), sources=sources)
    calls = count_parses(monkeypatch)
    monkeypatch.setattr(cache, "__version__", "0.0.1")
    load_dataset(toy(), sources=sources)
    assert len(calls) == 1


def test_options_and_the_version_of_the_format_are_in_the_key(tmp_path, sources, write_card):
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "toy.csv").write_bytes(TABLE)
    card = load_card(
        write_card(
            files=[{"path": "toy.csv"}],
            format={"name": "csv", "label": 2},
            options={"skip_lines": {"default": 0}},
            expect={},
        )
    )
    (layout,), paths = card.layouts, [tmp_path / "cards" / "toy.csv"]

    def kept(skip_lines):
        options = {"skip_lines": skip_lines}
        assert load_dataset(card.path, options=options, sources=sources).n_samples == (
            300 - skip_lines
        )
        return cache.parsed_path(card, layout, paths, options, sources.cache_dir)

    assert kept(0) != kept(3)
    assert sorted(parsed(sources)) == sorted([kept(0), kept(3)])
    before, entry = kept(0), FORMATS.ours["csv"]
    FORMATS.ours["csv"] = replace(entry, version=entry.version + 1)
    try:
        assert kept(0) != before
    finally:
        FORMATS.ours["csv"] = entry


def test_changed_file_is_parsed_anew(toy, sources):
    card = toy(expect={})
    first = load_dataset(card, sources=sources)
    file = card.parent / "toy" / "toy.csv"
    file.write_bytes(TABLE.replace(b"0.25,", b"0.50,", 1))
    assert load_dataset(card, sources=sources).fingerprint != first.fingerprint


def test_a_renamed_file_of_a_folder_is_parsed_anew(tmp_path, write_card, sources):
    card = write_card(
        files=[{"path": "pictures"}], format={"name": "images", "label": "folder"}, expect={}
    )
    folder = tmp_path / "cards" / "pictures"
    for number in range(6):
        path = folder / ("cat" if number < 4 else "cow") / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((2, 2), 40 * number, dtype=np.uint8)).save(path)
    assert load_dataset(card, sources=sources).class_counts == {"cat": 4, "cow": 2}
    (folder / "cat" / "3.png").rename(folder / "cow" / "3.png")
    assert load_dataset(card, sources=sources).class_counts == {"cat": 3, "cow": 3}


@pytest.mark.parametrize("damage", ["cut short", "emptied", "one bit", "another file", "text"])
def test_damaged_cached_arrays_are_found_and_made_anew(damage, toy, sources):
    card = toy(image_shape=[1, 2])
    first = load_dataset(card, sources=sources)
    (path,) = parsed(sources)
    content = path.read_bytes()
    middle = len(content) // 3
    path.write_bytes(
        {
            "cut short": content[: len(content) // 2],
            "emptied": b"",
            "one bit": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
            "another file": b"PK\x05\x06" + bytes(18),
            "text": b"not an archive",
        }[damage]
    )
    assert same(first, load_dataset(card, sources=sources))
    assert path.read_bytes()[:2] == b"PK"
    assert len(path.read_bytes()) == len(content)


def test_tampered_values_with_right_checksums_are_found_by_the_fingerprint(toy, sources):
    card = toy()
    first = load_dataset(card, sources=sources)
    (path,) = parsed(sources)
    with np.load(path) as stored:
        arrays = dict(stored)
    arrays["dense"][5, 0] += 1
    np.savez(path, **arrays)
    assert same(first, load_dataset(card, sources=sources))


def test_full_cache_warns_once_and_loads(toy, sources, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("numpy.savez", full)
    monkeypatch.setattr(cache, "_warned", set())
    card = toy()
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        assert load_dataset(card, sources=sources).n_samples == 300
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_dataset(card, sources=sources).n_samples == 300
    assert files_below(sources.cache_dir) == []


def test_sparse_and_grouped_data_come_back_from_the_cache(tmp_path, sources, write_card):
    lines = [f"{i % 3} qid:{7 + i // 10} 1:{i} 4:{i / 8} #docid = {i}" for i in range(50)]
    cards = tmp_path / "cards"
    cards.mkdir()
    (cards / "pairs.txt").write_text("\n".join(lines) + "\n")
    card = write_card(
        files=[{"path": "pairs.txt"}],
        format={"name": "letor", "labels": "relevance", "n_features": 6, "dense": False},
        expect={"samples": 50, "features": 6},
    )
    first = load_dataset(card, sources=sources)
    again = load_dataset(card, sources=sources)
    assert again.fingerprint == first.fingerprint
    assert again.X.format == "csr"
    assert abs(again.X - first.X).nnz == 0
    assert first.groups is not None
    np.testing.assert_array_equal(again.groups, first.groups)
    assert first.groups.tolist() == [i // 10 for i in range(50)]


def test_plain_and_gz_have_one_fingerprint(tmp_path, sources, write_card):
    card = write_card(files=[{"path": "toy/a.csv", "also": ["toy/a.csv.gz"]}])
    found = set()
    for name, content in [("a.csv", TABLE), ("a.csv.gz", gz(TABLE))]:
        folder = tmp_path / name.replace(".", "-") / "toy"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(content)
        found.add(
            load_dataset(card, sources=replace(sources, data_dirs=(folder.parent,))).fingerprint
        )
    assert len(found) == 1


@pytest.mark.parametrize("name", ["iris", "balance", "digits", "rings", "swiss_roll"])
def test_embedded_data_needs_no_place_at_all(name, tmp_path):
    nowhere = Sources(data_dirs=(), cache_dir=tmp_path / "cache", offline=True)
    assert load_dataset(name, sources=nowhere).n_samples > 0
    assert not (tmp_path / "cache").exists()


def test_generator_options_reach_the_generator(sources):
    small = load_dataset("rings", options={"n_samples": 60, "noise_features": 2}, sources=sources)
    assert small.X.shape == (60, 4)
    other = load_dataset("rings", options={"random_state": 1}, sources=sources)
    assert other.fingerprint != load_dataset("rings", sources=sources).fingerprint
    with pytest.raises(InputError, match="n_samples"):
        load_dataset("rings", options={"n_samples": 0}, sources=sources)
