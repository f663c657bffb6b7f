"""A look at a user's file before its card is written: what it seems to hold, what can't be seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ddr_cli.core.atomic import require_file
from ddr_cli.core.errors import InputError
from ddr_cli.data.archives import is_archive
from ddr_cli.data.formats import decoded_text, read_bytes

Given = Mapping[str, Any]
LISTS = ("ignore", "categorical", "missing_values", "feature", "parts")
"""The options that say something of several columns or values."""

_BY_ENDING = {".npz": "npz", ".mat": "mat", ".svm": "libsvm", ".svmlight": "libsvm"}
_IMAGES = (".pgm", ".ppm", ".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff")
_PAIRS = re.compile(r"\S+(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?")


@dataclass(frozen=True)
class Question:
    """What can't be seen: the options that each answer gives, and which answer is proposed."""

    about: str
    text: str
    answers: Mapping[str, Given]
    proposal: str | None = None

    @property
    def flags(self) -> str:
        """How the command line says the proposal or, where there is none, each of the answers."""
        chosen = list(self.answers) if self.proposal is None else [self.proposal]
        return " or ".join(as_flags(self.answers[one]) or "--yes" for one in chosen[:5])


@dataclass
class Look:
    """What was seen: the format's options, a clause on each, and what is to be asked."""

    options: dict[str, Any] = field(default_factory=dict)
    unlabelled: bool = False
    seen: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


Answer = Callable[[Sequence[Question]], str]
"""Returns the answer to the first of some questions, or raises an InputError on them all."""

_NO_OPTIONS = ("feature", "unlabelled", "raw")


def settled_look(path: Path, name: str, given: Given, answer: Answer) -> Look:
    """Look at a file until nothing is left to ask."""
    settled: set[str] = set()
    while (look := look_at(path, name, given, settled)).questions:
        first = look.questions[0]
        given = merged(given, first.answers[answer(look.questions)])
        settled.add(first.about)
    look.options = {key: value for key, value in look.options.items() if key not in _NO_OPTIONS}
    return look


def look_at(path: Path, name: str, given: Given, settled: Collection[str] = ()) -> Look:
    """Look at a file as the format `name` reads it.

    What is `given` is taken for granted, of it the `raw` options are left as they are; and what is
    `settled` is no question any more.
    """
    if name in ("csv", "table"):
        from ddr_cli.data.look_at_table import look_at_table

        return look_at_table(path, name, given, settled)
    look = Look(dict(given), unlabelled=bool(given.get("unlabelled")))
    if name in ("npz", "mat"):
        _look_at_arrays(path, name, given, look)
    return look


def merged(given: Given, more: Given) -> dict[str, Any]:
    """Return options with others added: to those that are lists, and in the place of the rest."""
    both = {**given, **more}
    both |= {key: [*given.get(key, ()), *more[key]] for key in LISTS if key in more}
    return both


def as_flags(options: Given) -> str:
    """Return options as the command line says them."""
    words = []
    for key, value in options.items():
        flag = {"missing_values": "--missing-value"}.get(key, f"--{key}")
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{key}")
        else:
            words += [f"{flag} {_quoted(one)}" for one in (value if key in LISTS else [value])]
    return " ".join(words)


def format_of(path: Path) -> str:
    """Return the name of the format of a file or folder, by its ending or what is in it."""
    from ddr_cli.data.formats.frames import is_table
    from ddr_cli.data.formats.idx import is_idx

    if path.is_dir():
        names = [child.suffix.lower() for child in path.rglob("*") if child.is_file()]
        return "images" if any(name in _IMAGES for name in names) else "text"
    require_file(path)
    if path.suffix.lower() in _BY_ENDING:
        return _BY_ENDING[path.suffix.lower()]
    if is_table(path):
        return "table"
    if is_archive(path):
        raise InputError(f"{path}: an archive; say with --format what is in it: images or text.")
    if is_idx(read_bytes(path)):
        return "idx"
    text = decoded_text(path, "latin-1")  # only the shape of lines counts here
    lines = [line for line in text.splitlines()[:20] if line.strip()]
    if lines and all(_PAIRS.fullmatch(line.strip()) for line in lines):
        return "letor" if all("qid:" in line for line in lines) else "libsvm"
    return "csv"


def legal_name(text: str) -> str:
    """Return a data set's name made of any text.

    >>> legal_name("My data (2024)"), legal_name("iris")
    ('My_data_2024', 'iris')
    """
    return re.sub(r"[^A-Za-z0-9.-]+", "_", text).strip("_.-") or "data"


def _look_at_arrays(path: Path, name: str, given: Given, look: Look) -> None:
    """Note which of the arrays of a file are the features and the classes."""
    from ddr_cli.data.formats.mat import load_mat
    from ddr_cli.data.formats.npz import load_npz

    arrays = load_npz(path) if name == "npz" else load_mat(path)
    shapes: dict[str, tuple[int, ...]] = {
        key: getattr(value, "shape", ()) for key, value in arrays.items()
    }
    usual = {"npz": ("X", "y"), "mat": ("fea", "gnd")}[name]
    if name == "npz" and "indptr" in shapes:
        matrices = ["X"]
    else:
        matrices = [key for key, shape in shapes.items() if len(shape) > 1 and min(shape[:2]) > 1]
    data = given.get("data") or _only(matrices, usual[0])
    if data is None:
        text = f"which of its arrays are the features: {_shapes(shapes, matrices)}?"
        answers = {key: {"data": key} for key in matrices}
        look.questions.append(Question("data", text, answers))
        return
    lengths = shapes.get(data, ())
    rows = [
        key
        for key, shape in shapes.items()
        if key != data and shape and max(shape) in lengths[:2] and _size(shape) == max(shape)
    ]
    rows = [key for key in rows if key != given.get("groups")]
    label = given.get("label") or _only(rows, usual[1], "y", "label", "labels", "target", "class")
    if label is None and rows:
        text = f"which of its arrays are the classes: {_shapes(shapes, rows)}?"
        look.questions.append(Question("label", text, {key: {"label": key} for key in rows}))
        return
    look.options |= {"data": data} | ({} if label is None else {"label": label})
    if name == "mat" and label and lengths[0] not in shapes[label]:
        look.options["samples_in_columns"] = True
        look.seen.append(f"a column of {data} is a sample")
    look.seen.insert(0, f"features {data}, classes {label}")


def _only(names: Sequence[str], *usual: str) -> str | None:
    """Return the first usual name that is there, or else the only one that is."""
    for name in usual:
        if name in names:
            return name
    return names[0] if len(names) == 1 else None


def _size(shape: Sequence[int]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def _shapes(shapes: Mapping[str, Sequence[int]], names: Sequence[str]) -> str:
    return ", ".join(f"{name} ({' x '.join(map(str, shapes[name]))})" for name in names)


def _quoted(value: object) -> str:
    text = str(value)
    return text if re.fullmatch(r"[A-Za-z0-9_.:-]+", text) else f"'{text}'"
