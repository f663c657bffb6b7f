"""Digests of files and code: a derived file is up to date if the digests have not changed."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from ddr_cli.core.registry import PACKAGE


def digest(*parts: bytes) -> str:
    """Return a digest of parts of which none runs into the next."""
    return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()[:32]


@cache
def code_digest() -> str:
    """Return what changes with our code; the files that a wheel adds are left out."""
    paths = [path for path in PACKAGE.rglob("*.*") if path.suffix in (".py", ".yaml")]
    added = ("_configs", "_datasets", "_suites")
    names = {path.relative_to(PACKAGE): path for path in paths}
    return digest(
        *(names[each].read_bytes() for each in sorted(names) if each.parts[0] not in added)
    )
