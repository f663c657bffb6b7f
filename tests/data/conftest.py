"""A small data set, and a web server that can fail in many ways."""

from __future__ import annotations

import gzip
import hashlib
import threading
import time
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from ddr_cli.data import Sources

TABLE = "".join(f"{i % 7 / 4},{i},{'left' if i % 3 else 'right'}\n" for i in range(300)).encode()


@dataclass
class FaultyServer:
    """Serves `files` by path; `faults` maps a path to its fault until it is removed."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    slow: float = 0.0
    closing: threading.Event = field(default_factory=threading.Event)


def _handler(server):
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def _send(self, body: bytes, length: int | None, status: int = 200) -> None:
            self.send_response(status)
            if length is not None:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            server.asked.append(name)
            body = server.files.get(name)
            fault = server.faults.get(name)
            time.sleep(server.slow)
            if fault is not None and fault.endswith(" once"):
                del server.faults[name]
                fault = fault.removesuffix(" once")
            if body is None or fault == "404":
                self._send(b"no such page", 12, status=404)
            elif fault == "503":
                self._send(b"come again", 10, status=503)
            elif fault == "truncates":
                self._send(body[: len(body) // 2], len(body))
            elif fault == "truncates unsaid":
                self._send(body[: len(body) // 2], None)
            elif fault == "corrupts":
                middle = len(body) // 2
                spoilt = bytes(byte ^ 0x01 for byte in body[middle : middle + 40])
                self._send(body[:middle] + spoilt + body[middle + 40 :], len(body))
            elif fault == "sends a page":
                page = b"<html><body>Please log in.</body></html>"
                self._send(page, len(page))
            elif fault == "drips":
                self._send(body[:5], len(body))
                with suppress(OSError):
                    while not server.closing.wait(0.02):
                        self.wfile.write(b"x")
            elif fault == "stalls":
                self._send(body[: len(body) // 2], len(body))
                server.closing.wait(30)
            else:
                self._send(body, len(body))

    return Handler


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    state = FaultyServer(url="")
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    http.daemon_threads = True
    http.block_on_close = False
    state.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield state
    state.closing.set()
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Make pooch retry without waiting."""
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda _: None))


@pytest.fixture
def sources(tmp_path):
    """Return sources without a mirror, with an empty cache and a short timeout."""
    return Sources(data_dirs=(), cache_dir=tmp_path / "cache", attempts=2, timeout=0.3)


@pytest.fixture
def write_card(tmp_path):
    """Return a function that writes a card for `TABLE` with changed fields."""

    def write(name="toy", **changes):
        content: dict[str, Any] = {
            "name": name,
            "title": "A toy",
            "files": [{"path": f"{name}/toy.csv"}],
            "format": {"name": "csv", "label": 2},
            "expect": {"samples": 300, "features": 2, "classes": {"left": 200, "right": 100}},
        }
        content.update(changes)
        folder = tmp_path / "cards"
        folder.mkdir(exist_ok=True)
        path = folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(content, sort_keys=False))
        return path

    return write


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def gz(content):
    return gzip.compress(content, mtime=0)


def zipped(files):
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return buffer.getvalue()


def files_below(folder):
    """Return the files in a cache, without lock files."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "locks"
    )
