"""Several questions in one text: where they part, and what their answers are together."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support_agent.bootstrap import reader_of
from support_agent.domain.outcome import Citation, Status
from support_agent.domain.plan import Plan, SubQuestion
from support_agent.domain.question import Principal, Question
from support_agent.domain.reading import Reading
from support_agent.pipeline.conclusion import Conclusion
from support_agent.pipeline.multi_part import MAX_PARTS, joined_conclusion, joined_plan, questions_in
from support_agent.pipeline.planning import numbered_after
from support_agent.tenants.folder import read_folder
from tests.sample_tenant import SAMPLE

READER = reader_of(read_folder(SAMPLE).tenant)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PIECES = (
    "I bought a keyboard in March.", "Can I still return it?", "And how long is the warranty?", "Thanks!", "Hello,",
    "What does delivery cost?", "我买了键盘。", "还能退吗？", "保修多久？", "运费多少,", "and can I get an invoice",
)  # fmt: skip


def read(text: str) -> Reading:
    return READER(Question(text=text, tenant="lumen", principal=Principal(kind="customer"), asked_at=NOW))


def parted(text: str) -> tuple[str, ...]:
    return questions_in(read(text), read=read)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Can I still return the keyboard, and how long is its warranty?",
            ("Can I still return the keyboard", "how long is its warranty?"),
        ),
        (
            "I bought a keyboard in March. Can I return it? What does delivery cost? Thanks!",
            (
                "I bought a keyboard in March. Can I return it?",
                "I bought a keyboard in March. What does delivery cost? Thanks!",
            ),
        ),
        ("键盘还能退吗，保修多久？", ("键盘还能退吗，", "保修多久？")),
        ("订单SO-1210还能退吗？保修到什么时候？", ("订单SO-1210还能退吗？", "保修到什么时候？ SO-1210")),
        (
            "Could you tell me how long the warranty is and what returns cost?",
            ("Could you tell me how long the warranty is", "what returns cost?"),
        ),
    ],
)
def test_each_question_with_a_subject_of_its_own_is_one(text: str, parts: tuple[str, ...]) -> None:
    assert parted(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "Where's my docking station? Has it been sent out yet?",
        "发票抬头写错了，能改吗？要钱吗？",
        "运费怎么算的？买多少钱以上包邮？",
        "Are you hiring? Where do I send my CV?",
        "How are you? Can I still return the keyboard?",
        "What is your policy on refunds and returns?",
        "If I can return it, who pays the delivery?",
        "如果可以退货，运费由谁出？",
        "I want to return the keyboard, and I have the invoice. Is that enough?",
        "Can I return the keyboard or not?",
        "",
    ],
)
def test_what_belongs_to_one_question_stays_together(text: str) -> None:
    assert parted(text) == (read(text).text,)


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_no_word_is_lost_and_no_more_than_the_limit_is_answered(pieces: list[str]) -> None:
    text = " ".join(pieces)
    parts = parted(text)

    assert 1 <= len(parts) <= MAX_PARTS
    said = " ".join(parts)
    for word in re.findall(r"[A-Za-z0-9']+|[一-鿿]", text):
        assert word in said or word.casefold() in {"and", "also", "plus"}


def citation(marker: int, clause: str, *, role: str = "governing") -> Citation:
    return Citation(
        marker=marker, source="policy", document="p", version="1", clause=clause, lines=(1, 1), quote=clause,
        role="governing" if role == "governing" else "considered", effective_from=None, effective_to=None,
        time_zone=None, authority="corporate", sha256="",
    )  # fmt: skip


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True), min_size=2, max_size=3))
def test_each_marker_of_the_joined_answer_is_the_citation_it_was(clauses: list[list[str]]) -> None:
    parts = [
        Conclusion(
            status="answered",
            answer=" ".join(f"{clause} [{marker}]" for marker, clause in enumerate(own, start=1)),
            citations=tuple(citation(marker, clause) for marker, clause in enumerate(own, start=1)),
        )
        for own in clauses
    ]
    joined = joined_conclusion(parts, subjects=[None] * len(parts), evidence=[{}] * len(parts))

    assert [c.marker for c in joined.citations] == list(range(1, len(joined.citations) + 1))
    assert len({c.clause for c in joined.citations}) == len(joined.citations)
    by_marker = {c.marker: c.clause for c in joined.citations}
    for clause, marker in re.findall(r"(\w) \[(\d+)\]", joined.answer):
        assert by_marker[int(marker)] == clause


@pytest.mark.parametrize(
    ("statuses", "whole"),
    [
        (("answered", "no_answer"), "answered"),
        (("no_answer", "no_answer"), "no_answer"),
        (("answered", "escalated"), "escalated"),
        (("needs_clarification", "answered"), "needs_clarification"),
        (("answered", "answered_with_conflict"), "answered_with_conflict"),
    ],
)
def test_the_weightiest_part_says_how_the_whole_ends(statuses: tuple[Status, ...], whole: Status) -> None:
    parts = [Conclusion(status=status, answer=f"part {at}") for at, status in enumerate(statuses)]
    joined = joined_conclusion(parts, subjects=["returns", "warranty"], evidence=[{}, {}])

    assert joined.status == whole
    assert all(f"part {at}" in joined.answer for at in range(len(parts)))
    assert ("warranty: part 1" in joined.answer) is not statuses[1].startswith("answered")


def test_where_one_part_must_not_be_told_none_is() -> None:
    parts = [Conclusion(status="answered", answer="yes"), Conclusion(status="refused", answer="no such order")]

    assert joined_conclusion(parts, subjects=[None, None], evidence=[{}, {}]).answer == "no such order"


def test_customer_is_asked_one_thing() -> None:
    parts = [
        Conclusion(status="answered", answer="yes"),
        Conclusion(status="needs_clarification", answer="Which order?"),
        Conclusion(status="needs_clarification", answer="Which date?"),
    ]
    joined = joined_conclusion(parts, subjects=[None, "warranty", "invoice"], evidence=[{}] * 3)

    assert joined.answer == "yes\nwarranty: Which order?"


def test_sub_questions_are_numbered_through_and_wait_for_their_own() -> None:
    one = SubQuestion(id="q1", source="orders", needs=("order.item",))
    two = SubQuestion(id="q3", source="policy", needs=("refund.window_days",), after=("q1",))
    first = Plan(route="single", playbook=None, sub_questions=(one, two))
    second = numbered_after(replace(first, playbook="x", decide="refund.eligible"), first)
    joined = joined_plan([first, second])

    expected = [("q1", ()), ("q3", ("q1",)), ("q4", ()), ("q5", ("q4",))]
    assert [(sub.id, sub.after) for sub in joined.sub_questions] == expected
    assert joined.decide == "refund.eligible"
