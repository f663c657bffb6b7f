"""Files are searched next to the card, then in mirrors, then in the cache."""

from dataclasses import replace

import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.data import Sources, load_card
from ddr_cli.data.store.sources import cache_folder, locate, missing
from tests.data.conftest import TABLE


def put(folder, name, content=TABLE):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_mirrors_come_in_order_then_the_cache(tmp_path, sources, write_card):
    card = load_card(write_card())
    sources = replace(sources, data_dirs=(tmp_path / "one", tmp_path / "two"))
    assert locate(card, sources) is None
    assert [file.path for file in missing(card, sources)] == ["toy/toy.csv"]

    for folder, kind in [
        (cache_folder(card, sources), "cache"),
        (tmp_path / "two", "mirror"),
        (tmp_path / "one", "mirror"),
        (tmp_path / "cards", "card"),
    ]:
        path = put(folder, "toy/toy.csv")
        found = locate(card, sources)
        assert found is not None
        assert found.paths == (path,)
        assert found.kind == kind


@pytest.mark.parametrize("name", ["toy/toy.csv", "toy/toy.csv.gz", "other/toy.csv"])
def test_any_of_a_files_names_is_found(name, tmp_path, sources, write_card):
    files = [{"path": "toy/toy.csv", "also": ["toy/toy.csv.gz", "other/toy.csv"]}]
    card = load_card(write_card(files=files))
    path = put(tmp_path / "mirror", name)
    found = locate(card, replace(sources, data_dirs=(tmp_path / "mirror",)))
    assert found is not None
    assert found.paths == (path,)


def test_mirror_may_name_the_folder_after_the_data_set(tmp_path, sources, write_card):
    card = load_card(write_card(files=[{"path": "elsewhere/a.csv"}]))
    path = put(tmp_path / "mirror", "toy/a.csv")
    found = locate(card, replace(sources, data_dirs=(tmp_path / "mirror",)))
    assert found is not None
    assert found.paths == (path,)


def test_layout_counts_only_when_all_its_files_are_there(tmp_path, sources, write_card):
    card = load_card(
        write_card(
            files=[{"path": "toy/a.csv"}, {"path": "toy/b.csv"}],
            alternatives=[{"files": [{"path": "toy/all.csv"}], "format": "csv"}],
        )
    )
    sources = replace(sources, data_dirs=(tmp_path / "mirror",))
    put(tmp_path / "mirror", "toy/a.csv")
    assert locate(card, sources) is None
    assert [file.path for file in missing(card, sources)] == ["toy/b.csv"]
    put(tmp_path / "mirror", "toy/all.csv")
    found = locate(card, sources)
    assert found is not None
    assert [path.name for path in found.paths] == ["all.csv"]
    put(tmp_path / "mirror", "toy/b.csv")
    found = locate(card, sources)
    assert found is not None
    assert [path.name for path in found.paths] == ["a.csv", "b.csv"]


def test_two_users_cards_do_not_share_files_in_the_cache(tmp_path, sources, write_card):
    first = load_card(write_card())
    other = tmp_path / "elsewhere" / "toy.yaml"
    put(other.parent, "toy.yaml", first.path.read_bytes() if first.path else b"")
    assert cache_folder(first, sources) != cache_folder(load_card(other), sources)


def test_path_out_of_the_mirror_is_not_followed(tmp_path, sources, write_card):
    put(tmp_path, "secret.csv")
    card = load_card(write_card(files=[{"path": "../../secret.csv"}]))
    (tmp_path / "a" / "mirror").mkdir(parents=True)
    assert locate(card, replace(sources, data_dirs=(tmp_path / "a" / "mirror",))) is None


@pytest.mark.parametrize(
    ("value", "offline"),
    [("1", True), ("true", True), ("yes", True), ("0", False), ("", False), ("No", False)],
)
def test_environment(value, offline, tmp_path, monkeypatch):
    monkeypatch.setenv("DDR_DATA", f"{tmp_path}/one:{tmp_path}/two:")
    monkeypatch.setenv("DDR_CACHE", f"{tmp_path}/cache")
    monkeypatch.setenv("DDR_OFFLINE", value)
    sources = Sources.from_environment()
    assert sources.data_dirs == (tmp_path / "one", tmp_path / "two")
    assert sources.cache_dir == tmp_path / "cache"
    assert sources.offline is offline
    assert Sources.from_environment(offline=True).offline
    named = Sources.from_environment(data_dirs=[tmp_path])
    assert named.data_dirs == (tmp_path, tmp_path / "one", tmp_path / "two")


def test_named_data_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(InputError, match="--data-dir"):
        Sources.from_environment(data_dirs=[tmp_path / "nowhere"])
