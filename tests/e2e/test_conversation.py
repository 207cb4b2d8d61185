"""Questions that go on from the one before in their conversation."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from support_agent.bootstrap import Application
from support_agent.request import AskRequest
from tests.e2e.conftest import TENANT

REFUND = {
    "en": "Can I still get a refund for the plan we bought last year?",
    "zh": "我们去年买的套餐现在还能退吗？",
}


async def told(application: Application, text: str, conversation: str | None, **request: Any) -> dict[str, Any]:
    asked = {"tenant": TENANT, "customer": "C-2001", "at": "2026-03-10", **request}
    return dict((await application.ask(AskRequest(question=text, conversation=conversation, **asked))).contract)


@pytest.mark.parametrize(("language", "other"), [("en", "And if I bought it in May?"), ("zh", "那上个月买的呢？")])
async def test_another_date_is_asked_of_the_same_rule(sample: Application, language: str, other: str) -> None:
    conversation = uuid4().hex
    await told(sample, REFUND[language], conversation)
    followed = await told(sample, other, conversation)
    alone = await told(sample, other, None)

    assert followed["plan"]["playbook"] == "refund-eligibility"
    assert (followed["status"], followed["clarification"]["need"]) == ("needs_clarification", "order")
    assert alone["plan"]["playbook"] != "refund-eligibility"


async def test_the_number_asked_back_for_answers_the_question(sample: Application) -> None:
    conversation = uuid4().hex
    back = await told(sample, "Can I still get a refund for the plan I bought last June?", conversation)
    answered = await told(sample, "SO-1182", conversation)
    direct = await told(sample, "Can I still get a refund for SO-1182?", None)

    assert back["status"] == "needs_clarification"
    assert (answered["status"], answered["decision"]) == (direct["status"], direct["decision"])


@pytest.mark.parametrize(("language", "it"), [("en", "Can I return it?"), ("zh", "这个还能退吗？")])
async def test_it_is_the_order_of_the_answer_before(sample: Application, language: str, it: str) -> None:
    conversation = uuid4().hex
    first = await told(sample, REFUND[language], conversation)
    second = await told(sample, it, conversation)

    assert second["decision"]["inputs"]["order.purchased_at"] == first["decision"]["inputs"]["order.purchased_at"]


async def test_nobody_goes_on_from_another_callers_question(sample: Application) -> None:
    conversation = uuid4().hex
    await told(sample, REFUND["en"], conversation)
    alone = await told(sample, "And if I bought it in May?", None, customer="C-2005")
    others = [
        await told(sample, "And if I bought it in May?", conversation, customer="C-2005"),
        await told(sample, "And if I bought it in May?", conversation, customer="C-2005", staff="S-01"),
        await told(sample, "And if I bought it in May?", conversation + "x"),
    ]

    assert [other["plan"]["playbook"] for other in others] == [alone["plan"]["playbook"]] * 3


async def test_a_third_question_goes_on_from_what_the_second_meant(sample: Application) -> None:
    conversation = uuid4().hex
    for text in (REFUND["en"], "And if I bought it in May?"):
        await told(sample, text, conversation)
    third = await told(sample, "What about SO-1182?", conversation)

    assert third["plan"]["playbook"] == "refund-eligibility"
    assert third["status"] == "answered"


async def test_a_question_that_stands_alone_costs_no_further_statement(sample: Application) -> None:
    conversation = uuid4().hex
    first = await told(sample, REFUND["en"], conversation)
    again = await told(sample, REFUND["en"], conversation)

    assert first["usage"]["statements"] == again["usage"]["statements"]
