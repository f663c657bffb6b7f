"""What several runs share, and that a complete run changes no file."""

import pytest

import ddr_cli.data
from ddr_cli.core.errors import InputError
from ddr_cli.data import Sources
from ddr_cli.engine import Datasets, read_manifest, read_trials, run_spec
from ddr_cli.engine.run import make_executor
from ddr_cli.engine.work.local import LocalExecutor
from ddr_cli.reducers import CCDR
from ddr_cli.spec import make_spec


def spec_of(name, **changes):
    given = {
        "name": name,
        "dataset": "iris",
        "reducers": ["none"],
        "classifiers": ["knn"],
        "split": {"kind": "per_class", "train": 20, "repeats": 2},
    }
    return make_spec(**{**given, **changes})


def test_two_runs_share_the_processes_and_the_data(tmp_path, monkeypatch):
    read, started = [], []
    load = ddr_cli.data.load_dataset
    monkeypatch.setattr(
        ddr_cli.data,
        "load_dataset",
        lambda *given, **more: read.append(given) or load(*given, **more),
    )

    datasets, executor = Datasets(), LocalExecutor(1, started=lambda: started.append(1))
    try:
        for name in ("one", "two"):
            outcome = run_spec(spec_of(name), out=tmp_path, executor=executor, datasets=datasets)
            assert (outcome.done, outcome.failed) == (2, 0)
    finally:
        executor.stop()
    assert len(read) == len(started) == 1
    assert read_trials(tmp_path / "one")["error"].equals(read_trials(tmp_path / "two")["error"])


def test_it_is_told_where_the_files_of_a_data_set_are(tmp_path):
    datasets = Datasets(Sources((), tmp_path))
    assert datasets.place(spec_of("here")) == "embedded"
    assert datasets.place(spec_of("nowhere", dataset="landsat")) is None


def test_fits_are_given_the_neighbours_that_were_searched_for(
    tmp_path, monkeypatch, one_after_the_other
):
    given, fit = [], CCDR.fit

    def noted(self, X, y, *, neighbors=None):
        given.append(neighbors.indices.shape[1])
        return fit(self, X, y, neighbors=neighbors)

    monkeypatch.setattr(CCDR, "fit", noted)
    spec = spec_of("given", reducers=["ccdr"], sweep={"reducer.n_neighbors": [3, 5]})
    outcome = run_spec(spec, out=tmp_path, executor=one_after_the_other())
    assert (outcome.done, sorted(given)) == (4, [3, 3, 5, 5])


def test_with_nothing_to_do_nothing_starts_and_no_file_is_touched(tmp_path):
    folder = run_spec(spec_of("done"), out=tmp_path).folder
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}

    def start():
        raise AssertionError("there is nothing to do")

    outcome = run_spec(spec_of("done"), out=tmp_path, executor=LocalExecutor(1, started=start))
    assert (outcome.done, outcome.skipped) == (0, 2)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_the_manifest_says_how_large_the_parts_are(tmp_path):
    folder = run_spec(spec_of("sizes"), out=tmp_path).folder
    assert read_manifest(folder).sizes == {"per_class": {"train": 60, "test": 90}}


def test_a_cell_that_is_no_number_is_named_by_its_place(tmp_path):
    folder = run_spec(spec_of("cells"), out=tmp_path).folder
    journal = folder / "trials.csv"
    header, first, second = journal.read_text().splitlines()
    place = header.split(",").index("error")
    cells = second.split(",")
    cells[place] = "abc"
    journal.write_text("\n".join([header, first, ",".join(cells)]) + "\n")
    with pytest.raises(InputError, match=r"trials.csv, line 3: error is 'abc'.*not a number"):
        read_trials(folder)


@pytest.mark.parametrize(
    ("backend", "scheduler", "message"),
    [
        ("spark", None, "'spark'; choose local or dask"),
        ("dsk", None, "Did you mean 'dask'"),
        ("dask", None, "add --scheduler"),
        ("local", "tcp://host:1", "needs --backend dask"),
    ],
)
def test_a_wrong_back_end_is_said(backend, scheduler, message):
    with pytest.raises(InputError, match=message):
        make_executor(backend, scheduler=scheduler)
