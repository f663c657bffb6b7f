import os
import time

import pytest

from ddr_cli.core.atomic import atomic_write
from ddr_cli.core.errors import InputError


def test_old_temporary_files_of_killed_writes_are_removed(tmp_path):
    old, young, other = (
        tmp_path / f".{name}.part" for name in ("a[1].0123abcd", "a[1].89abcdef", "b.0123abcd")
    )
    for left in (old, young, other):
        left.write_text("half")
    for left in (old, other):
        os.utime(left, (time.time() - 3600,) * 2)
    atomic_write(tmp_path / "a[1]", "whole")
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "a[1]", young, other])


def test_a_missing_folder_is_named(tmp_path):
    path = tmp_path / "nowhere" / "file"
    with pytest.raises(InputError, match=f"{path.parent} does not exist"):
        atomic_write(path, "text")
