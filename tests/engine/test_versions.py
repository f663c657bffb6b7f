"""A component whose numbers change must have a new version, or old and new results are mixed.

If a test fails here and the change is intended, raise the component's version, then run
`python tests/engine/test_versions.py` to write the new numbers.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from ddr_cli.evaluation.evaluators import CLASSIFIERS, MEASURES, get_evaluator_traits
from ddr_cli.evaluation.measures import Embedded
from ddr_cli.reducers.registry import REDUCERS, get_traits

FILE = Path(__file__).with_name("golden.json")
OURS = [
    (registry.kind, entry.name)
    for registry in (REDUCERS, CLASSIFIERS, MEASURES)
    for entry in registry.entries()
    if entry.origin == "ddr"
    # Numbers of other libraries change with their versions, which the manifest records.
    if not (registry is REDUCERS and get_traits(entry.load()()).library)
]


def measure(kind, name):
    """Return a component's version, and numbers that depend on all of its arithmetic but signs."""
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "reducer":
            reducer = REDUCERS.load(name)()
            if "random_state" in reducer.get_params():
                reducer.set_params(random_state=0)
            embedding = np.asarray(reducer.fit_transform(X, y), dtype=float)
            traits = get_traits(reducer)
            return {
                "version": traits.version,
                "values": np.abs(embedding).sum(axis=0).tolist(),
                "grids": {each: json.dumps(grid) for each, grid in traits.grids.items()},
            }
        if kind == "measure":
            evaluator = MEASURES.load(name)()
            if "random_state" in evaluator.get_params():
                evaluator.set_params(random_state=0)
            # Two species are merged, because measures of sub-classes need a class with sub-classes.
            points = Embedded(X[:, :2], X, np.minimum(y, 1), 100, ("setosa", "others"), y)
            if name.startswith(("class_", "centre_")):
                points = Embedded(X[:, :2], X, y, 100, ("setosa", "versicolor", "virginica"))
            version = get_evaluator_traits(evaluator).version
            return {"version": version, "values": [evaluator.score(points)]}
        classifier = CLASSIFIERS.load(name)()
        if "random_state" in classifier.get_params():
            classifier.set_params(random_state=0)
        predicted = classifier.fit(X[::2], y[::2]).predict(X[1::2])
        values = [float(np.flatnonzero(predicted == label).sum()) for label in range(3)]
        return {"version": get_evaluator_traits(classifier).version, "values": values}


@pytest.mark.parametrize(("kind", "name"), OURS)
def test_numbers_belong_to_a_version(kind, name):
    known = json.loads(FILE.read_text(encoding="utf-8"))[f"{kind} {name}"]
    found = measure(kind, name)
    same = np.shape(found["values"]) == np.shape(known["values"]) and np.allclose(
        found["values"], known["values"], rtol=1e-6, atol=1e-9
    )
    same &= found.get("grids") == known.get("grids")
    assert same or found["version"] > known["version"], f"raise the version of the {kind} {name}"
    assert found["version"] == known["version"], "write the numbers anew"


if __name__ == "__main__":
    golden = {f"{kind} {name}": measure(kind, name) for kind, name in OURS}
    FILE.write_text(json.dumps(golden, indent=2) + "\n", encoding="utf-8")
