"""Playbooks drafted from questions that none recognised."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import pytest

from support_agent.administration.playbook_suggestions import Group, drafted, grouped
from support_agent.bootstrap import reader_of
from support_agent.domain.question import Principal, Question
from support_agent.domain.reading import Reading
from support_agent.playbooks.loading import parse_playbooks
from support_agent.storage.runs import UnrecognisedQuestion
from support_agent.tenants.folder import read_folder
from tests.sample_tenant import SAMPLE

TENANT = read_folder(SAMPLE).tenant
READER = reader_of(TENANT)
STUDENTS = ("Do you have a student discount?", "Is there a discount for students?", "学生有优惠吗？", "学生能打折吗？")
DOGS = ("Can I bring my dog to the office?", "Are dogs allowed in the office?")


def read(text: str) -> Reading:
    principal = Principal(kind="customer")
    return READER(
        Question(text=text, tenant=TENANT.slug, principal=principal, asked_at=datetime(2026, 11, 30, tzinfo=UTC))
    )


def asked(text: str, **said: Any) -> UnrecognisedQuestion:
    language = "zh" if any("一" <= character <= "鿿" for character in text) else "en"
    return UnrecognisedQuestion(**{"text": text, "language": language, "status": "no_answer", "topic": None, **said})


def groups_of(*texts: str) -> list[Group]:
    return grouped([asked(text) for text in texts], read=read, subject=lambda text: text)


def test_questions_about_one_thing_are_one_group_in_either_language() -> None:
    found = groups_of(*STUDENTS, *DOGS)

    assert [set(group.texts) for group in found] == [set(STUDENTS), set(DOGS)]


def test_order_of_the_questions_changes_nothing() -> None:
    texts = [*STUDENTS, *DOGS, "Where can I park?", "学生有优惠吗？"]
    expected = groups_of(*texts)

    for seed in range(10):
        assert groups_of(*random.Random(seed).sample(texts, k=len(texts))) == expected


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Discount for students, order SO-1182?", "Discount for students, order …?"),
        ("学生折扣发到 li.na+1@example.org.cn 好吗", "学生折扣发到 … 好吗"),
        ("Call +49 (170) 123-4567 about a discount", "Call … about a discount"),
        ("身份证 110101199003077315 有优惠吗", "身份证 … 有优惠吗"),
    ],
)
def test_what_says_who_asked_is_left_out(text: str, kept: str) -> None:
    (group,) = groups_of(text)

    assert list(group.texts) == [kept]
    assert kept in drafted(group, taken=())["examples"]["zh" if "有" in text or "学" in text else "en"]


@pytest.mark.parametrize(
    "texts",
    [
        STUDENTS,
        DOGS,
        ("Is \"it\" {{ x }} 'ok'?: [a, b] # no", "Is \"it\" {{ x }} 'ok'?: [a] # yes"),
        ("可以：- 吗？“是”#", "可以：- 吗？“否”#"),
    ],
)
def test_draft_is_a_playbook_that_is_off(texts: tuple[str, ...]) -> None:
    for group in groups_of(*texts):
        draft = drafted(group, taken={"discount-students"})
        read_back = parse_playbooks({"draft.yaml": draft["yaml"]}, facts=TENANT.facts)

        assert isinstance(read_back, tuple), read_back
        assert (read_back[0].id, read_back[0].mode) == (draft["id"], "off")
        assert {language: list(said) for language, said in read_back[0].examples.items()} == draft["examples"]


def test_draft_names_topic_words_and_counts() -> None:
    (group,) = grouped(
        [asked(text, topic="refund") for text in (*STUDENTS, STUDENTS[0])], read=read, subject=lambda text: text
    )
    draft = drafted(group, taken=("discount-students",))

    assert (draft["n_questions"], draft["n_runs"], draft["statuses"]) == (4, 5, {"no_answer": 4})
    assert draft["id"] != "discount-students"
    assert 'topic: "refund"' in draft["yaml"]
    assert "学生" in draft["yaml"].partition("triggers")[2]
