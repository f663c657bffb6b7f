"""The titles of the shipped specs, read without loading any estimator."""

from __future__ import annotations

from ddr_cli.core.errors import InputError
from ddr_cli.core.marked_yaml import read_document
from ddr_cli.core.resources import shipped_yaml
from ddr_cli.spec.rules import RULES


def spec_titles() -> dict[str, str]:
    """Return the title of every shipped spec by its name, sorted by name."""
    titles = {}
    for name, path in shipped_yaml("configs").items():
        try:
            data = read_document(path, RULES).data
        except InputError:
            data = None
        title = data.get("title") if isinstance(data, dict) else None
        titles[name] = title if isinstance(title, str) else f"(see 'ddr validate {name}')"
    return titles
