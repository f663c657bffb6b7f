import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from ddr_cli.charts.style import class_look, rendered
from ddr_cli.comparison.summary import summary_of
from ddr_cli.core.errors import InputError
from ddr_cli.report.run_chart import draw
from ddr_cli.report.run_embeddings import drawn_embeddings
from ddr_cli.report.run_files import write_run

LDA = {"name": "lda", "label": "FDA", "params": {"n_components": 2}}
LFDA = {"name": "lfda", "params": {"n_components": 2}}


def _content(reducer, columns=2, n=12, **more):
    points = np.random.default_rng(columns).normal(size=(n, columns))
    return {
        "reducer": reducer,
        "mode": "out_of_sample",
        "params": {"n_components": columns},
        "split": "resample-0",
        "split_hash": "0",
        "n_components": columns,
        "classes": ["A or C", "B"],
        "y": [0, 1] * (n // 2),
        "part": ["train"] * (n // 2) + ["test"] * (n // 2),
        "subclass_names": None,
        "subclasses": None,
        "coordinates": points[:, :3].round(4).tolist(),
        "prototypes": None,
        **more,
    }


@pytest.fixture
def made(tmp_path, write_results, make_spec):
    """Return a function that writes a run with the given embeddings and returns its folder."""

    def build(*contents, reducers=(LDA, LFDA), **more):
        spec = make_spec("run", reducers=reducers, predefined=False, repeats=4, **more)
        folder = write_results(
            tmp_path, spec, lambda trial: 0.1 if trial.reducer == "lda" else 0.05
        )
        (folder / "embeddings").mkdir()
        for number, content in enumerate(contents):
            text = content if isinstance(content, str) else json.dumps(content)
            (folder / "embeddings" / f"{number}.json").write_text(text, encoding="utf-8")
        return folder

    return build


NOTE = "numbers in titles: means over 4 re-splits"


def _drawn(folder):
    return draw(summary_of(folder))


def _legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_panel_per_reducer_in_the_order_of_the_spec(made):
    figure = _drawn(made(_content("lfda"), _content("lda")))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["FDA", "LFDA"]
    notes = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert notes == [["error 10.00 %"], ["error 5.00 %"]]
    assert _legend(figure) == ["A or C", "B", "training sample", "test sample", NOTE]


def test_training_points_are_pale_and_all_points_are_drawn(made):
    figure = _drawn(made(_content("lda")))
    lines = figure.axes[0].lines
    assert sum(len(line.get_xdata()) for line in lines) == 12
    assert {round(line.get_alpha(), 2) for line in lines} == {0.35, 0.85}


def test_without_a_test_part_nothing_is_pale(made):
    figure = _drawn(made(_content("lda", part=["train"] * 12)))
    assert {round(line.get_alpha(), 2) for line in figure.axes[0].lines} == {0.85}
    assert _legend(figure) == ["A or C", "B", NOTE]


def test_sub_classes_have_their_class_s_marker_and_a_colour_of_their_own(made):
    subclasses = [0, 1, 2, 1] * 3
    content = _content("lda", subclass_names=["A", "B", "C"], subclasses=subclasses)
    figure = _drawn(made(content))
    assert _legend(figure)[:3] == ["A (class A or C)", "C (class A or C)", "B"]
    first, second, other = figure.legends[0].legend_handles[:3]
    assert len({each.get_color() for each in (first, second, other)}) == 3
    assert first.get_marker() == second.get_marker() != other.get_marker()


def test_one_dimension_is_a_strip_per_class(made):
    reducers = [{"name": "lda", "params": {"n_components": 1}}]
    folder = made(_content("lda", 1, prototypes=[[0.0], [1.0]]), reducers=reducers)
    (axes,) = _drawn(folder).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A or C", "B"]
    heights = [line.get_ydata() for line in axes.lines if line.get_marker() == "o"]
    assert np.abs(np.concatenate(heights)).max() <= 0.35


def test_three_dimensions_are_drawn_in_perspective_with_labelled_prototypes(made):
    reducers = [{"name": "lda", "params": {"n_components": 3}}]
    prototypes = [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    figure = _drawn(made(_content("lda", 3, prototypes=prototypes), reducers=reducers))
    (axes,) = figure.axes
    assert axes.name == "3d"
    assert {text.get_text().strip() for text in axes.texts} >= {"LDA", "A or C", "B"}
    # Stars mark numbers from papers, so prototypes have another marker.
    assert sum(line.get_marker() == "+" for line in axes.lines) == 2
    assert not [line for line in axes.lines if line.get_marker() == "*"]
    rendered(figure)


@pytest.mark.parametrize(
    ("second", "names"), [([0.01, 0.01], {"A or C, B"}), ([1.0, 1.0], {"A or C", "B"})]
)
def test_prototypes_at_almost_the_same_place_share_a_label(made, second, names):
    reducers = [{"name": "lda", "params": {"n_components": 2}}]
    content = _content("lda", 2, prototypes=[[0.0, 0.0], second])
    (axes,) = _drawn(made(content, reducers=reducers)).axes
    drawn = {text.get_text() for text in axes.texts}
    assert {text for text in drawn if "B" in text or "A or C" in text} == names


def test_the_title_names_the_drawn_dimensions(made):
    reducers = [{"name": "lda", "params": {"n_components": 9}}]
    (axes,) = _drawn(made(_content("lda", 9), reducers=reducers)).axes
    assert axes.get_title(loc="left") == "LDA, first 2 of 9 dimensions"


def test_a_swept_dimension_has_a_panel_each(made):
    contents = [_content("lda", columns) for columns in (3, 1, 2)]
    folder = made(*contents, reducers=[LDA], sweep={"reducer.n_components": [1, 2, 3]})
    titles = [each.title for each in drawn_embeddings(summary_of(folder))]
    assert titles == ["FDA, dim = 1", "FDA, dim = 2", "FDA, dim = 3"]


def test_embeddings_of_other_settings_are_left_out(made):
    folder = made(_content("lda"), _content("lda", 3), _content("pca"))
    assert [each.title for each in drawn_embeddings(summary_of(folder))] == ["FDA"]


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        _content("lda", y=[0, 1]),
        _content("lda", coordinates=[[0.0] * 4] * 12),
        {key: value for key, value in _content("lda").items() if key != "classes"},
    ],
)
def test_a_damaged_file_is_named(made, content):
    folder = made(content)
    with pytest.raises(InputError, match=r"0\.json is damaged.*ddr run run"):
        drawn_embeddings(summary_of(folder))


def test_many_points_stay_below_a_megabyte_and_the_same(made, tmp_path):
    n = 6000
    contents = [_content(name, n=n) for name in ("lda", "lfda")]
    folder = made(*contents)
    write_run(summary_of(folder))
    svg = (folder / "figure.svg").read_bytes()
    assert len(svg) < 1_000_000
    assert b"data:image/png" in svg
    copy = tmp_path / "copy" / "run"
    shutil.copytree(folder, copy)
    write_run(summary_of(copy))
    assert (copy / "figure.svg").read_bytes() == svg


def test_ten_classes_differ_in_colour_and_a_hundred_in_look():
    looks = [class_look(code) for code in range(100)]
    assert len({to_rgb(look.colour) for look in looks[:10]}) == 10
    assert len({look.marker for look in looks[:10]}) == 10
    assert len({(look.colour, look.marker) for look in looks}) == 100


def test_a_direction_in_the_plane_of_generated_data_is_drawn_among_the_points():
    results = Path(__file__).parents[2] / "results"
    summary = summary_of(results / "lfda_toys_multimodal")
    fda, lpp, lfda = drawn_embeddings(summary)
    # The first coordinate separates the middle class from the class on both sides of it.
    assert abs(lpp.direction[0]) > 0.99 < abs(lfda.direction[0])
    assert abs(fda.direction[1]) > 0.9
    assert fda.coordinates.shape == (300, 2)
    (data, *others) = drawn_embeddings(summary_of(results / "nmmp_rings"))
    assert data.title == "the data: features 1 and 2 of 10"
    assert len(others) == 3


def test_a_parameter_that_an_older_version_had_does_not_stop_a_figure(tmp_path):
    folder = tmp_path / "ssde_fig1"
    shutil.copytree(Path(__file__).parents[2] / "results" / "ssde_fig1", folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["spec"]["reducers"][1]["params"]["map"] = "kernel_ridge"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert drawn_embeddings(summary_of(folder))[0].title == "original"
