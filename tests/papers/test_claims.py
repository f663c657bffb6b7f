import math
import zlib
from datetime import UTC, datetime

import numpy as np
import pytest

from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import summarize, summary_of
from ddr_cli.comparison.within_dataset import paired
from ddr_cli.core.errors import InputError
from ddr_cli.papers.claims import judge_claim, judge_claims
from ddr_cli.papers.lookup import Lookup
from ddr_cli.papers.other_readings import judge_readings
from ddr_cli.papers.questions import Swap
from ddr_cli.papers.schema import Claim, Paper, Reading, glossary

CCDR = {"name": "ccdr", "mode": "transductive", "params": {"n_components": 14, "beta": 0.5}}
NONE = {"name": "none"}
DIMS = list(range(1, 11))
BETAS = [0.01, 0.1, 1.0, 10.0]
PAPER = Paper.model_validate(
    {
        "name": "mine",
        "short": "Mine",
        "method": "ccdr",
        "reference": {"authors": ["A"], "title": "T", "year": 2020, "venue": "Here"},
        "asked": "?",
        "reading": "!",
        "artefacts": [
            {"id": "a", "title": "A", "where": "1", "kind": "curve", "specs": ["run"], "asked": "?"}
        ],
    }
)


def _noise(*key, scale):
    return np.random.default_rng(zlib.crc32(repr(key).encode())).normal(0, scale)


def _luck(trial):
    """Return how much harder a split is than the next one for every method; 0 on average."""
    return 1e-5 if trial.index % 2 else -1e-5


def _part(predicate, along="", than=None, reducer="ccdr", metric="error", id="p", **select):
    return {
        "id": id,
        "what": "this",
        "artefact": "a",
        "written": "2026-01-01T00:00:00Z",
        "term": "ahead",
        "select": {"reducer": reducer, "classifier": "knn", **select},
        "along": along,
        "metric": metric,
        "than": than,
        "predicate": predicate,
    }


def _sentence(*parts, id="c", **more):
    claim = {"id": id, "artefact": "a", "sentence": "It is so.", "where": "Section 1"}
    return Claim.model_validate({**claim, "parts": list(parts), **more})


def _claim(predicate, *arguments, **more):
    return _sentence(_part(predicate, *arguments, **more))


def _valley(bottom):
    return lambda dim: 0.08 + 0.002 * abs(dim - bottom)


@pytest.fixture(scope="module")
def along_dimension(tmp_path_factory, write_results, make_spec):
    """Return a function that makes runs over dimensions 1 to 10 with the given errors."""

    def build(own, over, noise=1e-6):
        def error(trial):
            dim = trial.params["reducer.n_components"]
            if trial.index is None:
                return own(dim)
            return over(dim) + _luck(trial) + _noise(trial.split, dim, scale=noise)

        spec = make_spec("run", reducers=[CCDR], sweep={"reducer.n_components": DIMS}, repeats=20)
        folder = write_results(tmp_path_factory.mktemp("made"), spec, error)
        return {"run": summary_of(folder)}

    return build


@pytest.fixture(scope="module")
def valleys(along_dimension):
    """Return a curve whose minimum is at 4 on the paper's own split and at 7 over re-splits."""
    return along_dimension(_valley(4), _valley(7))


def _verdicts(claim, summaries):
    result = judge_claim(claim, PAPER, summaries)
    return result.own.verdict, result.resplits.verdict


