from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.applicability import EVERYWHERE, Applicability
from policies.clauses import derived_anchor
from policies.document import PolicyDocument, SourceFile, parse_document
from policies.front_matter import Keys
from policies.marked_yaml import entry_of
from policies.version import Delegation, Period, Reference, Transition
from tests.soak import examples
from tests.unit.policies.written import AROUND, HEAD, document, faults, parse

WHOLE = """\
---
policy: refund-eu
topic: refund
title: Refund policy, European Union
authority: law
effective_from: 2025-02-01
effective_to: 2026-02-01T00:00:00+01:00
time_zone: Europe/Lisbon
governed_by: order.purchased_at
transition: [{from: "2024-01-01", when: order.paid, take: older}]
applies_to: {regions: [EU, NO], plans: annual}
supersedes: refund-old@2024-01-01#window
amends: [terms]
delegates: {to: department, terms: [refund.window_days]}
rendition_of: refund-de
audience: staff
language: zh-CN
owner: Legal
source: https://lumen.example/refunds
---
"""
FEB_1 = datetime(2025, 2, 1, tzinfo=UTC)


def test_every_key_is_read() -> None:
    read = document(f"{WHOLE}Text.")

    head = read.front_matter
    assert read.name == "refund-eu@2025-02-01"
    assert head.topic == "refund"
    assert head.title == "Refund policy, European Union"
    assert head.authority == "law"
    # Midnight in Lisbon, an hour behind Berlin; the end as it stands.
    assert read.valid == Period(start=FEB_1, end=datetime(2026, 1, 31, 23, tzinfo=UTC))
    assert head.time_zone == "Europe/Lisbon"
    assert head.governed_by == "order.purchased_at"
    assert head.transition == (Transition(from_version="2024-01-01", when="order.paid", take="older"),)
    assert head.applies_to == Applicability(regions=frozenset({"EU", "NO"}), plans=frozenset({"annual"}))
    assert head.supersedes == (Reference(policy="refund-old", version="2024-01-01", clause="window"),)
    assert head.amends == (Reference(policy="terms"),)
    assert head.delegates == (Delegation(to="department", terms=frozenset({"refund.window_days"})),)
    assert head.rendition_of == "refund-de"
    assert head.audience == "staff"
    assert head.language == "zh-CN"
    assert (head.owner, head.source) == ("Legal", "https://lumen.example/refunds")


def test_defaults() -> None:
    head = document(f"{HEAD}Text.").front_matter

    assert head.topic == "refund-eu"
    assert head.starts == datetime(2025, 1, 31, 23, tzinfo=UTC)
    assert (head.ends, head.governed_by, head.applies_to) == (None, None, Applicability())
    assert (head.audience, head.effect, head.time_zone) == ("public", "mandatory", "Europe/Berlin")


@pytest.mark.parametrize(("rank", "effect"), [("law", "minimum"), ("contract", "mandatory"), ("faq", "mandatory")])
def test_law_is_a_minimum_unless_it_says_otherwise(rank: str, effect: str) -> None:
    assert document(HEAD.replace("corporate", rank) + "Text.").clauses[0].effect == effect


@pytest.mark.parametrize(
    ("day", "start"),
    [
        ("2025-03-30", "2025-03-30T02:00:00+00:00"),
        ("2025-10-26", "2025-10-26T02:00:00+00:00"),
        ("2025-06-01T00:00:00.5+14:00", "2025-05-31T10:00:00.500000+00:00"),
    ],
    ids=["summer time begins", "summer time ends", "instant"],
)
def test_start_in_the_zone_of_the_document(day: str, start: str) -> None:
    head = HEAD.replace("2025-02-01", day).replace("language", "time_zone: America/Noronha\nlanguage")

    assert document(f"{head}Text.").front_matter.starts.isoformat() == start


def test_a_midnight_that_the_clock_skips_takes_the_first_offset() -> None:
    head = HEAD.replace("2025-02-01", "2024-09-08").replace("language", "time_zone: America/Santiago\nlanguage")

    assert document(f"{head}Text.").front_matter.starts == datetime(2024, 9, 8, 4, tzinfo=UTC)


