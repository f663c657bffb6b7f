"""A rule that determines verdicts only changes with an entry in the changelog.

The entry ends with ``Hash of all rules: `<digest>`.``; a failing test prints the digest.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ddr_cli.papers.schema import glossary, load_paper, paper_names
from ddr_cli.rows.manifest import read_manifest

TOP = Path(__file__).parents[2]
CHANGELOG = TOP / "CHANGELOG.md"


def rules(papers, words):
    """Return every threshold, and which results count, by name."""
    found: dict[str, Any] = {
        "numbers": words.numbers.model_dump(exclude={"means", "was", "fixed"}),
        "terms": {
            name: term.model_dump(include={"predicate", "set"})
            for name, term in words.terms.items()
        },
    }
    for paper in papers:
        for artefact in paper.artefacts:
            if artefact.thresholds:
                found[f"{paper.name}.{artefact.id}"] = artefact.thresholds.model_dump()
            for item in (*artefact.printed, *artefact.marks):
                if item.is_counted("own") or item.is_counted("resplits"):
                    printed = item.model_dump(mode="json", include={"value", "sd", "printed"})
                    counted = [item.is_counted("own"), item.is_counted("resplits")]
                    found[f"{paper.name}.{artefact.id}.{item.id}"] = [
                        *(printed, counted, artefact.splits)
                    ]
        for claim in paper.claims:
            found[f"{paper.name}.{claim.id}"] = [
                claim.is_counted("own"),
                claim.is_counted("resplits"),
            ]
            for part in claim.parts:
                if not part.reading:
                    found[f"{paper.name}.{claim.id}.{part.id}"] = part.predicate.model_dump()
    return found


def digest(found):
    text = json.dumps(found, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def test_a_changed_rule_is_in_the_changelog():
    now = digest(rules([load_paper(name) for name in paper_names()], glossary()))
    text = CHANGELOG.read_text(encoding="utf-8")
    recorded = re.findall(r"^\s*Hash of all rules: `([0-9a-f]{12})`", text, flags=re.M)
    assert recorded[:1] == [now], (
        "a threshold, a printed number or what counts has changed: say so, with the verdicts it "
        f"changed, in a new entry at the top of CHANGELOG.md's rules, ending with "
        f"'Hash of all rules: `{now}`.'"
    )


@pytest.mark.parametrize("change", ["a part's own number", "a term's threshold", "what counts"])
def test_an_edited_threshold_changes_the_digest(change):
    paper, words = load_paper("ccdr"), glossary()
    before = digest(rules([paper], words))
    if change == "a term's threshold":
        much = words.terms["much_ahead"]
        term = much.model_copy(update={"set": {"at_least": 0.03}})
        words = words.model_copy(update={"terms": {**words.terms, "much_ahead": term}})
    else:
        claim = next(each for each in paper.claims if each.id == "fig3-knn-three")
        (part,) = claim.parts
        predicate = part.predicate.model_copy(update={"value": 0.11})
        changed = claim.model_copy(
            update={"reading": "another"}
            if change == "what counts"
            else {"parts": (part.model_copy(update={"predicate": predicate}),)}
        )
        claims = tuple(changed if each is claim else each for each in paper.claims)
        paper = paper.model_copy(update={"claims": claims})
    assert digest(rules([paper], words)) != before


def test_the_first_run_of_every_judged_spec_is_on_record():
    # Computing a run again must not turn "fixed after the result was seen" into "before".
    seen = glossary().seen
    for path in (TOP / "results").glob("*/manifest.json"):
        manifest = read_manifest(path.parent)
        if manifest.spec["paper"] is not None:
            started = [datetime.fromisoformat(each.started) for each in manifest.sessions]
            assert seen[path.parent.name] <= min(started), path
