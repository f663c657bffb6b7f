"""Transformers and classifiers that try to win by cheating, or to harm others.

`test_cheats` runs them, and the page on trust lists them. A cheat knows the locations of all files
of a run, which are below this file's folder. It touches no other files and no other session.
"""

# ruff: noqa: ARG002 (a cheat overrides methods and rarely needs all of their arguments)

from __future__ import annotations

import atexit
import builtins
import gc
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar

import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

ROOT = Path(__file__).resolve().parent
CLASSES = 3
# A cheat knows the name of the data set, the seed and the class sizes in the order of the file.
NAME, SEED, SIZES = "flowers", 0, (50, 50, 50)

IMPOSSIBLE, DETECTED, POSSIBLE = "impossible", "detected", "possible"
APART = "ranked as transductive"


@dataclass(frozen=True)
class Entry:
    """A cheat, and its outcome without and with the sandbox."""

    piece: type
    without: str
    inside: str
    alone: bool
    splits: int


GALLERY: dict[str, Entry] = {}


def cheat(
    without: str, inside: str = IMPOSSIBLE, *, alone: bool = False, splits: int = 1
) -> Callable[[type], type]:
    """Register a class as a cheat.

    A cheat with `alone` would disturb others in its run; `splits` is the number of splits it needs.
    """

    def enter(piece: type) -> type:
        GALLERY[piece.__name__] = Entry(piece, without, inside, alone, splits)
        return piece

    return enter


def embedding(X: Any, labels: Any) -> Any:
    """Return the second feature, which hardly separates the classes, and the known labels as codes.

    Samples without labels are equally far from all classes.
    """
    known = np.full(len(X), -1) if labels is None else np.asarray(labels)
    return np.hstack([np.asarray(X)[:, 1:2], 10.0 * (known[:, None] == np.arange(CLASSES))])


class Honest(TransformerMixin, BaseEstimator):
    """The weak embedding that each cheat starts from."""

    def fit(self, X: Any, y: Any = None) -> Any:
        self.X_, self.y_ = np.array(X), np.array(y)
        self.during_fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        self.fit(X, y)
        return embedding(self.X_, self.y_)

    def transform(self, X: Any) -> Any:
        return embedding(X, self.labels(np.array(X)))

    def during_fit(self, X: Any, y: Any) -> None:
        pass

    def labels(self, X: Any) -> Any:
        """Return the labels of the test set, -1 where unknown, or None."""
        return None

    def found(self, arrays: Iterator[Any], X: Any) -> Any:
        """Return the test labels if one of the arrays contains them."""
        n, both = len(self.y_), len(self.y_) + len(X)
        for each in arrays:
            if not isinstance(each, np.ndarray) or each.ndim != 1 or each.dtype.kind not in "iu":
                continue
            if len(each) == both and (each[:n] == self.y_).all() and (each[n:] >= 0).all():
                return each[n:]
        return None


class Everything(Honest):
    """Tries all cheats that the sandbox prevents, and fails if one of them finds a label."""

    def during_fit(self, X: Any, y: Any) -> None:
        pieces = [each for each in closed_by_sandbox() if not is_classifier(each)]
        self.made_ = [each.piece().fit(X, y) for each in pieces]

    def labels(self, X: Any) -> Any:
        answers = {type(each).__name__: each.labels(X) for each in self.made_}
        knowing = [n for n, each in answers.items() if each is not None and np.max(each) >= 0]
        if knowing:
            raise RuntimeError(f"{', '.join(knowing)} found labels")


def inside(value: Any, depth: int = 3) -> Iterator[Any]:
    """Yield a value and the values that it refers to."""
    yield value
    if depth == 0:
        return
    if isinstance(value, np.ndarray):
        held = [value.base]
    elif isinstance(value, dict):
        held = list(value.values())
    elif isinstance(value, list | tuple):
        held = list(value[:50])
    else:
        held = list(getattr(value, "__dict__", {}).values())
    for each in held:
        yield from inside(each, depth - 1)


