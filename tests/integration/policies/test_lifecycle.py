"""Drafts, approvals, withdrawals and the log, against the real database as the application role."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from policies import drafts, lifecycle, store
from policies.document import PolicyDocument
from policies.drafts import Content, Draft, Kind
from policies.errors import PolicyOverlapError, PolicyStateError
from policies.events import events
from policies.session import TenantSession
from support_agent.storage.tenancy import open_session
from tests.integration.conftest import Database
from tests.integration.policies.written import window, written

JAN_1 = datetime(2025, 1, 1, tzinfo=UTC)
JUN_1 = datetime(2025, 6, 1, tzinfo=UTC)
DEC_1_2090 = datetime(2090, 12, 1, tzinfo=UTC)


async def submit(
    session: TenantSession, document: PolicyDocument, *, kind: Kind = "version", by: str = "ada", why: str = "needed"
) -> Draft:
    content = Content(why=why, text=document.text)
    return await lifecycle.submit(session, document, content=content, kind=kind, by=by)


async def carry_out(
    session: TenantSession, document: PolicyDocument | None, name: tuple[str, str], *, scheduled: bool = False
) -> lifecycle.Published:
    draft = await lifecycle.open_draft(session, *name)
    return await lifecycle.carry_out(session, draft, document, scheduled=scheduled, by="ada")


async def bring_out(
    session: TenantSession, document: PolicyDocument, *, kind: Kind = "version", scheduled: bool = False
) -> None:
    """Submitted by ada, approved by bob, published by ada."""
    await submit(session, document, kind=kind)
    await lifecycle.approve(session, document.policy, document.version, by="bob", why=None)
    await carry_out(session, document, (document.policy, document.version), scheduled=scheduled)


async def withdraw(session: TenantSession, version: str, *, start: datetime, scheduled: bool = False) -> None:
    content = Content(why="no longer", withdrawn_from=start)
    await lifecycle.submit_withdrawal(session, "refund", version, content=content, by="ada")
    await lifecycle.approve(session, "refund", version, by="bob", why=None)
    await carry_out(session, None, ("refund", version), scheduled=scheduled)


async def periods(session: TenantSession) -> dict[str, tuple[str, str | None]]:
    """Version -> first day and the day after its last."""
    return {
        one.version: (f"{one.valid.start:%Y-%m-%d}", f"{one.valid.end:%Y-%m-%d}" if one.valid.end else None)
        for one in await store.versions(session, "refund")
    }


async def test_approved_version_is_published_with_who_and_why(session: TenantSession) -> None:
    document = written("2025-01-01")

    await bring_out(session, document)

    held = await store.show(session, "refund", "2025-01-01")
    assert held is not None
    assert (held.approval, held.recorded_by) == ("bob", "ada")
    told = [(event.action, event.person, event.why) for event in await events(session, "refund")]
    assert told == [("submitted", "ada", "needed"), ("approved", "bob", None), ("published", "ada", "needed")]
    assert await drafts.drafts(session) == []
    assert [draft.state for draft in await drafts.drafts(session, closed=True)] == ["published"]


@pytest.mark.parametrize("name", ["ada", "Ada", " ADA ", "ａｄａ", "ada\u3000"], ids=ascii)
async def test_nobody_approves_their_own_change(name: str, session: TenantSession) -> None:
    await submit(session, written("2025-01-01"))

    with pytest.raises(PolicyStateError, match="nobody approves their own change"):
        await lifecycle.approve(session, "refund", "2025-01-01", by=name, why=None)


async def test_last_author_of_a_draft_is_its_author(session: TenantSession) -> None:
    await submit(session, written("2025-01-01"), by="ada")
    await submit(session, written("2025-01-01", body=window(14)), by="bob")

    with pytest.raises(PolicyStateError, match="nobody approves"):
        await lifecycle.approve(session, "refund", "2025-01-01", by="bob", why=None)


async def test_database_knows_the_second_person_too(session: TenantSession) -> None:
    draft = await submit(session, written("2025-01-01"))

    with pytest.raises(psycopg.errors.CheckViolation, match="second_person"):
        await session.fetch(
            "update policy_drafts set state = 'approved', reviewer = ' ADA'"
            " where tenant_id = %(t)s and draft_id = %(d)s",
            {"t": session.tenant_id, "d": draft.id},
        )


async def test_changed_text_needs_a_new_approval(session: TenantSession) -> None:
    await submit(session, written("2025-01-01"))
    await lifecycle.approve(session, "refund", "2025-01-01", by="bob", why=None)

    changed = written("2025-01-01", body=window(14))
    draft = await submit(session, changed)

    assert (draft.state, draft.reviewer) == ("in_review", None)
    with pytest.raises(PolicyStateError, match="in review and cannot be published"):
        await carry_out(session, changed, ("refund", "2025-01-01"))


async def test_approval_of_what_was_seen_only(session: TenantSession) -> None:
    seen = await submit(session, written("2025-01-01"))
    await submit(session, written("2025-01-01", body=window(14)))

    with pytest.raises(PolicyStateError, match="changed it meanwhile"):
        await lifecycle.approve(session, "refund", "2025-01-01", by="bob", why=None, seen=seen.content.sha256)


async def test_what_is_sent_back_comes_again(session: TenantSession) -> None:
    document = written("2025-01-01")
    await submit(session, document)

    returned = await lifecycle.send_back(session, "refund", "2025-01-01", by="bob", why="too short")

    assert returned.state == "draft"
    with pytest.raises(PolicyStateError, match="cannot be approved"):
        await lifecycle.approve(session, "refund", "2025-01-01", by="bob", why=None)
    assert (await submit(session, document)).state == "in_review"


async def test_discarded_draft_leaves_room_for_another_kind(session: TenantSession) -> None:
    await bring_out(session, written("2025-01-01"))
    content = Content(why="gone", withdrawn_from=JUN_1)
    await lifecycle.submit_withdrawal(session, "refund", "2025-01-01", content=content, by="ada")

    corrected = written("2025-01-01", body=window(14))
    with pytest.raises(PolicyStateError, match="has a withdrawal of it open"):
        await submit(session, corrected, kind="correction")
    await lifecycle.discard(session, "refund", "2025-01-01", by="ada", why=None)

    assert (await submit(session, corrected, kind="correction")).kind == "correction"


async def test_published_text_is_only_corrected(session: TenantSession) -> None:
    document = written("2025-01-01")
    await bring_out(session, document)

    with pytest.raises(PolicyStateError, match="published text never changes"):
        await submit(session, written("2025-01-01", body=window(14)))
    with pytest.raises(PolicyStateError, match="says what is published already"):
        await submit(session, document, kind="correction")
    with pytest.raises(PolicyStateError, match="is not published"):
        await submit(session, written("2025-06-01"), kind="correction")


async def test_correction_closes_one_recording_and_adds_another(session: TenantSession) -> None:
    await bring_out(session, written("2025-01-01"))
    (before,) = await store.versions(session, "refund")

    await bring_out(session, written("2025-01-01", body=window(14)), kind="correction")

    first, second = await store.recordings(session, "refund")
    assert first.version.recorded.end == second.version.recorded.start
    assert await store.versions(session, "refund", known_at=before.recorded.start) == [first.version]
    assert [event.action for event in await events(session, "refund")][-1] == "corrected"


async def test_rollback_is_a_new_version_and_leaves_history(session: TenantSession) -> None:
    old = written("2025-01-01")
    await bring_out(session, old)
    await bring_out(session, written("2025-03-01", body=window(14)))
    before = await store.recordings(session, "refund")

    await bring_out(session, written("2025-06-01"), kind="rollback")

    assert await periods(session) == {
        "2025-01-01": ("2025-01-01", "2025-03-01"),
        "2025-03-01": ("2025-03-01", "2025-06-01"),
        "2025-06-01": ("2025-06-01", None),
    }
    after = {(one.version.version, one.version.recorded.start) for one in await store.recordings(session, "refund")}
    assert {(one.version.version, one.version.recorded.start) for one in before} < after


async def test_publish_and_schedule_name_each_other(session: TenantSession) -> None:
    past, ahead = written("2025-01-01"), written("2090-12-01")
    for document in (past, ahead):
        await submit(session, document)
        await lifecycle.approve(session, "refund", document.version, by="bob", why=None)

    with pytest.raises(PolicyStateError, match="use `policy publish refund@2025-01-01`"):
        await carry_out(session, past, ("refund", "2025-01-01"), scheduled=True)
    with pytest.raises(PolicyStateError, match="use `policy schedule refund@2090-12-01`"):
        await carry_out(session, ahead, ("refund", "2090-12-01"), scheduled=False)


async def test_withdrawal_leaves_a_gap_that_later_versions_keep(session: TenantSession) -> None:
    await bring_out(session, written("2025-01-01"))
    await bring_out(session, written("2025-03-01", body=window(14)))

    await withdraw(session, "2025-03-01", start=JUN_1)
    assert await store.as_of(session, "refund", as_of=JUN_1) is None
    await bring_out(session, written("2025-09-01"))

    assert await periods(session) == {
        "2025-01-01": ("2025-01-01", "2025-03-01"),
        "2025-03-01": ("2025-03-01", "2025-06-01"),
        "2025-09-01": ("2025-09-01", None),
    }


async def test_import_does_not_undo_a_withdrawal(session: TenantSession) -> None:
    document = written("2025-03-01")
    await bring_out(session, document)
    await withdraw(session, "2025-03-01", start=JUN_1)

    publication = await store.publish(session, [document], approval="imported", by="import")

    assert publication.unchanged == ("refund@2025-03-01",)
    assert await periods(session) == {"2025-03-01": ("2025-03-01", "2025-06-01")}


async def test_version_withdrawn_before_it_begins_never_governs(session: TenantSession) -> None:
    await bring_out(session, written("2025-01-01"))
    ahead = written("2090-12-01", body=window(14))
    await bring_out(session, ahead, scheduled=True)

    await withdraw(session, "2090-12-01", start=DEC_1_2090, scheduled=True)

    assert await periods(session) == {"2025-01-01": ("2025-01-01", None)}
    publication = await store.publish(session, [ahead], approval="imported", by="import")
    assert publication.left_withdrawn == ("refund@2090-12-01",)
    assert await periods(session) == {"2025-01-01": ("2025-01-01", None)}
    with pytest.raises(PolicyStateError, match="withdrawn before it began"):
        await submit(session, ahead)


async def test_version_that_has_governed_is_not_made_never_to_have(session: TenantSession) -> None:
    await bring_out(session, written("2025-01-01"))

    with pytest.raises(PolicyStateError, match="it has governed since 2025-01-01"):
        await withdraw(session, "2025-01-01", start=JAN_1)


async def test_withdrawn_version_takes_no_correction(session: TenantSession) -> None:
    await bring_out(session, written("2025-01-01"))
    await withdraw(session, "2025-01-01", start=JUN_1)

    with pytest.raises(PolicyStateError, match="it is withdrawn"):
        await submit(session, written("2025-01-01", body=window(14)), kind="correction")


async def test_withdrawal_of_what_is_not_there_is_refused(session: TenantSession) -> None:
    content = Content(why="gone", withdrawn_from=JUN_1)

    with pytest.raises(PolicyStateError, match="is not published"):
        await lifecycle.submit_withdrawal(session, "refund", "2025-01-01", content=content, by="ada")


async def test_refused_step_leaves_no_event(engine: AsyncEngine, tenant: UUID) -> None:
    async with open_session(engine, tenant) as session:
        await submit(session, written("2025-01-01"))
    with pytest.raises(PolicyStateError):
        async with open_session(engine, tenant) as session:
            await lifecycle.approve(session, "refund", "2025-01-01", by="ada", why=None)

    async with open_session(engine, tenant) as session:
        assert [event.action for event in await events(session, "refund")] == ["submitted"]


@pytest.mark.parametrize(
    "statement",
    ["update policy_events set person = 'eve'", "delete from policy_events", "truncate policy_events"],
)
@pytest.mark.parametrize("role", ["application", "administrator"])
async def test_log_is_append_only_for_everybody(
    statement: str, role: str, database: Database, engine: AsyncEngine, tenant: UUID
) -> None:
    async with open_session(engine, tenant) as session:
        await submit(session, written("2025-01-01"))

    refusals = (psycopg.errors.InsufficientPrivilege, psycopg.errors.RestrictViolation)
    with psycopg.connect(database.url if role == "application" else database.admin_url) as connection:
        connection.execute("select set_config('app.tenant', %s, true)", [str(tenant)])
        with pytest.raises(refusals):
            connection.execute(statement)


async def test_one_of_two_who_publish_overlapping_versions_wins(engine: AsyncEngine, tenant: UUID) -> None:
    documents = [written(name, starts="2025-01-01", ends="2026-01-01") for name in ("a-2025", "b-2025")]
    async with open_session(engine, tenant) as session:
        for document in documents:
            await submit(session, document)
            await lifecycle.approve(session, "refund", document.version, by="bob", why=None)

    async def attempt(document: PolicyDocument) -> str:
        try:
            async with open_session(engine, tenant) as session:
                await carry_out(session, document, ("refund", document.version))
        except PolicyOverlapError as error:
            return str(error)
        return "published"

    outcomes = await asyncio.gather(*map(attempt, documents))

    assert sorted(outcome == "published" for outcome in outcomes) == [False, True]
    refusal = next(outcome for outcome in outcomes if outcome != "published")
    assert "in force together" in refusal
    assert "was published by 'ada' at" in refusal
    async with open_session(engine, tenant) as session:
        assert len(await store.versions(session, "refund")) == 1
        assert [event.action for event in await events(session, "refund")].count("published") == 1


async def test_one_of_two_who_publish_the_same_draft_wins(engine: AsyncEngine, tenant: UUID) -> None:
    document = written("2025-01-01")
    async with open_session(engine, tenant) as session:
        await submit(session, document)
        await lifecycle.approve(session, "refund", "2025-01-01", by="bob", why=None)

    async def attempt() -> bool:
        try:
            async with open_session(engine, tenant) as session:
                await carry_out(session, document, ("refund", "2025-01-01"))
        except PolicyStateError:
            return False
        return True

    assert sorted(await asyncio.gather(attempt(), attempt())) == [False, True]


async def test_two_who_submit_at_once_take_their_turns(engine: AsyncEngine, tenant: UUID) -> None:
    async def attempt(days: int) -> None:
        async with open_session(engine, tenant) as session:
            await submit(session, written("2025-01-01", body=window(days)), by=f"author {days}")

    await asyncio.gather(*map(attempt, range(10, 14)))

    async with open_session(engine, tenant) as session:
        assert len(await drafts.drafts(session)) == 1
        assert len(await events(session, "refund")) == 4


async def test_submit_and_publish_never_wait_in_a_circle(engine: AsyncEngine, tenant: UUID) -> None:
    """Both take the policy and then the draft; the one that holds the draft alone would wait for the other for ever."""
    document = written("2025-01-01")
    async with open_session(engine, tenant) as session:
        await submit(session, document)
        await lifecycle.approve(session, "refund", "2025-01-01", by="bob", why=None)
    async with open_session(engine, tenant) as holding:
        draft = await lifecycle.open_draft(holding, "refund", "2025-01-01")
        waiting = asyncio.create_task(_resubmitted(engine, tenant))
        await asyncio.sleep(0.3)

        await lifecycle.carry_out(holding, draft, document, scheduled=False, by="ada")

    with pytest.raises(PolicyStateError, match="published text never changes"):
        await waiting


async def _resubmitted(engine: AsyncEngine, tenant: UUID) -> None:
    async with open_session(engine, tenant) as session:
        await submit(session, written("2025-01-01", body=window(14)))


@pytest.mark.parametrize("start", [JAN_1, DEC_1_2090], ids=["never to have governed", "after its end"])
async def test_withdrawal_that_cannot_be_is_refused_at_once(start: datetime, session: TenantSession) -> None:
    await bring_out(session, written("2025-01-01", ends="2026-01-01"))
    content = Content(why="gone", withdrawn_from=start)

    with pytest.raises(PolicyStateError, match=r"it has (ended by then|governed since)"):
        await lifecycle.submit_withdrawal(session, "refund", "2025-01-01", content=content, by="ada")

    assert await drafts.drafts(session) == []


async def test_import_never_moves_a_version_past_its_withdrawal(session: TenantSession) -> None:
    await bring_out(session, written("v1", starts="2025-01-01"))
    await withdraw(session, "v1", start=JUN_1)

    with pytest.raises(PolicyStateError, match="before it would begin"):
        await store.publish(session, [written("v1", starts="2025-07-01")], approval="imported", by="import")


async def test_other_tenants_see_no_draft_and_no_event(engine: AsyncEngine, tenant: UUID) -> None:
    async with open_session(engine, tenant) as session:
        await submit(session, written("2025-01-01"))

    async with open_session(engine, UUID(int=tenant.int ^ 1)) as session:
        assert await drafts.drafts(session, closed=True) == []
        assert await events(session, "refund") == []


def test_content_hash_covers_everything() -> None:
    content = Content(why="w", text="t", sidecar="s", keys={"k": 1}, withdrawn_from=JAN_1)
    others = [
        replace(content, why="x"), replace(content, text="x"), replace(content, sidecar=None),
        replace(content, keys={"k": 2}), replace(content, withdrawn_from=JUN_1),
    ]  # fmt: skip

    assert len({content.sha256, *(other.sha256 for other in others)}) == 6
