import pytest

from ddr_cli.core.errors import did_you_mean, nearest


@pytest.mark.parametrize(
    ("word", "choices", "meant"),
    [
        ("keep", ["sweep", "split"], None),
        ("seed", ["sweep", "split"], None),
        ("suite", ["title"], None),
        ("nosuchmethod", ["ohsumed"], None),
        ("lad", ["lda"], "lda"),
        ("knm", ["knn"], "knn"),
        ("spilt", ["split"], "split"),
        ("data", ["dataset"], "dataset"),
        ("Beta", ["beta"], "beta"),
        ("ccdr_beat", ["ccdr_heat", "ccdr_beta"], "ccdr_beta"),
        ("clasifier", ["classifiers"], "classifiers"),
        ("accuracy", ["balanced_accuracy"], "balanced_accuracy"),
    ],
)
def test_a_hint_is_given_for_a_typo_alone(word, choices, meant):
    assert nearest(word, choices) == meant
    assert bool(did_you_mean(word, choices)) == (meant is not None)
