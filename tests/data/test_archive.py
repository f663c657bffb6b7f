"""Archives are read in memory, up to a limit, and write nothing elsewhere."""

import io
import random
import tarfile
import zipfile

import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.data import files
from ddr_cli.data.files import check_packing, is_archive, read_members
from tests.data.conftest import gz, zipped

FILES = {"a/1.txt": b"one", "a/2.txt": b"two" * 100, "b/3.txt": b""}


def tarred(files, mode="w:gz"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def put(folder, content, name="archive"):
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [zipped(FILES), *(tarred(FILES, f"w:{kind}") for kind in ("", "gz", "bz2", "xz"))],
    ids=["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"],
)
def test_members_of_any_archive_whatever_its_name(content, tmp_path):
    path = put(tmp_path, content)
    assert is_archive(path)
    assert dict(read_members(path)) == FILES
    assert dict(read_members(path, wanted=lambda name: name.startswith("b/"))) == {"b/3.txt": b""}
    check_packing(path)


@pytest.mark.parametrize(
    "name", ["../evil.txt", "a/../../evil.txt", "__MACOSX/a/1.txt", "a/.DS_Store", "a/._1.txt"]
)
@pytest.mark.parametrize("pack", [zipped, tarred])
def test_names_that_lead_out_or_are_junk_are_passed_over(name, pack, tmp_path):
    path = put(tmp_path, pack({name: b"evil", "a/1.txt": b"one"}))
    assert dict(read_members(path)) == {"a/1.txt": b"one"}


def test_names_are_tidied(tmp_path):
    path = put(tmp_path, tarred({"./a/1.txt": b"one", "/b/2.txt": b"two"}))
    assert dict(read_members(path)) == {"a/1.txt": b"one", "b/2.txt": b"two"}


def test_links_are_passed_over(tmp_path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        link = tarfile.TarInfo("passwd")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert dict(read_members(put(tmp_path, buffer.getvalue()))) == {}


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_bomb_is_refused_before_it_fills_the_memory(pack, tmp_path, monkeypatch):
    bomb = pack({f"{i}.txt": bytes(400_000) for i in range(5)})
    assert len(bomb) < 20_000
    path = put(tmp_path, bomb)
    monkeypatch.setattr(files, "UNPACKED_LIMIT", 1_000_000)
    with pytest.raises(InputError, match="limit of 1000000 bytes"):
        list(read_members(path))
    monkeypatch.setattr(files, "UNPACKED_LIMIT", 2_100_000)
    assert len(list(read_members(path))) == 5
    monkeypatch.setattr(files, "MOST_FILES", 4)
    with pytest.raises(InputError, match="the limit of 4"):
        list(read_members(path))


def test_bomb_that_lies_about_its_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "UNPACKED_LIMIT", 1000)
    content = zipped({"a.txt": bytes(1_000_000)})
    told = content.replace((1_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert told != content
    with pytest.raises(InputError):
        list(read_members(put(tmp_path, told)))


def test_bomb_among_the_members_that_are_not_wanted_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "UNPACKED_LIMIT", 1_000_000)
    path = put(tmp_path, tarred({"bomb": bytes(2_000_000), "a.txt": b"one"}))
    with pytest.raises(InputError, match="unpacks to more"):
        list(read_members(path, wanted=lambda name: name == "a.txt"))


@pytest.mark.parametrize("pack", [zipped, tarred, lambda files: gz(files["noise"])])
@pytest.mark.parametrize("damage", ["cut", "bit"])
def test_damage_is_found(pack, damage, tmp_path):
    noise = random.Random(0).randbytes(20_000)
    content = pack({"noise": noise})
    middle = len(content) // 2
    if damage == "cut":
        spoilt = content[:middle]
    else:
        spoilt = content[:middle] + bytes([content[middle] ^ 8]) + content[middle + 1 :]
    path = put(tmp_path, spoilt)
    if pack is zipped and damage == "cut":
        assert not is_archive(path)  # a zip file has its index at its end
        return
    with pytest.raises(InputError, match=r"damaged"):
        check_packing(path)


def test_file_that_is_no_archive(tmp_path):
    path = put(tmp_path, b"1,2,3\n")
    assert not is_archive(path)
    assert not is_archive(tmp_path)
    check_packing(path)
    with pytest.raises(InputError, match="damaged"):
        list(read_members(path))
    with pytest.raises(InputError, match="can't be read"):
        list(read_members(tmp_path / "nothing"))


def test_encrypted_zip_is_refused_in_a_sentence(tmp_path):
    content = bytearray(zipped({"a.txt": b"secret"}))
    for start in (content.index(b"PK\x03\x04") + 6, content.index(b"PK\x01\x02") + 8):
        content[start] |= 1
    path = put(tmp_path, bytes(content))
    assert zipfile.is_zipfile(path)
    with pytest.raises(InputError, match="encrypted"):
        list(read_members(path))
