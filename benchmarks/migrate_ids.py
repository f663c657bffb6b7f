"""Give the rows under results/ the ids of today, and prove that nothing else of them changes.

Before, an id was a hash of all settings, without those on lists of parameters that were added
later. Now it is a hash of the settings that differ from their defaults. For each run this computes
both ids of every trial of its plan, checks that the row with the old id has the trial's settings in
its columns, and replaces the id. All other bytes of a journal stay as they are.

    python benchmarks/migrate_ids.py [results]
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from ddr_cli.core.own_code import class_name, shown
from ddr_cli.data import load_card
from ddr_cli.engine import make_plan
from ddr_cli.engine.plan import identity, plan as planning
from ddr_cli.engine.plan.identity import TrialIds, canonical, digest
from ddr_cli.engine.rows.journal import parameter_text
from ddr_cli.evaluation.registry import PREPROCESSORS, evaluator_registry
from ddr_cli.reducers.registry import REDUCERS
from ddr_cli.spec import Spec, load_spec
from ddr_cli.spec.estimators import load_factory, usual
from ddr_cli.spec.load import find_spec
from ddr_cli.spec.suite import load_suite

NEWER = {"neighbors": "exact"}
"""What was left out of an id while it had this value, where a method has the parameter."""


class Both(TrialIds):
    """Makes the new ids, and can tell the old ones."""

    made: Both

    def __init__(self, spec: Spec, data: Any, fitted_width: Any) -> None:
        super().__init__(spec, data, fitted_width)
        Both.made = self
        card = load_card(spec.card)
        options = card.choose(spec.dataset.options)  # type: ignore[arg-type]
        self._old_data = {
            "name": data.name,
            "fingerprint": data.fingerprint,
            "version": data.version,
            "options": options,
        }
        self._old_texts: dict[tuple[int, str], tuple[object, str]] = {}
        self._old_steps = canonical(
            [
                old_piece(
                    PREPROCESSORS, s.name, getattr(s.factory, "version", 1), s.params
                )
                for s in spec.preprocess
            ]
        )
        self._old_data_text = canonical(self._old_data)

    def old_id(self, cell: Any) -> str:
        around = {
            "control": cell.control and canonical(cell.control),
            "labels": "" if cell.labels is None else str(cell.labels),
            "tuning": "" if cell.tuning is None else self._old_tuning(cell.tuning),
        }
        return self._digest({"classifier": self._old_evaluator(cell.evaluator), **around}, cell)

    def old_embedding_id(self, cell: Any) -> str:
        labels = "" if cell.labels is None else str(cell.labels)
        return self._digest({"control": cell.control and canonical(cell.control), "labels": labels}, cell)

    def _digest(self, more: Mapping[str, str], cell: Any) -> str:
        mapping = self._old_mapping(cell.reducer)
        parts = {
            "data": self._old_data_text,
            "preprocess": self._old_steps,
            "reducer": mapping if cell.tuning is not None else self._old_reducer(cell.reducer, ""),
            "split": canonical(self._old_split(cell.split)),
            **more,
        }
        texts = (f'"{key}":{parts[key]}' for key in sorted(parts) if parts[key])
        return digest(f"{{{','.join(texts)}}}")

    def _old_split(self, split: Any) -> dict[str, Any]:
        own = self._spec.split
        train = None if split.kind == "predefined" else split.train or own.train
        described = {"kind": split.kind, "index": split.index, "seed": own.seed, "train": train}
        if split.kind != "predefined":
            more = {name: getattr(own, name) for name in ("folds", "column", "sha256", "test")}
            described |= {name: value for name, value in more.items() if value is not None}
        return described

    def _memo(self, setting: Any, what: str, make: Any) -> str:
        known = self._old_texts.get((id(setting), what))
        if known is None:
            known = self._old_texts[id(setting), what] = (setting, canonical(make()))
        return known[1]

    def _old_evaluator(self, setting: Any) -> str:
        registry = evaluator_registry(setting.name)
        return self._memo(
            setting,
            "evaluator",
            lambda: old_piece(registry, setting.name, setting.version, setting.params),
        )

    def _mapping(self, setting: Any) -> dict[str, Any]:
        piece = old_piece(REDUCERS, setting.name, setting.version, setting.params)
        return piece | {"mode": setting.mode}

    def _old_mapping(self, setting: Any) -> str:
        return self._memo(setting, "mapping", lambda: self._mapping(setting))

    def _old_reducer(self, setting: Any, tuned: str) -> str:
        def described() -> dict[str, Any]:
            width = self._fitted_width(setting, tuned)
            return self._mapping(setting) | ({} if width is None else {"fitted_width": width})

        return self._memo(setting, f"reducer {tuned}", described)

    def _old_tuning(self, tuning: Any) -> str:
        tuned = tuning.candidates[0][0].text
        candidates = ",".join(
            f"[{self._old_reducer(reducer, tuned)},{self._old_evaluator(other)}]"
            for reducer, other in tuning.candidates
        )
        inner = {"folds": tuning.folds, "metric": tuning.metric, "repeats": tuning.repeats}
        return f'{{"candidates":[{candidates}],{canonical(inner)[1:]}'


def old_piece(registry: Any, name: str, version: int, params: Mapping[str, Any]) -> dict[str, Any]:
    left = {key: each for key, each in params.items() if key not in NEWER or NEWER[key] != each}
    described = {"name": class_name(name), "version": version, "params": left}
    source = registry.get(name).source
    return {**described, "source": source} if source else described


def runs(results: Path) -> Iterator[tuple[Path, Spec]]:
    """Yield every folder of rows with its spec: the shipped one, or that of its manifest."""
    for manifest in sorted(results.glob("*/manifest.json")):
        name = manifest.parent.name
        try:
            spec = load_spec(find_spec(name))
        except Exception as error:  # noqa: BLE001 - it says why below
            print(f"{name}: no shipped spec ({error}); its manifest's is taken")
            spec = Spec.from_resolved(json.loads(manifest.read_text())["spec"])
        yield manifest.parent, spec
    for folder in sorted(results.glob("suite_*")):
        suite = load_suite(folder.name.removeprefix("suite_"))
        for spec in suite.specs():
            if (folder / spec.name / "manifest.json").is_file():
                yield folder / spec.name, spec
        path = folder / "suite.json"
        content = json.loads(path.read_text())
        content["suite"] = suite.model_dump(mode="json")
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def settings_of(cell: Any) -> list[tuple[Any, Any]]:
    pairs = [(cell.reducer, cell.evaluator)] if cell.tuning is None else cell.tuning.candidates
    return list(pairs)


def cells_of(pair: tuple[Any, Any]) -> dict[str, str]:
    reducer, evaluator = pair
    cells = {f"reducer.{name}": parameter_text(value) for name, value in reducer.params.items()}
    cells["reducer.mode"] = parameter_text(reducer.mode)
    return cells | {
        f"classifier.{name}": parameter_text(value) for name, value in evaluator.params.items()
    }


def check_row(row: Mapping[str, str], cell: Any, plan: Any, known: dict[Any, Any]) -> str:
    """Return what of a row is not the trial's, if anything is not."""
    wanted = {
        "dataset": plan.data.name,
        "split": cell.split.name,
        "reducer": shown(cell.reducer.name),
        "classifier": shown(cell.evaluator.name),
        "split.train": "" if cell.split.train is None else repr(cell.split.train),
        "labels": "all" if cell.labels is None else repr(cell.labels),
        "control": cell.control,
        "tuned": "" if cell.tuning is None else repr(len(cell.tuning.candidates)),
    }
    absent = {"split.train": "", "labels": "all", "control": "", "tuned": ""}
    for column, text in wanted.items():
        if row.get(column, absent.get(column)) != text and (column, row.get(column)) != ("labels", ""):
            return f"{column} is {row.get(column)!r}, not {text!r}"
    key = id(cell.reducer), id(cell.evaluator), id(cell.tuning)
    if key not in known:
        pairs = [cells_of(pair) for pair in settings_of(cell)]
        # What has no column must have one value, the default.
        for (reducer, evaluator), cells in zip(settings_of(cell), pairs, strict=True):
            for column in cells.keys() - row.keys():
                kind, _, name = column.partition(".")
                piece = reducer if kind == "reducer" else evaluator
                section = "reducers" if kind == "reducer" else "classifiers"
                default = usual(load_factory(section, piece.name))[name]
                if parameter_text(default) != cells[column]:
                    return f"{column} has no column, but is {cells[column]}"
        known[key] = pairs, cell
    pairs = known[key][0]
    columns = [c for c in row if c.partition(".")[0] in ("reducer", "classifier") and "." in c]
    found = {column: row[column] for column in columns}
    for cells in pairs:
        if all(text == cells.get(column, "") for column, text in found.items()):
            return ""
    if cell.tuning is not None and row["status"] != "ok":
        common = {k: v for k, v in pairs[0].items() if all(p.get(k) == v for p in pairs)}
        if all(text == common.get(column, "") for column, text in found.items()):
            return ""
    return f"the parameters {found} are none of the trial's"


