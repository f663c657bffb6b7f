import numpy as np
import pandas as pd
import pytest

from ddr_cli.comparison.summary import summary_of
from ddr_cli.core.errors import InputError
from ddr_cli.data import load_dataset
from ddr_cli.engine import describe_plan, read_manifest, read_trials, run_spec, run_status
from ddr_cli.evaluation.evaluators import CLASSIFIERS, PREPROCESSORS
from ddr_cli.evaluation.splits import make_split
from ddr_cli.reducers.registry import REDUCERS

SECONDS = ["fit_seconds", "eval_seconds"]
PLAIN = [{"name": "none"}, {"name": "pca", "n_components": 2}, {"name": "lda", "n_components": 2}]


def rows(folder):
    """Return the lines of the trial log without times."""
    lines = (folder / "trials.csv").read_text().splitlines()
    return [line.rsplit(",", len(SECONDS))[0] for line in lines]


def one_trial_at_a_time(spec):
    """Return the errors of a spec's trials, each with its own fit, without the engine."""
    data = load_dataset(spec.card)
    errors = {}
    for index in range(spec.split.repeats):
        split = make_split(
            spec.split.kind, data.y, index=index, seed=0, dataset=data.name, train=spec.split.train
        )
        for reducer in spec.reducers:
            for classifier in spec.classifiers:
                train, test = data.X[split.train], data.X[split.test]
                for step in spec.preprocess:
                    made = PREPROCESSORS.load(step.name)(**step.params)
                    train, test = made.fit_transform(train), made.transform(test)
                estimator = REDUCERS.load(reducer.name)(**reducer.params)
                y = data.y[split.train]
                if reducer.mode == "transductive":
                    both = np.vstack([train, test])
                    unlabelled = np.full(len(test), -1)
                    both = estimator.fit_transform(both, np.concatenate([y, unlabelled]))
                    train, test = both[: len(train)], both[len(train) :]
                else:
                    train, test = estimator.fit_transform(train, y), estimator.transform(test)
                fitted = CLASSIFIERS.load(classifier.name)(**classifier.params).fit(train, y)
                wrong = float(np.mean(fitted.predict(test) != data.y[split.test]))
                errors[split.name, reducer.label, classifier.label] = wrong
    return errors


@pytest.mark.parametrize("preprocess", [[], ["standardize"]])
def test_the_engine_finds_what_a_plain_loop_finds(make_spec, run, preprocess):
    ccdr = {"name": "ccdr", "n_components": 2, "n_neighbors": 4}
    spec = make_spec(
        preprocess=preprocess,
        reducers=[
            *PLAIN,
            {**ccdr, "mode": "transductive", "label": "inside"},
            {**ccdr, "mode": "out_of_sample", "label": "outside"},
        ],
    )
    outcome = run(spec)
    assert (outcome.planned, outcome.done, outcome.failed) == (30, 30, 0)
    table = read_trials(outcome.folder)
    expected = one_trial_at_a_time(spec)
    assert len(expected) == len(table)
    labels = {("ccdr", "transductive"): "inside", ("ccdr", "out_of_sample"): "outside"}
    for _, row in table.iterrows():
        reducer = labels.get((row["reducer"], row["reducer.mode"]), row["reducer"])
        key = (
            row["split"],
            _label(spec.reducers, reducer),
            _label(spec.classifiers, row["classifier"]),
        )
        assert row["error"] == expected[key], key


def _label(items, wanted):
    return next(item.label for item in items if wanted in (item.label, item.name))


def test_any_number_of_jobs_gives_the_same_file(make_spec, run, tmp_path):
    spec = make_spec(
        reducers=[*PLAIN, {"name": "ccdr", "n_components": 3, "mode": "transductive"}],
        sweep={"reducer.n_components": [1, 2], "classifier.n_neighbors": [1, 3, 9]},
    )
    first = run_spec(spec, out=tmp_path / "one", jobs=1)
    second = run(spec, out=tmp_path / "two")
    assert rows(first.folder) == rows(second.folder)
    assert len(rows(first.folder)) == 1 + first.planned


