"""A run with shuffled labels equals the same computation by hand."""

import numpy as np

from ddr_cli.engine import make_plan, read_trials
from ddr_cli.engine.work.samples import Labels, Samples
from ddr_cli.rows.schema import OPTIONAL

METHOD = {"name": "nca", "n_components": 4}


def test_shuffled_labels_are_those_of_each_part_in_another_order():
    y = np.repeat([0, 1, 2], 40)
    points = Samples(
        np.zeros((120, 1)), Labels(y, ("a", "b", "c")), n_train=90, order=np.arange(120)
    )
    shuffled = points.with_shuffled_labels(7).labels.y
    assert sorted(shuffled[:90]) == sorted(y[:90])
    assert sorted(shuffled[90:]) == sorted(y[90:])
    assert (shuffled[:90] != y[:90]).any()
    np.testing.assert_array_equal(points.with_shuffled_labels(7).labels.y, shuffled)
    assert (points.with_shuffled_labels(8).labels.y != shuffled).any()
    np.testing.assert_array_equal(points.labels.y, y)


def test_a_fit_to_shuffled_labels_does_not_predict_other_samples(make_spec, run, tmp_path):
    spec = make_spec(reducers=[METHOD, {"name": "none"}], controls=["shuffled_labels"])
    run(spec)
    trials = read_trials(tmp_path / spec.name)
    shuffled = read_trials(tmp_path / spec.name, which="controls")
    assert set(shuffled["control"]) == {"shuffled_labels"}
    assert set(shuffled["reducer"]) == {"nca"}
    assert len(shuffled) == 3 * len(spec.classifiers)
    # Chance level is an error of 2/3, because the three classes are of equal size.
    assert shuffled["error"].mean() > 0.55
    assert (shuffled["training_error"] < shuffled["error"] - 0.05).mean() > 0.5
    real = trials[trials["reducer"] == "nca"]
    assert real["error"].mean() < 0.2


def test_a_control_leaves_the_other_trials_as_they_are(make_spec):
    plain = make_plan(make_spec(reducers=[METHOD]))
    with_control = make_plan(make_spec(reducers=[METHOD], controls=["shuffled_labels"]))
    assert set(plain.trials) < set(with_control.trials)
    assert not set(OPTIONAL) & {name for line in with_control.lines.values() for name in line}
