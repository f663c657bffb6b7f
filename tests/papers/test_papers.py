import re

import pytest
from pydantic import ValidationError

from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import shipped_yaml
from ddr_cli.papers.predicates import OnGrid
from ddr_cli.papers.questions import MethodSelector, Near, Selector
from ddr_cli.papers.schema import Quantity, glossary, load_paper, paper_names, read_paper
from ddr_cli.spec import expand, load_spec

PAPERS = paper_names()
SHIPPED = [
    (name, artefact.id, spec)
    for name in PAPERS
    for artefact in load_paper(name).artefacts
    for spec in artefact.specs
    if spec in shipped_yaml("configs")
]
MARKING = {"separability", "subclass_silhouette", "subclass_accuracy"}


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_is_quoted_or_told_in_one_piece(name):
    for claim in load_paper(name).claims:
        assert claim.sentence.count('"') % 2 == 0, claim.id
        assert claim.where


def _matches(selector, cell):
    params = {f"reducer.{key}": value for key, value in cell.reducer.params.items()}
    params |= {f"classifier.{key}": value for key, value in cell.evaluator.params.items()}
    params["reducer.mode"] = cell.reducer.mode
    return (
        cell.reducer.name == selector.reducer
        and selector.label in (None, cell.reducer.label)
        and (not isinstance(selector, Selector) or cell.evaluator.name == selector.classifier)
        and all(
            isinstance(wanted, Near) or params.get(column) == wanted
            for column, wanted in selector.params.items()
        )
    )


@pytest.mark.parametrize(("name", "artefact_id", "spec_name"), SHIPPED)
def test_the_paper_s_settings_are_in_the_grid_of_its_spec(name, artefact_id, spec_name):
    paper = load_paper(name)
    artefact = paper.artefact(artefact_id)
    spec = load_spec(spec_name)
    if spec.paper is not None:
        # Other artefacts may also use the results of this spec.
        assert spec.paper.name == name
        assert spec_name in paper.artefact(spec.paper.artefact).specs
    first = next(iter(expand(spec))).split
    cells = [cell for cell in expand(spec) if cell.split == first]

    selectors = [(item.id, item.select, item.metric, "") for item in artefact.printed]
    for part in (part for claim in paper.claims for part in claim.parts):
        if part.artefact == artefact_id:
            selectors.append((part.id, part.select, part.metric, part.along))
            if part.than is not None:
                along = part.along if isinstance(part.predicate, OnGrid) else ""
                selectors.append((part.id, part.than, part.metric, along))
    for identity, selector, metric, along in selectors:
        if (selector.spec or artefact.specs[0]) != spec_name:
            continue
        found = [cell for cell in cells if _matches(selector, cell)]
        assert found, f"{identity} matches no trial of {spec_name}"
        assert metric in spec.metrics, identity
        near = {column for column, value in selector.params.items() if isinstance(value, Near)}
        if along:
            assert len(spec.sweep[along]) > 1, identity
        elif selector.pick == "only" and not near:
            assert len(found) == 1, f"{identity} matches {len(found)} settings"
        assert near <= set(spec.sweep), identity
    for mark in artefact.marks:
        if (mark.select.spec or artefact.specs[0]) == spec_name:
            found = [cell for cell in cells if _matches(mark.select, cell)]
            assert {cell.evaluator.name for cell in found} >= MARKING, mark.id
            assert len(found) == len({cell.evaluator.name for cell in found}), mark.id


@pytest.mark.parametrize(
    ("written", "value", "text"),
    [
        ("9.65 %", 0.0965, "9.65 %"),
        ("22.7%", 0.227, "22.7%"),
        (0.086, 0.086, "0.086"),
        (13, 13.0, "13"),
        ({"value": 0.5, "text": "a half"}, 0.5, "a half"),
    ],
)
def test_a_printed_number_keeps_its_text(written, value, text):
    quantity = Quantity.model_validate(written)
    assert quantity.value == value
    assert quantity.text == text


@pytest.mark.parametrize("written", ["about 9 %", "9 % or so", True, None, [9]])
def test_what_is_no_number_is_refused(written):
    with pytest.raises(ValidationError):
        Quantity.model_validate(written)


