"""What an answer must not do: speak of another order, of a day it did not judge, or of a day in another zone."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Ask


@pytest.mark.parametrize(
    "question", ["Can I get a refund for SO-11900?", "refund order 999999", "订单 SO-119 能退吗？"]
)
async def test_mistyped_order_number_is_not_answered_about_another_order(ask: Ask, question: str) -> None:
    outcome = await ask(question, customer="C-2003", at="2026-11-30")

    assert outcome["status"] == "refused"
    assert outcome["decision"] is None


async def test_order_is_unknown_before_it_was_placed(ask: Ask) -> None:
    question = "Can I get a refund for SO-1182?"

    before = await ask(question, customer="C-2001", at="2025-03-05T10:19:59+01:00")
    after = await ask(question, customer="C-2001", at="2025-03-05T10:20:00+01:00")

    assert (before["status"], after["status"]) == ("refused", "answered")


@pytest.mark.parametrize(
    "question", ["Can I return SO-1210 on 24 December 2026?", "Can I return the keyboard next week?"]
)
async def test_decision_names_its_day_when_a_later_one_is_asked_about(ask: Ask, question: str) -> None:
    outcome = await ask(question, customer="C-2006", at="2026-11-30")

    assert outcome["decision"]["value"] is True
    assert any("30 November 2026" in note for note in outcome["uncertainties"])


async def test_version_of_a_quote_is_dated_in_its_own_zone(ask: Ask) -> None:
    # The tenant is in Berlin, where Shanghai's 1 January begins on 31 December.
    outcome = await ask("关于运费有什么规定？", customer="C-2201", at="2026-11-30")

    assert outcome["citations"][0]["effective_from"] == "2024-01-01"
    assert "2024年1月1日" in outcome["answer"]


@pytest.mark.parametrize(
    "question",
    ["Is it too late to send the headset back?", "Can I still send the headset back?", "Must the headset stay here?"],
)
async def test_no_answer_begins_with_yes_or_no(ask: Ask, question: str) -> None:
    outcome = await ask(question, customer="C-2007", at="2026-11-20")

    assert not outcome["answer"].startswith(("Yes", "No,", "No "))


@pytest.mark.parametrize(
    "question", ["Is damage from falls and liquids under warranty?", "跌落和液体造成的损坏可以保修吗？"]
)
async def test_text_answers_where_no_rule_applies_to_the_case(ask: Ask, question: str) -> None:
    # Nothing of theirs was delivered by then: the playbook cannot decide, but the policy says what is not covered.
    outcome = await ask(question, customer="C-2001", at="2026-03-10")

    assert outcome["status"] == "answered"
    assert outcome["decision"] is None
    cited = [(c["document"], c["version"], c["clause"]) for c in outcome["citations"]]
    assert cited[-1] == ("warranty-goods", "2025-04-01", "not-covered")
    assert len(cited) == len(set(cited))


async def test_rendition_that_its_original_has_overtaken_does_not_stand_alone(ask: Ask) -> None:
    outcome = await ask("保修涵盖跌落和液体造成的损坏吗？", customer="C-2001", at="2026-03-10")

    assert [c["document"] for c in outcome["citations"]] == ["warranty-goods-zh", "warranty-goods"]
    assert "2025年4月1日起生效的原文规定" in outcome["answer"]
    assert any("译本" in note for note in outcome["uncertainties"])


@pytest.mark.parametrize(
    "question", ["Does the warranty cover damage from falls and liquids?", "保修涵盖跌落和液体造成的损坏吗？"]
)
async def test_what_the_policy_says_is_told_to_anybody(ask: Ask, question: str) -> None:
    outcome = await ask(question, customer="C-2001", verified=False, at="2026-03-10")

    assert outcome["status"] == "answered"
    assert {c["source"] for c in outcome["citations"]} == {"policy"}