def test_clauses_with_their_lines_and_places() -> None:
    text = HEAD + "Before.\n\n# Refunds\n\n## Window {#window}\nSoon.\n\n\n## 第三条 例外\nNever.\n"

    clauses = document(text).clauses

    assert [(c.anchor, c.heading, c.outer, c.lines) for c in clauses] == [
        ("preamble", "Refunds", (), (8, 8)),
        ("refunds", "Refunds", (), (10, 10)),
        ("window", "Window", ("Refunds",), (12, 13)),
        ("第三条-例外", "第三条 例外", ("Refunds",), (16, 17)),
    ]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Refund window", "refund-window"),
        ("4. Refund window!", "refund-window"),
        ("4.2 Refund window", "refund-window"),
        ("4.2", "4-2"),
        ("退款期限", "退款期限"),
        ("第三条", "第三条"),
        ("30 days", "30-days"),
        ("ＦＡＱ：Ｒｅｆｕｎｄｓ", "faq-refunds"),
        ("!!!", "clause"),
    ],
)
def test_anchor_of_a_heading_without_one(heading: str, anchor: str) -> None:
    assert derived_anchor(heading) == anchor


def test_repeated_headings_get_numbers_and_given_anchors_stay() -> None:
    text = HEAD + "## Other\na\n## Other\nb\n## Third {#other}\nc\n## Other\nd\n"

    assert [clause.anchor for clause in document(text).clauses] == ["other-2", "other-3", "other", "other-4"]


def test_attribute_line_holds_for_the_headings_inside() -> None:
    text = HEAD + (
        "# Desk\n{audience: staff, effect: default, applies_to: {plans: [annual]}}\nA\n"
        "## Inner\n{effective_from: 2025-06-01, effective_to: 2025-07-01}\nB\n# Next\nC\n"
    )

    desk, inner, following = document(text).clauses

    assert (desk.audience, inner.audience, following.audience) == ("staff", "staff", "public")
    assert (desk.effect, inner.effect, following.effect) == ("default", "default", "mandatory")
    assert inner.applies_to == Applicability(plans=frozenset({"annual"}))
    version = Period(start=FEB_1, end=datetime(2025, 6, 15, tzinfo=UTC))
    assert inner.valid_in(version) == Period(start=datetime(2025, 5, 31, 22, tzinfo=UTC), end=version.end)
    assert desk.valid_in(version) == version
    assert inner.valid_in(Period(start=FEB_1, end=datetime(2025, 3, 1, tzinfo=UTC))) is None
    assert [passage.text for passage in inner.passages] == ["B"]


TERMS = (
    HEAD
    + """\
## Window {#window}
Return it any time.

You have 30 days. Using 10% of it is fine, and more costs €25.

```terms
refund.window_days: {value: 30, better: higher}
refund.free_bp: 1000
refund.fee_minor: 2500
refund.kind: {value: voucher, quote: "any   time"}
refund.until: {value: 2025-12-31}
refund.plans: [annual, monthly]
refund.eligible: days_since(order.purchased_at) <= refund.window_days
refund.answer: {rule: "1 < 2", quote: "more costs"}
```
"""
)


def test_terms_with_types_and_the_passages_that_state_them() -> None:
    terms = {term.name: term for _, term in document(TERMS).terms}

    first, second = "Return it any time.", "You have 30 days. Using 10% of it is fine, and more costs €25."
    assert {name: (term.type, term.value, term.quote) for name, term in terms.items()} == {
        "refund.window_days": ("days", 30, second),
        "refund.free_bp": ("basis_points", 1000, second),
        "refund.fee_minor": ("money", 2500, second),
        "refund.kind": ("string", "voucher", first),
        "refund.until": ("date", date(2025, 12, 31), first),
        "refund.plans": ("list", ("annual", "monthly"), first),
        "refund.eligible": (None, None, first),
        "refund.answer": (None, None, second),
    }
    assert terms["refund.eligible"].rule == "days_since(order.purchased_at) <= refund.window_days"
    assert terms["refund.window_days"].better == "higher"
    assert terms["refund.window_days"].lines == (11, 11)
    assert terms["refund.window_days"].place == ("refund-eu/2025-02-01.md", 14)


SIDECAR = b"""\
front_matter: {policy: refund-eu, title: Refunds, authority: contract, effective_from: 2025-02-01, language: en}
window:
  audience: staff
  refund.window_days: {value: 14, better: higher}
"""
BESIDE = SourceFile(path="refund-eu/2025-02-01.terms.yaml", content=SIDECAR)


