import pytest

from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import summarize
from ddr_cli.papers.schema import Artefact, PrintedNumber
from ddr_cli.verdicts.printed import judge_numbers, quoted_numbers, verdict_on

CCDR = {"name": "ccdr", "mode": "transductive", "params": {"beta": 0.5, "n_neighbors": 4}}
KNN = {"name": "knn", "params": {"n_neighbors": 3}}
BETAS = [0.01, 0.1, 0.56, 1.0, 10.0]


def _printed(value, **more):
    return PrintedNumber.model_validate(
        {
            "id": "it",
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
    ("mean", "printed", "verdict"),
    [
        (0.0965, _printed("9.65 %"), "reproduced"),
        (0.1065, _printed("9.65 %"), "reproduced"),
        (0.1066, _printed("9.65 %"), "worse"),
        (0.0865, _printed("9.65 %"), "reproduced"),
        (0.0864, _printed("9.65 %"), "better"),
        (0.1200, _printed("9.65 %", sd="3 %"), "reproduced"),
        (0.1300, _printed("9.65 %", sd="3 %"), "worse"),
        (0.1000, _printed("9.65 %", sd="0.1 %"), "reproduced"),
        (0.95, _printed("96.6 %", metric="accuracy"), "worse"),
        (0.98, _printed("96.6 %", metric="accuracy"), "better"),
        (13.8, _printed(13, metric="dimension", tolerance=1), "reproduced"),
        (15.0, _printed(13, metric="dimension", tolerance=1), "differs"),
    ],
)
def test_a_verdict_is_one_point_or_the_printed_deviation(mean, printed, verdict):
    assert verdict_on(mean, printed) == verdict


@pytest.fixture
def summaries(tmp_path, write_results, make_spec):
    """Return a run whose kNN error is beta / 100, two points higher over re-splits."""

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
    return {"run": summarize(load_run(write_results(tmp_path, spec, error)))}


def test_both_views_are_judged(summaries):
    number = _printed("1.2 %", select={"params": {"reducer.beta": 1.0}})
    (result,) = judge_numbers(_artefact(number), summaries)
    assert (result.own.verdict, result.resplits.verdict) == ("reproduced", "worse")
    assert result.own.row["mean"] == pytest.approx(0.01)
    assert result.resplits.row["mean"] == pytest.approx(0.03)
    assert result.own.setting == "β = 1"


def test_near_takes_the_closest_place_of_the_grid(summaries):
    number = _printed("0.5 %", select={"params": {"reducer.beta": {"near": 0.5}}})
    (result,) = judge_numbers(_artefact(number), summaries)
    assert result.own.row["reducer.beta"] == 0.56
    (mark,) = quoted_numbers([result], summaries["run"])
    assert (mark.at, mark.value, mark.text) == (0.5, 0.005, "paper: 0.5 %")


def test_the_best_of_a_grid_is_taken_where_the_paper_prints_it(summaries):
    number = _printed("0 %", select={"pick": "best"})
    (result,) = judge_numbers(_artefact(number), summaries)
    assert result.own.row["reducer.beta"] == 0.01


@pytest.mark.parametrize(
    ("select", "reason"),
    [
        ({}, "5 rows of run match, not one"),
        ({"params": {"reducer.beta": {"near": 100}}}, "no place near 100"),
        ({"params": {"reducer.gamma": 1}}, "no parameter reducer.gamma"),
        ({"params": {"reducer.beta": 0.2}}, "no such row"),
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
    assert result.own.reason == "8 of 11 trials done"


def test_a_row_with_failed_trials_is_never_a_result(tmp_path, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR], repeats=10)
    folder = write_results(tmp_path, spec, lambda *_: 0.09, failed_splits=["resample-2"])
    (result,) = judge_numbers(_artefact(_printed("9 %")), {"run": summarize(load_run(folder))})
    assert result.own.verdict == "reproduced"
    assert result.resplits.verdict == "not run"
    assert result.resplits.reason == "9 of 10 trials ended well"


def test_a_paper_with_random_splits_of_its_own_is_judged_on_them(
    tmp_path, write_results, make_spec
):
    spec = make_spec("run", reducers=[CCDR], repeats=5, kind="per_class", predefined=False)
    folder = write_results(tmp_path, spec, lambda *_: 0.09)
    (result,) = judge_numbers(_artefact(_printed("9 %")), {"run": summarize(load_run(folder))})
    assert result.own.row.family == result.resplits.row.family == "per_class"
    assert result.own.verdict == "reproduced"


def test_a_paper_on_its_predefined_split_alone_has_no_re_splits(tmp_path, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR], kind="predefined", predefined=False)
    folder = write_results(tmp_path, spec, lambda *_: 0.09)
    (result,) = judge_numbers(_artefact(_printed("9 %")), {"run": summarize(load_run(folder))})
    assert (result.own.verdict, result.resplits.verdict) == ("reproduced", "not run")
