"""Mistakes that would silently give wrong numbers or wait forever."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ddr_cli
from ddr_cli.comparison.against_controls import against_controls
from ddr_cli.comparison.summary import summary_of
from ddr_cli.data import load_dataset
from ddr_cli.engine import Datasets, read_trials, run_spec
from ddr_cli.engine.work.session import majority_of
from ddr_cli.papers.numbers import judge_numbers
from ddr_cli.papers.schema import Artefact
from ddr_cli.spec import make_spec as made

TOP = Path(__file__).resolve().parents[1]


def spec_of(name, **parts):
    given = {"dataset": "iris", "reducers": ["none"], "classifiers": ["knn"], "controls": []}
    split = {"kind": "fraction", "train": 0.5, "repeats": 2}
    return made(**{"name": name, "split": split, **given, **parts})


def test_two_specs_of_one_card_have_each_its_own_options(tmp_path, one_after_the_other):
    options = {"n_samples": 60, "noise": 0.5}
    sets = {str(seed): {**options, "random_state": seed} for seed in (0, 1)}
    datasets, together = Datasets(), {}
    for name, own in sets.items():
        spec = spec_of(name, dataset={"name": "swiss_roll", **own})
        data = datasets.load(spec, datasets.identify(spec).options)
        np.testing.assert_array_equal(data.X, load_dataset("swiss_roll", options=own).X)
        outcome = run_spec(spec, out=tmp_path, executor=one_after_the_other(), datasets=datasets)
        together[name] = read_trials(outcome.folder)["error"]
    for name, own in sets.items():
        spec = spec_of(f"{name}_alone", dataset={"name": "swiss_roll", **own})
        outcome = run_spec(spec, out=tmp_path, executor=one_after_the_other())
        assert together[name].equals(read_trials(outcome.folder)["error"])


@pytest.mark.parametrize("metric", ["error", "accuracy", "balanced_accuracy"])
def test_the_score_of_always_naming_the_largest_class(metric):
    # 212 of 569 samples are malignant.
    floors = {"error": 212 / 569, "accuracy": 357 / 569, "balanced_accuracy": 0.5}
    spec = spec_of("floor", dataset="breast_cancer")
    assert majority_of(spec)[metric] == pytest.approx(floors[metric])
    of_three = {"error": 2 / 3, "accuracy": 1 / 3, "balanced_accuracy": 1 / 3}
    assert majority_of(spec_of("three"))[metric] == pytest.approx(of_three[metric])


@pytest.mark.parametrize("metric", ["error", "accuracy"])
def test_held_out_is_the_share_of_right_answers(tmp_path, one_after_the_other, metric):
    reducers = [{"name": "lda", "n_components": 2}]
    spec = spec_of("held", reducers=reducers, controls=["shuffled_labels"], metrics=[metric])
    folder = run_spec(spec, out=tmp_path, executor=one_after_the_other()).folder
    trials, found = read_trials(folder, which="controls"), against_controls(summary_of(folder))
    assert found is not None
    own = trials.loc[trials["control"] == "shuffled_labels", metric].mean()
    right = own if metric == "accuracy" else 1 - own
    assert found.rows["held_out"].dropna().tolist() == pytest.approx([right])


def test_a_number_that_was_not_run_leaves_the_rest_of_its_table(tmp_path, write_results, make_spec):
    spec = make_spec("run", reducers=[{"name": "ccdr"}], repeats=5)
    folder = write_results(tmp_path, spec, lambda *_: 0.09)
    printed = [
        {
            "id": name,
            "select": {"reducer": name, "classifier": "knn"},
            "value": "9 %",
            "where": "Table 1",
            "row": "Landsat",
            "column": name,
        }
        for name in ("lda", "ccdr")
    ]
    artefact = Artefact(
        id="t", title="T", where="T", kind="table", specs=("run",), asked="?", printed=printed
    )
    found = judge_numbers(artefact, {"run": summary_of(folder)})
    assert [each.own.verdict for each in found] == ["not run", "reproduced"]


def test_points_of_one_group_are_not_counted_as_drawn_one_by_one(
    tmp_path, write_results, make_spec
):
    def error(made):
        is_lda = made.reducer == "lda"
        return 0.1 + 0.05 * is_lda + 0.02 * (-1) ** (made.index // 2 if is_lda else made.index)

    widths = {}
    reducers = [{"name": "ccdr"}, {"name": "lda"}]
    for kind in ("fraction", "grouped"):
        spec = make_spec(kind, reducers=reducers, repeats=6, predefined=False)
        spec = spec.model_copy(update={"split": spec.split.model_copy(update={"kind": kind})})
        folder = write_results(tmp_path, spec, error)
        # Many test samples carry much information if they are drawn one by one, but not in groups.
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["sizes"] = {kind: {"train": 100, "test": 1000}}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        row = summary_of(folder).rows.iloc[0]
        difference = ddr_cli.compare(folder).differences.iloc[0]
        widths[kind] = np.array(
            [row["mean_high"] - row["mean_low"], difference["high"] - difference["low"]]
        )
    assert (widths["grouped"] > 2 * widths["fraction"]).all()


def test_a_timeout_binds_while_a_split_is_prepared(tmp_path):
    # The limit ends its process, so the code runs in a process of its own.
    code = """
        import sys, time
        sys.path.insert(0, sys.argv[1])
        from ddr_cli.engine import run_spec
        from ddr_cli.evaluation.evaluators import PREPROCESSORS
        from ddr_cli.spec import make_spec
        from tests.conftest import OneAfterTheOther

        PREPROCESSORS.load("standardize").fit = lambda *_, **__: time.sleep(20)
        spec = make_spec(dataset="iris", reducers=["none"], classifiers=["knn"], controls=[],
                         preprocess=["standardize"])
        run_spec(spec, out=sys.argv[2], executor=OneAfterTheOther(), timeout=0.5)
    """
    ended = subprocess.run(
        [sys.executable, "-c", "if 1:\n" + code, str(TOP), str(tmp_path)],
        capture_output=True,
        check=False,
        timeout=15,
    )
    assert ended.returncode == -signal.SIGALRM, ended.stderr.decode()