def migrate(folder: Path, spec: Spec) -> tuple[int, int, set[str]]:
    plan = make_plan(spec)
    both = Both.made
    trials = {both.old_id(cell): (new, cell) for new, cell in plan.trials.items()}
    assert len(trials) == len(plan.trials), "two trials had one old id"
    path = folder / "trials.csv"
    before = path.read_bytes()
    lines = before.decode().split("\n")
    header = next(csv.reader([lines[0]]))
    known: dict[Any, Any] = {}
    stale = []
    changed = [lines[0]]
    for line in lines[1:-1]:
        old, comma, rest = line.partition(",")
        if old in plan.trials and old not in trials:
            changed.append(line)  # done by an earlier call
            continue
        if old not in trials:
            stale.append(old)
            changed.append(line)
            continue
        new, cell = trials[old]
        cells = next(csv.reader([line])) if '"' in line else line.split(",")
        wrong = check_row(dict(zip(header, cells, strict=True)), cell, plan, known)
        assert not wrong, f"{path}, {old}: {wrong}"
        changed.append(f"{new}{comma}{rest}")
    changed.append(lines[-1])
    path.write_bytes("\n".join(changed).encode())
    again = path.read_bytes().decode().split("\n")
    assert len(again) == len(lines)
    assert all(a.partition(",")[2] == b.partition(",")[2] for a, b in zip(again, lines, strict=True))
    assert len({line.partition(",")[0] for line in again}) == len(
        {line.partition(",")[0] for line in lines}
    )
    if stale:
        print(f"{folder}: {len(stale)} rows are of no trial of the spec: {' '.join(stale[:5])} ...")
    moved = rename_embeddings(folder, plan, both)
    change_manifest(folder, plan)
    return len(changed) - 2 - len(stale), moved, set(trials)


