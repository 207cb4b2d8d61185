"""What makes a version another one, and what is only another way to write it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.diff import diff
from policies.document import PolicyDocument, SourceFile
from policies.front_matter import Keys
from policies.marked_yaml import entry_of
from tests.soak import examples
from tests.unit.policies.written import HEAD, document

BODY = """
## Refund window {#window}
{audience: public}

Within **30 days** of purchase, see [the form](https://acme.example/form) and *only* there.
- Annual plans cost $25
- Monthly plans never

1. Ask us.
2. Wait 3 days.

| plan | days |
| --- | --- |
| annual | 30 |

签收之日起三十天内，
可以退款。

<!-- Reviewed by 2 people. -->

```terms
refund.window_days: {value: 30, quote: "Within **30 days** of purchase"}
```
"""
TEXT = HEAD + BODY
SAME = {
    "CRLF": TEXT.replace("\n", "\r\n"),
    "no last line end": TEXT.rstrip("\n"),
    "blank lines": TEXT.replace("\n\n", "\n\n\n\n"),
    "blanks at line ends": re.sub(r"(?<=[a-z.])\n", "  \n", BODY).join((HEAD, "")),
    "two blanks": TEXT.replace("of purchase, see", "of  purchase,  see"),
    "another line break": TEXT.replace("of purchase, see", "of purchase,\nsee"),
    "Chinese line break": TEXT.replace("天内，\n可以", "天内，可以"),
    "emphasis": TEXT.replace("*only*", "_only_").replace("**30 days**", "__30 days__"),
    "no emphasis": TEXT.replace("*only*", "only"),
    "bullets": TEXT.replace("\n- ", "\n* "),
    "table rule": TEXT.replace("| --- | --- |", "|:--|------|"),
    "front matter order": TEXT.replace(
        "title: Refunds\nauthority: corporate\n", "authority: 'corporate'\ntitle: Refunds\n"
    ),
}
OTHER = {
    "word": TEXT.replace("Monthly plans", "Weekly plans"),
    "number": TEXT.replace("$25", "$26"),
    "currency": TEXT.replace("$25", "€25"),
    "list number": TEXT.replace("2. Wait", "4. Wait"),
    "cell": TEXT.replace("| annual | 30 |", "| annual | 31 |"),
    "link": TEXT.replace("acme.example/form", "acme.example/farm"),
    "comment": TEXT.replace("by 2 people", "by 3 people"),
    "Chinese": TEXT.replace("三十天", "十三天"),
    "heading": TEXT.replace("Refund window", "Return window"),
    "anchor": TEXT.replace("{#window}", "{#windows}"),
    "attribute": TEXT.replace("audience: public", "audience: staff"),
    "term": TEXT.replace("value: 30", "value: 31"),
    "better": TEXT.replace("value: 30,", "value: 30, better: higher,"),
    "date": TEXT.replace("2025-02-01", "2025-02-02"),
    "title": TEXT.replace("title: Refunds", "title: Returns"),
    "case": TEXT.replace("Ask us", "ask us"),
    "words joined": TEXT.replace("Ask us", "Askus"),
    "full stop": TEXT.replace("Ask us.", "Ask us!"),
}


@pytest.mark.parametrize("name", SAME)
def test_another_way_to_write_it_is_the_same_version(name: str) -> None:
    assert SAME[name] != TEXT

    assert document(SAME[name]).fingerprint == document(TEXT).fingerprint


@pytest.mark.parametrize("name", OTHER)
def test_anything_that_is_said_otherwise_counts(name: str) -> None:
    assert OTHER[name] != TEXT

    assert document(OTHER[name]).fingerprint != document(TEXT).fingerprint


@settings(max_examples=examples(default=100, soak=5_000))
@given(st.data())
def test_every_letter_and_digit_of_the_text_counts(data: st.DataObject) -> None:
    places = [found.start() for found in re.finditer(r"[^\W_]", BODY.split("```terms", maxsplit=1)[0])]
    place = data.draw(st.sampled_from(places))
    letter = data.draw(st.sampled_from("x7率"))
    changed = HEAD + BODY[:place] + letter + BODY[place + 1 :]

    if BODY[place] != letter and (parsed := _parsed(changed)) is not None:
        assert parsed.fingerprint != document(TEXT).fingerprint


def _parsed(text: str) -> PolicyDocument | None:
    """None where a letter made a fault."""
    try:
        return document(text)
    except AssertionError:
        return None


@settings(max_examples=examples(default=60, soak=2_000))
@given(st.lists(st.sampled_from(sorted({*SAME, *OTHER})), min_size=2, max_size=2))
def test_versions_of_one_fingerprint_do_not_differ(names: list[str]) -> None:
    one, other = (document((SAME | OTHER)[name]) for name in names)

    if one.fingerprint == other.fingerprint:
        assert diff(one, other).is_empty


def test_somebody_else_s_front_matter_counts() -> None:
    text = "---\nlayout: page\nupdated: 2024-01-01\n---\n## Window\nWithin 30 days.\n"
    keys = [
        Keys(
            path="meta.json",
            entries=entry_of(
                {
                    "policy": "refund",
                    "title": "R",
                    "authority": "corporate",
                    "effective_from": "2024-01-01",
                    "language": "en",
                }
            ).mapping()
            or {},
        )
    ]

    one, other = (
        document(text, defaults=keys),
        document(text.replace("2024-01-01\n---", "2024-01-02\n---"), defaults=keys),
    )

    assert one.fingerprint != other.fingerprint


def test_a_document_reads_the_same_without_its_overlay() -> None:
    text = f"{HEAD}\n## Terms\nIn general.\n\nBut not for gifts, within 30 days.\n\n## Other\nNothing.\n"
    clauses = Keys(
        path="overlay.yaml",
        entries=entry_of(
            {"gifts": {"lines": [12, 12], "audience": "staff", "gift.window_days": 30}, "other": {"effect": "default"}}
        ).mapping()
        or {},
    )
    sidecar = SourceFile(path="v.terms.yaml", content=b"other: {audience: staff}")

    first = document(text, clauses=clauses, sidecar=sidecar)
    again = document(text, sidecar=SourceFile(path="v.terms.yaml", content=(first.sidecar or "").encode()))

    assert [clause.anchor for clause in again.clauses] == ["terms", "gifts", "other"]
    assert (again.clauses[2].audience, again.clauses[2].effect) == ("staff", "default")
    assert again.fingerprint == first.fingerprint