@pytest.mark.parametrize(
    ("predicate", "verdicts"),
    [
        ({"name": "minimum_in", "low": 4, "high": 4}, ("holds", "fails")),
        ({"name": "minimum_in", "low": 6, "high": 8}, ("fails", "holds")),
        ({"name": "minimum_in", "low": 3, "high": 8}, ("holds", "holds")),
        ({"name": "level_at", "at": 4, "value": 0.081, "tolerance": 0.002}, ("holds", "fails")),
        ({"name": "level_at", "at": 4, "value": 0.2, "tolerance": 0.01}, ("fails", "fails")),
        ({"name": "level_at", "at": 4, "value": 0.085, "tolerance": 0.006}, ("holds", "holds")),
        ({"name": "below_at", "at": 4, "value": 0.0801}, ("holds", "fails")),
        ({"name": "below_at", "at": 4, "value": 0.08}, ("fails", "fails")),
        ({"name": "flat_in", "low": 4, "high": 6, "tolerance": 0.0041}, ("holds", "holds")),
        ({"name": "flat_in", "low": 4, "tolerance": 0.0061}, ("fails", "holds")),
        ({"name": "flat_in", "high": 4, "tolerance": 0.0059}, ("fails", "fails")),
        (
            {"name": "stays_within", "low": 0.08, "high": 0.084, "slack": 1e-9, "span": 3},
            ("holds", "fails"),
        ),
        (
            {"name": "stays_within", "low": 0.07, "high": 0.0839, "slack": 0.0002, "span": 1.7},
            ("holds", "holds"),
        ),
        ({"name": "stays_within", "low": 0.2, "high": 0.3, "span": 2}, ("fails", "fails")),
        ({"name": "rises_towards", "end": "low", "start": 4, "at_least": 0.005}, ("holds",) * 2),
        ({"name": "rises_towards", "end": "high", "start": 7, "at_least": 0.0}, ("holds",) * 2),
        ({"name": "rises_towards", "end": "high", "start": 4, "at_least": 0.0}, ("holds", "fails")),
        (
            {"name": "rises_towards", "end": "low", "start": 4, "at_least": 0.0061},
            ("fails", "fails"),
        ),
    ],
)
def test_predicates_on_curves_with_a_known_shape(valleys, predicate, verdicts):
    assert _verdicts(_claim(predicate, along="reducer.n_components"), valleys) == verdicts


LEVEL = {"reducer": "none", "classifier": "knn"}


@pytest.mark.parametrize(
    ("predicate", "verdicts"),
    [
        ({"name": "ahead_along"}, ("fails", "fails")),
        ({"name": "ahead_along", "low": 2, "high": 7}, ("holds", "holds")),
        ({"name": "ahead_along", "low": 2, "high": 7, "at_least": 0.004}, ("holds", "undecided")),
        ({"name": "ahead_along", "low": 2, "high": 7, "at_least": 0.0041}, ("fails", "fails")),
        ({"name": "ahead_along", "low": 3, "high": 5, "at_least": 0.004}, ("holds", "holds")),
    ],
)
def test_one_curve_is_compared_with_a_level(
    tmp_path, write_results, make_spec, predicate, verdicts
):
    # A curve with its minimum at 4 is below 8.7 % from 1 to 7.
    def error(trial):
        if trial.reducer == "none":
            return 0.087 if trial.index is None else 0.087 + _luck(trial)
        return _valley(4)(trial.params["reducer.n_components"])

    spec = make_spec("run", reducers=[CCDR, NONE], sweep={"reducer.n_components": DIMS}, repeats=20)
    summaries = {"run": summary_of(write_results(tmp_path, spec, error))}
    claim = _claim(predicate, along="reducer.n_components", than=LEVEL)
    assert _verdicts(claim, summaries) == verdicts


@pytest.mark.parametrize(("noise", "verdict"), [(0.001, "holds"), (0.2, "undecided")])
def test_two_curves_need_the_interval_of_their_average_difference(
    tmp_path, write_results, make_spec, noise, verdict
):
    def error(trial):
        dim = trial.params["reducer.n_components"]
        if trial.index is None:
            return 0.1 if trial.reducer == "ccdr" else 0.11
        # The noise of a split is the same along the whole curve, so averaging does not remove it.
        # Its mean over the splits is 0, so it only widens the interval.
        tilt = noise if trial.index % 2 else -noise
        return (0.1 + tilt if trial.reducer == "ccdr" else 0.11) + dim / 1000

    pca = {"name": "pca", "params": {"n_components": 14}}
    spec = make_spec("run", reducers=[CCDR, pca], sweep={"reducer.n_components": DIMS}, repeats=20)
    summaries = {"run": summary_of(write_results(tmp_path, spec, error))}
    claim = _claim(
        {"name": "ahead_along"},
        along="reducer.n_components",
        than={"reducer": "pca", "classifier": "knn"},
    )
    result = judge_claim(claim, PAPER, summaries)
    assert (result.own.verdict, result.resplits.verdict) == ("holds", verdict)
    assert "10 of 10 grid values" in result.resplits.detail
    assert "minus first): +1.00 percentage points, with a 95 %" in result.resplits.detail


