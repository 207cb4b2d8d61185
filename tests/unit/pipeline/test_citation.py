from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.base import Evidence
from support_agent.domain.claim import Claim, Draft, Grounds
from support_agent.domain.question import Language
from support_agent.pipeline.citation import MAX_PASSAGES, MAX_QUOTE, excerpt, finish
from tests.soak import examples
from tests.unit.pipeline.refund import (
    ASKED_AT,
    BOUGHT,
    CALCULATED,
    EVIDENCE,
    FACTS,
    GROUNDS,
    NEW,
    NEW_RULE,
    NEW_WINDOW,
    OLD_WINDOW,
    VALUES,
    ZONE,
    passage,
)

BERLIN = ZoneInfo(ZONE)
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def draft(*claims: Claim) -> Draft:
    return Draft(claims=claims)


def number(evidence: Evidence) -> int:
    return GROUNDS.number(evidence)


def test_markers_count_in_order_of_first_use() -> None:
    claims = (
        Claim(text="Bought on 5 March 2025.", evidence=(number(BOUGHT),)),
        Claim(text="The window is 14 days.", evidence=(number(NEW_WINDOW), number(BOUGHT))),
    )

    made = finish(draft(*claims), GROUNDS, language="en", zone=BERLIN)

    assert made.answer == "Bought on 5 March 2025 [1]. The window is 14 days [1][2]."
    assert [citation.document for citation in made.citations] == ["SO-1182", "refund-eu"]


@pytest.mark.parametrize(
    ("language", "text", "mark"),
    [
        ("zh", "政策规定：“选择“删除账户”。按“确认”。然后退出。”", "[1]。"),
        ("en", "It says: “Press “Delete”. Then leave.”", " [1]"),
    ],
)
def test_no_marker_stands_inside_what_is_quoted(language: Language, text: str, mark: str) -> None:
    made = finish(draft(Claim(text=text, evidence=(number(BOUGHT),))), GROUNDS, language=language, zone=BERLIN)

    assert made.answer == text + mark


def test_two_terms_of_one_passage_are_one_citation() -> None:
    claim = Claim(text="It is 14 days.", evidence=(number(NEW_RULE), number(NEW_WINDOW)))

    made = finish(draft(claim), GROUNDS, language="en", zone=BERLIN)

    assert made.answer == "It is 14 days [1]."


def test_a_citation_names_version_clause_lines_and_dates() -> None:
    made = finish(
        draft(Claim(text="It was 30 days.", evidence=(number(OLD_WINDOW),))), GROUNDS, language="en", zone=BERLIN
    )

    (citation,) = made.citations
    assert (citation.document, citation.version, citation.clause) == ("refund-eu", "2024-01-01", "window")
    assert citation.lines == (12, 12)
    assert (citation.effective_from, citation.effective_to) == (
        OLD_WINDOW.clause and OLD_WINDOW.clause.valid.start,
        OLD_WINDOW.clause and OLD_WINDOW.clause.valid.end,
    )
    assert citation.quote == OLD_WINDOW.quote


def test_what_did_not_prevail_is_cited_as_considered() -> None:
    lost = number(OLD_WINDOW)
    claim = Claim(text="Not 30 days but 14.", evidence=(number(NEW_WINDOW), lost), considered=(lost,))

    made = finish(draft(claim), GROUNDS, language="en", zone=BERLIN)

    assert [citation.role for citation in made.citations] == ["governing", "considered"]


def test_each_sentence_of_a_claim_is_marked_but_not_inside_a_quotation() -> None:
    claim = Claim(text="It is closed. The policy says: “14 days. No more.”", evidence=(number(NEW_WINDOW),))

    made = finish(draft(claim), GROUNDS, language="en", zone=BERLIN)

    assert made.answer == "It is closed [1]. The policy says: “14 days. No more.” [1]"


def test_chinese_sentences_are_marked_before_their_full_stop() -> None:
    claim = Claim(text="期限为14天。已经结束。", evidence=(number(NEW_WINDOW),))

    made = finish(draft(claim), GROUNDS, language="zh", zone=BERLIN)

    assert made.answer == "期限为14天[1]。已经结束[1]。"


def test_a_figure_without_support_gives_no_answer() -> None:
    made = finish(
        draft(Claim(text="The window is 21 days.", evidence=(number(NEW_WINDOW),))),
        GROUNDS,
        language="en",
        zone=BERLIN,
    )

    assert (made.answer, made.citations, made.unsupported) == (None, (), ("21 days",))


def test_a_calculation_supports_its_own_result_only_where_it_is_named() -> None:
    text = "It ended on 19 March 2025."
    named = Claim(text=text, evidence=(number(NEW_WINDOW),), calculated=("refund.deadline",))

    with_name = finish(draft(named), GROUNDS, language="en", zone=BERLIN)
    without = finish(draft(replace(named, calculated=())), GROUNDS, language="en", zone=BERLIN)

    assert with_name.answer == "It ended on 19 March 2025 [1]."
    assert without.unsupported == ("19 March 2025",)


def test_a_claim_without_evidence_gives_no_answer() -> None:
    assert finish(draft(Claim(text="Yes.", evidence=())), GROUNDS, language="en", zone=BERLIN).answer is None


