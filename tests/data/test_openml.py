"""OpenML data sets by their number, from a stand-in for scikit-learn's `fetch_openml`."""

from __future__ import annotations

from typing import Any
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.core.errors import DataUnavailableError, InputError
from ddr_cli.data import load_card, load_dataset
from ddr_cli.spec import load_spec

SPEC = """
dataset: openml:31
split: {kind: fraction, train: 0.5}
reducers: [none]
classifiers: [knn]
"""


class OpenML:
    """Replaces the download; `asked` counts the calls."""

    def __init__(self) -> None:
        self.asked = 0
        self.error: Exception | None = None
        self.target = pd.Series(["good", "bad"] * 10, dtype="category", name="class")

    def __call__(self, *, data_id: int, **_: Any) -> Bunch:
        self.asked += 1
        if self.error is not None:
            raise self.error
        frame = pd.DataFrame(
            {
                "age": [np.nan, *np.arange(19) / 3],
                "housing": pd.Series(["own", "rent"] * 10, dtype="category"),
            }
        )
        return Bunch(data=frame, target=self.target, details={"name": f"credit {data_id}"})


@pytest.fixture
def openml(tmp_path, monkeypatch):
    monkeypatch.setenv("DDR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DDR_DATA", "")
    monkeypatch.delenv("DDR_OFFLINE", raising=False)
    monkeypatch.chdir(tmp_path)
    fake = OpenML()
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fake)
    return fake


def test_a_data_set_is_fetched_once_and_its_fingerprint_kept(openml, tmp_path):
    (tmp_path / "spec.yaml").write_text(SPEC)
    load_spec("spec.yaml")  # loading a spec fetches nothing
    assert openml.asked == 0
    dataset = load_dataset("openml:31")
    assert (dataset.name, dataset.title) == ("openml-31", "credit 31")
    assert dataset.class_counts == {"bad": 10, "good": 10}
    assert (dataset.categorical, dataset.n_missing) == ((1,), 1)
    assert load_dataset("openml:31").fingerprint == dataset.fingerprint
    assert load_card("openml:31").expect.fingerprint == dataset.fingerprint
    assert openml.asked == 1
    with pytest.raises(InputError, match="openml-31 has missing values"):
        load_spec("spec.yaml")
    table = next((tmp_path / "cache" / "openml").rglob("data.csv"))
    table.write_text(table.read_text().replace("own", "won", 1))
    with pytest.raises(DataUnavailableError, match="the values differ"):
        load_dataset("openml:31")


def test_unavailable_data_gives_one_sentence_and_exit_code_3(openml, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setenv("DDR_OFFLINE", "1")
        offline = CliRunner().invoke(app, ["data", "fetch", "openml:31"])
    assert (offline.exit_code, openml.asked) == (3, 0)
    assert "ddr data fetch openml:31" in offline.output
    described = CliRunner().invoke(app, ["describe", "openml:31"])
    assert "OpenML's data set 31" in described.output
    openml.error = URLError("no route to host")
    failed = CliRunner().invoke(app, ["data", "fetch", "openml:31"])
    assert failed.exit_code == 3
    assert "(no route to host)" in failed.output
    openml.error = None
    fetched = CliRunner().invoke(app, ["data", "fetch", "openml:31"])
    assert fetched.exit_code == 0, fetched.output
    assert "downloaded" in fetched.output


def test_what_is_no_classification_is_refused(openml):
    with pytest.raises(InputError, match="openml:31"):
        load_card("openml:credit")
    openml.target = pd.Series(np.arange(20) * 9.0, name="price").repeat(1)
    openml.target = pd.concat([openml.target, openml.target + 0.5, openml.target + 0.25])
    with pytest.raises(InputError, match="numeric target, not classes"):
        load_dataset("openml:31")
    openml.error = ValueError("No data set 31.")
    with pytest.raises(InputError, match="No data set 31"):
        load_dataset("openml:31")