def test_a_rise_within_the_noise_is_not_shown_over_re_splits(along_dimension):
    def slope(dim):
        return 0.09 + 0.0005 * dim

    claim = _claim(
        {"name": "rises_towards", "end": "high", "start": 1}, along="reducer.n_components"
    )
    summaries = along_dimension(slope, slope, noise=0.01)
    result = judge_claim(claim, PAPER, summaries)
    assert (result.own.verdict, result.resplits.verdict) == ("holds", "undecided")
    assert result.differs
    assert "over 20 re-splits" in result.resplits.detail


@pytest.fixture
def methods(tmp_path, write_results, make_spec):
    """Return a function that makes a run of CCDR and no reduction with the given errors."""

    def build(own, over, noise=1e-6, **more):
        def error(trial):
            if trial.index is None:
                return own[trial.reducer]
            noisy = _noise(trial.split, trial.reducer, scale=noise)
            return over[trial.reducer] + _luck(trial) + noisy

        spec = make_spec("run", reducers=[CCDR, NONE], repeats=20, **more)
        return {"run": summary_of(write_results(tmp_path, spec, error))}

    return build


THAN = {"reducer": "none", "classifier": "knn"}


@pytest.mark.parametrize(
    ("predicate", "over", "noise", "verdict"),
    [
        ({"name": "ahead"}, {"ccdr": 0.085, "none": 0.095}, 0.001, "holds"),
        ({"name": "ahead"}, {"ccdr": 0.085, "none": 0.0853}, 0.01, "undecided"),
        ({"name": "ahead"}, {"ccdr": 0.095, "none": 0.085}, 0.001, "fails"),
        ({"name": "ahead", "at_least": 0.02}, {"ccdr": 0.085, "none": 0.095}, 1e-6, "fails"),
        ({"name": "relative_gain", "at_least": 0.1}, {"ccdr": 0.08, "none": 0.1}, 0.001, "holds"),
        ({"name": "relative_gain", "at_least": 0.3}, {"ccdr": 0.08, "none": 0.1}, 0.001, "fails"),
        ({"name": "relative_gain", "at_least": 0.1}, {"ccdr": 0.08, "none": 0.1}, 0.2, "undecided"),
        ({"name": "ahead", "at_least": 0.01}, {"ccdr": 0.08, "none": 0.092}, 0.005, "undecided"),
        ({"name": "not_behind", "tolerance": 0.02}, {"ccdr": 0.1, "none": 0.09}, 0.001, "holds"),
        ({"name": "not_behind", "tolerance": 0.02}, {"ccdr": 0.1, "none": 0.09}, 0.05, "undecided"),
        ({"name": "not_behind", "tolerance": 0.02}, {"ccdr": 0.12, "none": 0.09}, 0.001, "fails"),
        ({"name": "within_of", "tolerance": 0.011}, {"ccdr": 0.08, "none": 0.09}, 1e-6, "holds"),
        ({"name": "within_of", "tolerance": 0.011}, {"ccdr": 0.09, "none": 0.08}, 1e-6, "holds"),
        (
            {"name": "within_of", "tolerance": 0.01},
            {"ccdr": 0.09, "none": 0.085},
            0.05,
            "undecided",
        ),
        ({"name": "within_of", "tolerance": 0.009}, {"ccdr": 0.09, "none": 0.08}, 1e-6, "fails"),
        ({"name": "at_least_value", "value": 0.91}, {"ccdr": 0.08, "none": 0.1}, 1e-6, "holds"),
        ({"name": "at_least_value", "value": 0.91}, {"ccdr": 0.08, "none": 0.1}, 0.05, "undecided"),
        ({"name": "at_least_value", "value": 0.93}, {"ccdr": 0.08, "none": 0.1}, 1e-6, "fails"),
    ],
)
def test_differences_over_re_splits_need_the_corrected_interval(
    methods, predicate, over, noise, verdict
):
    summaries = methods({"ccdr": 0.08, "none": 0.1}, over, noise)
    assert _verdicts(_claim(predicate, than=THAN), summaries)[1] == verdict


