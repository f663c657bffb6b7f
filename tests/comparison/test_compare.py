"""Methods are compared by paired splits within a data set, and by pairs across data sets."""

import itertools
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ddr_cli
from ddr_cli.charts.style import rendered
from ddr_cli.comparison.compare import compare
from ddr_cli.comparison.summary import Row, summary_of
from ddr_cli.comparison.within_dataset import difference_interval
from ddr_cli.core.errors import InputError
from ddr_cli.engine.work.session import majority_of
from ddr_cli.evaluation.statistics import NADEAU_BENGIO, SMALL_TRAINING
from ddr_cli.report.comparison_tables import comparison_tables
from ddr_cli.report.pair_chart import draw_pairs
from ddr_cli.show.markdown import markdown
from ddr_cli.spec import make_spec as spec_of

NAMES = ("none", "pca", "lda", "lfda")
SHOWN = {"none": "no reduction", "pca": "PCA", "lda": "LDA", "lfda": "LFDA"}
REDUCERS = [{"name": name} for name in NAMES]
SETS = ("landsat", "iris", "balance", "digits", "usps", "orl", "coil20")


def in_words(found):
    return markdown(comparison_tables(found))


def on_dataset(folder, name):
    """Turn a made-up run on Landsat into one on another data set."""
    for path in (folder / "manifest.json", folder / "trials.csv"):
        text = path.read_text(encoding="utf-8").replace("landsat", name)
        path.write_text(text, encoding="utf-8")
    spec = spec_of(dataset=name, reducers=["none"], classifiers=["knn"])
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["majority"] = majority_of(spec)
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


@pytest.fixture
def make(results, make_spec, write_results):
    """Write a run on a data set; `errors` has an error, or a function of the trial, per reducer."""

    def run(name, errors, *, dataset="landsat", below=results, repeats=6, on_shuffled=None, **spec):
        reducers = spec.pop("reducers", [{"name": each} for each in errors])
        given = make_spec(name, reducers=reducers, repeats=repeats, predefined=False, **spec)
        values = {each: error if callable(error) else None for each, error in errors.items()}

        def error(trial):
            found = values[trial.reducer]
            return found(trial) if found else errors[trial.reducer]

        folder = write_results(below, given, error, on_shuffled=on_shuffled)
        return on_dataset(folder, dataset)

    return run


def noisy(level, seed):
    noise = np.random.default_rng(seed).normal(scale=0.01, size=100)
    return lambda trial: level + noise[trial.index]


def test_differences_are_paired_and_corrected(make):
    folder = make("run", {"none": noisy(0.2, 0), "pca": noisy(0.19, 1), "lda": noisy(0.18, 2)})
    rows = compare([folder], against="pca").differences.set_index("method")
    drawn = [np.random.default_rng(seed).normal(scale=0.01, size=100)[:6] for seed in (2, 1)]
    values = (0.18 + drawn[0]) - (0.19 + drawn[1])
    half = stats.t.ppf(0.975, 5) * values.std(ddof=1) * np.sqrt(1 / 6 + 2000 / 4435)
    lda = rows.loc["LDA"]
    assert lda["difference"] == pytest.approx(values.mean())
    assert (lda["low"], lda["high"]) == pytest.approx((values.mean() - half, values.mean() + half))
    assert lda["p_value"] > stats.ttest_1samp(values, 0).pvalue
    assert "PCA" not in rows.index
    # Holm's correction doubles the smaller of two p-values; the larger is at least as large.
    low, high = sorted(rows["p_value"])
    assert sorted(rows["p_holm"]) == pytest.approx([min(2 * low, 1), max(min(2 * low, 1), high)])