def test_rows_are_in_the_order_of_the_plan(make_spec, run):
    spec = make_spec(reducers=PLAIN)
    table = read_trials(run(spec).folder)
    assert table["split"].tolist() == [f"fraction-{i}" for i in range(3) for _ in range(6)]
    assert table["reducer"].tolist() == ["none", "none", "pca", "pca", "lda", "lda"] * 3
    assert table["split_hash"].nunique() == 3


@pytest.mark.usefixtures("installed")
def test_finished_trials_are_not_run_again(make_spec, run, tmp_path):
    log = tmp_path / "log"
    reducers = [{"name": "faulty", "log": str(log)}]
    spec = make_spec(reducers=reducers)
    first = run(spec)
    assert log.read_text().count("\n") == 3
    content = (first.folder / "trials.csv").read_bytes()
    again = run(spec)
    assert (again.done, again.skipped, again.planned) == (0, 6, 6)
    assert log.read_text().count("\n") == 3
    assert (first.folder / "trials.csv").read_bytes() == content
    more = make_spec(reducers=reducers, split={**spec.split.model_dump(), "repeats": 5})
    longer = run(more)
    assert (longer.done, longer.skipped, longer.planned) == (4, 6, 10)
    assert log.read_text().count("\n") == 5
    assert len(read_manifest(longer.folder).sessions) == 2


@pytest.mark.usefixtures("installed")
def test_a_unit_resumed_in_part_fits_what_the_whole_unit_fits(make_spec, run, tmp_path):
    log = tmp_path / "log"
    spec = make_spec(
        reducers=[{"name": "picky", "limit": 3, "log": str(log)}],
        sweep={"reducer.n_components": [1, 2, 3, 4]},
    )
    whole = run(spec)
    assert whole.failed == 6
    assert sorted(log.read_text().split()) == ["3"] * 3 + ["4"] * 3
    table = read_trials(whole.folder)
    assert set(table[table["status"] == "failed"]["reducer.n_components"]) == {4}
    complete = rows(whole.folder)
    path = whole.folder / "trials.csv"
    lines = path.read_text().splitlines(keepends=True)
    kept = [line for i, line in enumerate(lines) if i == 0 or i % 3]
    path.write_text("".join(kept))
    run(spec)
    assert rows(whole.folder) == complete
    assert sorted(log.read_text().split()) == ["3"] * 6 + ["4"] * 6


@pytest.mark.usefixtures("installed")
def test_one_fit_serves_all_dimensions_and_classifiers(make_spec, run, tmp_path):
    fits, searches = tmp_path / "fits", tmp_path / "searches"
    spec = make_spec(
        reducers=[{"name": "picky", "log": str(fits)}],
        classifiers=[{"name": "faulty", "log": str(searches)}, "linear"],
        sweep={"reducer.n_components": [1, 2, 3], "classifier.k": [1, 2, 3, 4]},
    )
    outcome = run(spec)
    assert outcome.done == 3 * 3 * 5
    assert set(read_trials(outcome.folder)["dataset"]) == {"iris"}
    assert fits.read_text().split() == ["3"] * 3
    assert searches.read_text().split() == ["4"] * 9


@pytest.mark.usefixtures("installed")
def test_an_embedding_narrower_than_asked_for_fails_its_trials(make_spec, run):
    # `picky` does not declare that it has at most as many columns as the data.
    spec = make_spec(
        reducers=["picky"], classifiers=["linear"], sweep={"reducer.n_components": [1, 2, 5]}
    )
    outcome = run(spec)
    assert (outcome.done, outcome.failed) == (6, 3)
    assert "n_components=5, " in (outcome.folder / "trials.csv").read_text()


@pytest.mark.usefixtures("installed")
def test_a_methods_own_randomness_depends_on_the_split_alone(make_spec, run):
    alone = make_spec("alone", reducers=["noisy"])
    beside = make_spec("beside", reducers=["none", "noisy", {"name": "noisy", "random_state": 5}])
    first = read_trials(run(alone).folder)
    second = read_trials(run(beside).folder)
    unseeded = second[(second["reducer"] == "noisy") & second["reducer.random_state"].isna()]
    pd.testing.assert_series_equal(
        first["error"], unseeded["error"].reset_index(drop=True), check_exact=True
    )
    assert first["trial_id"].tolist() == unseeded["trial_id"].tolist()
    assert second[second["reducer.random_state"] == 5]["error"].tolist() != first["error"].tolist()


