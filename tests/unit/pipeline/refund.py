"""A refund question as evidence: one order, one profile, and two versions of the policy with other windows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from connectors.base import Evidence, Locator, evidence_key
from policies.facts import FactDeclaration, Facts, FactValue
from policies.terms import Term
from policies.version import Clause, PolicyVersion, day_period
from support_agent.domain.claim import Calculation, Grounds
from support_agent.domain.conflict import Candidate, Conflict, GoverningDate, JudgedCandidate, Resolution
from support_agent.domain.outcome import Decision
from support_agent.domain.playbook import ClaimWording
from support_agent.domain.question import Language
from support_agent.rendering.wording import TenantVoice, TenantWords
from tests.factories import ELIGIBLE, PURCHASED_AT, WINDOW, at, make_clause, make_fact, make_version

ZONE = "Europe/Berlin"
ASKED_AT = at("2026-11-30T12:00:00+01:00")
BOUGHT_AT = at("2025-03-05T14:03:00+01:00")
RULE = "days_since(order.purchased_at) <= refund.window_days && order.quota_used_bp < 1000"
FACTS: Facts = {
    declaration.name: declaration
    for declaration in (
        FactDeclaration(
            name=PURCHASED_AT, type="instant", source="orders", label={"en": "purchase date", "zh": "购买时间"}
        ),
        FactDeclaration(name="order.item", type="string", source="orders", label={"en": "item", "zh": "商品"}),
        FactDeclaration(name="order.currency", type="string", source="orders"),
        FactDeclaration(name="order.amount_minor", type="money", currency="order.currency", source="orders"),
        FactDeclaration(
            name="order.quota_used_bp",
            type="basis_points",
            source="orders",
            null=True,
            label={"en": "share of the quota used", "zh": "已用额度比例"},
        ),
        FactDeclaration(name="claim.reason", type="string", source="customer", label={"en": "reason", "zh": "原因"}),
    )
}
WORDS = TenantWords(
    facts=FACTS,
    allowed_hosts=frozenset({"help.example"}),
    contact={"en": "Write to https://help.example/contact.", "zh": "请联系 https://help.example/contact 。"},
)
QUOTES = {
    "2024-01-01": "An annual plan can be refunded within 30 days of purchase, however much of it was used.",
    "2025-02-01": "An annual plan can be refunded within 14 days of purchase if less than 10% of the quota was used.",
}


def voice(language: Language = "en") -> TenantVoice:
    return WORDS.voice(language, make_version(time_zone=ZONE).zone)


def said_by(clause: Clause, need: str, value: FactValue, quote: str, *, rule: str | None = None) -> Evidence:
    """A term of a clause as the policy connector gives it."""
    version = clause.version
    locator = Locator(document=version.policy, version=version.version, clause=clause.anchor, lines=(12, 12))
    return Evidence(
        key=evidence_key("policy", locator, [need, str(value), rule]),
        source="policy",
        locator=locator,
        need=need,
        value=None if rule else value,
        quote=quote,
        authority=version.authority,
        clause=clause,
        term=Term(name=need, clause=clause, value=None if rule else value, rule=rule, quote=quote, lines=(12, 12)),
    )


def passage(clause: Clause, quote: str, *, authority: str | None = None) -> Evidence:
    """A passage as search gives it."""
    return replace(said_by(clause, "passages", None, quote), term=None, authority=authority or clause.version.authority)


def refund_version(start: str, end: str | None = None, **rest: Any) -> PolicyVersion:
    return make_version("refund-eu", start, end, time_zone=ZONE, **{"title": "Refund policy, European Union", **rest})


OLD = make_clause(refund_version("2024-01-01", "2025-02-01"))
NEW = make_clause(refund_version("2025-02-01"))
BOUGHT = make_fact(PURCHASED_AT, BOUGHT_AT, document="SO-1182")
ITEM = make_fact("order.item", "Lumen Team 2025", document="SO-1182")
QUOTA = make_fact("order.quota_used_bp", 250, document="SO-1182")
OLD_WINDOW = said_by(OLD, WINDOW, 30, QUOTES["2024-01-01"])
NEW_WINDOW = said_by(NEW, WINDOW, 14, QUOTES["2025-02-01"])
NEW_RULE = said_by(NEW, ELIGIBLE, None, QUOTES["2025-02-01"], rule=RULE)
EVIDENCE = (BOUGHT, ITEM, QUOTA, NEW_RULE, NEW_WINDOW, OLD_WINDOW)
VALUES: dict[str, FactValue] = {
    PURCHASED_AT: BOUGHT_AT,
    "order.item": "Lumen Team 2025",
    "order.quota_used_bp": 250,
    WINDOW: 14,
    ELIGIBLE: False,
}
CALCULATED = {
    "refund.deadline": Calculation(value=at("2025-03-19T14:03:00+01:00"), rests_on=frozenset({PURCHASED_AT, WINDOW}))
}
GROUNDS = Grounds(
    evidence=EVIDENCE,
    facts=FACTS,
    asked_at=ASKED_AT,
    of={
        PURCHASED_AT: BOUGHT,
        "order.item": ITEM,
        "order.quota_used_bp": QUOTA,
        ELIGIBLE: NEW_RULE,
        WINDOW: NEW_WINDOW,
    },
    values=VALUES,
    calculated=CALCULATED,
)
DECISION = Decision(
    term=ELIGIBLE,
    value=False,
    inputs={"order.quota_used_bp": 250, PURCHASED_AT: BOUGHT_AT, WINDOW: 14},
    clause=NEW.locator,
)
GOVERNING = GoverningDate(period=day_period(BOUGHT_AT.date(), NEW.version.zone), origin=PURCHASED_AT)
CONFLICT = Conflict(
    need=WINDOW,
    candidates=(
        JudgedCandidate(candidate=Candidate(evidence=NEW_WINDOW, value=14), removed_by=None),
        JudgedCandidate(candidate=Candidate(evidence=OLD_WINDOW, value=30), removed_by="in_force"),
    ),
    settled_by="in_force",
    winner=NEW_WINDOW,
)
RESOLUTIONS = (
    Resolution(
        need=WINDOW,
        status="settled",
        winner=Candidate(evidence=NEW_WINDOW, value=14),
        governing_date=GOVERNING,
        conflict=CONFLICT,
    ),
    Resolution(
        need=ELIGIBLE, status="settled", winner=Candidate(evidence=NEW_RULE, value=False), governing_date=GOVERNING
    ),
)
REFUSAL = ClaimWording(
    text={
        "en": "No, {{ order.item }} can no longer be refunded: it was bought on {{ order.purchased_at | day }}, and "
        "the window of {{ refund.window_days | duration }} ended on {{ refund.deadline | day }}.",
        "zh": "不能退款了：{{ order.item }}购买于{{ order.purchased_at | day }}，"
        "退款期限为{{ refund.window_days | duration }}，已于{{ refund.deadline | day }}结束。",
    },
    cites=(ELIGIBLE, WINDOW, PURCHASED_AT),
)