def test_every_method_is_tested_against_the_best(make):
    errors = {"none": noisy(0.2, 1), "pca": noisy(0.1, 2), "lda": noisy(0.1, 3)}
    found = compare([make("run", errors)])
    p = found.methods.set_index("method")["p_best"]
    best = found.methods.set_index("method")["mean"].idxmin()
    other = "LDA" if best == "PCA" else "PCA"
    assert p[best] == 1
    assert p[other] > 0.05 > p["no reduction"]
    pairs = found.pairs.set_index(["first", "second"])["p_value"]
    assert p["no reduction"] == pytest.approx(2 * pairs["no reduction", best])


@pytest.mark.parametrize(
    ("metric", "correction"), [("error", SMALL_TRAINING), ("balanced_accuracy", NADEAU_BENGIO)]
)
def test_a_small_training_part_is_allowed_for(make, metric, correction):
    errors = {"none": noisy(0.2, 0), "pca": noisy(0.2, 1)}
    folder = make("run", errors, metric=metric, repeats=20)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["sizes"]["resample"] |= {"train": 100, "test": 3900}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    pca = compare([folder]).differences.set_index("method").loc["PCA"]
    first, second = (np.random.default_rng(s).normal(scale=0.01, size=100)[:20] for s in (1, 0))
    differences = first - second
    shared = differences.var(ddof=1) * 39
    if correction == SMALL_TRAINING:
        first, second = 0.2 + first.mean(), 0.2 + second.mean()
        point = first + second - (first - second) ** 2
        shared = differences.var(ddof=1) / 39 + (1 - 1 / 39) * point / 3900
    half = stats.t.ppf(0.975, 19) * np.sqrt(differences.var(ddof=1) / 20 + shared)
    assert pca["interval"] == correction
    assert pca["high"] == pytest.approx(differences.mean() + half)
    summary = summary_of(folder).rows
    assert set(summary["mean_interval"]) == {correction}
    assert summary["mean_low"].min() >= 0


def test_a_mean_of_differences_has_one_interval(make):
    noise = noisy(0, 0)
    errors = {"none": lambda trial: 0.3 + noise(trial), "pca": 0.2, "lda": 0.1}
    summary = summary_of(make("run", errors))
    none, pca, lda = (Row(summary, index) for index in range(3))
    both = difference_interval((none, pca), (none, lda))
    assert both is not None
    values = [noise(trial) for trial in [SimpleNamespace(index=i) for i in range(6)]]
    assert both.mean == pytest.approx(0.15 + np.mean(values))


def test_equal_differences_have_no_test(make):
    luck = noisy(0, 0)
    errors = {
        "none": lambda trial: 0.3 + luck(trial),
        "pca": lambda trial: 0.3 + luck(trial),
        "lda": lambda trial: 0.2 + luck(trial),
        "lfda": noisy(0.2, 1),
    }
    found = compare([make("run", errors)])
    rows = found.differences.set_index("method")
    assert rows.loc["LDA", ["low", "high", "p_value", "p_holm"]].isna().all()
    assert rows.loc["LDA", "difference"] == pytest.approx(-0.1)
    assert rows.loc["PCA", ["low", "high", "p_value"]].tolist() == [0, 0, 1]
    assert found.pairs.set_index(["first", "second"])["p_value"].isna().sum() == 2
    (table,) = comparison_tables(found)
    assert "LDA: the differences are the same on all splits, so there is no test." in table.notes
    assert any("adjusted for 2 comparisons" in note for note in table.notes)
    # LDA has the lowest mean. The difference of no reduction and PCA to it can't be tested.
    assert found.methods["p_best"].isna().tolist() == [True, True, False, False]
    assert table.best == {2, 3}
    assert "for 1 comparison). A mean without a test is not bold." in table.best_note


# -- across data sets -----------------------------------------------------------------------------

# PCA's error minus LDA's, by data set.
GAPS = (0.05, 0.04, 0.03, 0.02, 0.009, -0.01, -0.011)


@pytest.fixture
def folders(make):
    return [
        make(f"on_{name}", {"pca": 0.3 + gap, "lda": 0.3}, dataset=name)
        for name, gap in zip(SETS, GAPS, strict=True)
    ]


