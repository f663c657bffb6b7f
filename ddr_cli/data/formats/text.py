"""The `text` format: folders or archives of text files, one file per document.

With the options of the newsgroups card this gives the 3970 documents of 8014 terms of Zhou et al.
(2004), which later papers adopted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge

from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import registered
from ddr_cli.data.files import file_labeller, natural_key, walk_folder
from ddr_cli.data.formats import RawData, numeric_labels

Weights = Literal["counts", "tfidf", "log_tfidf"]

_LETTERS = re.compile(r"[^\W\d_]+")


@registered("format", "text", "folder or archive of text files, one folder per class")
def read_text(
    paths: Sequence[Path],
    *,
    label: str = "folder",
    files: str = "*",
    encoding: str = "utf-8",
    skip_header: bool = False,
    stop_words: Literal["none", "smart"] = "smart",
    stemmer: Literal["none", "porter"] = "none",
    min_documents: Annotated[int, Ge(1)] = 1,
    weights: Weights = "tfidf",
) -> RawData:
    """Read folders, zip or tar archives of text files as sparse weights of terms.

    A term is a run of at least two letters, in lower case. Documents in which no term remains are
    left out. Rows are sorted by file name, with numbers in the names sorted by value; columns are
    sorted by term.

    Options
    -------
    label: ``folder``: a file's class is the name of its folder; or a regular expression with one
        group that is searched for in the file's name with its folders.
    files: Shell pattern of the files to read.
    encoding: The text encoding; bytes that are not text in it separate terms. With ``ascii`` only a
        to z are letters.
    skip_header: Start after the first empty line, as after the header lines of a mail or news
        article.
    stop_words: Leave out the words of the SMART system's list. Its words with an apostrophe never
        occur here: ``isn't`` is the two terms ``isn`` and ``t``, of which the second is too short.
    stemmer: Merge terms with the same Porter stem. Stop words are removed before and after
        stemming.
    min_documents: Leave out terms that occur in fewer documents.
    weights: With n_ij the count of term j in document i, N the number of documents and N_j of those
        with term j: n_ij, n_ij ln(N / N_j), or (1 + ln n_ij) ln(N / N_j). Documents are not scaled
        to a common length.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    label_of = file_labeller(label)
    try:
        b"a".decode(encoding, errors="replace")
    except (ValueError, LookupError):
        raise InputError(f"There is no encoding '{encoding}'; use for example utf-8.") from None
    terms_of = _term_finder(encoding, skip_header, stop_words == "smart", stemmer == "porter")
    documents: list[list[str]] = []
    labels: list[str] = []
    origins: list[int] = []
    for place, path in enumerate(map(Path, paths)):
        found = [
            (natural_key(name), label_of(name), terms_of(content))
            for name, content in walk_folder(path, pattern=files)
        ]
        if not found:
            raise InputError(f"{path} contains no files that match '{files}'.")
        found.sort(key=lambda document: document[0])
        labels += [label for _, label, _ in found]
        documents += [terms for _, _, terms in found]
        origins += [place] * len(found)

    vectorizer = CountVectorizer(analyzer=list, min_df=min_documents, dtype=np.float64)
    try:
        counts = sp.csr_array(vectorizer.fit_transform(documents))
    except ValueError:  # scikit-learn's message does not name the option
        raise InputError(
            f"{paths[0]}: no term is in at least {min_documents} documents; lower `min_documents`."
        ) from None
    filled = np.flatnonzero(np.diff(counts.indptr))
    sizes = np.bincount(np.array(origins)[filled], minlength=len(paths))
    return RawData(
        _weighted(counts[filled], weights),
        numeric_labels(np.array(labels)[filled].tolist()),
        feature_names=tuple(vectorizer.get_feature_names_out().tolist()),
        sizes=tuple(sizes.tolist()),
    )


def smart_stop_words() -> frozenset[str]:
    """Return the English stop list of the SMART system: 570 words."""
    text = (package_files("ddr_cli.data.formats") / "smart_stop_words.txt").read_text("utf-8")
    return frozenset(re.sub("^#.*", "", text, flags=re.MULTILINE).split())


def _term_finder(
    encoding: str, skip_header: bool, stop: bool, stem: bool
) -> Callable[[bytes], list[str]]:
    """Return the function from a document's bytes to its terms."""
    stopped = smart_stop_words() if stop else frozenset[str]()
    if stem:
        import snowballstemmer

        porter = snowballstemmer.stemmer("porter").stemWord

    @cache
    def term_of(word: str) -> str | None:
        term = word
        if stem and len(word) > 1 and word not in stopped:
            term = porter(word)
        return None if len(term) < 2 or term in stopped else term

    def find(content: bytes) -> list[str]:
        text = content.decode(encoding, errors="replace").replace("\r\n", "\n")
        if skip_header:
            text = text.partition("\n\n")[2]
        terms = map(term_of, _LETTERS.findall(text.lower()))
        return [term for term in terms if term is not None]

    return find


def _weighted(counts: Any, weights: Weights) -> sp.csr_array:
    if weights == "counts":
        return sp.csr_array(counts)
    n_documents, n_terms = counts.shape
    in_documents = np.bincount(counts.indices, minlength=n_terms)
    values = counts.data if weights == "tfidf" else 1.0 + np.log(counts.data)
    rarity = np.log(n_documents / in_documents)
    return sp.csr_array(
        (values * rarity[counts.indices], counts.indices, counts.indptr), shape=counts.shape
    )
