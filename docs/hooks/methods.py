"""A page for each method: its docstring, what the engine knows of it, and what our runs found."""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.utils import get_tags

from ddr_cli.cli.app import app
from ddr_cli.core.extras import missing_library
from ddr_cli.core.parameters import parameter_model
from ddr_cli.core.registry import Entry
from ddr_cli.core.yaml_loader import flow
from ddr_cli.papers.schema import load_paper
from ddr_cli.reducers.registry import REDUCERS, Traits, get_traits
from ddr_cli.spec.estimators import usual

# Of several runs that have a method, whose figure its page shows.
SHOWN = (
    "landsat_ccdr_beta",
    "nmmp_usps_lmnn",
    "lfda_grid_letter",
    "ssde_alphadigits",
    "dp_usps_same_class",
    "dp_mushroom",
    "rivals_segment",
    "fair_landsat",
)


def pages(root: Path) -> dict[str, str]:
    """Return the text of each method's page, and of docs/methods.md with its table, by its path."""
    found = _found(root)
    ours = [entry for entry in REDUCERS.entries() if entry.origin == "ddr"]
    made = {f"methods/{entry.name}.md": _page(entry, found, root) for entry in ours}
    text = (root / "docs" / "methods.md").read_text(encoding="utf-8")
    return {"methods.md": text.replace("<!-- methods -->", _table(ours)), **made}


def _table(entries: list[Entry]) -> str:
    lines = [
        "| name | what it is | labels | new samples | largest `n_components` | sparse data |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for entry in entries:
        reducer = entry.load()()
        traits = get_traits(reducer)
        cells = (
            f"[`{entry.name}`](methods/{entry.name}.md)",
            entry.summary,
            _labels(traits),
            _new_samples(traits),
            _largest(traits),
            "yes" if get_tags(reducer).input_tags.sparse else "no",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _new_samples(traits: Traits) -> str:
    return "transformed" if traits.out_of_sample else "not transformed"


def _largest(traits: Traits) -> str:
    """Return the largest n_components in words, empty if it depends on more than one size."""
    if traits.max_components is None:
        return ""
    sizes = {9: "classes − 1", 100: "features", 9_999: "samples − 1"}
    return sizes.get(traits.max_components(10_000, 100, 10), "")


def _page(entry: Entry, found: pd.DataFrame, root: Path) -> str:
    method = entry.load()
    traits = get_traits(method())
    runs = found[found["reducer"] == entry.name]
    return "\n\n".join(
        [
            f"# {entry.name}",
            f"::: {method.__module__}.{method.__qualname__}\n    options:\n"
            "      show_root_heading: false\n      show_root_toc_entry: false",
            f"## In a spec\n\n```yaml\nreducers:\n  - {flow({'name': entry.name, **usual(method)})}"
            "\n```",
            _facts(method, traits),
            _figure(entry.name, traits, runs, root),
            _what_was_found(runs),
        ]
    )


def _value(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else flow(value)


def _labels(traits: Traits) -> str:
    if traits.semi_supervised:
        return "used; also learns from unlabelled samples"
    return "used" if traits.supervised else "not used"


def _facts(method: type, traits: Traits) -> str:
    model = parameter_model(method)
    facts = {
        "labels": _labels(traits),
        "new samples": _new_samples(traits),
        "unlabelled test samples may take part in the fit": "yes" if traits.transductive else "no",
        "solutions are nested in `n_components`": "yes" if traits.nested else "no",
        "usual preprocessing": ", ".join(traits.preprocess),
        "required library": traits.library,
        "version": traits.version,
        "default grids": "; ".join(
            f"`{name}` {', '.join(map(_value, values))}"
            for name, values in traits.grids.items()
            if name in model.model_fields
        ),
        "source of the grids": traits.grid_source if traits.grids else "",
    }
    return "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)


def _figure(name: str, traits: Traits, runs: pd.DataFrame, root: Path) -> str:
    # `ddr report` draws the runs' figures, which are not committed.
    drawn = {run for run in runs["run"] if (root / "results" / run / "figure.svg").is_file()}
    here = [run for run in SHOWN if run in drawn]
    if here:
        title = runs.loc[runs["run"] == here[0], "title"].iloc[0]
        folder = f"../../results/{here[0]}"
        return f"## On real data\n\n![{title}]({folder}/figure.svg)\n\n{title} (`{here[0]}`)."
    picture = root / "build" / "pictures" / f"{name}.svg"
    warned = picture.with_suffix(".txt")
    if not warned.exists():
        if traits.library and missing_library(traits.library):
            return ""
        picture.parent.mkdir(parents=True, exist_ok=True)
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as said:
            app(
                ["embed", "digits", "--reducer", name, "--picture", str(picture)],
                standalone_mode=False,
            )
        warned.write_text(" ".join(said.getvalue().split()), encoding="utf-8")
    return (
        f"## On real data\n\n![{name} of handwritten digits](../../build/pictures/{name}.svg)\n\n"
        f"Made by `ddr embed digits --reducer {name}`, from a single split. "
        f"{warned.read_text(encoding='utf-8')}".rstrip()
    )


def _what_was_found(runs: pd.DataFrame) -> str:
    if runs.empty:
        return "## What we found\n\nNo committed run uses this method."
    papers = sorted(set(runs["paper"].dropna()))
    told = ", ".join(f"[{load_paper(p).short}](../papers/{p}.md)" for p in papers)
    text = "## What we found\n\n"
    text += f"Papers that use this method: {told}.\n\n" if papers else ""
    text += (
        "The table has the mean at the best setting in each run, with the interval that "
        "`summary.csv` names. The best setting is chosen by this mean, which favours large "
        "grids.\n\n"
        "| run | scored by | mean | rows |\n| --- | --- | --- | --- |\n"
    )
    for row in runs.itertuples():
        folder = f"../../results/{row.run}"
        text += (
            f"| {row.title} (`{row.run}`) | {row.scored_by} | {row.shown} | "
            f"[summary]({folder}/summary.csv), [trial log]({folder}/trials.csv) |\n"
        )
    return text


def _found(root: Path) -> pd.DataFrame:
    """Return a row for each method in each run: its mean at the best setting, as text."""
    rows: list[dict[str, Any]] = []
    for path in sorted(root.glob("results/*/manifest.json")):
        spec = json.loads(path.read_text(encoding="utf-8"))["spec"]
        summary = pd.read_csv(path.with_name("summary.csv"))
        metric = spec["plot"]["y"]
        scores = summary[(summary["metric"] == metric) & summary["mean"].notna()]
        if "control" in scores:
            scores = scores[scores["control"] != "shuffled_labels"]
        for name, of_method in scores.groupby("reducer"):
            rows.append(
                {
                    "run": path.parent.name,
                    "title": spec["title"],
                    "paper": (spec.get("paper") or {}).get("name"),
                    "reducer": name,
                    **_best(of_method, metric),
                }
            )
    return pd.DataFrame(rows)


def _best(scores: pd.DataFrame, metric: str) -> dict[str, str]:
    from ddr_cli.evaluation.metrics import get_scale

    scale = get_scale(metric)
    order = -scores["mean"] if scale.better == "higher" else scores["mean"]
    best = scores.loc[order.idxmin()]
    times, unit = (100, " %") if scale.rate else (1, "")
    shown = f"{best['mean'] * times:.2f}{unit}"
    if pd.notna(best["mean_low"]):
        shown += f" ({best['mean_low'] * times:.2f} to {best['mean_high'] * times:.2f}{unit})"
    return {"shown": shown, "scored_by": f"{scale.title}, {best['classifier_label']}"}
