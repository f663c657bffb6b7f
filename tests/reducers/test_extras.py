"""The adapters of optional libraries; tests that need a library are skipped without it.

The message about a missing library is tested by hiding the library if it is installed.
"""

import json
import pickle
import sys
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.core.extras import load_library, missing_library
from ddr_cli.reducers import (
    REDUCERS,
    UMAP,
    OpenTSNE,
    PaCMAP,
    SupConNet,
    SupervisedUMAP,
    TripletNet,
    get_traits,
)
from ddr_cli.reducers.rivals.supcon_net import supervised_contrast

X, Y = load_digits(n_class=4, return_X_y=True)
X, Y = X[:300], Y[:300]
TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)
MODELS = [
    UMAP(random_state=0),
    SupervisedUMAP(random_state=0),
    OpenTSNE(perplexity=10, random_state=0),
    PaCMAP(random_state=0),
    TripletNet(random_state=0),
    SupConNet(random_state=0),
]
NAMES = [name for name in REDUCERS.names() if get_traits(REDUCERS.load(name)()).library]


def needs(model):
    library = get_traits(model).library
    return pytest.param(
        model,
        marks=pytest.mark.skipif(bool(missing_library(library)), reason=f"needs {library}"),
        id=type(model).__name__,
    )


def not_there(name):
    raise PackageNotFoundError(name)


INSTALLED = pytest.mark.parametrize("model", [needs(model) for model in MODELS])


@INSTALLED
def test_sparse_points_are_placed_or_refused_from_the_start(model):
    fitted = clone(model)
    if not fitted.__sklearn_tags__().input_tags.sparse:
        pytest.skip("it says that it takes none")
    fitted.fit(csr_array(X[TRAIN][:60]), Y[TRAIN][:60])
    assert np.isfinite(fitted.transform(csr_array(X[TEST][:20]))).all()


def test_every_adapter_is_in_the_table():
    assert {type(REDUCERS.load(name)()) for name in NAMES} == {type(model) for model in MODELS}


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_missing_library_is_named_with_the_extra_that_installs_it(model, monkeypatch):
    library = get_traits(model).library
    imported = {"umap-learn": "umap"}.get(library, library)
    monkeypatch.setitem(sys.modules, imported, None)
    monkeypatch.setattr("ddr_cli.core.extras.version", not_there)
    extra = {"umap-learn": "umap"}.get(library, library.lower())
    with pytest.raises(ImportError, match=rf"needs {library}, .* pip install '.+\[{extra}\]'"):
        clone(model).fit(X, Y)


def test_a_library_that_is_no_extra_of_ours_is_named_too():
    assert "pip install no-such-thing" in missing_library("no-such-thing")
    assert missing_library("numpy") == ""


def test_a_spec_of_a_missing_library_is_refused_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("ddr_cli.core.extras.version", not_there)
    spec = tmp_path / "s.yaml"
    spec.write_text("title: t\ndataset: iris\nreducers:\n  - {name: umap}\nclassifiers: [knn]\n")
    result = CliRunner().invoke(app, ["plan", str(spec)])
    assert result.exit_code == 2
    assert "umap needs umap-learn" in result.output
    assert "[umap]'." in result.output


@INSTALLED
def test_a_session_of_data_frames_keeps_the_samples_names_and_the_numbers(model):
    samples = pd.DataFrame(X).rename("image {}".format)
    train, test = samples[TRAIN], samples[TEST]
    expected = clone(model).fit(train, Y[TRAIN]).transform(test)
    with config_context(transform_output="pandas"):
        found = clone(model).fit(train, Y[TRAIN]).transform(test)
    assert list(found.index) == list(test.index)
    assert_array_equal(found, expected)


@INSTALLED
def test_fits_are_repeatable_and_stay_as_they_are(model):
    fitted = clone(model)
    embedding = fitted.fit_transform(X[TRAIN], Y[TRAIN])
    assert embedding.shape == (150, len(fitted.get_feature_names_out()))
    placed = fitted.transform(X[TEST])
    again = clone(model)
    assert_array_equal(again.fit_transform(X[TRAIN], Y[TRAIN]), embedding)
    assert_array_equal(again.transform(X[TEST]), placed)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X[TEST]), placed)
    if hasattr(fitted, "embedding_"):
        assert_array_equal(fitted.embedding_, embedding)
    assert clone(model).fit(X[TRAIN].astype(np.float32), Y[TRAIN]).transform(
        X[TEST].astype(np.float32)
    ).dtype == np.float32  # fmt: skip


@pytest.mark.parametrize(
    "model",
    [
        needs(UMAP()),
        needs(OpenTSNE()),
        needs(PaCMAP()),
        needs(TripletNet(n_hidden=4)),
        needs(SupConNet(n_hidden=4)),
    ],
)
def test_one_dimension_more_than_is_offered_is_refused(model):
    m = get_traits(model).max_components(*X.shape, 4)
    with pytest.raises(ValueError, match=rf"n_components={m + 1}"):
        clone(model).set_params(n_components=m + 1).fit(X, Y)