MINIMAL = """
name: mine
short: Mine
method: ccdr
reference: {authors: [A. Author], title: A title, year: 2020, venue: Here}
asked: What?
reading: So.
artefacts:
  - id: fig1
    title: A figure
    where: Fig. 1
    kind: curve
    specs: [one, two]
    asked: What?
    printed:
      - {id: a, select: {reducer: ccdr, classifier: knn}, value: 9 %, where: Fig. 1}
claims:
  - id: c
    artefact: fig1
    sentence: It is so.
    where: Fig. 1
    written: 2026-11-21T02:39:49Z
    along: reducer.beta
    parts:
      - id: p
        what: k-NN
        select: {reducer: ccdr, classifier: knn}
        predicate: {term: below, at: 3, value: 0.1}
"""


def _written(folder, text):
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read(tmp_path):
    paper = read_paper(_written(tmp_path, MINIMAL))
    assert paper.artefact("fig1").printed[0].value.value == 0.09
    (part,) = paper.claims[0].parts
    assert (part.artefact, part.along, part.term) == ("fig1", "reducer.beta", "below")
    assert part.predicate.name == "below_at"


def test_a_term_brings_its_threshold_and_the_later_date(tmp_path):
    text = MINIMAL.replace("{term: below, at: 3, value: 0.1}", "{term: flat, low: 3}")
    (part,) = read_paper(_written(tmp_path, text)).claims[0].parts
    assert part.predicate.tolerance == glossary().terms["flat"].set["tolerance"]
    assert part.fixed == max(part.written, glossary().terms["flat"].fixed)


def test_a_threshold_of_its_own_needs_a_reason(tmp_path):
    own = "{term: flat, low: 3, tolerance: 0.2}"
    text = MINIMAL.replace("{term: below, at: 3, value: 0.1}", own)
    with pytest.raises(InputError, match="to change a threshold of 'flat', add the key 'why'"):
        read_paper(_written(tmp_path, text))
    text = text.replace("tolerance: 0.2", "tolerance: 0.2, why: the axis is coarse")
    (part,) = read_paper(_written(tmp_path, text)).claims[0].parts
    assert (part.predicate.tolerance, part.why) == (0.2, "the axis is coarse")


@pytest.mark.parametrize("name", PAPERS)
def test_a_number_or_sentence_counts_once(name):
    paper = load_paper(name)
    counted = [
        (item.where, item.row, item.column, item.value.text)
        for artefact in paper.artefacts
        for item in artefact.printed
        if item.value and not item.reading and not item.same_as
    ]
    assert len(counted) == len(set(counted))
    sentences = [claim.sentence for claim in paper.claims]
    assert len(sentences) == len(set(sentences))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("term: below", "term: belov", "Did you mean 'below'?"),
        ("at: 3, value", "at: 3, valeu", "claims.parts.predicate.valeu: "),
        ("    along: reducer.beta\n", "", "needs 'along'"),
        ("predicate: {term: below, at: 3, value: 0.1}", "predicate: ahead", "needs 'than'"),
        ("artefact: fig1", "artefact: fig9", "fig9"),
        (
            "select: {reducer: ccdr, classifier: knn}\n        predicate",
            "select: {spec: three, reducer: ccdr, classifier: knn}\n        predicate",
            "'three'",
        ),
        ("value: 9 %, where", "value: nine, where", "16:66: artefacts.printed.value: 'nine'"),
        ("kind: curve", "kind: curves", "kind"),
        ("kind: curve", "kind: marks", "needs 'marks' and 'thresholds'"),
        (
            "kind: curve",
            "kind: curve\n    thresholds: {separability: 1, silhouette: 0, subclass_accuracy: 1}",
            "needs `kind: marks`",
        ),
        ("value: 9 %, where", "sd: 1 %, where", "needs the key 'value'"),
        (
            "value: 9 %, where",
            "value: 9 %, seconds: 1, seconds_than: b, where",
            "is 'b', but no entry",
        ),
        (
            "predicate: {term: below, at: 3, value: 0.1}",
            "predicate: {term: flat, low: 3, high: 2}",
            "'low' is above 'high': 3 and 2",
        ),
        ("predicate: {term: below, at: 3, value: 0.1}", "predicate: ahead_along", "needs 'than'"),
        ("predicate: {term: below, at: 3, value: 0.1}", "predicate: similar", "needs 'than'"),
        ("name: mine", "name: yours", "yours"),
        ("asked: What?\nreading", "asked: What?\nunknown: 1\nreading", "unknown"),
        ("specs: [one, two]", "specs: []", "specs needs 1 or more"),
        ("short: Mine", "short: Mine\nshort: Ours", "4:1: short: "),
        ("id: p\n", "id: p\n        reading: another\n", "one part of 'c' must have no 'reading'"),
        ("id: a, select", "id: a, same_as: fig9.b, select", "no entry 'fig9.b'"),
        ("claims:", "claims: [", "not valid YAML"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path, old, new, message):
    assert MINIMAL.count(old) == 1
    with pytest.raises(InputError, match=r"mine\.yaml") as error:
        read_paper(_written(tmp_path, MINIMAL.replace(old, new)))
    assert message in str(error.value)


