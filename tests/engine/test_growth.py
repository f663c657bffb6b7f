"""`ddr plan` warns of fits that exceed a limit by measured growth; `ddr describe` prints it."""

import pytest

from ddr_cli.engine import describe_plan
from ddr_cli.engine.plan import growth
from ddr_cli.reducers.registry import REDUCERS
from ddr_cli.report.descriptions import describe
from ddr_cli.spec import make_spec

TABLE = """method,n,seconds,MB,time exponent,memory exponent,stopped
pca,10,0.01,1.0,1.0,1.0,
pca,20,0.02,2.0,1.0,1.0,
mds,10,1.0,10.0,3.0,2.0,
mds,20,8.0,40.0,3.0,2.0,40 samples: more than 20 s
"""


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    (tmp_path / "growth.csv").write_text(TABLE)
    found = growth.read_growths(tmp_path / "growth.csv")
    monkeypatch.setattr(growth, "growths", lambda: found)
    return found


@pytest.fixture
def spec():
    # 80 of iris' 150 samples form the training set, 4 times the largest measured size.
    return make_spec(
        name="large",
        dataset="iris",
        split={"kind": "fraction", "train": 80 / 150, "repeats": 1},
        reducers=["pca", {"name": "mds", "mode": "transductive"}],
        classifiers=["knn"],
        controls=[],
    )


def test_growth_is_continued_from_the_largest_size_by_the_exponents(made_up):
    assert made_up["mds"].at(40) == pytest.approx((64.0, 160.0))
    assert "n^3.0" in str(made_up["mds"])
    assert "40 samples: more than 20 s" in str(made_up["mds"])


# A transductive fit has all 150 samples: 8 s * 7.5^3 = 3375 s, which is 56 minutes.
@pytest.mark.parametrize(("timeout", "warns"), [(None, False), (3400, False), (3300, True)])
@pytest.mark.usefixtures("made_up")
def test_a_plan_warns_of_a_fit_that_exceeds_the_timeout(spec, timeout, warns, tmp_path):
    facts = describe_plan(spec, out=tmp_path, timeout=timeout)
    assert [line.split(" to ")[0] for line in facts.too_large] == ["a fit of mds"] * warns
    assert ("56 min" in str(facts)) is warns
    assert ("3300" in str(facts)) is warns


@pytest.mark.usefixtures("made_up")
def test_a_plan_warns_of_a_fit_that_exceeds_the_memory(spec, tmp_path, monkeypatch):
    # 40 MB * 7.5^2 = 2250 MB
    monkeypatch.setattr(growth, "machine_memory", lambda: 2000 * 1024**2)
    (line,) = describe_plan(spec, out=tmp_path).too_large
    assert "mds" in line
    assert "2 GB of memory" in line


def test_every_reducer_is_measured_and_described():
    measured = growth.growths()
    # kernel_laplacian_rls is Laplacian RLS with a kernel, which is another algorithm; lite uses it.
    assert sorted({*measured} - {"kernel_laplacian_rls"}) == sorted(REDUCERS.ours)
    for name in REDUCERS.ours:
        assert f"cost: {measured[name]}" in describe(name)
