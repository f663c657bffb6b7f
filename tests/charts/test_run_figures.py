import io
import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.text import Text
from PIL import Image

from ddr_cli.charts.style import look, looks_of, rendered
from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import summarize
from ddr_cli.evaluation.evaluators import CLASSIFIERS as REGISTERED_CLASSIFIERS
from ddr_cli.reducers.registry import REDUCERS
from ddr_cli.report.notes import Notes, QuotedNumber
from ddr_cli.report.run_chart import draw

CCDR = {
    "name": "ccdr",
    "mode": "transductive",
    "params": {"beta": 0.5, "n_components": 14, "n_neighbors": 4},
}
NONE = {"name": "none"}
CLASSIFIERS = [{"name": "knn", "params": {"n_neighbors": 3}}, {"name": "linear"}]
BETAS = [0.01, 0.1, 1.0, 10.0]


def _error(trial):
    """Return 9 % for k-NN, 10 % for linear; a point more over re-splits, 5 times as much in 1-d."""
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


def _finding(figure):
    """Return the second line of the title."""
    return " ".join(figure.artists[0].get_text().split()) if figure.artists else ""


def _curves(axes):
    """Return the lines with markers and several values, without the single markers of the best."""
    return [
        line
        for line in axes.lines
        if line.get_marker() not in ("", "None") and len(line.get_xdata()) > 1
    ]


def test_one_panel_has_the_predefined_split_and_the_re_splits(summary_of):
    figure = draw(summary_of(sweep={"reducer.beta": BETAS}, log=True))
    (axes,) = figure.axes
    assert axes.get_ylabel() == "error rate (%)"
    assert axes.get_xlabel() == "β, log scale"
    curves = _curves(axes)
    # Each classifier has a dashed curve with hollow markers, and a solid curve with a band.
    assert [line.get_linestyle() for line in curves] == ["--", "-"] * 2
    assert [line.get_markerfacecolor() == "white" for line in curves] == [True, False] * 2
    assert curves[0].get_ydata() == pytest.approx(np.full(4, 9.0))
    assert curves[1].get_ydata() == pytest.approx(np.full(4, 10.0))
    assert len(axes.collections) == 2
    assert _legend(figure) == [
        *("mean over 10 re-splits", "predefined split (n = 1)", "lowest mean"),
        "the middle 80 % of 10 re-splits",
    ]
    # The name of each curve is at its end.
    assert _texts(axes) == ["k-NN", "linear"]


def test_the_title_says_what_is_drawn_and_its_second_line_what_came_out(summary_of):
    def error(trial):
        spread = ((trial.index or 0) - 4.5) / 1000
        means = {0.01: 0.2, 0.1: 0.1003, 1.0: 0.1, 10.0: 0.2}
        return means.get(trial.params.get("reducer.beta"), 0.15) + spread

    reducers = [CCDR, {"name": "none"}]
    spec = {"reducers": reducers, "classifiers": CLASSIFIERS[:1], "predefined": False}
    summary = summary_of(sweep={"reducer.beta": BETAS}, error=error, **spec)
    figure = draw(summary)
    assert figure.get_suptitle().strip() == "A made-up run (CCDR): error against β"
    assert "10.00 % at β = 1" in _finding(figure)
    (best,) = [line for line in figure.axes[0].lines if line.get_markeredgecolor() == "black"]
    assert (best.get_xdata()[0], best.get_ydata()[0]) == (1.0, pytest.approx(10.0))


def test_the_band_is_the_interval_over_repetitions(summary_of):
    (axes,) = draw(summary_of(sweep={"reducer.beta": BETAS})).axes
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(100 * np.quantile(0.10 + np.arange(-4.5, 5) / 1000, 0.1))
    assert heights.max() == pytest.approx(100 * np.quantile(0.10 + np.arange(-4.5, 5) / 1000, 0.9))


