from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

from connectors.base import Evidence, Lookup, Scope
from connectors.errors import SourceError, SourceUnavailableError
from policies.session import TenantSession
from support_agent.domain.plan import Plan, SubQuestion
from support_agent.pipeline.retrieval import Fetched, Findings, add, due, fetch, signature, unsent
from tests.factories import PURCHASED_AT, make_fact

SCOPE = Scope(tenant_id=UUID(int=1), customer_id="C-1")
#: No connector of these tests looks at it.
SESSION = cast("TenantSession", object())
BOUGHT = make_fact(PURCHASED_AT, "2025-03-05")
STATUS = make_fact("order.status", "active")


class Source:
    """Says what it is told to, and remembers which session it was handed."""

    def __init__(self, name: str, answer: Sequence[Evidence] | SourceError, *, local: bool = True) -> None:
        self.name = name
        self.local = local
        self.sessions: list[TenantSession | None] = []
        self._answer = answer

    async def fetch(
        self, lookup: Lookup, scope: Scope, *, session: TenantSession | None, timeout_s: float
    ) -> Sequence[Evidence]:
        assert (lookup.source, scope, timeout_s) == (self.name, SCOPE, 2.0)
        self.sessions.append(session)
        await asyncio.sleep(0)
        if isinstance(self._answer, SourceError):
            raise self._answer
        return self._answer


async def fetched(*sources: Source) -> list[Fetched]:
    lookups = [(f"q{number}", Lookup(source=source.name, needs=("n",))) for number, source in enumerate(sources, 1)]
    return await fetch(
        lookups,
        connectors={source.name: source for source in sources},
        scope=SCOPE,
        session=SESSION,
        deadline=12.0,
        clock=lambda: 10.0,
    )


def one(sub: str, *evidence: Evidence, **parameters: Any) -> Fetched:
    lookup = Lookup(source="orders", needs=(PURCHASED_AT,), parameters=parameters)
    return Fetched(sub_question=sub, lookup=lookup, evidence=evidence, elapsed_ms=1.2345)


async def test_answers_come_in_the_order_of_the_lookups() -> None:
    sources = Source("a", [BOUGHT], local=False), Source("b", [STATUS]), Source("c", [BOUGHT, STATUS], local=False)

    found = await fetched(*sources)

    assert [(item.sub_question, tuple(item.evidence)) for item in found] == [
        ("q1", (BOUGHT,)),
        ("q2", (STATUS,)),
        ("q3", (BOUGHT, STATUS)),
    ]


async def test_only_our_own_database_is_read_with_the_session() -> None:
    ours, foreign = Source("a", []), Source("b", [], local=False)

    await fetched(ours, foreign)

    assert (ours.sessions, foreign.sessions) == ([SESSION], [None])


async def test_source_that_fails_leaves_the_others_answers() -> None:
    failure = SourceUnavailableError("b", waited_s=2.0)

    found = await fetched(Source("a", [BOUGHT]), Source("b", failure, local=False), Source("c", failure))

    assert [item.failure for item in found] == [None, failure, failure]
    assert list(found[0].evidence) == [BOUGHT]


def test_sub_question_is_due_once_what_it_depends_on_was_asked() -> None:
    first = SubQuestion(id="q1", source="orders", needs=("a",))
    second = SubQuestion(id="q2", source="policy", needs=("b",), after=("q1",))
    plan = Plan(route="playbook", playbook="p", sub_questions=(first, second))

    assert due(plan, Findings()) == (first,)
    assert due(plan, Findings(brought={"q1": ()})) == (second,)
    assert due(plan, Findings(brought={"q1": (), "q2": ()})) == ()


def test_each_statement_is_kept_once() -> None:
    findings, records = add(Findings(), [one("q1", BOUGHT, BOUGHT), one("q2", BOUGHT, STATUS, item_kind="goods")])

    assert findings.evidence == (BOUGHT, STATUS)
    assert findings.brought == {"q1": (BOUGHT.key, BOUGHT.key), "q2": (BOUGHT.key, STATUS.key)}
    assert [(record.n_returned, record.n_added) for record in records] == [(2, 1), (2, 1)]
    assert findings.n_lookups == 2


def test_later_findings_keep_the_numbers_of_earlier_ones() -> None:
    findings, _ = add(Findings(), [one("q1", STATUS)])
    findings, _ = add(findings, [one("q2", BOUGHT, STATUS, item_kind="goods")])

    assert findings.evidence == (STATUS, BOUGHT)


def test_failure_is_recorded_by_source() -> None:
    failure = SourceUnavailableError("orders", waited_s=2.0)
    lost = Fetched(
        sub_question="q1", lookup=Lookup(source="orders", needs=("n",)), evidence=(), elapsed_ms=1, failure=failure
    )

    findings, (record,) = add(Findings(), [lost])

    assert findings.failures == {"orders": failure}
    assert findings.brought == {"q1": ()}
    assert record.failure == str(failure)


def test_lookup_that_repeats_an_earlier_one_is_not_sent() -> None:
    findings, _ = add(Findings(), [one("q1", period="2025", item_kind="goods")])
    again = Lookup(source="orders", needs=(PURCHASED_AT,), parameters={"item_kind": "goods", "period": "2025"})
    other = Lookup(source="orders", needs=(PURCHASED_AT,), parameters={"item_kind": "goods"})

    assert unsent([("q2", again), ("q3", other)], findings) == [("q3", other)]
    assert signature(again) != signature(other)
