"""Table 3 of the NMMP paper equals the sizes of the data that its specs run on."""

import pytest

from ddr_cli.data import Sources, load_dataset
from ddr_cli.evaluation.evaluators import PREPROCESSORS
from ddr_cli.evaluation.splits import make_split
from ddr_cli.spec import load_spec

PRINTED = [
    # spec, classes, training samples, test samples, features, dimensions after PCA
    ("nmmp_iris", 3, 60, 90, 4, 4),
    ("nmmp_balance", 3, 60, 565, 4, 4),
    ("nmmp_faces", 40, 200, 200, 10304, 199),
    ("nmmp_objects", 20, 120, 1320, 256, 119),
    ("nmmp_usps", 4, 80, 3794, 256, 79),
    ("nmmp_news", 4, 120, 3850, 8014, 119),
]


@pytest.mark.parametrize(
    ("name", "classes", "training", "testing", "features", "reduced"),
    PRINTED,
    ids=[row[0] for row in PRINTED],
)
def test_a_spec_has_the_sizes_of_table_3(
    name, classes, training, testing, features, reduced, data_mirror, tmp_path
):
    spec = load_spec(name)
    data = load_dataset(
        spec.dataset.name,
        options=spec.dataset.options,
        sources=Sources((data_mirror,), tmp_path, offline=True),
    )
    split = make_split(spec.split.kind, data.y, dataset=data.name, train=spec.split.train)
    assert (len(data.target_names), data.X.shape[1]) == (classes, features)
    assert (len(split.train), len(split.test)) == (training, testing)

    points = data.X[split.train]
    for step in spec.preprocess:
        points = PREPROCESSORS.load(step.name)(**step.params).fit_transform(points)
    assert points.shape[1] == reduced
