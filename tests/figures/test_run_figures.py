import io
import itertools

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from PIL import Image

from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import summarize
from ddr_cli.evaluation.evaluators import CLASSIFIERS as REGISTERED_CLASSIFIERS
from ddr_cli.figures import draw
from ddr_cli.figures.picture import Notes, QuotedNumber
from ddr_cli.figures.style import look, looks_of, rendered
from ddr_cli.reducers.registry import REDUCERS

CCDR = {
    "name": "ccdr",
    "mode": "transductive",
    "params": {"beta": 0.5, "n_components": 14, "n_neighbors": 4},
}
NONE = {"name": "none"}
CLASSIFIERS = [{"name": "knn", "params": {"n_neighbors": 3}}, {"name": "linear"}]
BETAS = [0.01, 0.1, 1.0, 10.0]


def _error(trial):
    """Return 9 % for kNN and 10 % for linear, a point more over re-splits, steep in dimension."""
    value = 0.09 if trial.classifier == "knn" else 0.10
    if trial.index is not None:
        value += 0.01 + (trial.index - 4.5) / 1000
    return value * (5 if trial.params.get("reducer.n_components") == 1 else 1)


@pytest.fixture
def summary_of(tmp_path, write_results, make_spec):
    def build(name="run", keep=None, error=_error, **more):
        more = {"reducers": [CCDR], "classifiers": CLASSIFIERS, "repeats": 10, **more}
        folder = write_results(tmp_path, make_spec(name, **more), error, keep=keep)
        return summarize(load_run(folder))

    return build


def _legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def _texts(axes):
    return [text.get_text() for text in axes.texts]


def test_curves_show_both_kinds_of_split_side_by_side(summary_of):
    figure = draw(summary_of(sweep={"reducer.beta": BETAS}, log=True))
    own, over = figure.axes
    assert own.get_title(loc="left") == "Predefined split (n = 1)"
    assert over.get_title(loc="left") == "Mean over 10 re-splits"
    assert own.get_ylabel() == "error rate (%)"
    assert {axes.get_xlabel() for axes in figure.axes} == {"β, log scale"}
    assert own.get_xscale() == "log"
    assert own.get_ylim() == over.get_ylim()
    # One line per classifier on the left; on the right also the two ends of each band.
    assert [len(axes.lines) for axes in figure.axes] == [2, 6]
    assert [len(axes.collections) for axes in figure.axes] == [0, 2]
    assert own.lines[0].get_ydata() == pytest.approx(np.full(4, 9.0))
    assert over.lines[0].get_ydata() == pytest.approx(np.full(4, 10.0))
    assert own.lines[0].get_markerfacecolor() == "white"
    assert own.lines[0].get_linestyle() == "--"
    assert _legend(figure) == ["predefined split", "the middle 80 % of 10 re-splits"]
    # Each curve is named at its end.
    assert _texts(over) == ["k-NN", "linear"]
    assert figure.get_suptitle().startswith(
        "A made-up run (CCDR): lowest error rate 10.00 %, k-NN at β = 0.01"
    )


def test_the_band_is_the_interval_over_repetitions(summary_of):
    over = draw(summary_of(sweep={"reducer.beta": BETAS})).axes[1]
    heights = over.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(100 * np.quantile(0.10 + np.arange(-4.5, 5) / 1000, 0.1))
    assert heights.max() == pytest.approx(100 * np.quantile(0.10 + np.arange(-4.5, 5) / 1000, 0.9))


def test_quoted_numbers_are_marked_and_named(summary_of):
    summary = summary_of(sweep={"reducer.beta": BETAS}, log=True)
    rows = summary.rows
    row, other = (
        rows.index[
            (rows["split"] == "predefined")
            & (rows["classifier"] == classifier)
            & (rows["reducer.beta"] == 1.0)
        ][0]
        for classifier in ("knn", "linear")
    )
    near = QuotedNumber(int(row), 0.092, "paper: 9.2 %", at=0.5)
    far = QuotedNumber(int(other), 0.83, "paper: 83 %")
    figure = draw(summary, Notes([near, far], finding="both differ"))
    own, over = figure.axes
    stars = [line for line in own.lines if line.get_marker() == "*"]
    top = own.get_ylim()[1]
    # What is far from ours stands at the edge, with an arrow.
    assert [(*star.get_xdata(), *star.get_ydata()) for star in stars] == [(0.5, 9.2), (1.0, top)]
    assert top < 20
    assert _texts(own) == ["paper: 9.2 % (k-NN)", "paper: 83 % (linear) ↑"]
    assert figure.get_suptitle() == "A made-up run (CCDR): both differ"
    assert stars[0].get_zorder() < 2
    assert not [line for line in over.lines if line.get_marker() == "*"]
    assert "number in the paper" in _legend(figure)


