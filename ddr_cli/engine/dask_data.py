"""Data sets that every worker of a dask cluster keeps, those included that come later.

As values of tasks they would be sent again and again: dask drops the copies of a value that no task
waits for at the moment. A plugin stays, but outlives a client that was killed, so the next one
removes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from distributed import WorkerPlugin, get_worker

from ddr_cli.engine.dask_files import Files

_PREFIX = "ddr-data-"


class _Kept(WorkerPlugin):
    def __init__(self, files: Files) -> None:
        self.files = files


def send(client: Any, folder: Path, number: int) -> str:
    """Have all workers keep the files of a folder, and return the name to ask for them by."""
    name = f"{_PREFIX}{client.id}-{number}"
    client.register_plugin(_Kept(Files.read(folder)), name=name)
    return name


def kept(name: str) -> Files:
    """Return what `send` sent, in a task on a worker."""
    plugin = get_worker().plugins[name]
    assert isinstance(plugin, _Kept), "the name is one that `send` gave"
    return plugin.files


def drop(client: Any, name: str) -> None:
    """Have all workers remove what `send` sent."""
    client.unregister_worker_plugin(name)


def drop_stale(client: Any) -> None:
    """Have all workers remove what clients sent that are no more."""
    for name in client.run_on_scheduler(_stale):
        drop(client, name)


def _stale(dask_scheduler: Any) -> list[str]:
    owner = {
        name: name.removeprefix(_PREFIX).rpartition("-")[0]
        for name in dask_scheduler.worker_plugins
        if name.startswith(_PREFIX)
    }
    return [name for name, client in owner.items() if client not in dask_scheduler.clients]