def test_sidecar_speaks_for_a_text_that_must_not_be_touched() -> None:
    text = "---\ntitle: Somebody's\nslug: x\n---\n## Window\n{not ours}\nWithin 14 days.\n"

    parsed = document(text, sidecar=BESIDE)

    (clause,) = parsed.clauses
    assert [passage.text for passage in clause.passages] == ["{not ours}", "Within 14 days."]
    assert (clause.audience, clause.lines, parsed.front_matter.title) == ("staff", (5, 7), "Refunds")
    assert clause.terms[0].place == ("refund-eu/2025-02-01.terms.yaml", 4)
    assert parsed.sidecar == SIDECAR.decode()


def test_front_matter_wins_over_sidecar_and_sidecar_over_defaults() -> None:
    keys = entry_of({"authority": "faq", "title": "Default", "owner": "Desk"}).mapping() or {}

    parsed = document(f"{HEAD}## Window\n14 days.", sidecar=BESIDE, defaults=[Keys(path="meta.json", entries=keys)])

    head = parsed.front_matter
    assert (head.authority, head.title, head.owner) == ("corporate", "Refunds", "Desk")


def test_sidecar_makes_a_clause_of_lines_that_have_no_heading() -> None:
    text = f"{HEAD}## Taxes\n\n* Ohio\n* Texas\n\nOne is not taxed."
    first = text.split("\n").index("One is not taxed.") + 1
    beside = f"one: {{lines: [{first}, {first}], applies_to: {{plans: [one]}}}}".encode()

    outer, cut = document(text, sidecar=SourceFile(path="x.terms.yaml", content=beside)).clauses

    assert (outer.anchor, [passage.text for passage in outer.passages]) == ("taxes", ["Ohio\n* Texas"])
    assert (cut.anchor, [passage.text for passage in cut.passages]) == ("one", ["One is not taxed."])
    assert (cut.heading, cut.outer, cut.lines) == ("Taxes", ("Taxes",), (first, first))
    assert cut.applies_to == Applicability(plans=frozenset({"one"}))
    assert outer.applies_to == EVERYWHERE


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("one: {lines: [99, 99]}", "one: no passage in these lines"),
        ("one: {lines: 12}", "one: no lines"),
        ("one: {lines: [9, 8]}", "one: no lines"),
        ("window: {lines: [%d, %d]}", "window: the anchor stands twice"),
    ],
)
def test_lines_that_make_no_clause_are_refused(said: str, message: str) -> None:
    text = f"{HEAD}## Window\n14 days."
    line = len(text.split("\n"))
    sidecar = SourceFile(path="x.terms.yaml", content=said.replace("%d", str(line)).encode())

    assert message in faults(text, sidecar=sidecar)[0]


def test_sidecar_of_an_unknown_anchor_is_refused_with_the_nearest() -> None:
    sidecar = SourceFile(path="x.terms.yaml", content=b"windo: {refund.window_days: 14}")

    assert faults(f"{HEAD}## Window\n14 days.", sidecar=sidecar) == [
        "x.terms.yaml:1: no clause has the anchor 'windo': did you mean 'window'?"
    ]


def test_all_faults_come_at_once_in_reading_order() -> None:
    text = HEAD.replace("corporate", "king").replace("title: Refunds\n", "titel: Refunds\n")
    text += "## Window {#w}\n{effect: none}\nText.\n\n```terms\nrefund.fee_minor: 0.5\n```\n\n## Other {#w}\nText.\n"

    found = parse(text)

    assert isinstance(found, list)
    assert [(fault.line, fault.message.split(":")[0]) for fault in found] == [
        (1, "title"),
        (3, "unknown key 'titel'"),
        (4, "authority"),
        (9, "effect"),
        (13, "refund.fee_minor"),
        (16, "the anchor 'w' stands twice"),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"\xef\xbb\xbfText.", "v.md:1:1: a byte order mark: delete it", id="byte order mark"),
        pytest.param(
            b"a\ncaf\xe9\n", "v.md:2:4: byte 0xE9 is not UTF-8 (Latin-1?): save the file as UTF-8", id="Latin-1"
        ),
        pytest.param("a".encode("utf-16"), "v.md:1:1: UTF-16, not UTF-8: save the file as UTF-8", id="UTF-16"),
        pytest.param(
            b"a\r\nb\nc",
            "v.md:2:2: line ends are mixed: LF after CRLF: save with one kind of line end",
            id="mixed ends",
        ),
        pytest.param(b"a\n\nb\x00", "v.md:3:2: a NUL character: delete it", id="NUL"),
        pytest.param(b"a\x1bb", "v.md:1:2: the control character U+001B: delete it", id="escape"),
        pytest.param(b"a" * 5_000_001, "v.md: 5000001 bytes, more than 5000000: split the document", id="too large"),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_their_place(content: bytes, expected: str) -> None:
    parsed = parse_document(SourceFile(path="v.md", content=content), around=AROUND)

    assert isinstance(parsed, list)
    assert [str(fault) for fault in parsed] == [expected]


