"""A failed download ends with a clear message and a clean cache, and the next one succeeds."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from ddr_cli.core.errors import DataUnavailableError
from ddr_cli.data import load_dataset
from ddr_cli.data.store import download
from tests.data.conftest import TABLE, files_below, gz, sha256, zipped

FAULTS = {
    "404": "404",
    "503": "503",
    "truncates": "was lost",
    "truncates unsaid": "expected|checksum mismatch|match the card|can't be read",
    "corrupts": "checksum mismatch|match the card|can't be read",
    "sends a page": "expected|checksum mismatch|match the card|can't be read",
    "stalls": "timed out after 0.3 s",
}
"""What the server does, and the reason that the message gives."""


def one_file(server, *, known, name="toy.csv"):
    server.files[name] = TABLE
    file: dict[str, object] = {"path": f"toy/{name}", "urls": [f"{server.url}/{name}"]}
    if known:
        file |= {"sha256": sha256(TABLE), "bytes": len(TABLE)}
    return [file]


@pytest.mark.parametrize("known", [True, False], ids=["checksum", "no checksum"])
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_ends_in_a_message_and_a_clean_cache_and_heals(
    fault, known, server, sources, write_card
):
    card = write_card(files=one_file(server, known=known))
    expected = load_dataset_locally(write_card, sources)
    server.faults["toy.csv"] = fault
    with pytest.raises(DataUnavailableError, match=FAULTS[fault]) as caught:
        load_dataset(card, sources=sources)
    message = str(caught.value)
    assert caught.value.exit_code == 3
    assert "DDR_DATA" in message
    if fault in ("404", "503", "truncates", "stalls") or known:
        assert f"{server.url}/toy.csv: " in message
    assert not [name for name in files_below(sources.cache_dir) if "local" not in name]

    server.faults.clear()
    assert load_dataset(card, sources=sources).fingerprint == expected
    kept = [name for name in files_below(sources.cache_dir) if name.endswith("toy/toy.csv")]
    assert len(kept) == 1
    assert (sources.cache_dir / kept[0]).read_bytes() == TABLE


def load_dataset_locally(write_card, sources):
    """Return the data's fingerprint when its file is next to the card."""
    card = write_card("local", files=[{"path": "local.csv"}])
    card.with_name("local.csv").write_bytes(TABLE)
    return load_dataset(card, sources=sources).fingerprint


@pytest.mark.parametrize("fault", ["503 once", "truncates once", "corrupts once", "stalls once"])
def test_passing_fault_is_overcome_by_trying_again(fault, server, sources, write_card):
    card = write_card(files=one_file(server, known=True))
    server.faults["toy.csv"] = fault
    assert load_dataset(card, sources=sources).n_samples == 300
    assert server.asked == ["toy.csv", "toy.csv"]


def test_a_server_that_sends_byte_by_byte_is_given_up(server, sources, write_card, monkeypatch):
    monkeypatch.setattr(download, "_LONGEST_START", 0.2)
    monkeypatch.setattr(download, "_LEAST_RATE", float("inf"))
    card = write_card(files=one_file(server, known=True))
    server.faults["toy.csv"] = "drips"
    with pytest.raises(DataUnavailableError, match=r"not complete after 0\.2 s"):
        load_dataset(card, sources=sources)
    assert server.asked == ["toy.csv"]


def test_missing_page_is_not_asked_for_again_but_the_next_address_is(server, sources, write_card):
    files = one_file(server, known=True)
    files[0]["urls"] = [f"{server.url}/gone.csv", f"{server.url}/toy.csv"]
    assert load_dataset(write_card(files=files), sources=sources).n_samples == 300
    assert server.asked == ["gone.csv", "toy.csv"]


def test_damaged_copy_at_the_first_address_leads_to_the_second(server, sources, write_card):
    server.files = {"a.csv.gz": gz(TABLE)[:-30], "b.csv.gz": gz(TABLE)}
    urls = [f"{server.url}/a.csv.gz", f"{server.url}/b.csv.gz"]
    card = write_card(files=[{"path": "toy/toy.csv.gz", "urls": urls}])
    assert load_dataset(card, sources=sources).n_samples == 300


def test_member_of_a_distributors_archive_is_taken_out(server, sources, write_card):
    server.files["toy.zip"] = zipped({"../evil.csv": b"1,2,a\n", "data/toy.csv": TABLE})
    url = {"url": f"{server.url}/toy.zip", "member": "toy.csv"}
    files = [{"path": "toy/toy.csv", "urls": [url], "sha256": sha256(TABLE)}]
    card = write_card(files=files)
    assert load_dataset(card, sources=sources).n_samples == 300
    assert not list(sources.cache_dir.rglob("evil.csv"))