@pytest.mark.parametrize(
    ("repeats", "band"), [(4, "the range of 4 re-splits"), (5, "the middle 80 % of 5 re-splits")]
)
def test_the_band_of_few_splits_is_their_range(summary_of, repeats, band):
    figure = draw(summary_of(sweep={"reducer.beta": BETAS}, repeats=repeats))
    assert [text for text in _legend(figure) if text.endswith("re-splits")][1:] == [band]
    heights = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    scores = 100 * (0.10 + (np.arange(repeats) - 4.5) / 1000)
    assert (heights.max() == pytest.approx(scores.max())) == (repeats == 4)
    assert (heights.min() == pytest.approx(scores.min())) == (repeats == 4)


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
    figure = draw(summary, Notes([near, far]))
    (axes,) = figure.axes
    stars = [line for line in axes.lines if line.get_marker() == "*"]
    top = axes.get_ylim()[1]
    # A printed number far from ours is at the edge, with an arrow.
    assert [(*star.get_xdata(), *star.get_ydata()) for star in stars] == [(0.5, 9.2), (1.0, top)]
    assert top < 20
    assert _texts(axes)[:2] == ["paper: 9.2 % (k-NN)", "paper: 83 % (linear) ↑"]
    assert stars[0].get_zorder() < 2
    # The text of the nearer number does not cover a curve.
    (text,) = [each for each in axes.texts if each.get_text().startswith("paper: 9.2")]
    box = text.get_window_extent()
    for line in axes.lines:
        path = line.get_path().transformed(line.get_transform())
        assert not path.intersects_bbox(box, filled=False)
    assert "number in the paper" in _legend(figure)


def test_methods_without_the_parameter_are_level_lines_with_their_values(summary_of):
    def error(trial):
        return 0.24 if trial.reducer == "pca" else _error(trial)

    others = [NONE, {"name": "pca"}]
    figure = draw(summary_of(reducers=[CCDR, *others], sweep={"reducer.beta": BETAS}, error=error))
    (axes,) = figure.axes
    # There are two curves per classifier; the other methods are level lines.
    assert len(_curves(axes)) == 4
    level = [line for line in axes.lines if list(line.get_xdata()) == [0, 1]]
    assert {line.get_label() for line in level} == {
        *("no reduction, k-NN: 10.00 %", "no reduction, linear: 11.00 %"),
        *("PCA, k-NN: 24.00 %", "PCA, linear: 24.00 %"),
    }
    # The axis fits the curves; a level line outside it is named at its edge.
    assert axes.get_ylim()[1] < 15
    assert set(_texts(axes)) == {
        *("k-NN", "linear", "no reduction, k-NN: 10.00 %"),
        *("no reduction, linear: 11.00 %", "PCA, k-NN: 24.00 % ↑", "PCA, linear: 24.00 % ↑"),
    }


def test_several_swept_methods_with_several_classifiers_have_a_panel_each(summary_of):
    reducers = [CCDR, {"name": "lfda", "params": {"n_components": 2}}, NONE]
    figure = draw(summary_of(reducers=reducers, sweep={"reducer.n_components": [2, 3, 4]}))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["CCDR", "LFDA"]
    for axes in figure.axes:
        assert set(_texts(axes)) == {
            *("k-NN", "linear", "no reduction, k-NN: 10.00 %", "no reduction, linear: 11.00 %")
        }


def test_names_at_the_ends_lie_apart_and_within_the_panel(summary_of):
    reducers = [{"name": "ccdr", "label": f"CCDR {k}"} for k in range(8)]
    reducers = [
        each | {"params": CCDR["params"] | {"n_neighbors": k + 2}}
        for k, each in enumerate(reducers)
    ]
    figure = draw(
        summary_of(
            reducers=reducers,
            classifiers=CLASSIFIERS[:1],
            sweep={"reducer.beta": BETAS},
            predefined=False,
        )
    )
    (axes,) = figure.axes
    figure.draw_without_rendering()
    # Text's own extent leaves out the line from a curve's end to its name.
    boxes = sorted((Text.get_window_extent(text) for text in axes.texts), key=lambda box: box.y0)
    assert len(boxes) == 8
    assert all(low.y1 <= high.y0 + 1 for low, high in itertools.pairwise(boxes))
    panel = axes.get_window_extent()
    assert panel.y0 - boxes[0].height < boxes[0].y0 < boxes[-1].y1 < panel.y1 + boxes[0].height
    # Coinciding curves differ in colour, marker or dashes.
    looks = {
        (line.get_color(), line.get_marker(), str(line._unscaled_dash_pattern))
        for line in _curves(axes)
    }
    assert len(looks) == 8


