"""A fitted method in a file: preprocessing, reducer and classifier, kept by skops without pickle.

Beside what skops writes, the file holds a record of what it was made of. Only types that are listed
here or that skops trusts itself are loaded without the user's word: the pieces of this program, by
name, and a few of what they hold. Trees and neighbour searches of scikit-learn are not among them:
their compiled code believes what a file says.
"""

from __future__ import annotations

import io
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError
from threadpoolctl import threadpool_limits

from ddr_cli import __version__
from ddr_cli.core.atomic import atomic_write, clear_messages
from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import is_code, load_code, load_file, source_of
from ddr_cli.core.registry import Registry
from ddr_cli.core.validation import Frozen
from ddr_cli.engine.rows.journal import one_line
from ddr_cli.engine.work.fitting import collected, failing_of
from ddr_cli.engine.work.scoring import seeded
from ddr_cli.evaluation.preprocess import fit_step
from ddr_cli.evaluation.registry import CLASSIFIERS, PREPROCESSORS
from ddr_cli.evaluation.splits import method_seed
from ddr_cli.reducers.labels import UNLABELLED
from ddr_cli.reducers.registry import REDUCERS, get_traits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ddr_cli.data import Dataset
    from ddr_cli.engine.winner import Winner
    from ddr_cli.spec import Spec

_RECORD = "ddr.json"
_MOST_RECORD = 10_000_000
# What our pieces hold beside arrays, and plain parts of NumPy and SciPy that skops doesn't list.
_PARTS = (
    "ddr_cli.evaluation.preprocess._Range",
    "ddr_cli.evaluation.preprocess._log1p",
    "ddr_cli.numerics.graph_embedding.Span",
    "ddr_cli.reducers.regression_map.KernelRidgeMap",
    "ddr_cli.reducers.regression_map.NadarayaWatsonMap",
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
)
_REGISTRIES: tuple[Registry, ...] = (PREPROCESSORS, REDUCERS, CLASSIFIERS)


class CodeFile(Frozen):
    """A user's file that a piece of a model is of: where it was, as what module it was loaded."""

    path: str
    module: str
    source: str


class ModelRecord(Frozen):
    """What a model was made of and what it takes; `reading` are the options of its table."""

    form: int = 1
    ddr: str
    spec: str
    dataset: str
    fingerprint: str
    reducer: str
    classifier: str
    chosen: str
    n_samples: int
    n_features: int
    feature_names: tuple[str, ...] | None = None
    categories: dict[str, tuple[str, ...]]
    reading: dict[str, Any]
    classes: tuple[str, ...]
    packages: dict[str, str]
    code: tuple[CodeFile, ...] = ()


class Model:
    """Fitted steps, reducer and classifier with their record."""

    def __init__(self, pieces: Sequence[Any], record: ModelRecord) -> None:
        *self.steps, self.reducer, self.classifier = pieces
        self.record = record

    def embed(self, X: Any) -> NDArray[Any]:
        """Return the places of points."""
        with threadpool_limits(1), failing_of(self.record.reducer):
            for step in self.steps:
                X = step.transform(X)
            found: NDArray[Any] = self.reducer.transform(X)
        return found

    def predict(self, places: Any) -> NDArray[np.str_]:
        """Return the names of the classes that the classifier gives to places."""
        classes = np.asarray(self.record.classes)
        with threadpool_limits(1), failing_of(self.record.classifier):
            named: NDArray[np.str_] = classes[np.asarray(self.classifier.predict(places))]
        return named


def require_skops() -> Any:
    """Return what writes and reads models; InputError says how it is installed."""
    try:
        import skops.io
    except ImportError:
        raise InputError("Models are kept by skops: pip install 'ddr[skops]'.") from None
    return skops.io


def fit_model(
    spec: Spec,
    winner: Winner,
    dataset: Dataset,
    reading: dict[str, Any],
    note: Callable[[str], object] = lambda _: None,
) -> Model:
    """Fit a spec's steps and the winner's settings to all labelled points of a data set.

    `reading` are the options by which its table was read, and `note` is told warnings. Raises
    MethodError if a piece fails.
    """
    names = [step.name for step in spec.preprocess]
    settings = [winner.reducer, winner.classifier]
    seed = method_seed(spec.split.seed, dataset.name, 0)
    with threadpool_limits(1), collected() as warned:
        steps = [
            seeded(PREPROCESSORS.load(step.name)(**step.params), seed) for step in spec.preprocess
        ]
        reducer = seeded(REDUCERS.load(winner.reducer.name)(**winner.reducer.params), seed)
        classifier = seeded(
            CLASSIFIERS.load(winner.classifier.name)(**winner.classifier.params), seed
        )
        X, y, labelled = _points(dataset, semi_supervised=get_traits(reducer).semi_supervised)
        categorical: Sequence[int] = dataset.categorical
        for name, step in zip(names, steps, strict=True):
            with failing_of(name):
                X, categorical = fit_step(step, X, y, categorical)
        with failing_of(winner.reducer.label):
            places = reducer.fit_transform(X, y)
        with failing_of(winner.classifier.label):
            classifier.fit(places[labelled], y[labelled])
        for text in warned():
            note(text)
    record = ModelRecord(
        ddr=__version__,
        spec=spec.name,
        dataset=dataset.name,
        fingerprint=dataset.fingerprint,
        reducer=winner.reducer.label,
        classifier=winner.classifier.label,
        chosen=winner.chosen,
        n_samples=int(labelled.sum()),
        n_features=dataset.n_features,
        feature_names=dataset.feature_names,
        categories=_categories(dataset),
        reading=reading,
        classes=dataset.target_names,
        packages={name: version(name) for name in ("numpy", "scipy", "scikit-learn", "skops")},
        code=_code([*names, *(setting.name for setting in settings)]),
    )
    return Model([*steps, reducer, classifier], record)


