"""The text format: terms, weights and excluded words."""

import tarfile

import numpy as np
import pytest
import scipy.sparse as sp

from ddr_cli.core.errors import InputError
from ddr_cli.data.formats.text import read_text, smart_stop_words

DOCUMENTS = {
    "auto/2": "From: me\nSubject: cars\n\nCars, cars and CARS: 3 fast car-doors.\n",
    "auto/10": "From: you\n\nRunning runs; the runner ran_away x y\n",
    "hockey/1": "Subject: puck\n\nIsn't the puck fast? Puck2puck\n",
    "hockey/3": "Subject: nothing but header\n",
}
PLAIN = {"skip_header": True, "stop_words": "none", "weights": "counts"}


@pytest.fixture
def folder(tmp_path):
    for name, text in DOCUMENTS.items():
        path = tmp_path / "news" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "news"


def counts(raw):
    return [
        {term: value for term, value in zip(raw.feature_names, row, strict=True) if value}
        for row in raw.X.toarray()
    ]


def test_terms_are_runs_of_two_or_more_letters_in_lower_case(folder):
    raw = read_text([folder], **PLAIN)
    assert counts(raw) == [
        {"cars": 3, "and": 1, "fast": 1, "car": 1, "doors": 1},
        {"running": 1, "runs": 1, "the": 1, "runner": 1, "ran": 1, "away": 1},
        {"isn": 1, "the": 1, "puck": 3, "fast": 1},
    ]
    assert list(raw.feature_names) == sorted(raw.feature_names)
    assert isinstance(raw.X, sp.csr_array)


def test_empty_documents_are_left_out_and_rows_in_natural_order(folder):
    raw = read_text([folder, folder], **PLAIN)
    assert raw.labels.tolist() == ["auto", "auto", "hockey"] * 2
    assert raw.sizes == (3, 3)


def test_header_is_read_unless_skipped(folder):
    raw = read_text([folder], stop_words="none", weights="counts")
    assert raw.X.shape[0] == 4
    assert counts(raw)[0]["cars"] == 4


def test_stop_words_go_before_and_after_stemming(folder):
    options = {**PLAIN, "stop_words": "smart", "stemmer": "porter"}
    (folder / "auto" / "2").write_text("\n\nYours hers others another's useful userful hones")
    raw = read_text([folder], **options)
    # "hones" has the stem "hone", and the stem of "userful" is no stop word; the others are stop
    # words.
    assert counts(raw)[0] == {"hone": 1, "user": 1}
    assert counts(raw)[1] == {"run": 2, "runner": 1, "ran": 1}


def test_a_stem_that_is_a_stop_word_is_left_out(folder):
    (folder / "auto" / "2").write_text("\n\nwhiles fast")
    raw = read_text([folder], **{**PLAIN, "stop_words": "smart", "stemmer": "porter"})
    assert counts(raw)[0] == {"fast": 1}


def test_rare_terms_are_left_out(folder):
    raw = read_text([folder], **PLAIN, min_documents=2)
    assert raw.feature_names == ("fast", "the")
    np.testing.assert_array_equal(raw.X.toarray(), [[1, 0], [0, 1], [1, 1]])


@pytest.mark.parametrize("weights", ["tfidf", "log_tfidf"])
def test_weights_are_the_stated_formula(folder, weights):
    n = read_text([folder], **PLAIN).X.toarray()
    found = read_text([folder], **{**PLAIN, "weights": weights}).X.toarray()
    for i, j in np.ndindex(n.shape):
        frequency = n[i, j] if weights == "tfidf" else (1 + np.log(n[i, j]) if n[i, j] else 0)
        expected = frequency * np.log(3 / (n[:, j] > 0).sum())
        assert found[i, j] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", {"größe": 1, "abc": 1}),
        ("latin-1", {"grã": 1, "ã": 0, "abc": 1}),
        ("ascii", {"gr": 1, "abc": 1}),
    ],
)
def test_what_is_no_text_in_the_encoding_separates(tmp_path, encoding, expected):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1").write_bytes("Größe abc".encode())
    raw = read_text([tmp_path], encoding=encoding, stop_words="none", weights="counts")
    found = counts(raw)[0]
    assert {term: found.get(term, 0) for term in expected} == expected


def test_packing_and_line_ends_change_nothing(tmp_path, folder):
    plain = read_text([folder], **PLAIN)
    for name, text in DOCUMENTS.items():
        (folder / name).write_bytes(text.replace("\n", "\r\n").encode())
    with tarfile.open(tmp_path / "news.tar.xz", "w:xz") as archive:
        for name in sorted(DOCUMENTS, reverse=True):
            archive.add(folder / name, f"./top/{name}")
    packed = read_text([tmp_path / "news.tar.xz"], **PLAIN)
    assert packed.feature_names == plain.feature_names
    np.testing.assert_array_equal(packed.X.toarray(), plain.X.toarray())
    np.testing.assert_array_equal(packed.labels, plain.labels)


def test_the_smart_list():
    words = smart_stop_words()
    assert len(words) == 570
    assert {"a", "a's", "uucp", "zero", "wouldn't"} <= words
    assert {"car", "#", "smart", "cornell"}.isdisjoint(words)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"files": "*.txt"}, "no files"),
        ({"min_documents": 9}, "at least 9 documents"),
        ({"encoding": "utf-99"}, "encoding .*'utf-99'"),
        ({"encoding": "hex"}, "encoding .*'hex'"),
    ],
)
def test_refusals(folder, options, message):
    with pytest.raises(InputError, match=message):
        read_text([folder], **options)
