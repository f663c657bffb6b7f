"""Where the shipped specs and cards are: in a checkout at the top, in a wheel inside it."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(folder: str) -> Path:
    """Return the folder of shipped files called `folder`, ``"configs"`` or ``"datasets"``."""
    installed = _PACKAGE / f"_{folder}"
    return installed if installed.is_dir() else _PACKAGE.parent / folder


def shipped_yaml(folder: str) -> dict[str, Path]:
    """Return every shipped YAML file of `folder` by its name without the ending, sorted."""
    return {path.stem: path for path in sorted(shipped(folder).glob("*.yaml"))}