def _points(dataset: Dataset, *, semi_supervised: bool) -> tuple[Any, NDArray[np.int64], Any]:
    X: Any = dataset.X
    labelled = dataset.y != UNLABELLED
    if labelled.all() or semi_supervised:
        return X, dataset.y, labelled
    return X[labelled], dataset.y[labelled], np.ones(int(labelled.sum()), dtype=bool)


def _categories(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    names = dataset.feature_names or ()
    coded = zip(dataset.categorical, dataset.categories, strict=True)
    return {names[column]: values for column, values in coded} if names else {}


def save_model(model: Model, path: Path) -> None:
    """Write a model to a file, whole or not at all; InputError says what of it can't be kept."""
    io_of_skops = require_skops()
    pieces = [*model.steps, model.reducer, model.classifier]
    try:
        content = io.BytesIO(io_of_skops.dumps(pieces))
    except Exception as error:  # a third party's piece may hold anything
        raise InputError(
            f"{model.record.reducer} with {model.record.classifier} can't be kept: skops can't "
            f"write what it holds ({type(error).__name__}: {error})."
        ) from error
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr(_RECORD, model.record.model_dump_json(indent=1))
    with clear_messages(path):
        atomic_write(path, content.getvalue())


def load_model(path: Path, *, trust: bool = False) -> Model:
    """Return the model in a file; what it holds that is not listed here needs the user's word.

    Raises InputError if the file is no model, or holds such.
    """
    io_of_skops = require_skops()
    record = _read_record(path)
    try:
        types = io_of_skops.get_untrusted_types(file=path)
    except Exception as error:  # skops raises anything on a damaged file
        raise _damaged(path, error) from None
    unknown = sorted(set(types) - _own_types())
    if unknown and not trust:
        raise InputError(
            f"{path} holds what only its maker can vouch for: {', '.join(unknown)}. Loading that "
            "may run code with all your rights; if you know where the file is from, say --trust."
        )
    for one in record.code if trust else ():
        load_file(_found(one, path), one.module, one.source)
    try:
        pieces = io_of_skops.load(path, trusted=types)
        if len(pieces) < 2 or not hasattr(pieces[-2], "transform"):
            raise ValueError("no reducer")
    except Exception as error:
        raise _damaged(path, error) from None
    return Model(pieces, record)


def _read_record(path: Path) -> ModelRecord:
    try:
        with zipfile.ZipFile(path) as file:
            if file.getinfo(_RECORD).file_size > _MOST_RECORD:
                raise ValueError("its record is too long")
            return ModelRecord.model_validate_json(file.read(_RECORD))
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except KeyError:
        raise InputError(f"{path} is no model that 'ddr fit' has saved.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise _damaged(path, ValueError(f"{place}: {first['msg']}")) from None
    except (OSError, ValueError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> InputError:
    reason = one_line(str(error) or type(error).__name__).rstrip(".")
    return InputError(f"{path} is no model that 'ddr fit' has saved, or is damaged: {reason}.")


def _own_types() -> set[str]:
    targets = [
        entry.target for registry in _REGISTRIES for entry in registry.entries() if not entry.source
    ]
    return {target.replace(":", ".") for target in targets} | set(_PARTS)


def _code(names: Sequence[str]) -> tuple[CodeFile, ...]:
    """Return the user's files among what pieces are named by."""
    files = {}
    for name in names:
        place, _, _ = name.rpartition(":")
        if is_code(name) and place.endswith(".py"):
            module = load_code(name).__module__
            files[place] = CodeFile(path=place, module=module, source=source_of(name))
    return tuple(files.values())


def _found(code: CodeFile, model: Path) -> Path:
    """Return a user's file: where it was, or beside the model."""
    beside = model.parent / Path(code.path).name
    return Path(code.path) if Path(code.path).is_file() or not beside.is_file() else beside