def test_a_method_without_the_parameter_is_a_level_line(summary_of):
    figure = draw(summary_of(reducers=[CCDR, NONE], sweep={"reducer.beta": BETAS}))
    level = figure.axes[0].lines[2]
    assert list(level.get_xdata()) == [0.01, 10.0]
    assert level.get_marker() in ("", "None")
    assert set(_texts(figure.axes[1])) == {
        "CCDR, k-NN",
        "CCDR, linear",
        "no reduction, k-NN",
        "no reduction, linear",
    }


def test_the_sweep_of_one_method_among_others_is_one_panel(summary_of):
    others = [NONE, {"name": "pca"}, {"name": "lda"}]
    figure = draw(summary_of(reducers=[CCDR, *others], sweep={"reducer.beta": BETAS}))
    (axes,) = figure.axes
    curves = [line for line in axes.lines if len(line.get_xdata()) == len(BETAS)]
    # Two classifiers, on the predefined split and over re-splits.
    assert len(curves) == 4
    # The best mean of each curve is ringed.
    rings = [line for line in axes.lines if line.get_markersize() == 11]
    assert len(rings) == 2
    # Each method without the parameter is named, at its level line or above the panel.
    words = " ".join([*_texts(axes), axes.get_title(loc="left")])
    for name in ("no reduction, k-NN", "PCA, linear", "LDA, k-NN"):
        assert name in words


def test_the_flat_part_of_a_steep_curve_is_enlarged(summary_of):
    figure = draw(summary_of(sweep={"reducer.n_components": [1, 2, 3, 4]}))
    assert len(figure.axes) == 4
    assert figure.axes[0].get_yscale() == "log"
    assert figure.axes[2].get_yscale() == "linear"
    assert figure.axes[2].get_ylim()[1] < 15
    assert figure.axes[2].get_xlabel() == "embedding dimension"


def test_without_a_sweep_there_is_a_dot_per_method(summary_of):
    figure = draw(summary_of(reducers=[NONE, CCDR]))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["k-NN", "linear"]
    for axes in figure.axes:
        assert [label.get_text() for label in axes.get_yticklabels()] == ["no reduction", "CCDR"]
    assert figure.axes[1].get_xlabel() == "error rate (%)"
    assert "Mean over 10 re-splits" in _legend(figure)


def test_two_swept_parameters_have_a_panel_per_value_or_a_map(summary_of):
    few = summary_of(
        "few", sweep={"reducer.beta": BETAS, "reducer.n_neighbors": [3, 4, 5]}, predefined=False
    )
    assert [axes.get_title(loc="left").split(" · ")[0] for axes in draw(few).axes] == [
        "k = 3",
        "k = 4",
        "k = 5",
    ]
    many = summary_of(
        "many",
        sweep={"reducer.beta": BETAS, "reducer.n_neighbors": list(range(2, 9))},
        predefined=False,
    )
    figure = draw(many)
    assert len(figure.axes) == 3  # two methods and the colour bar
    assert figure.axes[0].images[0].get_array().shape == (7, 4)
    # The means stand in the cells; within a point of the best all have one colour.
    assert _texts(figure.axes[0]) == ["10.0"] * 28
    norm = figure.axes[0].images[0].norm
    assert norm(0.0) == norm(0.99) == 0


def test_three_swept_parameters_show_the_best_of_each_method(summary_of):
    sweep = {
        "reducer.beta": [0.1, 1.0],
        "reducer.n_neighbors": [3, 4],
        "reducer.n_components": [1, 2],
    }
    axes = draw(summary_of(sweep=sweep)).axes
    assert axes[0].get_title(loc="left") == "k-NN · Best setting of each method"
    means = {
        round(float(line.get_xdata()[0]), 6) for line in axes[0].lines if line.get_marker() == "o"
    }
    assert means == {9.0, 10.0}  # never the steep 1-dimensional setting


@pytest.mark.parametrize("keep", [0, 6])
def test_an_unfinished_run_says_so(summary_of, keep):
    figure = draw(summary_of(keep=keep, sweep={"reducer.beta": BETAS}))
    assert f"[{keep} of 88 trials done]" in figure.get_suptitle().replace("\n", " ")


def test_pictures_are_small_and_the_same_every_time(summary_of):
    summary = summary_of(sweep={"reducer.beta": BETAS}, log=True)
    svg, png = rendered(draw(summary))
    assert (svg, png) == rendered(draw(summary))
    assert len(svg) < 200_000
    assert len(png) < 200_000
    assert b"<dc:date>" not in svg
    # Text is text, and the figure is told in words.
    assert b">error rate (%)</text>" in svg
    assert b"<title>A made-up run (CCDR): lowest error" in svg
    assert "<desc>Error rate (%). Predefined split (n = 1): k-NN 9; linear 10." in svg.decode()
    image = Image.open(io.BytesIO(png))
    assert image.width > 1000
    assert not image.info.get("Software")


