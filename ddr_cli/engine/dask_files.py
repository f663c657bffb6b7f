"""Folders of arrays that dask moves between machines as it moves any value."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, SupportsIndex

from distributed import get_worker


class Files:
    """The files of a folder, in memory until somebody on this machine needs the folder.

    A value of this kind is what dask sends: pickled, it is the files' contents; unpickled, it lies
    in memory (also on the scheduler, which only passes it on) until `path` is used. Then it is a
    folder of its own in the dask worker's local directory, which is removed when dask drops the
    value. The folder may be added to: what is there when it is pickled is sent.

    Parameters
    ----------
    contents : mapping of str to bytes-like
        The files by name.
    """

    def __init__(self, contents: Mapping[str, Any]) -> None:
        self._contents: Mapping[str, Any] | None = contents
        self._folder: Path | None = None
        self._lock = threading.Lock()

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return the files of a folder, which has no folders in it."""
        return cls({path.name: path.read_bytes() for path in sorted(folder.iterdir())})

    @property
    def path(self) -> Path:
        """A folder with the files.

        Raises
        ------
        OSError
            If they can't be written.
        """
        with self._lock:
            if self._folder is None:
                folder = Path(tempfile.mkdtemp(prefix="ddr-", dir=local_directory()))
                weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
                for name, content in (self._contents or {}).items():
                    (folder / name).write_bytes(content)
                self._folder, self._contents = folder, None
            return self._folder

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        with self._lock:
            held = self._contents
            if held is None and self._folder is not None:
                held = {path.name: path.read_bytes() for path in sorted(self._folder.iterdir())}
        assert held is not None, "it has either"
        # Out of band, where dask allows for it: the contents are then not copied to be sent.
        pack = pickle.PickleBuffer if int(protocol) >= 5 else bytes
        return Files, ({name: pack(content) for name, content in held.items()},)

    def __sizeof__(self) -> int:
        # By this dask judges what it costs to move the value to another worker.
        if self._folder is not None:
            return sum(path.stat().st_size for path in self._folder.iterdir())
        return sum(memoryview(content).nbytes for content in (self._contents or {}).values())


def local_directory() -> str | None:
    """Return where the dask worker that runs this task keeps files; None elsewhere."""
    try:
        return os.fspath(get_worker().local_directory)
    except ValueError:
        return None