def test_windows_line_ends_change_nothing() -> None:
    assert document(TERMS.replace("\n", "\r\n")) == document(TERMS)


def test_limits_of_a_document() -> None:
    assert len(document(HEAD + "## a\nx\n" * 10_000).clauses) == 10_000
    assert faults(HEAD + "## a\nx\n" * 10_001) == [
        "refund-eu/2025-02-01.md:20008: 10001 clauses, more than 10000: split the document"
    ]
    body = "x" * (200_000 - len("## a\n") - 1)
    assert document(f"{HEAD}## a\n{body}").clauses
    assert faults(f"{HEAD}## a\n{body}x") == [
        "refund-eu/2025-02-01.md:8: a clause of 200001 characters, more than 200000: divide it by headings"
    ]


def test_fingerprint_is_of_what_is_said() -> None:
    parsed = document(TERMS)

    assert parsed.fingerprint == document(TERMS, defaults=[Keys(path="meta.json", entries={})]).fingerprint
    assert parsed.fingerprint != document(TERMS.replace("costs", "takes")).fingerprint
    assert parsed.fingerprint != document(TERMS, version="other").fingerprint
    assert parsed.fingerprint != document(TERMS.replace("corporate", "contract")).fingerprint


PIECES = [
    *("# A", "## B {#b}", "**c**", "1. d", "1.1 e", "第一条 甲", "- f", "  - g", "> h", "| i | j |", "|---|---|"),
    *("```", "```terms", "a.b: 1", "a.b_days: {value: 1", "<!--", "-->", "{audience: staff}", "{x: [}", "---", "==="),
    *("", "    k", "[l]: m", "text 14 days.", "policy: x", "\t", "　", "\u2028n\x85o"),
]
MARKDOWN = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=30).map("\n".join)


@settings(max_examples=examples(default=500, soak=100_000))
@given(MARKDOWN, st.sampled_from(["", HEAD, HEAD.replace("---\n", "", 1), HEAD[:-4]]))
def test_any_text_is_a_document_or_faults(body: str, head: str) -> None:
    content = (head + body).encode("utf-8", errors="surrogatepass")
    keys = {"policy": "p", "title": "t", "authority": "faq", "effective_from": "2025-02-01", "language": "en"}
    defaults = [Keys(path="meta.json", entries=entry_of(keys).mapping() or {})]

    parsed = parse_document(SourceFile(path="v.md", content=content), around=AROUND, defaults=defaults)

    if isinstance(parsed, PolicyDocument):
        assert_passages_stand_where_they_say(parsed)
    else:
        assert parsed


def assert_passages_stand_where_they_say(parsed: PolicyDocument) -> None:
    lines = parsed.text.split("\n")
    assert len({clause.anchor for clause in parsed.clauses}) == len(parsed.clauses)
    for earlier, later in pairwise(parsed.clauses):
        assert earlier.lines[1] < later.lines[0]
    for clause in parsed.clauses:
        for passage in clause.passages:
            assert clause.lines[0] <= passage.lines[0] <= passage.lines[1] <= clause.lines[1]
            assert passage.text in "\n".join(lines[passage.lines[0] - 1 : passage.lines[1]])


@settings(max_examples=examples(default=200, soak=20_000))
@given(st.binary(max_size=60))
def test_any_bytes_are_a_document_or_faults(content: bytes) -> None:
    parsed = parse_document(SourceFile(path="v.md", content=content), around=AROUND, sidecar=BESIDE)

    assert isinstance(parsed, (PolicyDocument, list))
