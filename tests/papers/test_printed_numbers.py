import numpy as np
import pytest

from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import summarize, summary_of
from ddr_cli.papers.figure_notes import quoted_numbers
from ddr_cli.papers.lookup import nearest_place
from ddr_cli.papers.numbers import judge_numbers, verdict_on
from ddr_cli.papers.questions import UnansweredError
from ddr_cli.papers.schema import Artefact, PrintedNumber
from ddr_cli.papers.verdicts import apart_text

CCDR = {"name": "ccdr", "mode": "transductive", "params": {"beta": 0.5, "n_neighbors": 4}}
KNN = {"name": "knn", "params": {"n_neighbors": 3}}
BETAS = [0.01, 0.1, 0.56, 1.0, 10.0]


def _printed(value, **more):
    return PrintedNumber.model_validate(
        {
            "id": more.pop("id", "it"),
            "select": {"reducer": "ccdr", "classifier": "knn", **more.pop("select", {})},
            "value": value,
            "where": "Table 1",
            **more,
        }
    )


def _artefact(*printed, specs=("run",)):
    return Artefact(
        id="t", title="T", where="Table 1", kind="table", specs=specs, asked="?", printed=printed
    )


@pytest.mark.parametrize(
    ("mean", "error", "printed", "verdict"),
    [
        # One split: "reproduced" if equal after rounding, "close" if within a percentage point.
        (0.0965, 0.0, _printed("9.65 %"), "reproduced"),
        (0.09654, 0.0, _printed("9.65 %"), "reproduced"),
        (0.09656, 0.0, _printed("9.65 %"), "close"),
        (0.1065, 0.0, _printed("9.65 %"), "close"),
        (0.1066, 0.0, _printed("9.65 %"), "differs (higher)"),
        (0.0864, 0.0, _printed("9.65 %"), "differs (lower)"),
        # The number of printed digits determines the rounding.
        (0.0864, 0.0, _printed(0.086), "reproduced"),
        (0.0866, 0.0, _printed(0.086), "close"),
        (0.834, 0.0, _printed("83 %"), "reproduced"),
        # A difference of up to two Monte Carlo errors is "reproduced".
        (0.1005, 0.002, _printed("9.65 %"), "reproduced"),
        (0.1006, 0.002, _printed("9.65 %"), "close"),
        # If the Monte Carlo error exceeds a point, a small difference is "uninformative".
        (0.0965, 0.012, _printed("9.65 %"), "uninformative"),
        (0.1200, 0.012, _printed("9.65 %"), "uninformative"),
        (0.1206, 0.012, _printed("9.65 %"), "differs (higher)"),
        (0.1200, 0.012, _printed("9.65 %", sd="3 %"), "reproduced"),
        # A printed standard deviation widens "close" only if it exceeds a point.
        (0.1200, 0.0, _printed("9.65 %", sd="3 %"), "close"),
        (0.1266, 0.0, _printed("9.65 %", sd="3 %"), "differs (higher)"),
        (0.1000, 0.0, _printed("9.65 %", sd="0.1 %"), "close"),
        (0.94, 0.0, _printed("96.6 %", metric="accuracy"), "differs (lower)"),
        (13.4, 0.0, _printed(13, metric="dimension"), "reproduced"),
        (12.1, 0.1, _printed(13, metric="dimension"), "close"),
        (11.9, 0.1, _printed(13, metric="dimension"), "differs (lower)"),
    ],
)
def test_a_verdict_rests_on_the_difference_and_the_errors_of_both_means(
    mean, error, printed, verdict
):
    assert verdict_on(mean, error, printed) == verdict