def test_wins_losses_and_signed_ranks_are_over_data_sets(folders):
    (pair,) = compare(folders).pairs.to_dict("records")
    assert (pair["first"], pair["second"], pair["datasets"]) == ("PCA", "LDA", 7)
    # PCA's error is higher by more than a percentage point on four data sets. Differences of .9 and
    # of exactly 1 point count as equal.
    assert (pair["wins"], pair["equal"], pair["losses"]) == (1, 2, 4)
    assert pair["median_difference"] == pytest.approx(0.02)
    assert pair["p_value"] == pytest.approx(stats.wilcoxon(GAPS).pvalue)
    # By hand: among the ranks 1 to 7, the negative differences have 2 and 3. Of the 128 choices of
    # signs, 10 have a sum of at most 5: {}, 1, 2, 3, 4, 5, 12, 13, 14, 23.
    assert pair["p_value"] == pytest.approx(2 * 10 / 128)
    wider = compare(folders, equivalence=0.02).pairs.iloc[0]
    assert (wider["wins"], wider["equal"], wider["losses"]) == (0, 4, 3)


def test_the_scaled_score_is_between_the_largest_class_and_no_mistake(folders):
    found = compare(folders[1:3]).scores.set_index("method").loc["LDA"]
    # The majority class has 1/3 of iris, and 288 of the 625 samples of balance.
    scores = [(0.7 - each) / (1 - each) for each in (1 / 3, 288 / 625)]
    assert found["score"] == pytest.approx(np.mean(scores))
    assert (found["low"], found["high"]) == pytest.approx((min(scores), max(scores)))


def test_too_few_data_sets_to_reject_are_said(folders):
    assert "With 3 data sets this test cannot reach p < 0.05" in in_words(compare(folders[:3]))
    assert "can't" not in in_words(compare(folders[:6]))


def _facts(found):
    """Return the comparison of no reduction with PCA, without Holm's p-value."""
    pair = found.pairs.set_index(["first", "second"])
    key = ("no reduction", "PCA")
    if key in pair.index:
        row = pair.loc[key]
        values = [row[name] for name in ("wins", "losses", "median_difference", "low", "high")]
    else:
        row = pair.loc[key[::-1]]
        values = [row["losses"], row["wins"]]
        values += [-row[name] for name in ("median_difference", "high", "low")]
    rows = found.differences[found.differences["method"] == key[0]]
    return {
        "pair": [*values, row["equal"], row["p_value"]],
        "differences": rows.drop(columns=["p_holm", "run"]).reset_index(drop=True),
        "scores": found.scores.set_index("method").loc[list(key)],
    }


@pytest.mark.parametrize("n_sets", [1, 3])
def test_a_third_method_changes_nothing_between_two(make, tmp_path, n_sets):
    """Only Holm's p-values may change when methods are added or removed."""
    levels = np.random.default_rng(n_sets).uniform(0.1, 0.4, size=(n_sets, len(NAMES)))

    def of_two(pool, kind):
        folders = [
            make(
                f"{kind}{place}",
                {
                    each: noisy(levels[place, NAMES.index(each)], 10 * place + NAMES.index(each))
                    for each in pool
                },
                dataset=SETS[place],
                below=tmp_path / kind,
            )
            for place in range(n_sets)
        ]
        return _facts(compare(folders, against="pca")), folders

    alone, _ = of_two(("none", "pca"), "alone")
    joined, folders = of_two(("lda", "none", "lfda", "pca"), "joined")
    turned, _ = of_two(("lfda", "pca", "none"), "turned")
    for each in (joined, turned):
        assert each["pair"] == pytest.approx(alone["pair"], nan_ok=True)
    for each in (joined, turned, _facts(compare(folders, against="pca", methods=["none,pca"]))):
        pd.testing.assert_frame_equal(each["differences"], alone["differences"])
        pd.testing.assert_frame_equal(each["scores"], alone["scores"])


