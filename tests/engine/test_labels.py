"""Label budgets and training sizes: what each method is fitted to, and that ids do not change."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import summarize, summary_of
from ddr_cli.data import load_dataset
from ddr_cli.engine import make_plan, read_trials, run_spec
from ddr_cli.engine.work.label_budget import labelled_rows
from ddr_cli.engine.work.samples import Labels, Samples
from ddr_cli.evaluation.splits import label_places, make_split
from ddr_cli.reducers import CCDR, LDA, PCA, LaplacianRLS
from ddr_cli.reducers.registry import REDUCERS, get_traits
from ddr_cli.report.run_chart import draw
from ddr_cli.report.run_tables import run_table
from ddr_cli.spec import make_spec

TRANSDUCTIVE = {"name": "ccdr", "n_components": 2, "n_neighbors": 6, "mode": "transductive"}
OWN_MODE = {"name": "laplacian_rls", "n_neighbors": 5, "alpha": 0.1}
SUPERVISED = {"name": "lda", "n_components": 2}
UNSUPERVISED = {"name": "pca", "n_components": 2}
METHODS = [TRANSDUCTIVE, OWN_MODE, SUPERVISED, UNSUPERVISED]


def spec_of(name="labels", **changes):
    given = {
        "name": name,
        "dataset": "iris",
        "reducers": METHODS,
        "classifiers": [{"name": "knn", "n_neighbors": 1}],
        "split": {"kind": "per_class", "train": 12, "repeats": 2},
        "labels": [2, 5, "all"],
        "controls": [],
    }
    return make_spec(**{**given, **changes})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return run_spec(spec_of(), out=tmp_path_factory.mktemp("runs")).folder


@pytest.fixture(scope="module")
def trials(folder):
    return read_trials(folder)


def parts(index, budget, load=load_iris, dataset="iris"):
    """Return the samples and labels, the split, and a mask of the labelled training samples."""
    X, y = load(return_X_y=True)
    split = make_split("per_class", y, index=index, dataset=dataset, train=12)
    places = label_places(y, split.train, seed=0, dataset=dataset, index=index)
    return X, y, split, places < budget


def error_of(train, y_train, test, y_test):
    """Return the error of 1-NN."""
    nearest = ((test[:, None] - train[None]) ** 2).sum(axis=2).argmin(axis=1)
    return np.mean(y_train[nearest] != y_test)


def by_hand(name, index, budget):
    X, y, split, labelled = parts(index, budget, load_wine, "wine")
    train, test = X[split.train], X[split.test]
    given = np.where(labelled, y[split.train], -1)
    if name == "ccdr":
        both = np.concatenate([given, np.full(len(test), -1)])
        placed = CCDR(n_components=2, n_neighbors=6).fit_transform(np.vstack([train, test]), both)
        train, test = placed[: len(train)], placed[len(train) :]
    elif name == "laplacian_rls":
        model = LaplacianRLS(n_neighbors=5, alpha=0.1).fit(train, given)
        train, test = model.transform(train), model.transform(test)
    elif name == "lda":
        model = LDA(n_components=2).fit(train[labelled], y[split.train][labelled])
        train, test = model.transform(train), model.transform(test)
    else:
        model = PCA(n_components=2).fit(train)
        train, test = model.transform(train), model.transform(test)
    return error_of(train[labelled], y[split.train][labelled], test, y[split.test])


@pytest.fixture(scope="module")
def without_ties(tmp_path_factory):
    """Trials whose methods don't depend on the order of the samples, which is drawn."""
    folder = tmp_path_factory.mktemp("wine")
    return read_trials(run_spec(spec_of(dataset="wine"), out=folder).folder)


@pytest.mark.parametrize("name", ["ccdr", "laplacian_rls", "lda", "pca"])
def test_a_method_gets_what_it_can_learn_from(without_ties, name):
    trials = without_ties
    for index, budget in ((0, 2), (0, 5), (1, 2), (1, 5)):
        row = trials[
            (trials["reducer"] == name)
            & (trials["split"] == f"per_class-{index}")
            & (trials["labels"] == budget)
        ]
        assert row["error"].item() == pytest.approx(by_hand(name, index, budget), abs=1e-12)


def test_all_labels_are_the_trials_of_a_spec_without_budgets(trials):
    without = make_plan(spec_of(labels=None))
    with_budgets = make_plan(spec_of())
    assert set(without.trials) < set(with_budgets.trials)
    assert len(with_budgets.trials) == 3 * len(without.trials)
    assert set(trials.loc[trials["labels"].isna(), "trial_id"]) == set(without.trials)
    assert set(make_plan(spec_of(labels=["all"])).trials) == set(without.trials)


def test_a_method_without_labels_is_fitted_once_for_all_budgets():
    fits = next(iter(make_plan(spec_of()).fits.values()))
    counted = [fit.reducer.name for fit in fits]
    assert {name: counted.count(name) for name in counted} == {
        "ccdr": 3,
        "laplacian_rls": 3,
        "lda": 3,
        "pca": 1,
    }