@pytest.mark.usefixtures("installed")
def test_a_changed_spec_does_not_touch_the_old_rows(make_spec, run, tmp_path):
    folder = run(make_spec(reducers=PLAIN)).folder
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"}
    changed = make_spec(reducers=[{"name": "pca", "n_components": 3}])
    with pytest.raises(InputError, match=r"18 rows .*--redo changed.*--out") as caught:
        run(changed)
    facts = describe_plan(changed, out=tmp_path)
    assert (facts.conflict, facts.done, facts.trials) == (str(caught.value), 0, 6)
    assert {name: (folder / name).read_bytes() for name in before} == before
    outcome = run(changed, redo=["all"])
    assert outcome.done == 6
    (moved,) = (folder / "previous").iterdir()
    assert {path.name: path.read_bytes() for path in moved.iterdir()} == before


def test_the_message_says_what_changed(make_spec, run):
    run(make_spec(reducers=["none"]))
    seed = {"kind": "fraction", "train": 0.5, "repeats": 3, "seed": 7}
    with pytest.raises(InputError, match=r"changed: split\.seed: 0 -> 7\)"):
        run(make_spec(reducers=["none"], split=seed))
    both = r"(?s)(?=.*split\.seed: 0 -> 7)(?=.*split\.train: 0\.5 -> 0\.4)"
    with pytest.raises(InputError, match=both):
        run(make_spec(reducers=["none"], split=seed | {"train": 0.4}))


def test_fewer_repeats_than_there_are_rows_of(make_spec, run):
    split = {"kind": "fraction", "train": 0.5, "repeats": 3}
    run(make_spec(reducers=["none"], split=split))
    for redo in ([], ["knn"], ["none"]):
        with pytest.raises(InputError, match=r"more repeats than requested \(3 -> 2\)"):
            run(make_spec(reducers=["none"], split=split | {"repeats": 2}), redo=redo)


def test_a_removed_method_is_named_and_the_rows_of_the_others_count(make_spec, run, tmp_path):
    run(make_spec(reducers=["pca", "none", "lda"]))
    fewer = make_spec(reducers=["lda", "none"])  # their order is no change
    with pytest.raises(InputError, match=r"6 rows .*changed: reducers\.pca: removed\).* other 12 "):
        run(fewer)
    facts = describe_plan(fewer, out=tmp_path)
    assert (facts.trials, facts.done, facts.remaining) == (12, 12, 0)
    outcome = run(fewer, redo=["changed"])
    assert (outcome.skipped, outcome.done) == (12, 0)


def test_new_metrics_are_another_version(make_spec, run):
    run(make_spec(reducers=["none"]))
    more = make_spec(reducers=["none"], metrics=["error", "balanced_accuracy"])
    with pytest.raises(InputError, match="another version"):
        run(more)


def test_a_title_and_a_file_name_are_no_change(make_spec, run, tmp_path):
    sizes = read_manifest(run(make_spec("one", reducers=["none"])).folder).sizes
    (tmp_path / "one").rename(tmp_path / "two")
    renamed = make_spec("two", reducers=[{"name": "none", "label": "raw"}], title="Another")
    outcome = run(renamed)
    assert (outcome.skipped, outcome.done) == (6, 0)
    assert read_manifest(outcome.folder).spec["title"] == "Another"
    assert read_manifest(outcome.folder).sizes == sizes != {}


def test_a_classifier_more_adds_columns_and_rows(make_spec, run):
    one = make_spec(reducers=["none"], classifiers=[{"name": "knn", "n_neighbors": 3}])
    folder = run(one).folder
    before = read_trials(folder)
    two = make_spec(reducers=["none"])
    outcome = run(two)
    assert (outcome.skipped, outcome.done) == (3, 3)
    after = read_trials(folder).set_index("trial_id")
    for column in before.columns.drop("trial_id"):
        expected = before.set_index("trial_id")[column]
        pd.testing.assert_series_equal(after.loc[expected.index, column], expected)
    assert "classifier.alpha" in after