# -- what is compared -----------------------------------------------------------------------------


def test_transductive_and_inductive_methods_have_tables_of_their_own(make):
    both = [
        {"name": "none"},
        {"name": "lda"},
        {"name": "ccdr", "mode": "transductive"},
        {"name": "laplacian_rls", "mode": "transductive"},
    ]
    errors = {"none": 0.3, "lda": 0.2, "ccdr": 0.1, "laplacian_rls": 0.15}
    folder = make("run", errors, reducers=both)
    found = compare([folder])
    assert set(zip(found.pairs["first"], found.pairs["second"], strict=True)) == {
        ("no reduction", "LDA"),
        ("CCDR", "Laplacian RLS"),
    }
    assert list(found.differences["against"]) == ["no reduction", "CCDR"]
    # A requested reference applies to both tables, with a note on what each method is fitted to.
    asked = compare([folder], against="none")
    assert list(asked.differences["against"]) == ["no reduction"] * 3
    assert "no reduction is inductive" in in_words(asked)
    assert len(draw_pairs(found).axes) == 2


def test_a_rule_for_ties_is_no_method(make):
    rules = [
        {"name": "knn", "label": "3-NN", "params": {"n_neighbors": 3, "ties": "nearest"}},
        {
            "name": "knn",
            "label": "3-NN, low",
            "params": {"n_neighbors": 3, "ties": "smallest_label"},
        },
    ]
    folder = make("run", {"pca": 0.2, "lda": 0.1}, classifiers=rules)
    found = compare([folder])
    assert list(found.methods["method"]) == ["PCA", "LDA"]
    (note,) = found.notes
    assert "3-NN, low" in note
    asked = compare([folder], classifier="3-NN, low")
    assert asked.notes == ()
    linear = [*rules, {"name": "linear"}]
    two = make("two", {"pca": 0.2, "lda": 0.1}, classifiers=linear)
    names = list(compare([two]).methods["method"])
    assert names == ["PCA, 3-NN", "PCA, linear", "LDA, 3-NN", "LDA, linear"]
    assert list(compare([two], classifier="linear").methods["method"]) == ["PCA", "LDA"]
    chosen = compare([two], methods=["PCA, linear,lda"]).methods["method"]
    assert list(chosen) == ["PCA, linear", "LDA, 3-NN", "LDA, linear"]