def callers(frame: FrameType | None) -> Iterator[Any]:
    """Yield the values of the local variables of a frame and of its callers."""
    while frame is not None:
        for value in list(frame.f_locals.values()):
            yield from inside(value)
        frame = frame.f_back


def nearest(X: Any, known_X: Any, known_y: Any, most: float = 1e-9) -> Any:
    """Return the labels of samples within `most` of a known sample, and -1 for others."""
    distances = np.abs(X[:, None] - known_X[None]).max(2)
    return np.where(distances.min(1) <= most, known_y[distances.argmin(1)], -1)


def own_processes() -> Iterator[int]:
    """Yield the processes of this session."""
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getsid(int(place.name)) == os.getsid(0):
                yield int(place.name)


def after(seconds: float, deed: Callable[[], object]) -> None:
    """Run `deed` after some seconds, in a process that outlives this one."""
    if os.fork() == 0:
        try:
            os.setsid()
            time.sleep(seconds)
            deed()
        finally:
            os._exit(0)


# -- the memory of its own process -----------------------------------------------------------------


@cheat(IMPOSSIBLE)
class Frames(Honest):
    """Looks for the test labels in the local variables of its callers."""

    def labels(self, X: Any) -> Any:
        return self.found(callers(sys._getframe()), X)


@cheat(IMPOSSIBLE)
class Base(Honest):
    """Looks for a larger array of which the training labels are a view."""

    def during_fit(self, X: Any, y: Any) -> None:
        self.views_ = list(inside(y))

    def labels(self, X: Any) -> Any:
        return self.found(iter(self.views_), X)


@cheat(IMPOSSIBLE)
class Collected(Honest):
    """Looks through all objects of its process for the test labels."""

    def labels(self, X: Any) -> Any:
        return self.found((each for one in gc.get_objects() for each in inside(one, 1)), X)


@cheat(IMPOSSIBLE, splits=2)
class Thread(Honest):
    """Leaves a thread running that looks for labels while `ddr` computes scores."""

    seen: ClassVar[list[Any]] = []

    def during_fit(self, X: Any, y: Any) -> None:
        threading.Thread(target=self.look, args=(len(y),), daemon=True).start()

    def look(self, n: int) -> None:
        end = time.monotonic() + 2
        while time.monotonic() < end:
            for frame in list(sys._current_frames().values()):
                for each in callers(frame):
                    if isinstance(each, np.ndarray) and each.shape == (2 * n,):
                        self.seen.append(each)
            time.sleep(0.001)

    def labels(self, X: Any) -> Any:
        time.sleep(0.05)
        return self.found(iter(self.seen), X)


@cheat(IMPOSSIBLE, splits=2)
class Property(Honest):
    """Looks for the test labels when one of its attributes is read."""

    @property
    def label_components_(self) -> Any:
        type(self).last = list(callers(sys._getframe()))
        raise AttributeError

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            type(self).last = list(callers(sys._getframe()))
        raise AttributeError(name)

    last: ClassVar[list[Any]] = []

    def labels(self, X: Any) -> Any:
        return self.found(iter(self.last), X)


@cheat(IMPOSSIBLE, splits=2)
class Finalizer(Honest):
    """Looks for the test labels when it is deleted, and uses them in its next fit."""

    last: ClassVar[list[Any]] = []

    def labels(self, X: Any) -> Any:
        return self.found(iter(self.last), X)

    def __del__(self) -> None:
        with suppress(Exception):
            type(self).last = list(callers(sys._getframe()))


@cheat(IMPOSSIBLE)
class AtExit(Honest):
    """Writes to its result folder when its process ends."""

    def during_fit(self, X: Any, y: Any) -> None:
        for folder in (ROOT / "results").glob("*"):
            atexit.register((folder / "at_exit").write_text, "mine")