@INSTALLED
def test_new_digits_are_placed_among_their_like(model):
    fitted = clone(model)
    embedding = fitted.fit_transform(X[TRAIN], Y[TRAIN])
    knn = KNeighborsClassifier(3).fit(embedding, Y[TRAIN])
    assert knn.score(fitted.transform(X[TEST]), Y[TEST]) > 0.93


@pytest.mark.parametrize("model", [needs(OpenTSNE(perplexity=10, random_state=0))])
def test_opentsnes_points_are_where_new_ones_are_placed_among_them(model):
    fitted = clone(model).fit(X[TRAIN])
    fitted.transform(X[TEST])
    assert_allclose(np.asarray(fitted.model_), fitted.embedding_, atol=1e-9)


@pytest.mark.parametrize("model", [needs(SupervisedUMAP(random_state=0))])
def test_supervised_umap_takes_minus_one_for_unlabelled(model):
    labels = np.where(np.arange(300) % 3, -1, Y)
    fitted = clone(model).fit(X, labels)
    assert_array_equal(fitted.classes_, [0, 1, 2, 3])
    knn = KNeighborsClassifier(3).fit(fitted.embedding_[labels >= 0], Y[labels >= 0])
    assert knn.score(fitted.embedding_[labels < 0], Y[labels < 0]) > 0.95


NETWORKS = [needs(TripletNet(random_state=0)), needs(SupConNet(random_state=0))]


@pytest.mark.parametrize("model", NETWORKS)
def test_a_network_lowers_its_loss_and_leaves_the_global_stream_alone(model):
    torch = load_library("torch")
    torch.manual_seed(1)
    expected = torch.rand(1).item()
    torch.manual_seed(1)
    fitted = clone(model).fit(X, Y)
    assert torch.rand(1).item() == expected
    # The supervised contrast is least if each sample coincides with the 74 others of its class.
    fewest = np.log(74)
    least = fewest if isinstance(model, SupConNet) else 0.0
    assert fitted.loss_path_[-1] - least < (fitted.loss_path_[0] - least) / 2


def contrast_by_definition(z, labels, temperature):
    """Return Eq. 2, averaged over the samples that are not alone in their class, pair by pair."""
    losses = []
    for i in range(len(z)):
        others = [a for a in range(len(z)) if a != i]
        total = sum(np.exp(z[i] @ z[a] / temperature) for a in others)
        shares = [
            np.exp(z[i] @ z[p] / temperature) / total for p in others if labels[p] == labels[i]
        ]
        if shares:
            losses.append(-np.mean(np.log(shares)))
    return np.mean(losses)


def unit_vectors():
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3])
    z = np.random.default_rng(0).normal(size=(10, 3))
    return z / np.linalg.norm(z, axis=1, keepdims=True), labels


@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0])
def test_the_supervised_contrast_is_its_definition(temperature):
    z, labels = unit_vectors()
    same = (labels[:, None] == labels).astype(float)
    found = supervised_contrast(np, z, same, temperature)
    assert_allclose(found, contrast_by_definition(z, labels, temperature), rtol=1e-12)


@pytest.mark.parametrize("model", [needs(SupConNet(temperature=0.2))])
def test_supcon_net_minimises_the_contrast_of_its_outputs_directions(model):
    torch, (z, labels) = load_library("torch"), unit_vectors()
    outputs = torch.tensor(3 * z, dtype=torch.float32, requires_grad=True)
    loss = model._loss(torch, outputs, torch.tensor(labels))
    assert_allclose(loss.item(), contrast_by_definition(z, labels, 0.2), rtol=1e-5)
    loss.backward()
    assert torch.isfinite(outputs.grad).all()
    assert model._loss(torch, outputs[[0, 3]], torch.tensor([0, 1])) is None
    lengths = np.linalg.norm(clone(model).fit(X, Y).transform(X), axis=1)
    assert_allclose(lengths, 1, rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [needs(OpenTSNE()), needs(TripletNet(n_epochs=2)), needs(SupConNet(n_epochs=2))],
)
def test_scikit_learn_contract(model):
    excused = {
        # OpenTSNE optimises new samples separately and needs more than the checks' few samples.
        "check_transformer_general": "an embedding",
        "check_transformer_data_not_an_array": "an embedding",
    }
    for estimator, check in estimator_checks_generator(model):
        name = getattr(check, "func", check).__name__
        if not isinstance(model, OpenTSNE) or name not in excused:
            check(estimator)


@pytest.mark.skipif(bool(missing_library("openTSNE")), reason="needs openTSNE")
def test_a_run_keeps_the_librarys_version_and_is_the_same_for_any_number_of_jobs(tmp_path):
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "title: t\ndataset: iris\nsplit: {kind: fraction, train: 0.8, repeats: 2, seed: 0}\n"
        "reducers: [opentsne]\nclassifiers: [knn]\n"
    )
    rows = []
    for jobs in ("1", "2"):
        out = ["--out", str(tmp_path / jobs), "--jobs", jobs]
        result = CliRunner().invoke(app, ["run", str(spec), *out])
        assert result.exit_code == 0, result.output
        folder = tmp_path / jobs / "s"
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["environments"][0]["packages"] == {"openTSNE": version("openTSNE")}
        rows.append((folder / "summary.csv").read_text())
    assert rows[0] == rows[1]
