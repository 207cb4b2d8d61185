"""Two questions in one text get two answers, or are told which has none."""

from __future__ import annotations

import pytest

from support_agent.bootstrap import Application
from support_agent.domain.tenant import Budget
from support_agent.request import AskRequest
from tests.e2e.conftest import TENANT, Ask


@pytest.mark.parametrize(
    "question", ["Can I still return the keyboard, and how long is its warranty?", "键盘还能退吗，保修多久？"]
)
async def test_each_part_is_answered_with_its_own_citations(ask: Ask, question: str) -> None:
    outcome = await ask(question, customer="C-2006", at="2026-11-30")

    governing = {c["document"] for c in outcome["citations"] if c["role"] == "governing"}
    assert outcome["status"] == "answered"
    assert {"returns-eu", "law-eu-withdrawal", "warranty-goods"} <= governing
    assert outcome["decision"]["term"] == "refund.eligible"
    assert {conflict["need"] for conflict in outcome["conflicts"]} >= {"refund.window_days", "warranty.months"}
    assert all(f"[{c['marker']}]" in outcome["answer"] for c in outcome["citations"])


async def test_order_of_another_customer_is_refused_as_a_whole(ask: Ask) -> None:
    outcome = await ask("订单SO-1402是什么时候买的？保修多久？", customer="C-2203", at="2026-11-30")

    assert outcome["status"] == "refused"
    assert outcome["citations"] == []


async def test_part_without_an_answer_is_named(ask: Ask) -> None:
    question = "Can I still return the keyboard? And do your couriers wear green uniforms?"
    outcome = await ask(question, customer="C-2006", at="2026-11-30")

    assert outcome["status"] == "answered"
    assert "shipping: We have nothing on this" in outcome["answer"]


async def test_lookups_of_all_parts_share_one_budget(ask: Ask) -> None:
    first = "Can I still return the keyboard"
    one = await ask(f"{first}?", customer="C-2006", at="2026-11-30")
    two = await ask(f"{first}, and how long is its warranty?", customer="C-2006", at="2026-11-30")

    assert one["usage"]["lookups"] < two["usage"]["lookups"] <= Budget().max_lookups


@pytest.mark.parametrize(
    "question", ["Can I still return the keyboard, and how long is its warranty?", "键盘还能退吗，保修多久？"]
)
async def test_each_lookup_is_of_a_sub_question_of_the_plan(sample: Application, question: str) -> None:
    asked = AskRequest(question=question, tenant=TENANT, customer="C-2006", at="2026-11-30")
    run = (await sample.ask(asked)).run
    source = {sub.id: sub.source for sub in run.outcome.plan.sub_questions}
    lookups = [lookup for round_ in run.rounds for lookup in round_.lookups if lookup.sub_question != "scope"]

    assert len(source) == len(run.outcome.plan.sub_questions)
    assert lookups
    assert all(source[lookup.sub_question] == lookup.source for lookup in lookups)


async def test_part_is_no_reply_to_what_the_part_before_asks_back(ask: Ask) -> None:
    # As a reply, two words would be read together with the first question.
    both = await ask("去年买的能退吗？保修多久？", customer="C-2006", at="2026-11-30")
    alone = await ask("保修多久？", customer="C-2006", at="2026-11-30")

    assert both["clarification"]["need"] == "order"
    assert alone["answer"].splitlines()[0] in both["answer"]