def rename_embeddings(folder: Path, plan: Any, both: Both) -> int:
    moved = 0
    for trial_id, new in plan.kept.items():
        cell = plan.trials[trial_id]
        name = class_name(cell.reducer.name)
        old = folder / "embeddings" / f"{name}-{both.old_embedding_id(cell)}.json"
        if old.is_file():
            content = json.loads(old.read_text())
            params = dict(cell.reducer.params)
            assert {**{k: v for k, v in NEWER.items() if k in params}, **content["params"]} == params
            assert (content["mode"], content["split"]) == (cell.reducer.mode, cell.split.name)
            target = old.with_name(f"{name}-{new}.json")
            assert target == old or not target.exists()
            old.rename(target)
            moved += 1
        else:
            there = (folder / "embeddings" / f"{name}-{new}.json").is_file()
            assert there or not (folder / "embeddings").is_dir(), f"{old} is not there"
    kept = {f"{class_name(plan.trials[t].reducer.name)}-{e}.json" for t, e in plan.kept.items()}
    for path in (folder / "embeddings").glob("*.json"):
        if path.name not in kept:
            print(f"{path} is of no trial of the spec")
    return moved


def change_manifest(folder: Path, plan: Any) -> None:
    path = folder / "manifest.json"
    text = path.read_text()
    manifest = json.loads(text)
    assert json.dumps(manifest, indent=2, ensure_ascii=False) + "\n" == text, path
    spec = Spec.from_resolved(manifest["spec"]).resolved()
    for section in ("preprocess", "reducers", "classifiers", "measures"):
        for item in spec[section]:
            item["params"] = usual(load_factory(section, item["name"])) | item["params"]
    if spec != plan.spec.resolved():
        now = plan.spec.resolved()
        differ = {key: (spec[key], now[key]) for key in now if spec[key] != now[key]}
        print(f"{path}: the spec was another: {str(differ)[:300]}")
    else:
        spec = plan.spec.resolved()  # in its own order
    manifest["spec"] = spec
    data = manifest["data"]
    assert (data["name"], data["fingerprint"]) == (plan.data.name, plan.data.fingerprint), path
    assert data["version"] == plan.data.version, path
    usual_options = load_card(plan.spec.card).choose(None)
    differing = {key: each for key, each in data["options"].items() if each != usual_options[key]}
    assert differing == plan.data.options, path
    data["options"] = differing
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def main(results: Path) -> None:
    planning.TrialIds = Both  # type: ignore[misc]
    assert identity.TrialIds is TrialIds
    rows = moved = folders = 0
    old_ids: set[str] = set()
    for folder, spec in runs(results):
        n, m, old = migrate(folder, spec)
        folders, rows, moved, old_ids = folders + 1, rows + n, moved + m, old_ids | old
    for sums in results.glob("*/SHA256SUMS"):
        names = [line.partition("  ")[2] for line in sums.read_text().splitlines()]
        lines = (f"{sha256((sums.parent / n).read_bytes()).hexdigest()}  {n}\n" for n in names)
        sums.write_text("".join(lines))
    print(f"{folders} runs: {rows} rows and {moved} embeddings have new ids")
    found = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    for name in found.stdout.splitlines():
        path = Path(name)
        if not path.is_file() or path.suffix in (".png", ".npz"):
            continue
        words = set(__import__("re").findall(r"[0-9a-f]{16}", path.read_text(errors="replace")))
        if there := words & old_ids:
            print(f"{path} has {len(there)} old ids: {' '.join(sorted(there)[:3])}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
