"""Every label of a printed number, computed again from the papers' files and the trial logs.

The tests do not import the program: pandas finds the rows, and numpy computes the labels.
"""

import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import yaml

TOP = Path(__file__).parents[2]


class Row(NamedTuple):
    dataset: str
    trials: frozenset[str]
    mean: float
    sd: float
    n: int


@cache
def _document(*parts):
    return yaml.safe_load(TOP.joinpath(*parts).read_text(encoding="utf-8"))


@cache
def _journal(spec):
    path = TOP / "results" / spec / "trials.csv"
    return pd.read_csv(path, low_memory=False, keep_default_na=False, na_values=[""])


def _quantity(printed):
    """Return a printed number and half a unit of its last digit."""
    text, scale = str(printed).rstrip("% "), 100 if "%" in str(printed) else 1
    half_unit = 10.0 ** Decimal(text).as_tuple().exponent / 2
    return float(text) / scale, half_unit / scale


def _with(rows, params):
    """Return the rows that have these parameter values."""
    for name, value in params.items():
        column = rows[name]
        if isinstance(value, dict):
            grid = pd.to_numeric(column.dropna().unique())
            value = min(grid, key=lambda place: abs(np.log(place / value["near"])))
        if isinstance(value, int | float) and not isinstance(value, bool):
            rows = rows[np.isclose(pd.to_numeric(column, errors="coerce"), value)]
        else:
            rows = rows[column.astype(str) == str(value)]
    return rows


def _row(artefact, entry, view):
    """Return our row for an entry, or None if it has no re-splits."""
    select = entry["select"]
    spec, params = select.get("spec", artefact["specs"][0]), dict(select.get("params", {}))
    swap = artefact.get("resplits") if view == "resplits" else None
    if swap and spec in swap["specs"] and select["reducer"] in swap["reducers"]:
        spec, more = swap["specs"][spec], swap["reducers"][select["reducer"]]
        params |= more
    rows = _journal(spec)
    if "label" in select:
        items = _document("configs", f"{spec}.yaml")["reducers"]
        (item,) = (each for each in items if each.get("label") == select["label"])
        stated = {key: value for key, value in item.items() if key not in ("name", "label")}
        params |= {f"reducer.{key}": value for key, value in stated.items()}
    predefined = rows["split"] == "predefined"
    rows = rows[predefined if view == "own" and predefined.any() else ~predefined]
    if view == "resplits" and rows["split"].str.startswith("whole").any():
        return None
    rows = _with(rows, {"reducer": select["reducer"], "classifier": select["classifier"]} | params)
    assert set(rows["status"]) == {"ok"}
    metric = entry.get("metric", "error")
    keys = [name for name in rows if name.startswith(("reducer.", "classifier."))]
    found = [
        Row(
            own["dataset"].iloc[0],
            frozenset(own["trial_id"]),
            *own[metric].agg(["mean", "std", "count"]),
        )
        for _, own in rows.groupby(keys, dropna=False)
    ]
    assert len(found) == 1 or select.get("pick") == "best"
    return (min if metric == "error" else max)(found, key=lambda row: row.mean)


def _label(entry, row, splits, rule, trivial):
    mean, sd, n = row.mean, row.sd, row.n
    printed, rounding = _quantity(entry["value"])
    is_rate = entry.get("metric") != "dimension"
    printed_sd = _quantity(entry["sd"])[0] if "sd" in entry else None
    band = max(rule["rate_band"] if is_rate else rule["dimension_band"], printed_sd or 0.0)
    spread = sd if printed_sd is None else printed_sd
    error = 0.0 if n == 1 else np.sqrt(sd**2 / n + spread**2 / (splits or n))
    apart, reach = abs(mean - printed) - 1e-9, 2 * error + rounding
    if apart > max(band, reach):
        return f"differs ({'higher' if mean > printed else 'lower'})"
    if trivial or 2 * error > band:
        return "uninformative"
    return "reproduced" if apart <= reach else "close"


def _is_trivial(entry, rows, rule):
    """Return whether the majority-class baseline is as good as every method of a table's row."""
    metric = entry.get("metric", "error")
    if "row" not in entry or metric not in ("error", "accuracy"):
        return False
    sizes = _document("datasets", f"{rows[0].dataset}.yaml")["expect"]["classes"].values()
    best = max(1 - row.mean if metric == "error" else row.mean for row in rows)
    return best <= max(sizes) / sum(sizes) + rule["trivial"] + 1e-9


@pytest.mark.parametrize("paper", ["ccdr", "dp", "nmmp"])
def test_every_label_is_what_a_second_route_gives(paper):
    rule = _document("ddr_cli", "papers", "glossary.yaml")["numbers"]
    recorded = json.loads((TOP / "results" / "verdicts.json").read_text(encoding="utf-8"))
    checked = 0
    for artefact in _document("ddr_cli", "papers", f"{paper}.yaml")["artefacts"]:
        for view in ("own", "resplits"):
            entries = artefact.get("printed", [])
            rows = {each["id"]: _row(artefact, each, view) for each in entries}
            for each in entries:
                if "value" not in each:
                    found = "not testable"
                elif rows[each["id"]] is None:
                    found = "not applicable"
                else:
                    together = [
                        rows[other["id"]]
                        for other in entries
                        if [other.get("row"), other.get("reading"), other.get("metric") == "error"]
                        == [each.get("row"), each.get("reading"), each.get("metric") == "error"]
                    ]
                    trivial = _is_trivial(each, together, rule)
                    splits = artefact.get("splits")
                    found = _label(each, rows[each["id"]], splits, rule, trivial)
                name = f"{artefact['id']}.{each['id']}"
                assert found == recorded[paper]["numbers"][name][view], (name, view)
                checked += 1
    assert checked == 2 * len(recorded[paper]["numbers"])


@pytest.mark.parametrize("paper", ["ccdr", "dp", "nmmp"])
@pytest.mark.parametrize("view", ["own", "resplits"])
def test_a_row_of_ours_decides_one_number(paper, view):
    deciding = {}
    for artefact in _document("ddr_cli", "papers", f"{paper}.yaml")["artefacts"]:
        for each in artefact.get("printed", []):
            used = each.get("calibration", {}).get("views", "both" if "calibration" in each else "")
            if each.keys() & {"reading", "same_as"} or used in ("both", view):
                continue
            if (row := _row(artefact, each, view)) is not None:
                deciding.setdefault((row.trials, each.get("metric")), []).append(each["id"])
    assert [ids for ids in deciding.values() if len(ids) > 1] == []
    assert deciding