def test_the_correction_is_what_decides(methods):
    # The naive interval excludes zero. The corrected one, about three times as wide, does not.
    summaries = methods({"ccdr": 0.08, "none": 0.1}, {"ccdr": 0.08, "none": 0.092}, noise=0.014)
    claim = _claim({"name": "ahead"}, than=THAN)
    lookup = Lookup(summaries, "run", "resplits", "error")
    rows = [lookup.row(selector) for selector in (claim.parts[0].than, claim.parts[0].select)]
    values = paired(*rows).values
    naive = values.mean() - 2.093 * values.std(ddof=1) / math.sqrt(20)
    assert naive > 0
    assert _verdicts(claim, summaries) == ("holds", "undecided")


def test_a_metric_that_rises_is_better_when_higher(methods):
    own = {"ccdr": 0.9, "none": 0.8}
    claim = _claim({"name": "ahead"}, than=THAN, metric="accuracy")
    assert _verdicts(claim, methods(own, own, metric="accuracy")) == ("holds", "holds")


def test_the_numbers_stand_beside_the_verdict(methods):
    summaries = methods({"ccdr": 0.0815, "none": 0.0965}, {"ccdr": 0.09, "none": 0.09})
    claim = _claim({"name": "relative_gain", "at_least": 0.1}, than=THAN)
    result = judge_claim(claim, PAPER, summaries)
    for number in ("15.5 %", "10 %", "8.15 % (CCDR", "9.65 % (no reduction"):
        assert number in result.own.detail
    assert result.differs


def test_a_claim_on_random_splits_of_the_papers_own(methods):
    means = {"ccdr": 0.08, "none": 0.1}
    summaries = methods(means, means, kind="per_class", predefined=False)
    assert _verdicts(_claim({"name": "ahead"}, than=THAN), summaries) == ("holds", "holds")


@pytest.mark.parametrize(("value", "verdict"), [(0.89, "holds"), (0.91, "fails")])
def test_a_value_or_better_of_a_metric_that_rises(methods, value, verdict):
    means = {"ccdr": 0.9, "none": 0.8}
    claim = _claim({"name": "at_least_value", "value": value}, metric="accuracy")
    assert _verdicts(claim, methods(means, means, metric="accuracy")) == (verdict, verdict)


def test_a_label_tells_items_of_one_reducer_apart(tmp_path, write_results, make_spec):
    small = {**CCDR, "label": "small", "params": {**CCDR["params"], "n_components": 2}}
    spec = make_spec("run", reducers=[CCDR, small], repeats=4)

    def error(trial):
        return 0.2 if trial.params["reducer.n_components"] == 2 else 0.1

    summaries = {"run": summary_of(write_results(tmp_path, spec, error))}
    than = {"reducer": "ccdr", "classifier": "knn", "label": "small"}
    claim = _claim({"name": "ahead"}, than=than, label="ccdr")
    result = judge_claim(claim, PAPER, summaries)
    assert "10.00 % (CCDR" in result.own.detail
    assert "20.00 % (small" in result.own.detail
    unlabelled = _claim({"name": "ahead"}, than=than)
    assert "2 rows of run" in judge_claim(unlabelled, PAPER, summaries).own.detail


def test_all_points_have_nothing_to_re_split(methods):
    means = {"ccdr": 0.08, "none": 0.1}
    summaries = methods(means, means, kind="whole", predefined=False)
    result = judge_claim(_claim({"name": "ahead"}, than=THAN), PAPER, summaries)
    assert (result.own.verdict, result.resplits.verdict) == ("holds", "not applicable")
    assert "no held-out data" in result.resplits.detail
    assert not result.differs


