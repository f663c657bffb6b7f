"""Cards as Croissant metadata; by mlcroissant's own rules where it is installed."""

from __future__ import annotations

import json

import pytest

from ddr_cli.core.registry import shipped_yaml
from ddr_cli.data.card import load_card
from ddr_cli.data.croissant import CONFORMS_TO, croissant


def test_what_a_card_says_is_said(capsys, monkeypatch):
    from ddr_cli.cli.app import main

    monkeypatch.setattr("sys.argv", ["ddr", "data", "croissant", "mnist"])
    with pytest.raises(SystemExit) as ended:
        main()
    found = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0
    card = load_card("mnist")
    assert found["conformsTo"] == CONFORMS_TO
    assert found["license"] == card.licence
    assert found["identifier"] == card.expect.fingerprint
    assert "70000 samples, 784 features, 10 classes" in found["description"]
    assert [each["sha256"] for each in found["distribution"]] == [f.sha256 for f in card.files]
    assert {each["encodingFormat"] for each in found["distribution"]} == {"application/gzip"}


def test_every_card_has_a_name_a_licence_and_no_empty_value():
    for name in shipped_yaml("datasets"):
        found = croissant(load_card(name))
        assert found["name"] == name
        assert found["license"]
        assert all(found.values())


def test_mlcroissant_has_nothing_to_say_against_it():
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    for name in shipped_yaml("datasets"):
        dataset = mlcroissant.Dataset(croissant(load_card(name)))
        assert not dataset.metadata.ctx.issues.errors