def test_a_next_step_is_checked_too() -> None:
    claim = Claim(text="It is 14 days.", evidence=(number(NEW_WINDOW),))

    good = finish(draft(claim), GROUNDS, language="en", zone=BERLIN, next_step="Write by 19 March 2025.")
    bad = finish(draft(claim), GROUNDS, language="en", zone=BERLIN, next_step="Write by 20 March 2025.")

    assert good.next_step == "Write by 19 March 2025."
    assert (bad.answer, bad.unsupported) == (None, ("20 March 2025",))


def test_money_and_shares_are_known_as_they_are_written() -> None:
    amount = replace(BOUGHT, key="amount", need="order.amount_minor", value=249900, quote="249900")
    quota = replace(BOUGHT, key="quota", need="order.quota_used_bp", value=1250, quote="1250")
    grounds = Grounds(
        evidence=(amount, quota), facts=FACTS, asked_at=ASKED_AT, values={**VALUES, "order.currency": "EUR"}
    )
    claim = Claim(text="You paid €2,499.00 and used 12.5%.", evidence=(1, 2))

    made = finish(draft(claim), grounds, language="en", zone=BERLIN)
    dollars = finish(draft(replace(claim, text="You paid $2,499.00.")), grounds, language="en", zone=BERLIN)

    assert made.answer == "You paid €2,499.00 and used 12.5% [1][2]."
    assert dollars.unsupported == ("$2,499.00",)


def test_a_long_passage_is_quoted_where_its_figure_stands() -> None:
    quote = "Words that say nothing of use here. " * 20 + "The window is 45 days. " + "And more of them. " * 20
    long = passage(NEW, quote)
    grounds = Grounds(evidence=(long,), facts=FACTS, asked_at=ASKED_AT)

    made = finish(draft(Claim(text="It is 45 days.", evidence=(1,))), grounds, language="en", zone=BERLIN)

    assert made.answer == "It is 45 days [1]."
    assert len(made.citations[0].quote) <= MAX_QUOTE
    assert "45 days" in made.citations[0].quote
    assert made.citations[0].quote.startswith("…")
    assert made.citations[0].quote.endswith("…")


def test_notes_follow_the_answer_and_cite_nothing() -> None:
    claim = Claim(text="It is 14 days.", evidence=(number(NEW_WINDOW),))

    made = finish(Draft(claims=(claim,), notes=("We are not sure.",)), GROUNDS, language="en", zone=BERLIN)

    assert made.answer == "It is 14 days [1].\nWe are not sure."


CLAIMS = st.lists(
    st.builds(
        Claim,
        text=st.sampled_from(["It is so.", "So it is, in short", "It is so. And so on.", "“Quoted. Text”"]),
        evidence=st.lists(st.integers(1, len(EVIDENCE)), min_size=1, max_size=6, unique=True).map(tuple),
        considered=st.just(()),
        calculated=st.just(tuple(CALCULATED)),
        item=st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=examples(default=300, soak=20_000))
@given(CLAIMS, st.sampled_from(["en", "zh"]))
def test_every_marker_has_a_citation_and_every_sentence_a_marker(claims: list[Claim], language: str) -> None:
    made = finish(draft(*claims), GROUNDS, language="en" if language == "en" else "zh", zone=BERLIN)

    assert made.answer is not None
    markers = [int(marker) for marker in re.findall(r"\[(\d+)\]", made.answer)]
    assert set(markers) == {citation.marker for citation in made.citations}
    assert list(dict.fromkeys(markers)) == list(range(1, len(made.citations) + 1))
    for citation in made.citations:
        assert citation.sha256 == hashlib.sha256(citation.quote.encode()).hexdigest()
    by_marker = {citation.marker: citation for citation in made.citations}
    for signs in re.findall(r"(?:\[\d+\])+", made.answer):
        cited = [by_marker[int(marker)] for marker in re.findall(r"\d+", signs)]
        assert len([citation for citation in cited if citation.version]) <= MAX_PASSAGES


@settings(max_examples=examples(default=400, soak=50_000))
@given(
    st.lists(st.sampled_from(["a", " ", "字", "。", "e\u0301", FAMILY, "🇩🇪", "\r\n", "각"]), max_size=300).map("".join),
    st.integers(0, 600),
    st.integers(12, 120),
)
def test_a_cut_never_splits_a_grapheme_and_keeps_to_the_limit(text: str, around: int, limit: int) -> None:
    around = min(around, max(len(text) - 1, 0))

    cut = excerpt(text, around=around, limit=limit)

    assert len(cut) <= max(limit, 1) or cut == text
    inner = cut.removeprefix("…").removesuffix("…")
    assert inner in text
    whole = {cluster.start() for cluster in regex.finditer(r"\X", text)} | {len(text)}
    places = [place for place in range(len(text) + 1) if text.startswith(inner, place)]
    assert any(place in whole and _ends_whole(place + len(inner), text, whole) for place in places)


def _ends_whole(end: int, text: str, whole: set[int]) -> bool:
    # Spaces before the ellipsis are left out, so the cut lies at the end of them.
    while end not in whole and end < len(text) and text[end].isspace():
        end += 1
    return end in whole