def test_the_axis_ends_above_the_flat_part_of_a_steep_curve(summary_of):
    figure = draw(summary_of(sweep={"reducer.n_components": [1, 2, 3, 4]}))
    (axes,) = figure.axes
    assert axes.get_yscale() == "linear"
    assert axes.get_ylim()[1] < 15
    assert axes.get_xlabel() == "embedding dimension"
    assert any(text.startswith("not shown: means above") for text in _legend(figure))


def test_random_states_are_markers_on_a_line_and_none_is_the_best(summary_of):
    classifier = {"name": "knn", "params": {"n_neighbors": 3}}
    figure = draw(
        summary_of(
            reducers=[NONE, {"name": "random_projection", "params": {"random_state": 1}}],
            classifiers=[classifier],
            sweep={"reducer.random_state": [1, 2, 3]},
            predefined=False,
            error=lambda trial: 0.1 + (trial.params.get("reducer.random_state") or 0) / 100,
        )
    )
    (axes,) = figure.axes
    markers = [line for line in axes.lines if line.get_marker() not in ("", "None")]
    assert {len(line.get_xdata()) for line in markers} == {1}
    assert sorted(round(float(line.get_xdata()[0]), 6) for line in markers) == [10, 11, 12, 13]
    assert _finding(figure).endswith("random projection: 11.00 % to 13.00 %")


def test_panels_of_another_range_have_an_axis_of_their_own(summary_of):
    def error(trial):
        far = trial.classifier == "linear" and trial.reducer == "none"
        return (0.3 if far else 0.09) + (trial.index or 0) / 10000

    narrow, wide = draw(summary_of(reducers=[NONE, CCDR], error=error)).axes
    assert narrow.get_xlim()[1] < 12
    assert wide.get_xlim()[1] > 30


def test_a_method_that_failed_on_every_split_is_not_drawn(tmp_path, write_results, make_spec):
    reducers = [NONE, CCDR, {"name": "lda"}]
    spec = make_spec("run", reducers=reducers, classifiers=CLASSIFIERS[:1], repeats=4)
    folder = write_results(tmp_path, spec, _error)
    rows = pd.read_csv(folder / "trials.csv", dtype=str, keep_default_na=False)
    rows.loc[rows["reducer"] == "ccdr", ["status", "reason", "error"]] = ["failed", "why", ""]
    rows.to_csv(folder / "trials.csv", index=False)
    figure = draw(summarize(load_run(folder)))
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["no reduction", "LDA"]
    assert "failed" in _finding(figure)


def test_a_value_with_failed_splits_is_hollow_and_the_legend_counts_them(
    tmp_path, write_results, make_spec
):
    more = {"classifiers": CLASSIFIERS[:1], "repeats": 4, "predefined": False}
    spec = make_spec("run", reducers=[CCDR], sweep={"reducer.beta": BETAS}, **more)
    folder = write_results(tmp_path, spec, _error)
    rows = pd.read_csv(folder / "trials.csv", dtype=str, keep_default_na=False)
    bad = (rows["reducer.beta"].astype(float) == 1.0) & rows["split"].str.contains("-[01]$")
    rows.loc[bad, ["status", "reason", "error"]] = ["failed", "why", ""]
    rows.to_csv(folder / "trials.csv", index=False)
    figure = draw(summarize(load_run(folder)))
    (axes,) = figure.axes
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [list(line.get_xdata()) for line in hollow] == [[1.0]]
    assert "failed on 2 of 4 splits" in _legend(figure)


