"""Fixtures: a valid spec in its own folder, edited line by line, and made-up estimators."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from ddr_cli.core.registry import Entry, Registry
from ddr_cli.spec import estimators

RIGHT = """\
title: CCDR on the digits
dataset: digits
split: {kind: fraction, train: 0.5, repeats: 10, seed: 0}
preprocess: []
reducers:
  - {name: ccdr, n_components: 9, n_neighbors: 4, mode: transductive}
  - none
classifiers:
  - {name: knn, n_neighbors: 3}
  - linear
sweep:
  reducer.beta: {log: [0.01, 10, 7]}
metrics: [error]
plot: {x: reducer.beta, interval: 0.80}
controls: []
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Change to an empty folder and return it, so that messages have short paths (``x.yaml``)."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def edit(folder):
    """Return a function that writes the valid spec with replaced texts and returns its path."""

    def write(*replacements, text=RIGHT, name="x.yaml"):
        for old, new in replacements:
            assert text.count(old) == 1, f"{old!r} is in the text {text.count(old)} times"
            text = text.replace(old, new)
        (folder / name).write_text(text, encoding="utf-8")
        return name

    return write


@pytest.fixture
def offer(monkeypatch):
    """Return a function that registers estimators next to the shipped ones, for one test."""

    def register(registry_name, **factories):
        for factory in factories.values():
            # Every estimator needs these methods, but no test here fits one.
            for method in ("fit", "fit_transform", "predict"):
                if not hasattr(factory, method):
                    setattr(factory, method, None)
        module = ModuleType("made_up_estimators")
        vars(module).update(factories)
        monkeypatch.setitem(sys.modules, "made_up_estimators", module)
        home = {"REDUCERS": estimators.reducers, "CLASSIFIERS": estimators.evaluators}
        real: Registry = getattr(home[registry_name], registry_name)
        entries = [Entry(name, f"made_up_estimators:{name}", "") for name in factories]
        both = Registry(real.kind, [*real.entries(), *entries], "ddr.nobody-offers-these")
        monkeypatch.setattr(home[registry_name], registry_name, both)

    return register
