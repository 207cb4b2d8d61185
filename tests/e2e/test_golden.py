"""The golden questions, and what holds for the answer of each."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from support_agent.bootstrap import Application
from tests.e2e.conftest import Ask
from tests.e2e.golden import FOLDER, differences, lines_of, request_of

FILES = sorted(path.name for path in FOLDER.glob("*.jsonl"))
#: What the agent cannot do yet without vectors, each with what comes instead; one that is mended must leave the list.
NOT_YET: dict[str, str] = json.loads((FOLDER / "not_yet.json").read_text(encoding="utf-8"))
ROWS = [
    pytest.param(
        row,
        id=f"{name.removesuffix('.jsonl')}-{row['id']}",
        marks=[pytest.mark.xfail(reason=NOT_YET[row["id"]], strict=True)] if row["id"] in NOT_YET else [],
    )
    for name in FILES
    for row in lines_of(name)
]
CLASSES = ("answered", "answered_with_conflict", "needs_clarification", "no_answer", "refused", "escalated")
REFUND = {
    "en": "Can I still get a refund for the plan we bought last year?",
    "zh": "我们去年买的套餐现在还能退吗？",
}
#: A sentence ends at its mark, which in English is followed by a space or the end; markers stand before it.
SENTENCE = re.compile(r"[^。！？.!?\n]+(?:[.!?](?=\S)[^。！？.!?\n]*)*[。！？.!?]?")


@pytest.mark.parametrize("row", ROWS)
async def test_golden_question(row: Mapping[str, Any], sample: Application) -> None:
    outcome = (await sample.ask(request_of(row))).contract

    assert differences(row["expect"], outcome) == []


@pytest.mark.parametrize("status", CLASSES)
def test_each_class_has_twenty_questions_half_of_them_chinese(status: str) -> None:
    rows = [row for name in FILES for row in lines_of(name) if row.get("class") == status]
    languages = Counter(row["language"] for row in rows)
    n_from_policies = sum(row["written"] == "policies_alone" for row in rows)

    assert len(rows) >= 20
    assert min(languages.values()) >= 10
    assert abs(languages["en"] - languages["zh"]) <= 2
    # Half of the twenty: written from the policies, before any code ran on them.
    assert n_from_policies >= 10


@pytest.fixture(scope="module")
async def refunds(sample: Application) -> dict[str, dict[str, Any]]:
    """The refund question in both languages."""
    rows = {
        language: {"question": text, "customer": "C-2001", "at": "2026-03-10T09:00+01:00"}
        for language, text in REFUND.items()
    }
    return {language: dict((await sample.ask(request_of(row))).contract) for language, row in rows.items()}


@pytest.mark.parametrize("language", REFUND)
def test_refund_question_is_decided_by_the_version_of_the_purchase(
    language: str, refunds: Mapping[str, Mapping[str, Any]]
) -> None:
    outcome = refunds[language]

    assert outcome["status"] == "answered"
    assert outcome["decision"]["value"] is False
    assert outcome["decision"]["clause"] == "refund-eu@2025-02-01#window"
    assert outcome["governing_date"]["from"] == "order.purchased_at"
    assert outcome["governing_date"]["value"][:10] == "2025-03-05"
    assert outcome["rounds"] <= 3
    assert outcome["usage"]["statements"] <= 8
    assert outcome["plan"]["playbook"] == "refund-eligibility"


def test_refund_question_is_answered_alike_in_both_languages(refunds: Mapping[str, Mapping[str, Any]]) -> None:
    same = ("status", "decision", "governing_date", "verdict", "conflicts", "rounds", "citations")

    assert {key: refunds["en"][key] for key in same} == {key: refunds["zh"][key] for key in same}


@pytest.mark.parametrize("language", REFUND)
def test_other_version_is_in_the_record(language: str, refunds: Mapping[str, Mapping[str, Any]]) -> None:
    (record,) = (c for c in refunds[language]["conflicts"] if c["need"] == "refund.window_days")

    removed = {candidate["clause"]: candidate["removed_by"] for candidate in record["candidates"]}
    assert removed["refund-eu@2024-01-01#window"] == "in_force"
    assert removed["refund-eu@2025-02-01#window"] is None
    assert record["settled_by"] == "in_force"
    assert record["winner"] == "refund-eu@2025-02-01#window"


@pytest.mark.parametrize("language", REFUND)
def test_every_sentence_is_cited(language: str, refunds: Mapping[str, Mapping[str, Any]]) -> None:
    answer = refunds[language]["answer"]

    sentences = [found.group().strip() for found in SENTENCE.finditer(answer) if found.group().strip()]
    assert sentences
    assert [sentence for sentence in sentences if not re.search(r"\[\d+\]", sentence)] == []


@pytest.mark.parametrize("language", REFUND)
def test_markers_and_citations_are_each_others(language: str, refunds: Mapping[str, Mapping[str, Any]]) -> None:
    outcome = refunds[language]

    markers = {int(number) for number in re.findall(r"\[(\d+)\]", outcome["answer"])}
    assert markers == {citation["marker"] for citation in outcome["citations"]}
    assert "SO-1182" in {c["document"] for c in outcome["citations"] if c["source"] == "orders"}


async def test_same_question_twice_gives_the_same_answer(ask: Ask) -> None:
    first, second = [await ask(REFUND["en"], customer="C-2001", at="2026-03-10T09:00+01:00") for _ in range(2)]

    for outcome in (first, second):
        del outcome["run_id"], outcome["usage"]["elapsed_ms"]
    assert first == second


async def test_vectors_change_no_answer_that_words_decide(sample_with_vectors: Application, ask: Ask) -> None:
    row = {"question": REFUND["zh"], "customer": "C-2001", "at": "2026-03-10T09:00+01:00"}

    without = await ask(REFUND["zh"], customer="C-2001", at="2026-03-10T09:00+01:00")
    outcome = dict((await sample_with_vectors.ask(request_of(row))).contract)

    same = ("status", "answer", "decision", "citations", "conflicts")
    assert {key: outcome[key] for key in same} == {key: without[key] for key in same}