def test_a_missing_run_is_not_run():
    result = judge_claim(_claim({"name": "ahead"}, than=THAN), PAPER, {})
    assert (result.own.verdict, result.resplits.verdict) == ("not run", "not run")
    assert "ddr run run" in result.own.detail
    assert not result.differs


def test_a_grid_without_the_place_is_not_run(valleys):
    claim = _claim({"name": "below_at", "at": 30, "value": 0.1}, along="reducer.n_components")
    result = judge_claim(claim, PAPER, valleys)
    assert result.own.verdict == "not run"
    assert "no value near 30" in result.own.detail


def test_rows_of_other_splits_are_no_pairs(methods):
    summaries = methods({"ccdr": 0.08, "none": 0.1}, {"ccdr": 0.08, "none": 0.1})
    trials = summaries["run"].run.trials
    trials.loc[(trials["reducer"] == "none") & (trials["split"] == "resample-3"), "split_hash"] = (
        "x"
    )
    claim = _claim({"name": "ahead"}, than=THAN)
    result = judge_claim(claim, PAPER, summaries)
    assert (result.own.verdict, result.resplits.verdict) == ("holds", "not run")
    assert "different splits" in result.resplits.detail
    own, over = (
        Lookup(summaries, "run", view, "error").row(claim.parts[0].select)
        for view in ("own", "resplits")
    )
    with pytest.raises(InputError, match="different splits"):
        paired(over, own)


# -- sentences of several parts ---------------------------------------------------------------


def _both(methods, noise=0.001):
    summaries = methods({"ccdr": 0.08, "none": 0.1}, {"ccdr": 0.08, "none": 0.1}, noise)
    good = _part({"name": "ahead"}, than=THAN, id="good")
    bad = _part({"name": "ahead", "at_least": 0.05}, than=THAN, id="bad")
    return summaries, good, bad


def test_a_sentence_holds_when_all_its_parts_do(methods):
    summaries, good, bad = _both(methods)
    assert _verdicts(_sentence(good, {**good, "id": "again"}), summaries) == ("holds", "holds")
    result = judge_claim(_sentence(good, bad), PAPER, summaries)
    assert (result.own.verdict, result.resplits.verdict) == ("fails", "fails")
    assert result.own.detail.startswith("1 of 2 ")


def test_another_reading_is_judged_and_decides_nothing(methods):
    summaries, good, bad = _both(methods)
    result = judge_claim(_sentence(good, {**bad, "reading": "another"}), PAPER, summaries)
    assert (result.own.verdict, result.parts[1].own.verdict) == ("holds", "fails")


@pytest.mark.parametrize(("seen", "threshold"), [(2025, "after"), (2999, "before")])
def test_a_threshold_is_fixed_before_or_after_the_result_was_seen(
    methods, monkeypatch, seen, threshold
):
    summaries, good, _ = _both(methods)
    claim = _sentence({**good, "written": "2027-01-01T00:00:00Z"})
    assert judge_claim(claim, PAPER, {}).parts[0].threshold == "not run"
    monkeypatch.setitem(glossary().seen, "run", datetime(seen, 1, 1, tzinfo=UTC))
    assert judge_claim(claim, PAPER, summaries).parts[0].threshold == threshold


def test_the_number_of_claims_is_corrected_for(methods):
    summaries, good, _ = _both(methods, noise=0.012)
    p = judge_claim(_sentence(good), PAPER, summaries).resplits.p
    few, many = int(0.04 / p), int(0.06 / p) + 1
    for count, verdict in ((few, "holds"), (many, "undecided")):
        claims = [_sentence({**good, "id": f"p{i}"}, id=f"c{i}") for i in range(count)]
        paper = PAPER.model_copy(update={"claims": tuple(claims)})
        found = judge_claims(paper, summaries)
        assert {each.resplits.verdict for each in found} == {verdict}
        assert {each.resplits.alone for each in found} == {verdict == "undecided"}
        assert {each.own.verdict for each in found} == {"holds"}