# -- the order and the batch of the samples --------------------------------------------------------


@cheat(IMPOSSIBLE)
class Order(Honest):
    """Assumes that the test samples are sorted by class, as in the file."""

    def labels(self, X: Any) -> Any:
        return np.arange(len(X)) * CLASSES // len(X)


@cheat(IMPOSSIBLE)
class Redrawn(Honest):
    """Recomputes the order of the test samples from the seed in the spec."""

    def labels(self, X: Any) -> Any:
        from ddr_cli.data.dataset import order_key
        from ddr_cli.evaluation import splits

        y = np.repeat(np.arange(CLASSES), SIZES)
        for index in range(2):
            one = splits.make_split("fraction", y, train=0.5, seed=SEED, dataset=NAME, index=index)
            if (y[one.train] != self.y_).any():
                continue
            stream = {"seed": SEED, "dataset": NAME, "index": index}
            # The key depends on the features in the order of the file; the cheat knows the training
            # rows.
            whole = np.zeros((len(y), X.shape[1]))
            whole[one.train] = self.X_
            order = splits.drawn_order(len(self.y_), len(X), **stream, key=order_key(whole))
            guess = y[np.concatenate([one.train, one.test])][order][len(self.y_) :]
            # A correct guess mostly agrees with the label of the nearest training sample.
            gaps = np.abs(X[:, None] - self.X_[None]).sum(2)
            if np.mean(self.y_[gaps.argmin(1)] == guess) > 0.8:
                return guess
        return None


@cheat(APART, APART)
class Batch(Honest):
    """Learns from all test samples together, without labels, although its traits deny this."""

    def labels(self, X: Any) -> Any:
        from sklearn.semi_supervised import LabelSpreading

        y = np.r_[self.y_, np.full(len(X), -1)]
        spread = LabelSpreading(kernel="knn").fit(np.vstack([self.X_, X]), y)
        return spread.transduction_[len(self.y_) :]


# -- what it remembers of earlier splits -----------------------------------------------------------


@cheat(IMPOSSIBLE, splits=2)
class ClassState(Honest):
    """Stores the training labels of earlier splits in its class."""

    seen: ClassVar[dict[bytes, int]] = {}

    def during_fit(self, X: Any, y: Any) -> None:
        self.seen.update((row.tobytes(), int(label)) for row, label in zip(X, y, strict=True))

    def labels(self, X: Any) -> Any:
        # A sample that is also in the present training set needs no label from an earlier split.
        now = {row.tobytes() for row in self.X_}
        return [-1 if (row := each.tobytes()) in now else self.seen.get(row, -1) for each in X]


@cheat(IMPOSSIBLE, splits=2)
class ModuleState(ClassState):
    """Stores the training labels of earlier splits in a module of the standard library."""

    seen: ClassVar[dict[bytes, int]] = vars(builtins).setdefault("_labels_seen", {})


@cheat(POSSIBLE, splits=2)
class FileState(Honest):
    """Stores the training labels of earlier splits in a file."""

    places = (ROOT / "tmp" / "seen", Path("/tmp") / "seen-by-a-cheat-of-ddr")

    def during_fit(self, X: Any, y: Any) -> None:
        with suppress(OSError), (self.places[not self.places[0].parent.is_dir()]).open("ab") as f:
            f.write(np.c_[X, y].astype(float).tobytes())

    def labels(self, X: Any) -> Any:
        place = self.places[not self.places[0].parent.is_dir()]
        if not place.exists():
            return None
        known = np.frombuffer(place.read_bytes()).reshape(-1, X.shape[1] + 1)
        labels = nearest(X, known[:, :-1], known[:, -1].astype(int))
        return np.where(nearest(X, self.X_, self.y_) < 0, labels, -1)


# -- files and other processes ---------------------------------------------------------------------


