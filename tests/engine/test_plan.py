import pytest

from ddr_cli.data.cards import load_card
from ddr_cli.engine import make_plan
from ddr_cli.engine.plan.identity import canonical_json
from ddr_cli.evaluation.evaluators import PREPROCESSORS
from ddr_cli.rows.manifest import DataIdentity

CCDR = {"name": "ccdr", "n_components": 2, "n_neighbors": 4, "beta": 0.5}


def ids(spec):
    return set(make_plan(spec).trials)


@pytest.mark.usefixtures("installed")
def test_an_id_never_changes(make_spec):
    # If the computation of ids changes, no existing run can be resumed. The ids of another
    # package's components contain the package's version, so ids of ddr's own components are pinned
    # too.
    spec = make_spec(reducers=["none"], classifiers=["linear"], preprocess=["standardize"])
    theirs = make_spec(reducers=["faulty"], classifiers=["faulty"], preprocess=["standardize"])
    data = DataIdentity(name="iris", fingerprint="sha256:0", version=1, options={"source": "uci"})
    assert next(iter(make_plan(spec, data).trials)) == "7d5235d8ced45afb"
    assert list(make_plan(theirs, data).trials) == [
        "a57c9ba77f73604f",
        "6719985aa8be5ab7",
        "021f5d4de0c6e099",
    ]


def test_a_step_s_version_changes_every_id(make_spec, monkeypatch):
    spec = make_spec(reducers=["none"], preprocess=["standardize"])
    before = ids(spec)
    step = PREPROCESSORS.load("standardize")
    monkeypatch.setattr(step, "version", step.version + 1)
    assert not before & ids(spec)


def test_a_card_s_version_changes_every_id(make_spec, tmp_path):
    shipped = load_card("iris").path
    assert shipped is not None
    text = shipped.read_text(encoding="utf-8")
    found = []
    for version in (1, 2):
        card = tmp_path / f"iris-{version}.yaml"
        card.write_text(text.replace("version: 1", f"version: {version}"), encoding="utf-8")
        found.append(ids(make_spec(reducers=["none"], dataset=str(card))))
    assert not found[0] & found[1]


@pytest.mark.parametrize(
    "change",
    [
        {"reducers": [{**CCDR, "weights": "binary", "subsample": None}]},
        {"reducers": [{"name": "ccdr"}], "sweep": {"reducer.beta": [0.5]}},
    ],
)
def test_changes_that_do_not_affect_the_numbers_keep_the_ids(make_spec, change):
    base = {"reducers": [CCDR], "classifiers": [{"name": "knn", "n_neighbors": 3}]}
    assert ids(make_spec(**base)) == ids(make_spec(**{**base, **change}))


def test_more_repeats_reducers_or_values_keep_the_ids_there_are(make_spec):
    few = make_spec(reducers=["none", CCDR])
    many = make_spec(
        split={"kind": "fraction", "train": 0.5, "repeats": 9, "seed": 0},
        reducers=["pca", CCDR, "none"],
        sweep={"reducer.beta": [0.1, 0.5]},
    )
    assert ids(few) < ids(many)


def test_the_width_of_a_shared_fit_counts(make_spec):
    # A fit with more components may round differently, so its first columns are other trials.
    two = make_spec(reducers=[CCDR], sweep={"reducer.n_components": [1, 2]})
    three = make_spec(reducers=[CCDR], sweep={"reducer.n_components": [1, 2, 3]})
    alone = make_spec(reducers=[CCDR])
    assert not ids(two) & ids(three)
    assert ids(alone) < ids(two)


def test_trials_share_fits_and_neighbour_searches(make_spec):
    spec = make_spec(
        reducers=[{**CCDR, "mode": "transductive"}, {**CCDR, "mode": "out_of_sample"}, "none"],
        sweep={"reducer.n_components": [1, 2, 3], "reducer.n_neighbors": [2, 7]},
    )
    plan = make_plan(spec)
    assert len(plan.trials) == 3 * 2 * (3 * 2 * 2 + 1)
    assert plan.n_fits == 3 * (2 * 2 + 1)
    assert plan.searches == {"transductive": 7, "out_of_sample": 7, "queries": 7}
    first = next(iter(plan.fits.values()))[0]
    assert first.widths == (3, 2, 1)
    assert "n_components" not in first.params
    assert len(first.trials) == 6
    assert make_plan(make_spec(reducers=["none", "lda"])).searches == {}


@pytest.mark.parametrize(
    ("one", "other"), [(1, 1.0), ({"b": 1, "a": 2}, {"a": 2, "b": 1}), ((1, 2), [1, 2])]
)
def test_equal_values_have_one_text(one, other):
    assert canonical_json(one) == canonical_json(other)


@pytest.mark.parametrize(("one", "other"), [(1, "1"), (True, 1), (None, "None"), (0.1, 0.2)])
def test_different_values_have_different_texts(one, other):
    assert canonical_json(one) != canonical_json(other)