def test_a_cell_with_failed_splits_is_marked(tmp_path, write_results, make_spec):
    sweep = {"reducer.beta": BETAS, "reducer.n_components": list(range(2, 9))}
    more = {"classifiers": CLASSIFIERS[:1], "repeats": 2, "predefined": False}
    folder = write_results(tmp_path, make_spec("run", reducers=[CCDR], sweep=sweep, **more), _error)
    rows = pd.read_csv(folder / "trials.csv", dtype=str, keep_default_na=False)
    bad = (rows["reducer.beta"].astype(float) == 1.0) & (rows["reducer.n_components"] == "3")
    bad &= rows["split"].str.endswith("-0")
    rows.loc[bad, ["status", "reason", "error"]] = ["failed", "why", "0.4"]
    rows.to_csv(folder / "trials.csv", index=False)
    figure = draw(summarize(load_run(folder)))
    assert sum(text.endswith("†") for text in _texts(figure.axes[0])) == 1
    assert "†: failed on some splits" in _finding(figure)


def test_panels_have_the_colours_of_methods_and_the_markers_of_classifiers(summary_of):
    names = ["pca", "lda", "lfda", "nmmp", "lpp"]
    sweep = {"reducer.n_components": [1, 2, 3]}
    reducers = [{"name": name, "params": {"n_components": 1}} for name in names]
    figure = draw(summary_of(reducers=reducers, sweep=sweep))
    assert len(figure.axes) == len(names)
    for axes, name in zip(figure.axes, names, strict=True):
        curves = _curves(axes)
        assert {to_hex(line.get_color()) for line in curves} == {looks_of([name])[0].colour.lower()}
        assert len({line.get_marker() for line in curves}) == len(CLASSIFIERS)


def test_rates_close_to_100_percent_lie_apart(summary_of):
    names = ("pca", "lda", "lpp", "lfda")
    ends = dict(zip(names, (0.99, 0.98, 0.97, 0.75), strict=True))
    figure = draw(
        summary_of(
            reducers=[{"name": name} for name in names],
            measures={"same_class": "same_class"},
            sweep={"classifier.n_neighbors": [1, 2]},
            predefined=False,
            error=lambda trial: ends[trial.reducer],
        )
    )
    (axes,) = figure.axes
    heights = [axes.transData.transform((1, 100 * end))[1] for end in ends.values()]
    whole = heights[0] - heights[-1]
    assert np.all(-np.diff(heights) > 0.1 * whole)
    assert "distance to 100 %" in axes.get_ylabel()


def test_without_a_sweep_there_is_a_dot_per_method(summary_of):
    figure = draw(summary_of(reducers=[NONE, CCDR]))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["k-NN", "linear"]
    for axes in figure.axes:
        assert [label.get_text() for label in axes.get_yticklabels()] == ["no reduction", "CCDR"]
    assert figure.axes[1].get_xlabel() == "error rate (%)"
    assert "mean over 10 re-splits" in _legend(figure)


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
    assert len(figure.axes) == 2
    assert figure.axes[0].collections[0].get_array().shape == (7, 4)
    # The cells show the means, and the colours span the means: the lowest error is the darkest.
    assert _texts(figure.axes[0]) == ["10.0"] * 28
    assert figure.axes[0].collections[0].get_clim() == pytest.approx((-11.0, -10.0))
    assert _finding(figure).endswith("bold: the best mean and 27 more within one Monte-Carlo error")


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
    assert means == {9.0, 10.0}  # not the far worse settings with one dimension


@pytest.mark.parametrize("n_curves", [5, 12])
def test_re_splits_may_lack_all_curves_until_now(summary_of, n_curves):
    labels = [f"CCDR {k}" for k in range(2, n_curves + 2)]
    reducers = [
        {"name": "ccdr", "label": label, "params": {"beta": 1.0, "n_neighbors": k}}
        for k, label in enumerate(labels, start=2)
    ]
    # The predefined split is complete, and the first re-split only has no reduction.
    keep = 1 + n_curves * len(BETAS) + 1
    more = {"classifiers": CLASSIFIERS[:1], "sweep": {"reducer.beta": BETAS}, "keep": keep}
    figure = draw(summary_of(reducers=[NONE, *reducers], **more))
    drawn = {line.get_label().partition(":")[0] for axes in figure.axes for line in axes.lines}
    titles = {axes.get_title(loc="left") for axes in figure.axes}
    assert {*labels, "no reduction"} <= drawn | titles