def test_a_setting_is_taken_in_place_of_the_best(make):
    reducers = [
        {"name": "none"},
        {"name": "pca", "params": {"n_components": 1}},
        {"name": "lda", "params": {"n_components": 1}},
    ]
    widths = {"reducer.n_components": [1, 2, 3]}
    errors = {
        "none": 0.3,
        "pca": lambda trial: 0.3 / trial.params["reducer.n_components"],
        "lda": 0.2,
    }
    folder = make("run", errors, reducers=reducers, sweep=widths)
    best = compare([folder])
    pca = best.methods.set_index("method").loc["PCA"]
    assert (pca["setting"], pca["settings"], pca["mean"]) == ("dim = 3", 3, pytest.approx(0.1))
    assert "favours larger grids" in best.notes[0]
    at = compare([folder], at=["n_components=2"])
    assert at.methods.set_index("method").loc["PCA", "mean"] == pytest.approx(0.15)
    (note,) = at.notes
    assert "no reduction has no n_components" in note
    with pytest.raises(InputError, match=r"Did you mean 'n_components'"):
        compare([folder], at=["n_component=2"])
    with pytest.raises(InputError, match="--at n_components=10"):
        compare([folder], at=["n_components"])
    narrow = make("narrow", errors, reducers=[*reducers[:2], {"name": "lda"}], sweep=widths)
    text = (narrow / "trials.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    column = text[0].strip().split(",").index("reducer.n_components")
    kept = [line for line in text if "pca" not in line or line.split(",")[column] != "3"]
    (narrow / "trials.csv").write_text("".join(kept), encoding="utf-8")
    notes = compare([narrow], at=["n_components=3"]).notes
    assert any("PCA cannot have dim = 3" in note for note in notes)


def test_runs_of_one_spec_in_two_folders_are_told_apart(make, results, tmp_path):
    made = [
        make("run", {"pca": 0.2, "lda": level}, below=folder, repeats=repeats)
        for folder, level, repeats in (
            (results, 0.1, 6),
            (tmp_path / "build", 0.12, 4),
            (tmp_path / "build" / "heat", 0.3, 6),
        )
    ]
    found = compare(made, against="LDA (results)")
    assert set(found.methods["run"]) == {"run (results)", "run (build)", "run (heat)"}
    rows = found.differences.set_index("method")
    assert rows.loc["LDA (build)", "difference"] == pytest.approx(0.02)
    assert rows.loc["LDA (build)", "n"] == 4
    note = "PCA (build), LDA (build): the difference is over the 4 splits in common with LDA (res"
    assert in_words(found).count("in common with") == 1
    assert note in in_words(found)
    assert rows.loc["LDA (heat)", "difference"] == pytest.approx(0.2)
    assert set(found.pairs["datasets"]) == {1}
    assert len(found.pairs) == 15
    # A folder that is given twice counts as one run.
    assert set(compare([made[0], made[0]]).methods["method"]) == {"PCA", "LDA"}


def test_a_data_set_counts_once_whatever_its_runs(make):
    errors = {"pca": 0.2, "lda": 0.1}
    runs = [
        make("one", errors),
        make("again", {"pca": 0.2, "lda": 0.3}),
        make("other", errors, dataset="iris"),
        # Neither run has both PCA and LDA, but the two runs have the same splits.
        make("left", {"pca": 0.2, "none": 0.3}, dataset="digits"),
        make("right", {"lda": 0.15, "lfda": 0.3}, dataset="digits"),
    ]
    found = compare(runs)
    pairs = found.pairs.set_index(["first", "second"])
    pair = pairs.loc[("PCA", "LDA")]
    # On Landsat, the difference is the mean of +.1 and -.1, so it counts as equal.
    assert (pair["datasets"], pair["wins"], pair["equal"], pair["losses"]) == (3, 0, 1, 2)
    assert any("landsat (one, again)" in note for note in found.notes)
    # The table across data sets has no pairs of a single data set, which the runs' tables compare.
    (across,) = [each for each in comparison_tables(found) if "Pairs" in each.title]
    assert set(pairs["datasets"]) == {1, 3}
    assert across.frame[["first", "second", "data sets"]].to_numpy().tolist() == [
        ["PCA", "LDA", "3"]
    ]
    # On a single data set, methods of several runs are labelled with the name of their run.
    names = set(compare(runs[:2]).methods["method"])
    assert names == {"PCA (one)", "PCA (again)", "LDA (one)", "LDA (again)"}


def test_each_kind_of_test_is_corrected_by_the_number_of_its_own_pairs(make):
    errors = {"none": noisy(0.23, 0), "pca": noisy(0.2, 1), "lda": noisy(0.1, 2)}
    there = {name: errors[name] for name in ("pca", "lda")}
    runs = [make("one", errors), make("other", there, dataset="iris")]
    pairs = compare(runs).pairs.set_index(["first", "second"])
    # PCA and LDA share two data sets. Two of the four changes of sign are as extreme.
    across = pairs.loc[("PCA", "LDA")]
    assert (across["datasets"], across["p_value"], across["p_holm"]) == (2, 0.5, 0.5)
    within = pairs.loc["no reduction"]
    assert within["datasets"].tolist() == [1, 1]
    low, high = sorted(within["p_value"])
    assert sorted(within["p_holm"]) == pytest.approx([2 * low, max(2 * low, high)])


def test_rows_on_shuffled_labels_are_no_setting(make):
    folder = make("run", {"pca": 0.3, "lda": 0.2}, on_shuffled=0.1)
    found = compare([folder])
    assert found.methods["settings"].tolist() == [1, 1]
    assert found.methods["mean"].tolist() == pytest.approx([0.3, 0.2])
    assert any("shuffled labels" in note for note in found.notes)


def test_a_value_nearby_is_another_setting(make):
    places = {"reducer.n_components": [10, 11]}
    errors = {"pca": lambda trial: trial.params["reducer.n_components"] / 100, "lda": 0.2}
    reducers = [{"name": name, "params": {"n_components": 10}} for name in errors]
    folder = make("run", errors, reducers=reducers, sweep=places)
    for at in (10, 11):
        found = compare([folder], at=[f"n_components={at}"]).methods.set_index("method")
        assert found.loc["PCA", "mean"] == pytest.approx(at / 100)
    narrow = make("narrow", errors, reducers=reducers, sweep={"reducer.n_components": [11, 12]})
    with pytest.raises(InputError, match="cannot have dim = 10"):
        compare([narrow], at=["n_components=10"])


def test_an_impossible_comparison_is_refused(make, folders, make_spec, write_results, results):
    with pytest.raises(InputError, match="Did you mean 'PCA'"):
        compare(folders, against="pcs")
    with pytest.raises(InputError, match="Did you mean 'LDA'"):
        compare(folders, methods=["pca,lds"])
    with pytest.raises(InputError, match="no metric 'accuracy'"):
        compare(folders, metric="accuracy")
    with pytest.raises(InputError, match="'svm'"):
        compare(folders, classifier="svm")
    with pytest.raises(InputError, match=r"0\.01"):
        compare(folders, equivalence=-1)
    single = make_spec("single", reducers=REDUCERS, kind="predefined", predefined=False)
    with pytest.raises(InputError, match=r"one split.*--repeats"):
        compare([write_results(results, single, lambda _: 0.1)])
    with pytest.raises(InputError, match="no two methods"):
        compare([make("alone", {"lda": 0.1})])
    other = make("other", {"lpp": 0.1, "none": 0.2}, dataset="iris")
    with pytest.raises(InputError) as error:
        compare([folders[0], other])
    assert "on_landsat: PCA, LDA; landsat, " in str(error.value)
    assert "other: LPP, no reduction; iris, " in str(error.value)


def test_a_run_of_other_splits_is_said(make, tmp_path):
    errors = {"pca": 0.2, "lda": 0.1}
    other = make("run", errors, below=tmp_path / "seed1")
    table = pd.read_csv(other / "trials.csv")
    table["split_hash"] = table["split_hash"].str[::-1]
    table.to_csv(other / "trials.csv", index=False)
    with pytest.raises(InputError, match="share no split"):
        compare([make("run", errors), other])


def test_the_matrix_is_the_same_bytes_each_time(folders):
    found = compare(folders)
    assert rendered(draw_pairs(found)) == rendered(draw_pairs(found))
    texts = [text.get_text() for text in draw_pairs(found).axes[0].texts]
    assert texts == ["+2.00\n1-2-4", "-2.00\n4-2-1"]
    single = [text.get_text() for text in draw_pairs(compare(folders[:1])).axes[0].texts]
    assert single == ["+5.00", "-5.00"]


def test_every_pair_of_a_track_is_there(make):
    errors = dict(zip(NAMES, (0.4, 0.3, 0.2, 0.1), strict=True))
    found = compare([make("run", errors)])
    shown = [SHOWN[name] for name in NAMES]
    got = zip(found.pairs["first"], found.pairs["second"], strict=True)
    assert list(got) == list(itertools.combinations(shown, 2))


# -- runs of specs that tune, that vary the labels, that fail -------------------------------------

IRIS = {"dataset": "iris", "classifiers": [{"name": "knn", "n_neighbors": 1}]}


def test_a_tuned_method_stands_beside_its_default(tmp_path):
    spec = IRIS | {
        "split": {"kind": "fraction", "train": 0.5, "repeats": 2},
        "reducers": [{"name": "lda", "n_components": {"grid": [1, 2]}}],
        "tune": {"folds": 2, "budget": 2},
        "controls": ["none", "pca", "shuffled_labels"],
    }
    found = ddr_cli.run(spec, out=tmp_path, name="tuned").compare(classifier="knn")
    assert list(found.methods["method"])[:2] == ["LDA", "LDA, tuned"]
    # Methods at their defaults are compared with each other, and so are tuned methods.
    against = found.differences.set_index("method")["against"]
    assert against["PCA"] == "LDA"
    assert against["PCA, tuned"] == "LDA, tuned"
    assert set(found.pairs["track"]) == {"inductive", "inductive, tuned"}
    titles = [table.title for table in comparison_tables(found)]
    assert "methods at their defaults" in titles[0]
    assert "tuned methods" in titles[1]
    assert found.methods["chosen"].iloc[1].startswith("dim = ")
    assert any("shuffled labels" in note for note in found.notes)
    at = compare([tmp_path / "tuned"], at=["n_components=2"], classifier="knn")
    assert any("LDA, tuned cannot have dim = 2" in note for note in at.notes)


def test_one_budget_of_labels_is_compared(tmp_path):
    spec = IRIS | {
        "split": {"kind": "per_class", "train": 10, "repeats": 2},
        "reducers": ["none", "lda"],
        "labels": [2, "all"],
        "controls": [],
    }
    folder = ddr_cli.run(spec, out=tmp_path, name="labels").folder
    means = ddr_cli.Results(folder).summary.set_index(["reducer", "labels"])["mean"]
    for at, budget in (([], "all"), (["labels=2"], 2)):
        found = compare([folder], at=at)
        expected = [means[name, budget] for name in ("none", "lda")]
        assert list(found.methods["mean"]) == pytest.approx(expected)
        assert any("compared at labels = all" in note for note in found.notes) == (not at)


def test_failed_splits_are_counted(make):
    folder = make("run", {"pca": noisy(0.2, 0), "lda": noisy(0.1, 1)})
    table = pd.read_csv(folder / "trials.csv", dtype=str, keep_default_na=False)
    failed = (table["reducer"] == "pca") & (table["split"] == "resample-2")
    table.loc[failed, ["status", "reason", "error"]] = ["failed", "ValueError: made up", "0.76"]
    table.to_csv(folder / "trials.csv", index=False)
    found = compare([folder])
    assert list(found.methods["failed"]) == [1, 0]
    assert found.methods["mean"].iloc[0] > 0.25
    assert " †1" in in_words(found)


def test_an_unfinished_method_is_named_with_the_command_that_resumes(make):
    folder = make("run", {"none": noisy(0.3, 2), "pca": noisy(0.2, 0), "lda": noisy(0.1, 1)})
    path = folder / "trials.csv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not ("lda" in line and "resample-5" in line)]
    path.write_text("".join(kept), encoding="utf-8")
    found = compare([folder])
    assert set(found.methods["method"]) == {"no reduction", "PCA"}
    assert found.notes == (
        "Not compared, because the run is unfinished: LDA, k-NN (5 of 6 splits).",
        "'ddr run run.yaml' resumes the run.",
    )


def test_a_method_that_always_failed_is_the_reference_only_on_request(make):
    folder = make("run", {"none": 0.6, "pca": noisy(0.2, 0), "lda": noisy(0.1, 1)})
    table = pd.read_csv(folder / "trials.csv", dtype=str, keep_default_na=False)
    table.loc[table["reducer"] == "none", ["status", "reason"]] = ["failed", "ValueError: made up"]
    table.to_csv(folder / "trials.csv", index=False)
    assert set(compare([folder]).differences["against"]) == {"PCA"}
    assert set(compare([folder], against="none").differences["against"]) == {"no reduction"}