def test_neighbouring_looks_differ_in_every_channel():
    def lightness(colour):
        red, green, blue = (int(to_hex(colour)[i : i + 2], 16) / 255 for i in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for position in range(4):
        one, two = look(position), look(position + 1)
        assert one.marker != two.marker
        assert one.line != two.line
        assert abs(lightness(one.colour) - lightness(two.colour)) > 0.1


def test_six_reducers_and_one_measure_are_told_apart_by_three_signs(summary_of):
    names = ("pca", "lda", "lpp", "lfda", "nmmp", "none")
    figure = draw(
        summary_of(
            reducers=[{"name": name} for name in names],
            measures={"same_class": "same_class"},
            sweep={"classifier.n_neighbors": [1, 2, 3]},
            predefined=False,
            error=lambda trial: names.index(trial.reducer) / 10,
        )
    )
    (axes,) = figure.axes
    lines = [line for line in axes.lines if line.get_marker() not in ("", "None")]
    assert len(lines) == 6
    assert len({to_hex(line.get_color()) for line in lines}) == 6
    assert len({line.get_marker() for line in lines}) == 6
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == 6
    assert set(_texts(axes)) == {"PCA", "LDA", "LPP", "LFDA", "NMMP", "no reduction"}
    assert axes.get_ylabel() == "fraction of samples with a neighbour of their class (%)"
    assert axes.get_xlabel() == "neighbours K in the embedding"


def test_curves_that_lie_on_each_other_have_a_panel_each(summary_of):
    reducers = [CCDR, {"name": "lfda", "params": {"n_components": 2}}]
    sweep = {"reducer.n_components": [2, 3, 4]}
    spec = {"reducers": reducers, "classifiers": CLASSIFIERS[:1], "sweep": sweep}
    titles = [axes.get_title(loc="left") for axes in draw(summary_of(**spec)).axes]
    assert titles == ["CCDR", "LFDA"]
    apart = summary_of("apart", error=lambda trial: 0.1 * len(trial.reducer), **spec)
    assert len(draw(apart).axes) == 2  # the families of splits


def test_every_method_has_a_look_that_no_other_has():
    names = [*REDUCERS.names(), *REGISTERED_CLASSIFIERS.names()]
    looks = {name: (looks_of([name])[0].colour, looks_of([name])[0].marker) for name in names}
    of_reducers = [looks[name] for name in REDUCERS.names()]
    assert len(set(of_reducers)) == len(of_reducers)
    # It has it whatever else is in the figure; a setting more is another shade of it.
    lda, own, again = looks_of(["lda", "mine", "lda"])
    assert (lda.colour, lda.marker) == looks["lda"]
    assert again.marker == lda.marker
    assert len({lda.colour, own.colour, again.colour}) == 3


def test_the_first_looks_survive_greyscale():
    # Neighbouring lines differ in lightness, so that a print without colour tells them apart.
    greys = [np.dot(to_rgb(look(place).colour), [0.299, 0.587, 0.114]) for place in range(8)]
    assert min(abs(a - b) for a, b in itertools.pairwise(greys)) > 0.05
    assert len({(look(place).colour, look(place).marker) for place in range(20)}) == 20


def test_words_along_the_sweep_are_lines_in_the_order_of_the_spec(summary_of):
    measures = {"intrinsic_dimension": "dimension"}
    figure = draw(
        summary_of(
            reducers=[NONE],
            classifiers=[{"name": "knn", "params": {"of_class": None}}],
            sweep={"classifier.of_class": ["red soil", "cotton", "grey soil"]},
            kind="whole",
            predefined=False,
            metric=measures["intrinsic_dimension"],
        )
    )
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["red soil", "cotton", "grey soil"]
    assert axes.get_title(loc="left") == "Mean over 10 runs on all points"
    assert axes.get_xlabel() == "intrinsic dimension"


def test_many_methods_have_a_panel_each_before_all_the_others(summary_of):
    reducers = [
        {"name": "ccdr", "label": f"CCDR {k}", "params": {"beta": 1.0, "n_neighbors": k}}
        for k in range(7)
    ]
    reducers[0] = {"name": "none", "label": "no reduction"}
    figure = draw(
        summary_of(reducers=reducers, classifiers=CLASSIFIERS[:1], sweep={"reducer.beta": BETAS})
    )
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "no reduction",
        *(f"CCDR {k}" for k in range(1, 7)),
    ]
    # Everyone in grey; the panel's own twice: predefined, and re-splits with the ends of the band.
    assert {len(axes.lines) for axes in figure.axes} == {7 + 1 + 3}
    own = figure.axes[3]
    assert [line.get_ydata() for line in own.lines[-3:-2]] == [pytest.approx(np.full(4, 10.0))]
    assert {to_hex(line.get_color()) for line in own.lines[:7]} == {"#d0d0d0"}
    level = figure.axes[0].lines[-3]
    assert (level.get_marker(), list(level.get_xdata())) == ("", [0.01, 10.0])
    assert _legend(figure) == [
        *("Mean over 10 re-splits", "predefined split", "the other methods"),
        "the middle 80 % of 10 re-splits",
    ]
