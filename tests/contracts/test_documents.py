"""What the sources over published documents promise, in the store and in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncEngine

from connectors.base import Connector, Evidence, Lookup, Scope
from connectors.errors import SourceUnavailableError
from connectors.faq import FaqConnector
from connectors.memory import MemoryPolicy
from connectors.policy import PolicyConnector
from policies.document import PolicyDocument
from policies.search import PassageHit
from policies.store import publish, versions
from policies.terms import Term
from policies.version import Clause, Period, PolicyVersion
from support_agent.storage.tenancy import open_session
from tests.contracts.conftest import OTHER_TENANT
from tests.integration.conftest import Database
from tests.integration.policies.written import window, written

ASKED_AT = datetime(2025, 6, 1, tzinfo=UTC)
PURCHASED = Period(start=datetime(2024, 3, 1, tzinfo=UTC), end=datetime(2024, 3, 2, tzinfo=UTC))
STAFF_BODY = """
## Refund window {#window audience=staff}
Agents may add ten days for plans bought by phone.
"""
DOCUMENTS = (
    written("2022-01-01", body=window(60)),
    written("2023-01-01", body=window(60)),
    written("2024-01-01", body=window(30)),
    written("2025-01-01", body=window(14)),
    written("2026-01-01", body=window(14)),
    written("2027-01-01", body=window(7)),
    written("2028-01-01", body=window(7)),
    written("2020-01-01", policy="refund-faq", authority="faq", body=window(45)),
    written("2020-01-01", policy="refund-phone", audience="staff", body=STAFF_BODY),
    written("2020-01-01", policy="shipping", topic="shipping", body="## Plans {#plans}\nPlans ship by e-mail.\n"),
)
RANKS = frozenset({"law", "contract", "corporate", "department"})


@dataclass(kw_only=True)
class Documents:
    """The documents of one tenant, and a way to ask `policy` and `faq` for them."""

    tenant_id: UUID
    policy: Connector
    faq: Connector
    _engine: AsyncEngine

    async def ask(
        self,
        connector: Connector,
        *needs: str,
        tenant_id: UUID | None = None,
        audiences: Sequence[Literal["public", "staff"]] = ("public",),
        timeout_s: float = 10.0,
        **parameters: Any,
    ) -> list[Evidence]:
        asking = Scope(tenant_id=tenant_id or self.tenant_id, customer_id=None, audiences=frozenset(audiences))
        lookup = Lookup(source=connector.name, needs=needs, parameters={"asked_at": ASKED_AT, **parameters})
        async with open_session(self._engine, self.tenant_id) as session:
            return list(await connector.fetch(lookup, asking, session=session, timeout_s=timeout_s))


@pytest.fixture(params=["store", "memory"])
async def documents(request: pytest.FixtureRequest, engine: AsyncEngine, tenant: UUID) -> AsyncIterator[Documents]:
    async with open_session(engine, tenant) as session:
        await publish(session, DOCUMENTS, approval="imported", by="tests")
        recorded = await versions(session)
    if request.param == "store":
        yield Documents(
            tenant_id=tenant,
            policy=PolicyConnector(authorities=RANKS, region_groups={}),
            faq=FaqConnector(region_groups={}),
            _engine=engine,
        )
        return
    by_name = {(version.policy, version.version): version for version in recorded}
    contents = [(document, by_name[document.policy, document.version]) for document in DOCUMENTS]
    kept: dict[str, Any] = {
        "terms": {tenant: [term for document, version in contents for term in _terms(document, version)]},
        "passages": {tenant: [hit for document, version in contents for hit in _passages(document, version)]},
        "region_groups": {},
    }
    yield Documents(tenant_id=tenant, policy=MemoryPolicy(**kept), faq=MemoryPolicy(**kept, name="faq"), _engine=engine)


async def test_terms_of_every_version_that_can_govern_are_stated(documents: Documents) -> None:
    found = await documents.ask(
        documents.policy, "refund.window_days", topic="refund", dates={"order.purchased_at": PURCHASED}
    )

    windows = [(str(e.locator), e.value, e.authority) for e in found if e.need == "refund.window_days"]
    # In force at purchase (2024) and at the question (2025), their neighbours, and the nearest with another value.
    assert windows == [
        ("refund@2023-01-01#window", 60, "corporate"),
        ("refund@2024-01-01#window", 30, "corporate"),
        ("refund@2025-01-01#window", 14, "corporate"),
        ("refund@2026-01-01#window", 14, "corporate"),
        ("refund@2027-01-01#window", 7, "corporate"),
        ("refund-faq@2020-01-01#window", 45, "faq"),
    ]


async def test_rules_come_with_the_terms(documents: Documents) -> None:
    found = await documents.ask(documents.policy, "refund.window_days", topic="refund")

    rules = {e.term.rule for e in found if e.need == "refund.eligible" and e.term is not None}
    assert rules == {"days_since(order.purchased_at) <= refund.window_days"}
    assert all(e.value is None and e.quote for e in found if e.need == "refund.eligible")


async def test_policy_searches_all_ranks_but_faq(documents: Documents) -> None:
    found = await documents.ask(documents.policy, "passages", text="Can annual plans be returned?")

    assert {(e.locator.document, e.locator.version) for e in found} == {
        ("refund", "2025-01-01"),
        ("shipping", "2020-01-01"),
    }
    assert found[0].quote == "Annual plans can be returned within 14 days of purchase."
    assert all(e.need == "passages" and e.found_by == ("words",) and e.score for e in found)


async def test_faq_searches_its_rank_alone(documents: Documents) -> None:
    found = await documents.ask(documents.faq, "passages", text="Can annual plans be returned?")

    assert [(e.source, str(e.locator), e.authority) for e in found] == [("faq", "refund-faq@2020-01-01#window", "faq")]


async def test_topic_and_date_limit_the_search(documents: Documents) -> None:
    asked: dict[str, Any] = {"text": "annual plans", "topic": "refund", "as_of": PURCHASED}

    found = await documents.ask(documents.policy, "passages", **asked)

    assert {str(e.locator) for e in found} == {"refund@2024-01-01#window"}


async def test_question_in_terms_of_the_documents_is_searched_too(documents: Documents) -> None:
    asked: dict[str, Any] = {"text": "zyzzyva", "topic": "refund", "as_of": PURCHASED}

    found = await documents.ask(documents.policy, "passages", **asked, glossed=("the of", "annual plans"))

    assert {str(e.locator) for e in found} == {"refund@2024-01-01#window"}


async def test_staff_clauses_are_for_staff(documents: Documents) -> None:
    asked: dict[str, Any] = {"text": "plans bought by phone", "topic": "refund"}

    public = await documents.ask(documents.policy, "passages", **asked)
    staff = await documents.ask(documents.policy, "passages", audiences=("public", "staff"), **asked)
    nobody = await documents.ask(documents.policy, "passages", "refund.window_days", audiences=(), **asked)

    assert "refund-phone" not in {e.locator.document for e in public}
    assert "refund-phone" in {e.locator.document for e in staff}
    assert nobody == []


async def test_other_tenants_scope_finds_nothing(documents: Documents) -> None:
    asked: dict[str, Any] = {"text": "annual plans", "topic": "refund", "tenant_id": OTHER_TENANT}

    assert await documents.ask(documents.policy, "passages", "refund.window_days", **asked) == []
    assert await documents.ask(documents.faq, "passages", **asked) == []


@pytest.mark.parametrize("text", ["", "   ", "the of and", "zyzzyva", "' OR 1=1 --", "\0", "\ud800"])
async def test_text_without_known_words_finds_nothing(documents: Documents, text: str) -> None:
    assert await documents.ask(documents.policy, "passages", text=text) == []


async def test_unknown_topic_has_no_terms(documents: Documents) -> None:
    assert await documents.ask(documents.policy, "refund.window_days", topic="pets\0") == []


async def test_evidence_is_the_same_each_time(documents: Documents) -> None:
    asked: dict[str, Any] = {"topic": "refund", "text": "annual plans", "dates": {"order.purchased_at": PURCHASED}}
    first = await documents.ask(documents.policy, "refund.window_days", "passages", **asked)

    again = await documents.ask(documents.policy, "refund.window_days", "passages", **asked)

    assert again == first
    assert len({e.key for e in first}) == len(first)
    assert (first[0].locator.document, first[0].key[:8]) == ("refund", "63f13b92")


async def test_slow_store_is_unavailable_in_time(documents: Documents, database: Database) -> None:
    if isinstance(documents.policy, MemoryPolicy):
        pytest.skip("memory answers at once")
    async with await psycopg.AsyncConnection.connect(database.admin_url) as other:
        await other.execute(sql.SQL("LOCK TABLE policy_versions IN ACCESS EXCLUSIVE MODE"))

        for connector in (documents.policy, documents.faq):
            with pytest.raises(SourceUnavailableError):
                await documents.ask(connector, "passages", text="annual plans", timeout_s=0.2)

        await other.rollback()


def _clauses(document: PolicyDocument, version: PolicyVersion) -> list[tuple[Any, Clause]]:
    return [
        (
            clause,
            Clause(
                version=version,
                anchor=clause.anchor,
                heading=clause.heading,
                lines=clause.lines,
                valid=version.valid,
                effect=clause.effect,
                audience=clause.audience,
                applies_to=clause.applies_to,
            ),
        )
        for clause in document.clauses
    ]


def _terms(document: PolicyDocument, version: PolicyVersion) -> list[Term]:
    return [
        Term(
            name=term.name,
            clause=clause,
            value=term.value,
            rule=term.rule,
            better=term.better,
            quote=term.quote,
            lines=term.lines,
        )
        for written_clause, clause in _clauses(document, version)
        for term in written_clause.terms
    ]


def _passages(document: PolicyDocument, version: PolicyVersion) -> list[PassageHit]:
    return [
        PassageHit(
            clause=clause,
            text=passage.text,
            kind=passage.kind,
            table_header=None,
            lines=passage.lines,
            score=0.0,
            found_by=(),
            words=None,
            similarity=None,
        )
        for written_clause, clause in _clauses(document, version)
        for passage in written_clause.passages
    ]