def test_a_run_that_was_cut_off_goes_on(folder, tmp_path):
    target = tmp_path / "labels"
    target.mkdir()
    lines = (folder / "trials.csv").read_text().splitlines(keepends=True)
    (target / "trials.csv").write_text("".join(lines[:10]))
    (target / "manifest.json").write_bytes((folder / "manifest.json").read_bytes())
    outcome = run_spec(spec_of(), out=tmp_path)
    assert (outcome.skipped, outcome.done, outcome.failed) == (9, 15, 0)

    def numbers(path):
        table = read_trials(path).drop(columns=["fit_seconds", "eval_seconds"])
        return table.to_csv()

    assert numbers(target) == numbers(folder)


@pytest.mark.usefixtures("installed")
def test_a_failed_trial_with_a_budget_has_the_score_of_the_labelled_majority(
    tmp_path, one_after_the_other
):
    spec = spec_of(
        dataset="balance",
        reducers=[{"name": "faulty", "does": "raise"}],
        split={"kind": "fraction", "train": 0.5, "repeats": 1},
        labels=[2, "all"],
    )
    trials = read_trials(run_spec(spec, out=tmp_path, executor=one_after_the_other()).folder)
    assert set(trials["status"]) == {"failed"}
    # Balance has 49, 288 and 288 samples; with 2 labels of each, the first class is the majority.
    y = load_dataset("balance").y
    y = y[make_split("fraction", y, index=0, dataset="balance", train=0.5).test]
    few = trials["labels"].notna()
    assert trials.loc[few, "error"].item() == pytest.approx(np.mean(y != 0))
    assert trials.loc[~few, "error"].item() < 0.6


def test_a_budget_that_a_class_can_not_meet_says_which():
    y = np.repeat([0, 1], [5, 3])
    places = label_places(y, np.arange(8), seed=0, dataset="d", index=0)
    split = Samples(np.zeros((8, 1)), Labels(y, ("many", "few")), 8, label_order=places)
    assert len(labelled_rows(split, 3)) == 6
    with pytest.raises(ValueError, match="class 'few' has only 3"):
        labelled_rows(split, 4)


def test_a_swept_training_size_keeps_the_trials_of_each_size():
    def plan(split, **more):
        return make_plan(spec_of(split=split, labels=None, **more))

    swept = plan({"kind": "per_class", "repeats": 2}, sweep={"split.train": [12, 20]})
    each = [
        set(plan({"kind": "per_class", "repeats": 2, "train": size}).trials) for size in (12, 20)
    ]
    assert set(swept.trials) == each[0] | each[1]
    assert [key.name for key in swept.fits] == [
        "per_class-12-0",
        "per_class-12-1",
        "per_class-20-0",
        "per_class-20-1",
    ]


def test_the_summary_has_a_row_per_number_of_labels_and_the_figure_a_place(folder):
    summary = summary_of(folder)
    assert summary.rows["labels"].tolist() == [2, 5, "all"] * 4
    assert summary.rows["planned"].tolist() == [2] * 12
    (axes,) = draw(summary).axes
    assert axes.get_xlabel() == "labelled training samples per class, log scale"
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["2", "5", "all"]
    # There is a curve for each of the four methods, and a marker at the best mean.
    assert len(axes.lines) == 5
    assert axes.lines[0].get_xdata().tolist() == [2, 5, 12.5]


def test_sizes_of_the_training_part_are_places_of_one_curve(tmp_path):
    spec = spec_of(
        split={"kind": "per_class", "repeats": 2},
        reducers=["none", SUPERVISED],
        labels=None,
        sweep={"split.train": [10, 30]},
    )
    run = load_run(run_spec(spec, out=tmp_path).folder)
    summary = summarize(run)
    assert run.sizes("per_class-30") == (90, 60)
    assert summary.rows["split.train"].tolist() == [10, 30, 10, 30]
    assert summary.rows["planned"].tolist() == [2] * 4
    assert set(summary.rows["interval"]) == {"80 % of 2 random splits"}
    (axes,) = draw(summary).axes
    assert axes.get_xlabel() == "training samples per class"
    assert axes.lines[0].get_xdata().tolist() == [10, 30]


@pytest.mark.parametrize("name", ["ccdr", "discriminative_projections", "laplacian_rls"])
def test_semi_supervised_methods_take_minus_one_for_no_label(name):
    X, y = load_iris(return_X_y=True)
    given = np.where(np.arange(150) % 5, -1, y)
    reducer = REDUCERS.load(name)()
    assert get_traits(reducer).semi_supervised
    assert reducer.fit(X, given).classes_.tolist() == [0, 1, 2]


def test_methods_with_or_without_labels_are_not_semi_supervised():
    for name in ("lda", "lfda", "nmmp", "ssde", "pca", "lpp", "none"):
        assert not get_traits(REDUCERS.load(name)()).semi_supervised


def test_the_table_has_a_column_per_number_of_labels(folder):
    table = run_table(summary_of(folder))
    heads = [head.split("\n")[0] for head in table.frame]
    assert heads == ["reducer", "2 labels", "5 labels", "all labels"]
    assert "error rate of k-NN" in table.title