MARKS = """
    thresholds: {separability: 0.94, silhouette: 0.2, subclass_accuracy: 0.8}
    marks:
      - {row: FDA, column: Letter, printed: separable, select: {reducer: lda, label: FDA}}
      - {row: LFDA, column: Letter, printed: both, select: {spec: two, reducer: lfda}}
"""


def test_a_table_of_marks_is_read(tmp_path):
    text = MINIMAL.replace("kind: curve", f"kind: marks{MARKS.rstrip()}")
    artefact = read_paper(_written(tmp_path, text)).artefact("fig1")
    assert [mark.id for mark in artefact.marks] == ["FDA, Letter", "LFDA, Letter"]
    assert artefact.marks[0].select == MethodSelector(reducer="lda", label="FDA")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("row: LFDA", "row: FDA", r"given twice: fig1\.FDA, Letter"),
        ("spec: two", "spec: three", "selects from 'three'"),
        ("printed: both", "printed: good", "printed"),
        ("silhouette: 0.2, ", "", "silhouette"),
    ],
)
def test_a_mistake_in_marks_is_named(tmp_path, old, new, message):
    text = MINIMAL.replace("kind: curve", f"kind: marks{MARKS.replace(old, new).rstrip()}")
    with pytest.raises(InputError, match=message):
        read_paper(_written(tmp_path, text))


def test_a_number_without_a_print_and_a_time_beside_another(tmp_path):
    line = next(line for line in MINIMAL.splitlines() if "id: a," in line)
    other = line.replace("id: a,", "id: b,").replace("ccdr", "pca")
    timed = line.replace("where:", "seconds: 2.5, where:")
    text = MINIMAL.replace(line, "\n".join([timed, other])).replace(
        "classifier: knn}, value: 9 %, where: Fig. 1}\nclaims",
        "classifier: knn}, where: Fig. 1, seconds: 5, seconds_than: a}\nclaims",
    )
    first, second = read_paper(_written(tmp_path, text)).artefact("fig1").printed
    assert second.value is None
    assert (second.seconds, second.seconds_than) == (5, first.id)


def test_an_identifier_given_twice_is_refused(tmp_path):
    line = next(line for line in MINIMAL.splitlines() if "id: a," in line)
    with pytest.raises(InputError, match=r"given twice: fig1\.a"):
        read_paper(_written(tmp_path, MINIMAL.replace(line, f"{line}\n{line}")))


def test_an_unknown_paper_is_answered_with_the_nearest():
    with pytest.raises(InputError, match="Did you mean 'ccdr'"):
        load_paper("cddr")


def test_ccdr_holds_what_the_paper_prints():
    paper = load_paper("ccdr")
    table = {item.id: item.value.value for item in paper.artefact("table1").printed}
    assert table == {
        "none-neural-net": 0.83,
        "none-linear": 0.227,
        "none-knn": 0.0965,
        "pca-neural-net": 0.0975,
        "pca-linear": 0.23,
        "pca-knn": 0.0935,
        "ccdr-neural-net": 0.0895,
        "ccdr-linear": 0.0895,
        "ccdr-knn": 0.081,
    }
    assert {item.id: item.value.value for item in paper.artefact("fig4").printed} == {
        "linear-3": 0.092,
        "knn-4": 0.086,
    }


@pytest.mark.parametrize("name", PAPERS)
def test_a_reason_names_the_spec_that_shows_it(name):
    paper = load_paper(name)
    entries = [
        item for artefact in paper.artefacts for item in (*artefact.printed, *artefact.marks)
    ]
    for entry in (
        *entries,
        *paper.claims,
        *(part for claim in paper.claims for part in claim.parts),
    ):
        if entry.reason is not None:
            shown_by = re.split(", | and ", entry.reason.shown_by)
            assert set(shown_by) <= set(shipped_yaml("configs")), entry.id