@pytest.mark.parametrize(
    ("sd", "splits", "error"),
    [
        ("4 %", 25, np.sqrt(0.02**2 / 5 + 0.04**2 / 25)),
        # If the paper does not print a deviation or a number of splits, ours is used.
        ("4 %", None, np.sqrt(0.02**2 / 5 + 0.04**2 / 5)),
        (None, None, np.sqrt(2 * 0.02**2 / 5)),
    ],
)
def test_the_monte_carlo_error_is_that_of_both_means(
    tmp_path, write_results, make_spec, sd, splits, error
):
    spread = 0.02 / np.std(range(5), ddof=1)
    spec = make_spec("run", reducers=[CCDR], repeats=5, kind="per_class", predefined=False)
    folder = write_results(tmp_path, spec, lambda trial: 0.1 + spread * trial.index)
    artefact = _artefact(_printed("10 %", sd=sd)).model_copy(update={"splits": splits})
    (result,) = judge_numbers(artefact, {"run": summary_of(folder)})
    assert result.own.error == pytest.approx(error)
    assert apart_text(result.own, "error").endswith(f" ± {200 * error:.2f}")


@pytest.fixture
def summaries(tmp_path, write_results, make_spec):
    """Return a run with an error of beta / 100 for k-NN, and two points more over re-splits."""

    def error(trial):
        base = trial.params["reducer.beta"] / 100 + (0.1 if trial.classifier == "linear" else 0.0)
        return base if trial.index is None else base + 0.02

    spec = make_spec(
        "run",
        reducers=[CCDR],
        classifiers=[KNN, {"name": "linear"}],
        sweep={"reducer.beta": BETAS},
        repeats=4,
    )
    return {"run": summary_of(write_results(tmp_path, spec, error))}


def test_both_views_are_judged(summaries):
    number = _printed("1.2 %", select={"params": {"reducer.beta": 1.0}})
    (result,) = judge_numbers(_artefact(number), summaries)
    assert (result.own.verdict, result.resplits.verdict) == ("close", "differs (higher)")
    assert result.own.row["mean"] == pytest.approx(0.01)
    assert result.resplits.row["mean"] == pytest.approx(0.03)
    assert result.own.setting == "β = 1"


def test_near_takes_the_closest_place_of_the_grid(summaries):
    number = _printed("0.5 %", select={"params": {"reducer.beta": {"near": 0.5}}})
    (result,) = judge_numbers(_artefact(number), summaries)
    assert result.own.row["reducer.beta"] == 0.56
    marks = quoted_numbers([result], summaries["run"])
    assert {(mark.at, mark.value, mark.text) for mark in marks} == {(0.5, 0.005, "paper: 0.5 %")}


def test_zero_is_met_and_never_near():
    assert nearest_place([0.0, 1.0], 0) == 0
    with pytest.raises(UnansweredError, match="no value near 0"):
        nearest_place([0.1, 1.0], 0)


def test_the_best_of_a_grid_is_taken_where_the_paper_prints_it(summaries):
    number = _printed("0 %", select={"pick": "best"})
    (result,) = judge_numbers(_artefact(number), summaries)
    assert result.own.row["reducer.beta"] == 0.01


@pytest.mark.parametrize(
    ("select", "reason"),
    [
        ({}, "5 rows of run"),
        ({"params": {"reducer.beta": {"near": 100}}}, "no value near 100"),
        ({"params": {"reducer.gamma": 1}}, "no column reducer.gamma"),
        ({"params": {"reducer.beta": 0.2}}, "no row"),
        ({"params": {"reducer.beta": 0.2, "reducer.n_neighbors": 4}}, "no row"),
        ({"spec": "other", "pick": "best"}, "ddr run other"),
    ],
)
def test_what_has_no_answer_is_not_run_and_says_why(summaries, select, reason):
    artefact = _artefact(_printed("1 %", select=select), specs=("run", "other"))
    (result,) = judge_numbers(artefact, summaries)
    assert (result.own.verdict, result.resplits.verdict) == ("not run", "not run")
    assert reason in result.own.reason
    assert result.own.row is None


def test_a_partial_run_is_never_a_result(tmp_path, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR], repeats=10)
    run = load_run(write_results(tmp_path, spec, lambda *_: 0.09, keep=8))
    (result,) = judge_numbers(_artefact(_printed("9 %")), {"run": summarize(run)})
    assert result.own.verdict == "not run"
    assert result.own.reason == "the run of run is incomplete (8 of 11 trials done)"