@pytest.mark.parametrize("keep", [0, 6])
def test_an_unfinished_run_says_so(summary_of, keep):
    figure = draw(summary_of(keep=keep, sweep={"reducer.beta": BETAS}))
    assert f"[{keep} of 88 trials done]" in _finding(figure)


def test_pictures_are_small_and_the_same_every_time(summary_of):
    summary = summary_of(sweep={"reducer.beta": BETAS}, log=True)
    svg, png = rendered(draw(summary))
    assert (svg, png) == rendered(draw(summary))
    assert len(svg) < 200_000
    assert len(png) < 200_000
    assert b"<dc:date>" not in svg
    # The SVG contains its text as text, and a description of the figure.
    assert b">error rate (%)</text>" in svg
    assert "<title>A made-up run (CCDR): error against β</title>" in svg.decode()
    described = svg.decode().partition("<desc>")[2].partition("</desc>")[0]
    assert "k-NN, 10.00 % at β = 0.01" in described
    assert "predefined split (n = 1)" in described
    image = Image.open(io.BytesIO(png))
    assert image.width > 900
    assert not image.info.get("Software")


def test_neighbouring_looks_differ_in_every_channel():
    def lightness(colour):
        red, green, blue = (int(to_hex(colour)[i : i + 2], 16) / 255 for i in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for position in range(4):
        one, two = look(position), look(position + 1)
        assert one.marker != two.marker
        assert one.dashes != two.dashes
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
    lines = _curves(axes)
    assert len(lines) == 6
    assert len({to_hex(line.get_color()) for line in lines}) == 6
    assert len({line.get_marker() for line in lines}) == 6
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == 6
    assert set(_texts(axes)) == {"PCA", "LDA", "LPP", "LFDA", "NMMP", "no reduction"}
    assert " ".join(axes.get_ylabel().split()).startswith("fraction of samples with a neighbour")
    assert axes.get_xlabel() == "neighbours K of the classifier"


def test_every_method_has_a_look_that_no_other_has():
    names = [*REDUCERS.names(), *REGISTERED_CLASSIFIERS.names()]
    looks = {name: (looks_of([name])[0].colour, looks_of([name])[0].marker) for name in names}
    of_reducers = [looks[name] for name in REDUCERS.names()]
    assert len(set(of_reducers)) == len(of_reducers)
    # A method's look does not depend on the other methods; a second setting has another shade.
    lda, own, again = looks_of(["lda", "mine", "lda"])
    assert (lda.colour, lda.marker) == looks["lda"]
    assert again.marker == lda.marker
    assert len({lda.colour, own.colour, again.colour}) == 3


def test_the_first_looks_survive_greyscale():
    # Neighbouring lines differ in lightness, so that they also differ in a print without colour.
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
    assert axes.get_title(loc="left") == "Mean over 10 runs on all samples"
    assert axes.get_xlabel() == "intrinsic dimension"


def test_more_than_ten_methods_have_a_panel_each_before_all_the_others(summary_of):
    reducers = [
        {"name": "ccdr", "label": f"CCDR {k}", "params": {"beta": 1.0, "n_neighbors": k}}
        for k in range(2, 13)
    ]
    figure = draw(
        summary_of(
            reducers=[NONE, *reducers], classifiers=CLASSIFIERS[:1], sweep={"reducer.beta": BETAS}
        )
    )
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [f"CCDR {k}" for k in range(2, 13)]
    # Each panel has all curves as one grey line, its own curve twice, and a level line.
    assert {len(axes.lines) for axes in figure.axes} == {1 + 2 + 1}
    grey, _, own, level = figure.axes[3].lines
    assert to_hex(grey.get_color()) == "#d0d0d0"
    assert np.isnan(grey.get_ydata()).sum() == 11
    assert own.get_ydata() == pytest.approx(np.full(4, 10.0))
    assert level.get_label() == "no reduction: 10.00 %"
    assert _legend(figure) == [
        *("mean over 10 re-splits", "predefined split (n = 1)", "no reduction: 10.00 %"),
        *("other methods", "the middle 80 % of 10 re-splits"),
    ]