def test_a_reading_is_judged_beside_what_counts(tmp_path, write_results, make_spec):
    """A second spec with fewer re-splits has the runs of the alternative interpretation."""

    def error(trial):
        return {"ccdr": 0.08 + _luck(trial) if trial.index is not None else 0.08, "none": 0.1}[
            trial.reducer
        ]

    def other(trial):
        return error(trial) + 0.05

    main = make_spec("run", reducers=[CCDR, NONE], repeats=20)
    small = make_spec("small", reducers=[CCDR], repeats=5)
    summaries = {
        name: summary_of(write_results(tmp_path, spec, values))
        for name, spec, values in (("run", main, error), ("small", small, other))
    }
    artefact = PAPER.artefacts[0].model_copy(update={"specs": ("run", "small")})
    reading = Reading(
        name="heat", what="other weights", specs={"run": "small"}, reducers={"ccdr": {}}
    )
    claims = (_sentence(_part({"name": "ahead"}, than=THAN)),)
    update = {"artefacts": (artefact,), "claims": claims, "readings": (reading,)}
    paper = PAPER.model_copy(update=update)
    main_results = judge_claims(paper, summaries)
    (found,) = judge_readings(paper, summaries, [], main_results)
    ((counted, changed),) = found.claims
    assert (counted.own.verdict, counted.resplits.verdict) == ("holds", "holds")
    assert (changed.own.verdict, changed.resplits.verdict) == ("fails", "fails")
    assert "over 5 re-splits" in changed.resplits.detail
    assert judge_readings(paper, {"run": summaries["run"]}, [], main_results) == ()


@pytest.mark.parametrize(("times", "verdicts"), [(5, ("holds", "holds")), (20, ("fails", "fails"))])
def test_times_of_fits_are_compared_as_ratios(tmp_path, write_results, make_spec, times, verdicts):
    spec = make_spec("run", reducers=[CCDR, NONE], repeats=4)
    seconds = {"ccdr": 0.5, "none": 5.0}
    folder = write_results(tmp_path, spec, lambda _: 0.1, seconds=seconds)
    claim = _claim({"name": "faster", "times": times}, than=THAN)
    assert _verdicts(claim, {"run": summary_of(folder)}) == verdicts


@pytest.mark.parametrize(("spread", "verdict"), [(1.1, "holds"), (2, "undecided")])
def test_times_that_vary_need_their_interval(tmp_path, write_results, make_spec, spread, verdict):
    spec = make_spec("run", reducers=[CCDR, NONE], repeats=4)
    folder = write_results(tmp_path, spec, lambda _: 0.1, seconds={"ccdr": 0.5, "none": 5.0})
    summaries = {"run": summary_of(folder)}
    trials = summaries["run"].run.trials
    none = trials.index[(trials["reducer"] == "none") & (trials["split"] != "predefined")]
    trials.loc[none, "fit_seconds"] *= [spread, 1 / spread] * 2
    claim = _claim({"name": "faster", "times": 5}, than=THAN)
    assert _verdicts(claim, summaries) == ("holds", verdict)


def test_another_run_answers_over_re_splits(tmp_path, write_results, make_spec):
    own = make_spec("run", reducers=[CCDR, NONE], kind="predefined", predefined=False)
    over = make_spec("over", reducers=[CCDR, NONE], repeats=5)

    def error(trial):
        luck = 0.0 if trial.index is None else _luck(trial)
        return 0.1 if trial.reducer == "none" else 0.08 + luck

    summaries = {
        spec.name: summarize(load_run(write_results(tmp_path, spec, error))) for spec in (own, over)
    }
    claim = _claim({"name": "ahead"}, than=THAN)
    assert _verdicts(claim, summaries) == ("holds", "not run")
    artefact = PAPER.artefacts[0].model_copy(update={"resplits": Swap(specs={"run": "over"})})
    paper = PAPER.model_copy(update={"artefacts": (artefact,)})
    result = judge_claim(claim, paper, summaries)
    assert (result.own.verdict, result.resplits.verdict) == ("holds", "holds")