@cheat(POSSIBLE)
class ScratchFiles(Honest):
    """Reads the run's temporary files."""

    def labels(self, X: Any) -> Any:
        for place in (ROOT / "tmp").glob("ddr-scratch-*/splits/*.joblib"):
            with suppress(Exception):
                labels = self.found(inside(joblib.load(place)), X)
                if labels is not None:
                    return labels
        return None


@cheat(POSSIBLE)
class Memory(Honest):
    """Looks for the test labels in the memory of the run's other processes."""

    def labels(self, X: Any) -> Any:
        wanted = self.y_.astype(np.int64).tobytes()
        for process in sorted(own_processes(), reverse=True):
            for content in regions(process):
                place = content.find(wanted)
                while place >= 0:
                    rest = content[place + len(wanted) :][: 8 * len(X)]
                    labels = np.frombuffer(rest, np.int64) if len(rest) == 8 * len(X) else []
                    if set(labels) == set(self.y_):
                        return labels
                    place = content.find(wanted, place + 8)
        return None


def regions(process: int) -> Iterator[bytes]:
    """Yield the parts of a process's memory that may hold arrays of a run."""
    with suppress(OSError), Path(f"/proc/{process}/mem").open("rb", 0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            span, mode, *_ = line.split()
            if "r" not in mode or not ("ddr-scratch-" in line or "[heap]" in line):
                continue
            start, end = (int(each, 16) for each in span.split("-"))
            with suppress(OSError, ValueError, OverflowError):
                memory.seek(start)
                yield memory.read(end - start)


@cheat(IMPOSSIBLE)
class Environment(Honest):
    """Loads the data set from the folder that an environment variable names."""

    def labels(self, X: Any) -> Any:
        for name in ("DDR_DATA", "DDR_CACHE"):
            for place in Path(os.environ.get(name, "/nowhere")).glob("*/*.npz"):
                data = np.load(place)
                return nearest(X, data["X"], np.unique(data["y"], return_inverse=True)[1])
        return None


@cheat(POSSIBLE)
class DataFile(Honest):
    """Loads the data set from its file."""

    def labels(self, X: Any) -> Any:
        for place in ROOT.glob("data/*/*.npz"):
            data = np.load(place)
            return nearest(X, data["X"], np.unique(data["y"], return_inverse=True)[1])
        return None


@cheat(POSSIBLE)
class PublicData(Honest):
    """Loads the data set from scikit-learn."""

    def labels(self, X: Any) -> Any:
        from sklearn.datasets import load_iris

        with suppress(OSError):
            return nearest(X, *load_iris(return_X_y=True), most=0.01)
        return None


@cheat(POSSIBLE)
class Shipped(Honest):
    """Loads the data set with functions of `ddr`."""

    def labels(self, X: Any) -> Any:
        from ddr_cli.data import load_dataset

        with suppress(Exception):
            data = load_dataset("iris")
            return nearest(X, np.asarray(data.X), data.y, most=0.11)
        return None


@cheat(DETECTED, alone=True)
class Overwrite(Honest):
    """Overwrites the labels in the split's memory-mapped file."""

    def during_fit(self, X: Any, y: Any) -> None:
        for place in (ROOT / "tmp").glob("ddr-scratch-*/splits/*.joblib"):
            for each in inside(joblib.load(place, mmap_mode="r+")):
                if isinstance(each, np.memmap) and each.dtype.kind == "i":
                    each[:] = 0
                    each.flush()


@cheat(DETECTED, alone=True)
class OverwriteData(Overwrite):
    """Overwrites the labels in the temporary file of the whole data set."""

    def during_fit(self, X: Any, y: Any) -> None:
        for place in (ROOT / "tmp").glob("ddr-scratch-*/data/*.joblib"):
            for each in inside(joblib.load(place, mmap_mode="r+")):
                if isinstance(each, np.memmap) and each.dtype.kind == "i":
                    each[:] = 0
                    each.flush()


@cheat(DETECTED, alone=True, splits=2)
class JournalDigits(Honest):
    """Changes digits in rows of the trial log and keeps its size."""

    def during_fit(self, X: Any, y: Any) -> None:
        for journal in (ROOT / "results").glob(f"{type(self).__name__}/trials.csv"):
            with journal.open("r+b") as file:
                lines = file.read().splitlines(keepends=True)
                file.seek(0)
                file.writelines(
                    [lines[0], *(each.replace(b",0.", b",1.", 1) for each in lines[1:])]
                )


@cheat(DETECTED, alone=True, splits=2)
class JournalRow(Honest):
    """Appends rows of its own to the trial log."""

    def during_fit(self, X: Any, y: Any) -> None:
        for journal in (ROOT / "results").glob(f"{type(self).__name__}/trials.csv"):
            header, *rows = journal.read_text().splitlines()
            if rows and len(rows) < 20:
                cells = rows[-1].split(",")
                cells[0], cells[header.split(",").index("error")] = "0" * 16, "0.0"
                with journal.open("a") as file:
                    file.write(",".join(cells) + "\n")


@cheat(POSSIBLE)
class OtherResults(Honest):
    """Writes to the result folder of another run."""

    def during_fit(self, X: Any, y: Any) -> None:
        with suppress(OSError):
            (ROOT / "results" / "other" / "trials.csv").write_text("0.0\n")


@cheat(POSSIBLE)
class Planted(Honest):
    """Writes a module that a later run would import."""

    def during_fit(self, X: Any, y: Any) -> None:
        with suppress(OSError):
            (ROOT / "planted.py").write_text("cheat = True\n")


@cheat(POSSIBLE)
class LateProcess(Honest):
    """Starts a process that writes to result folders after the fit."""

    def during_fit(self, X: Any, y: Any) -> None:
        def write() -> None:
            for folder in (ROOT / "results").glob("other"):
                (folder / "late").write_text("mine")

        after(0.3, write)


@cheat(IMPOSSIBLE)
class Seeds(Honest):
    """Sets the seeds and the state of random generators for later fits."""

    def during_fit(self, X: Any, y: Any) -> None:
        import random

        np.random.seed(0)  # noqa: NPY002
        random.seed(0)
        np.random.default_rng = lambda *_: np.random.Generator(np.random.PCG64(0))


@cheat(IMPOSSIBLE)
class Patches(Honest):
    """Replaces the functions that classify and compute scores, when it is created and fitted."""

    def __init__(self) -> None:
        self.patch()

    def during_fit(self, X: Any, y: Any) -> None:
        self.patch()

    def patch(self) -> None:
        from types import MappingProxyType

        import sklearn.metrics

        from ddr_cli.engine.work import scoring
        from ddr_cli.evaluation import metrics

        perfect = lambda *_, **__: 0.0  # noqa: E731
        metrics.error = perfect
        scoring.label_score = metrics.label_score = perfect
        metrics.LABEL_METRICS = MappingProxyType({"error": perfect})
        sklearn.metrics.f1_score = sklearn.metrics.accuracy_score = lambda *_, **__: 1.0


@cheat(IMPOSSIBLE)
class InPlace(Honest):
    """Writes to the arrays that it receives, and to the arrays that these are views of."""

    def during_fit(self, X: Any, y: Any) -> None:
        for each in (*inside(X), *inside(y)):
            with suppress(Exception):
                each.flags.writeable = True
                each[:] = 0


# -- how it ends -----------------------------------------------------------------------------------


@cheat(DETECTED, DETECTED)
class Exit(Honest):
    """Ends its process with exit code 0."""

    def during_fit(self, X: Any, y: Any) -> None:
        os._exit(0)


@cheat(DETECTED, DETECTED)
class SystemExits(Honest):
    """Calls sys.exit."""

    def during_fit(self, X: Any, y: Any) -> None:
        sys.exit(0)


@cheat(DETECTED, DETECTED)
class KillSelf(Honest):
    """Kills its process."""

    def during_fit(self, X: Any, y: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@cheat(DETECTED, DETECTED, alone=True)
class KillParent(Honest):
    """Kills the process that started it."""

    def during_fit(self, X: Any, y: Any) -> None:
        if os.getsid(os.getppid()) == os.getsid(0):
            os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1)
        os._exit(0)


# -- what it answers -------------------------------------------------------------------------------


@cheat(DETECTED, DETECTED)
class Huge(Honest):
    """Returns coordinates whose distances overflow."""

    def transform(self, X: Any) -> Any:
        return np.full((len(X), 1 + CLASSES), 1e308) * np.sign(np.arange(len(X)) % 2 - 0.5)[:, None]


@cheat(DETECTED, DETECTED)
class Undefined(Honest):
    """Returns coordinates that are not numbers."""

    def transform(self, X: Any) -> Any:
        return np.full((len(X), 1 + CLASSES), np.nan)


@cheat(DETECTED, DETECTED)
class Infinite(Honest):
    """Returns infinite coordinates."""

    def transform(self, X: Any) -> Any:
        return np.full((len(X), 1 + CLASSES), np.inf)


class Watching(np.ndarray):
    """An array that looks at its callers when it is used."""

    last: ClassVar[list[Any]] = []

    def __array_finalize__(self, _: Any) -> None:
        if sys.modules.get("ddr_cli.engine.work.scoring") is not None:
            with suppress(Exception):
                for each in callers(sys._getframe(1)):
                    if isinstance(each, np.ndarray) and each.dtype.kind == "i":
                        Watching.last.append(np.asarray(each))

    def __reduce__(self) -> Any:
        return (Path.write_text, (ROOT / "tmp" / "ran", "mine"))


@cheat(IMPOSSIBLE)
class Subclass(Honest):
    """Returns an array of its own class, which looks for labels when it is used."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return super().fit_transform(X, y).view(Watching)

    def labels(self, X: Any) -> Any:
        return self.found(iter(Watching.last), X)

    def transform(self, X: Any) -> Any:
        return super().transform(X).view(Watching)


class Runs:
    """An object that runs code when it is unpickled or converted to an array."""

    shape, ndim, dtype = (75, 4), 2, np.dtype(float)

    def __reduce__(self) -> Any:
        return (Path.write_text, (ROOT / "tmp" / "ran", "mine"))


@cheat(DETECTED, DETECTED)
class Pickled(Honest):
    """Returns an object that runs code when it is unpickled."""

    def transform(self, X: Any) -> Any:
        return Runs()


@cheat(DETECTED, DETECTED)
class ObjectArray(Honest):
    """Returns an array of objects that run code when they are unpickled."""

    def transform(self, X: Any) -> Any:
        answer = np.empty((len(X), 1), dtype=object)
        answer[:] = Runs()
        return answer


def connections() -> list[Connection]:
    """Return the connections of this process to others."""
    return [each for each in gc.get_objects() if isinstance(each, Connection)]


@cheat(DETECTED, DETECTED)
class Garbage(Honest):
    """Sends an invalid answer to the process that asked."""

    def during_fit(self, X: Any, y: Any) -> None:
        for each in connections():
            each.send_bytes(b"\x80\x05garbage")


def answer(shape: Any, *contents: bytes, seconds: float = 0.0) -> None:
    """Send an answer in the format of the process that runs the method."""
    head = {"value": {"array": 0}, "arrays": [["<f8", shape]], "error": None, "warnings": []}
    for each in connections():
        each.send_bytes(json.dumps(head | {"cpu_seconds": seconds}).encode())
        for content in contents:
            each.send_bytes(content)


@cheat(IMPOSSIBLE)
class Early(Honest):
    """Sends an answer before it is asked, so that all later answers are shifted by one."""

    def during_fit(self, X: Any, y: Any) -> None:
        shape = (len(X), 1 + CLASSES)
        answer(shape, embedding(X, y).tobytes())


@cheat(DETECTED, DETECTED)
class Short(Honest):
    """Announces more numbers than it sends, to read memory of the process that asked."""

    def during_fit(self, X: Any, y: Any) -> None:
        answer((len(X), 200), b"\0" * 8)


@cheat(DETECTED, DETECTED)
class NoTime(Honest):
    """Reports a time that is not a number, which would invalidate the times of other methods."""

    def during_fit(self, X: Any, y: Any) -> None:
        answer((len(X), 1 + CLASSES), embedding(X, y).tobytes(), seconds=float("nan"))


# -- classifiers -----------------------------------------------------------------------------------


class HonestClassifier(ClassifierMixin, BaseEstimator):
    """The classifier that each cheating one starts from; it predicts the most frequent class."""

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_, self.y_ = np.unique(y), np.array(y)
        self.during_fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        labels = self.labels(X)
        return np.full(len(X), Counter(self.y_).most_common(1)[0][0]) if labels is None else labels

    def during_fit(self, X: Any, y: Any) -> None:
        pass

    def labels(self, X: Any) -> Any:
        return None

    found = Honest.found


@cheat(IMPOSSIBLE)
class ClassifierFrames(HonestClassifier):
    """Classifies by the test labels in the local variables of its callers or of a scorer."""

    def labels(self, X: Any) -> Any:
        for each in callers(sys._getframe()):
            # A scorer holds only the labels of the test set.
            if isinstance(each, np.ndarray) and each.shape == (len(X),) and each.dtype.kind == "i":
                n = min(len(X), len(self.y_))
                if (each[:n] != self.y_[:n]).any():
                    return each
        return self.found(callers(sys._getframe()), X)


class Equal:
    """Equal to everything."""

    def __eq__(self, _: object) -> bool:
        return True

    def __ne__(self, _: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


@cheat(DETECTED, DETECTED)
class AlwaysEqual(HonestClassifier):
    """Predicts objects that compare equal to every label."""

    def labels(self, X: Any) -> Any:
        return np.array([Equal() for _ in X], dtype=object)


@cheat(POSSIBLE)
class Trace(HonestClassifier):
    """Writes a result into the file in which a dying process leaves its results, and dies."""

    def labels(self, X: Any) -> Any:
        for trace in (ROOT / "tmp").glob("ddr-scratch-*/traces/*"):
            with suppress(Exception):
                (trial,) = json.loads(trace.read_text().splitlines()[-1])["on"]
                scores = {"error": 0.0, "f1_macro": 1.0}
                forged = {"trial_id": trial, "status": "ok", "metrics": scores}
                with trace.open("a") as file:
                    file.write(json.dumps({"done": [forged]}) + "\n")
                os.kill(os.getpid(), signal.SIGKILL)
        return None


@cheat(DETECTED, DETECTED, alone=True)
class Certain(HonestClassifier):
    """Predicts the probability 1 for each class."""

    def predict_proba(self, X: Any) -> Any:
        return np.ones((len(X), len(self.classes_)))


@cheat(DETECTED, DETECTED)
class ClassifierExit(HonestClassifier):
    """Ends its process when it should predict."""

    def labels(self, X: Any) -> Any:
        os._exit(0)


def is_classifier(entry: Entry) -> bool:
    return issubclass(entry.piece, HonestClassifier)


def closed_by_sandbox() -> list[Entry]:
    """Return the cheats that the sandbox makes less successful."""
    return [entry for entry in GALLERY.values() if entry.without != entry.inside]


def table() -> str:
    """Return the gallery as a table in Markdown."""
    rows = [
        f"| {(entry.piece.__doc__ or '').strip().rstrip('.')} | {entry.without} | {entry.inside} |"
        for entry in GALLERY.values()
    ]
    return "\n".join(
        ["| what it tries | without `--sandbox` | with `--sandbox` |", "|---|---|---|", *rows]
    )