def test_offline_never_asks(server, sources, write_card):
    card = write_card(files=one_file(server, known=True))
    with pytest.raises(DataUnavailableError, match="downloads are off"):
        load_dataset(card, sources=replace(sources, offline=True))
    assert server.asked == []


def test_second_load_asks_for_nothing(server, sources, write_card):
    card = write_card(files=one_file(server, known=True))
    first = load_dataset(card, sources=sources)
    second = load_dataset(card, sources=replace(sources, offline=True))
    assert server.asked == ["toy.csv"]
    assert second.fingerprint == first.fingerprint


def test_only_missing_files_are_downloaded(server, sources, write_card, tmp_path):
    half = len(TABLE.splitlines(keepends=True)) // 2
    parts = [b"".join(TABLE.splitlines(keepends=True)[s]) for s in (slice(half), slice(half, None))]
    server.files = {"b.csv": parts[1]}
    mirror = tmp_path / "mirror"
    (mirror / "toy").mkdir(parents=True)
    (mirror / "toy" / "a.csv").write_bytes(parts[0])
    card = write_card(
        files=[
            {"path": "toy/a.csv", "role": "train", "urls": [f"{server.url}/a.csv"]},
            {"path": "toy/b.csv", "role": "test", "urls": [f"{server.url}/b.csv"]},
        ],
        split="by_file",
    )
    dataset = load_dataset(card, sources=replace(sources, data_dirs=(mirror,)))
    assert server.asked == ["b.csv"]
    assert dataset.split is not None
    assert dataset.split.train.tolist() == list(range(half))
    assert dataset.split.test.tolist() == list(range(half, 300))


def test_damaged_file_in_the_cache_is_downloaded_again(server, sources, write_card):
    card = write_card(files=one_file(server, known=True))
    load_dataset(card, sources=sources)
    (kept,) = sources.cache_dir.rglob("toy.csv")
    kept.write_bytes(TABLE[:-100])
    with pytest.warns(RuntimeWarning, match="toy.csv.*card 'toy'.* downloads them again"):
        assert load_dataset(card, sources=sources).n_samples == 300
    assert kept.read_bytes() == TABLE


def test_damaged_file_in_the_cache_that_can_not_be_replaced_is_named(server, sources, write_card):
    card = write_card(files=one_file(server, known=True))
    load_dataset(card, sources=sources)
    (kept,) = sources.cache_dir.rglob("toy.csv")
    kept.write_bytes(TABLE[:-100])
    server.faults["toy.csv"] = "404"
    with (
        pytest.warns(RuntimeWarning, match="downloads them again"),
        pytest.raises(DataUnavailableError, match="match the card") as caught,
    ):
        load_dataset(card, sources=sources)
    assert "answered 404" in str(caught.value)
    assert kept.read_bytes() == TABLE[:-100]


def _load(card, sources):
    return load_dataset(card, sources=sources).fingerprint


def test_of_several_processes_one_downloads(server, sources, write_card):
    card = write_card(files=one_file(server, known=True))
    server.slow = 0.2
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.starmap(_load, [(card, replace(sources, timeout=5.0))] * 2)
    assert len(set(found)) == 1
    assert server.asked == ["toy.csv"]


def test_killed_download_leaves_nothing_that_is_taken_for_data(server, sources, write_card):
    card = write_card(files=one_file(server, known=False))
    server.faults["toy.csv"] = "stalls"
    code = (
        "import sys; from pathlib import Path; from ddr_cli.data import Sources, load_dataset;"
        "load_dataset(Path(sys.argv[1]),"
        "sources=Sources(data_dirs=(), cache_dir=Path(sys.argv[2]), timeout=30))"
    )
    command = [sys.executable, "-c", code, str(card), str(sources.cache_dir)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while not server.asked:
        time.sleep(0.02)
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert all(name.startswith("incoming/") for name in files_below(sources.cache_dir))

    server.faults.clear()
    assert load_dataset(card, sources=sources).n_samples == 300
    assert not any(name.startswith("incoming/") for name in files_below(sources.cache_dir))


def test_unwritable_cache_warns_and_serves_the_download_all_the_same(
    server, sources, write_card, tmp_path
):
    card = write_card(files=one_file(server, known=True))
    blocked = tmp_path / "a-file"
    blocked.write_text("no folder can be made below this")
    with pytest.warns(RuntimeWarning, match="DDR_CACHE") as caught:
        dataset = load_dataset(card, sources=replace(sources, cache_dir=blocked / "cache"))
    assert dataset.n_samples == 300
    assert len(caught) == 1