def test_nothing_is_left_behind(make_spec, run, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    outcome = run(make_spec(reducers=PLAIN))
    assert sorted(path.name for path in outcome.folder.iterdir()) == [
        "controls.csv",
        "manifest.json",
        "run.lock",
        "trials.csv",
    ]
    assert list(scratch.iterdir()) == []


def test_plan_and_status_say_how_far_a_run_is(make_spec, run, tmp_path):
    spec = make_spec(reducers=PLAIN, sweep={"reducer.n_components": [1, 2]})
    facts = describe_plan(spec, out=tmp_path)
    assert (facts.trials, facts.fits, facts.splits, facts.done) == (30, 9, 3, 0)
    assert facts.seconds_left is None
    assert not (tmp_path / spec.name).exists()
    folder = run(spec).folder
    assert (run_status(folder).done, run_status(folder).remaining) == (30, 0)
    lines = (folder / "trials.csv").read_text().splitlines(keepends=True)
    (folder / "trials.csv").write_text("".join(lines[:16]))
    facts = describe_plan(spec, out=tmp_path)
    assert (facts.done, facts.remaining) == (15, 15)
    assert facts.seconds_left is not None
    assert facts.seconds_left > 0
    status = run_status(folder)
    assert (status.done, status.remaining, status.running) == (15, 15, False)
    assert status.seconds_left is not None
    assert "15 of 30 trials" in str(status)


def test_no_card_fingerprint_is_no_obstacle(make_spec, run, tmp_path):
    generator = np.random.default_rng(0)
    points = np.vstack([generator.normal(size=(30, 3)), generator.normal(2, size=(30, 3))])
    table = pd.DataFrame(points, columns=["a", "b", "c"]).assign(label=["x"] * 30 + ["y"] * 30)
    (tmp_path / "specs").mkdir()
    table.to_csv(tmp_path / "specs" / "mine.csv", index=False)
    (tmp_path / "specs" / "mine.yaml").write_text(
        "name: mine\ntitle: My data\nfiles: [{path: mine.csv}]\n"
        "format: {name: csv, header: true, label: label}\n"
    )
    spec = make_spec(dataset="./mine.yaml", reducers=["none"])
    first = run(spec)
    assert first.done == 6
    assert run(spec).skipped == 6
    table.loc[0, "a"] += 1e-9
    table.to_csv(tmp_path / "specs" / "mine.csv", index=False)
    with pytest.raises(InputError, match="the data's fingerprint"):
        run(spec)


def test_a_parameter_that_was_added_keeps_the_rows_of_before(make_spec, run):
    lpp = {"name": "lpp", "n_components": 2}
    folder = run(make_spec(reducers=[lpp])).folder
    path = folder / "trials.csv"
    now = pd.read_csv(path, dtype=str, keep_default_na=False)
    # The trial log had no such column before lpp had the parameter epsilon.
    now.drop(columns="reducer.epsilon").to_csv(path, index=False, lineterminator="\n")
    assert run(make_spec(reducers=[lpp])).done == 0
    pd.testing.assert_frame_equal(pd.read_csv(path, dtype=str, keep_default_na=False), now)
    wider = make_spec(reducers=[lpp, {**lpp, "epsilon": 0.5}])
    assert describe_plan(wider, out=folder.parent).done == len(now)
    run(wider)
    table = pd.read_csv(path, dtype=str)
    assert sorted(table["reducer.epsilon"]) == ["0.5"] * len(now) + ["mean"] * len(now)
    assert list(table["trial_id"][table["reducer.epsilon"] == "mean"]) == list(now["trial_id"])
    labels = summary_of(folder).rows["reducer_label"].unique()
    assert sorted(label.lower() for label in labels) == ["lpp (epsilon=0.5)", "lpp (mean)"]