def test_a_row_with_failed_trials_is_never_a_result(tmp_path, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR], repeats=10)
    folder = write_results(tmp_path, spec, lambda *_: 0.09, failed_splits=["resample-2"])
    (result,) = judge_numbers(_artefact(_printed("9 %")), {"run": summary_of(folder)})
    assert result.own.verdict == "reproduced"
    assert result.resplits.verdict == "not run"
    assert result.resplits.reason == "only 9 of 10 trials of this row succeeded"


def test_a_paper_with_random_splits_of_its_own_is_judged_on_them(
    tmp_path, write_results, make_spec
):
    spec = make_spec("run", reducers=[CCDR], repeats=5, kind="per_class", predefined=False)
    folder = write_results(tmp_path, spec, lambda *_: 0.09)
    (result,) = judge_numbers(_artefact(_printed("9 %")), {"run": summary_of(folder)})
    assert result.own.row.family == result.resplits.row.family == "per_class"
    assert result.own.verdict == "reproduced"


def test_a_paper_on_its_predefined_split_alone_has_no_re_splits(tmp_path, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR], kind="predefined", predefined=False)
    folder = write_results(tmp_path, spec, lambda *_: 0.09)
    (result,) = judge_numbers(_artefact(_printed("9 %")), {"run": summary_of(folder)})
    assert (result.own.verdict, result.resplits.verdict) == ("reproduced", "not run")


def _landsat(tmp_path, write_results, make_spec, error):
    spec = make_spec("run", reducers=[CCDR, {"name": "none"}], repeats=4)
    return {"run": summary_of(write_results(tmp_path, spec, error))}


def _row(reducer, value):
    select = {"reducer": reducer, "classifier": "knn"}
    return _printed(value, id=reducer, row="Landsat", column=reducer, select=select)


@pytest.mark.parametrize(
    ("errors", "verdict", "note"),
    [
        # 1533 of 6435 samples are in the largest class: the majority-class baseline errs on 76.18
        # %.
        ({"ccdr": 0.75, "none": 0.76}, "uninformative", "76.18 %"),
        ({"ccdr": 0.75, "none": 0.70}, "reproduced", ""),
    ],
)
def test_nothing_is_reproduced_where_one_class_does_as_well(
    tmp_path, write_results, make_spec, errors, verdict, note
):
    summaries = _landsat(tmp_path, write_results, make_spec, lambda trial: errors[trial.reducer])
    first, _ = judge_numbers(_artefact(_row("ccdr", "75 %"), _row("none", "76 %")), summaries)
    assert first.own.verdict == verdict
    assert note in first.own.note
    assert ("predicts one class" in first.resplits.note) == bool(note)


def test_a_number_that_is_alone_or_beside_what_was_not_run_is_uninformative_too(
    tmp_path, write_results, make_spec
):
    summaries = _landsat(tmp_path, write_results, make_spec, lambda _: 0.75)
    for beside in ((), (_row("pca", "75 %"),)):
        results = judge_numbers(_artefact(*beside, _row("ccdr", "75 %")), summaries)
        assert results[-1].own.verdict == "uninformative"


def test_whom_a_difference_flatters_is_said_in_words(tmp_path, write_results, make_spec):
    summaries = _landsat(tmp_path, write_results, make_spec, lambda _: 0.1)
    numbers = _row("ccdr", "9 %"), _row("none", "13 %")
    own, rival = judge_numbers(_artefact(*numbers), summaries, "ccdr")
    assert own.own.verdict == "close"
    assert "1.00 percentage points against" in own.own.note
    assert rival.own.verdict == "differs (lower)"
    assert "3.00 percentage points in favour" in rival.own.note
    _, rival = judge_numbers(_artefact(*reversed(numbers)), summaries, "none")
    assert "a competing method" in rival.own.note
