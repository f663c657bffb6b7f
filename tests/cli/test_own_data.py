"""Data of one's own, from the table as it comes to a run's journal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.engine import run_spec
from ddr_cli.spec import load_spec

SPEC = """
dataset: ./mixed.yaml
split: {kind: fraction, train: 0.5, repeats: 2}
preprocess: STEPS
reducers: [none]
classifiers: [{name: knn, n_neighbors: 3}]
"""


@pytest.fixture
def mixed(work: Path) -> Path:
    """A table of two informative columns with gaps, one of them of text, and who was measured."""
    rng = np.random.default_rng(0)
    kind = np.repeat(["ill", "well"], 40)
    frame = pd.DataFrame(
        {
            "dose (mg)": np.where(kind == "ill", 0.0, 3.0) + rng.normal(size=80).round(2),
            "site": np.where(kind == "ill", "north", "south"),
            "subject": np.tile(np.arange(10), 8),
            "state": kind,
        }
    )
    frame.loc[::9, "dose (mg)"] = np.nan
    frame.loc[::7, "site"] = np.nan
    path = work / "mixed.csv"
    frame.to_csv(path, index=False)
    return path


def card(mixed: Path, expect: str = "") -> Path:
    mixed.with_suffix(".yaml").write_text(
        "name: mixed\ntitle: Mixed\nfiles: [{path: mixed.csv}]\nformat: {name: csv, label: state, "
        f"groups: subject, categorical: [site], categories: codes, missing: keep}}\n{expect}"
    )
    return mixed.with_suffix(".yaml")


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ("[]", "mixed has missing values: fill them in by the step impute"),
        ("[impute]", r"categorical columns as codes \(site\).*one_hot"),
        (
            "[standardize, impute, one_hot]",
            "standardize takes no missing values.*put impute",
        ),
        ("[impute, pca, one_hot]", "pca leaves no categorical columns.*put one_hot before"),
    ],
)
def test_missing_values_and_codes_need_their_steps(mixed: Path, steps: str, says: str) -> None:
    card(mixed)
    spec = mixed.with_name("spec.yaml")
    spec.write_text(SPEC.replace("STEPS", steps))
    with pytest.raises(InputError, match=says):
        load_spec(spec)


@pytest.mark.parametrize(
    "steps",
    [
        "[impute, one_hot, standardize]",
        "[one_hot, {name: impute, strategy: median}]",
        '[one_hot, "sklearn.impute:KNNImputer", {name: "sklearn.preprocessing:QuantileTransformer",'
        " n_quantiles: 10}]",
    ],
)
def test_steps_prepare_a_mixed_table(mixed: Path, steps: str, tmp_path: Path) -> None:
    card(mixed)
    spec = mixed.with_name("spec.yaml")
    spec.write_text(SPEC.replace("STEPS", steps))
    outcome = run_spec(load_spec(spec), out=tmp_path / "out")
    assert (outcome.done, outcome.failed) == (2, 0)
    errors = pd.read_csv(outcome.folder / "trials.csv")["error"]
    assert errors.max() < 0.1


def test_missing_values_that_no_card_tells_of_stop_the_run(work: Path) -> None:
    X = np.ones((20, 2))
    X[3, 1] = np.nan
    np.savez(work / "mixed.npz", X=X, y=np.arange(20) % 2)
    (work / "mixed.yaml").write_text(
        "name: mixed\ntitle: Mixed\nfiles: [{path: mixed.npz}]\nformat: npz\n"
    )
    (work / "spec.yaml").write_text(SPEC.replace("STEPS", "[]"))
    spec = load_spec(work / "spec.yaml")
    with pytest.raises(InputError, match="fill them in by the step impute"):
        run_spec(spec, out=work / "out")
    assert not (work / "out").exists()


def test_a_step_that_is_fitted_to_labels_sees_none_that_are_hidden(work: Path) -> None:
    step = '["sklearn.feature_selection:SelectKBest"]'
    (work / "spec.yaml").write_text(
        SPEC.replace("./mixed.yaml", "iris").replace("STEPS", step) + "labels: [2, 5]\n"
    )
    with pytest.raises(InputError, match="SelectKBest is fitted to all labels"):
        load_spec(work / "spec.yaml")
