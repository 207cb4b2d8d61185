"""The glossary of a tenant, as the application role keeps it."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from policies import store
from policies.session import TenantSession
from support_agent.administration.glossary import in_force
from support_agent.domain.glossary import GlossaryEntry
from support_agent.storage import glossary, tenants
from support_agent.storage.tenancy import open_session
from tests.integration.policies.written import written

CASH_BACK = GlossaryEntry(says="cash back", means="refund", language="en")
MOOLAH = GlossaryEntry(says="薅羊毛", means="优惠")
JUNE = datetime(2025, 6, 1, tzinfo=UTC)


async def test_what_was_removed_keeps_who_and_when(session: TenantSession) -> None:
    await glossary.add(session, CASH_BACK, by="ada")
    await glossary.add(session, MOOLAH, by="ada")
    await glossary.remove(session, CASH_BACK, by="bob")
    await glossary.add(session, CASH_BACK, by="eve")

    now, ever = [await glossary.entries(session, removed=removed) for removed in (False, True)]
    assert [(one.entry, one.added_by) for one in now] == [(MOOLAH, "ada"), (CASH_BACK, "eve")]
    assert [(one.entry, one.removed_by) for one in ever] == [(CASH_BACK, "bob"), (MOOLAH, None), (CASH_BACK, None)]
    assert ever[0].removed_at is not None
    assert ever[0].added_at <= ever[0].removed_at


async def test_question_loads_the_glossary_with_the_settings(session: TenantSession) -> None:
    await glossary.add(session, MOOLAH, by="ada")
    await glossary.add(session, CASH_BACK, by="ada")
    before = session.n_statements
    stored = await tenants.load(session)

    assert stored is not None
    assert stored.glossary == (MOOLAH, CASH_BACK)
    assert session.n_statements - before == 1


async def test_every_change_is_a_new_revision(session: TenantSession) -> None:
    before = await tenants.revision(session)
    await glossary.hold(session)

    assert before is not None
    assert await tenants.revision(session) == before + 1


async def test_no_other_tenant_sees_or_ends_an_entry(engine: AsyncEngine, tenant: UUID, session: TenantSession) -> None:
    async with open_session(engine, tenant) as theirs:
        await glossary.add(theirs, CASH_BACK, by="ada")
    # What a query would do that forgets its filter.
    seen = await session.fetch("select 1 from glossary_entries", {})
    await session.fetch("update glossary_entries set removed_by = 'eve', removed_at = now()", {})

    assert seen == []
    async with open_session(engine, tenant) as theirs:
        assert [one.entry for one in await glossary.entries(theirs)] == [CASH_BACK]


async def test_entry_stands_once(session: TenantSession) -> None:
    await glossary.add(session, CASH_BACK, by="ada")

    with pytest.raises(psycopg.errors.UniqueViolation):
        await glossary.add(session, CASH_BACK, by="bob")


async def test_what_has_ended_is_not_ended_again(session: TenantSession) -> None:
    await glossary.add(session, CASH_BACK, by="ada")
    await glossary.remove(session, CASH_BACK, by="bob")

    with pytest.raises(psycopg.errors.RestrictViolation):
        await session.fetch("update glossary_entries set removed_by = 'eve', removed_at = now()", {})


@pytest.mark.parametrize(
    "statement",
    [
        "update glossary_entries set says = 'other'",
        "delete from glossary_entries",
        """
        insert into glossary_entries (tenant_id, says, means, language, added_by)
        values ('00000000-0000-0000-0000-000000000001', 'a', 'b', 'en', 'eve')
        """,
    ],
    ids=["rewrite", "delete", "another tenant's"],
)
async def test_application_may_not(session: TenantSession, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await session.psycopg.execute(statement.encode())


async def test_term_is_in_force_word_for_word_and_in_time(session: TenantSession) -> None:
    documents = [
        written("2025-01-01", body="## Refund window {#window}\nPlans can be returned within 30 days.\n"),
        written("2025-09-01", body="## 退款期限 {#window}\n套餐可在购买后三十天内退还。\n"),
    ]
    await store.publish(session, documents, approval="imported", by="ada")
    phrases = ["refund windows", "plans returned", "refund", "购买后三十天", "退还购买"]

    in_june = await in_force(session, phrases, on=JUNE)
    in_october = await in_force(session, phrases, on=JUNE.replace(month=10))

    assert in_june == {"refund windows", "refund"}
    assert in_october == {"购买后三十天"}
