"""Publishing: from documents to recordings, one in force at a time, history kept.

A policy's timeline is written as a whole. What differs from the present recordings is recorded anew from one instant
on, and what it replaces is closed at that instant; what does not differ is left alone, so publishing twice changes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, LiteralString
from uuid import UUID, uuid4, uuid5

import orjson
import psycopg

from policies.contents import add_contents
from policies.errors import PolicyStateError
from policies.events import Action, Event, record
from policies.session import TenantSession
from policies.superseding import Entry, check_withdrawal, given_entry, timelines, without_given_ends
from policies.version import Period

if TYPE_CHECKING:
    from policies.document import PolicyDocument
    from policies.embedding import Embedders

#: The approval of what came in bulk, which no second person looked at.
IMPORTED: Final = "imported"

# In sorted order, so that two writers of the same policies wait for each other and never in a circle.
_LOCK: Final[LiteralString] = """
select pg_advisory_xact_lock(hashtextextended(%(tenant)s::text || ' ' || name, 0))
from unnest(%(policies)s::text[]) as name
"""
# After the lock, in a statement of its own: only now are the recordings of the writer before us visible.
_PRESENT: Final[LiteralString] = """
select v.policy_id, v.version, v.recording_id, v.document_id, v.valid_from, v.valid_to, d.attributes->>'ends', v.topic,
       v.audience, v.authority, v.withdrawn, v.recorded_by, v.recorded_from
from policy_versions v
join policy_documents d on d.tenant_id = v.tenant_id and d.document_id = v.document_id
where v.tenant_id = %(tenant)s and v.policy_id = any(%(policies)s) and v.recorded_to is null
"""
# A version that was withdrawn before it began has recordings, but none that stands.
_CANCELLED: Final[LiteralString] = """
select policy_id, version from policy_versions
where tenant_id = %(tenant)s and policy_id = any(%(policies)s)
group by 1, 2 having bool_and(recorded_to is not null)
"""
# Two recordings of one policy never begin at one instant, and no period of record is empty or inverted, even where an
# older transaction comes second or one transaction publishes twice.
_INSTANT: Final[LiteralString] = """
select greatest(clock_timestamp(), max(greatest(recorded_from, recorded_to)) + interval '1 microsecond')
from policy_versions where tenant_id = %(tenant)s and policy_id = any(%(policies)s)
"""
_NOW: Final[LiteralString] = "select clock_timestamp()"
_CLOSE: Final[LiteralString] = """
update policy_versions set recorded_to = %(instant)s
where tenant_id = %(tenant)s and policy_id = any(%(policies)s) and recording_id = any(%(recordings)s)
"""
_ADD_POLICIES: Final[LiteralString] = """
insert into policies (tenant_id, topic, policy_id)
select %(tenant)s, topic, policy_id from unnest(%(topics)s::text[], %(policies)s::text[]) as p (topic, policy_id)
on conflict do nothing
"""
_RECORD: Final[LiteralString] = """
insert into policy_versions (tenant_id, recording_id, topic, policy_id, version, document_id, audience, authority,
                             valid_from, valid_to, withdrawn, recorded_from, approval, recorded_by)
select %(tenant)s, r.recording_id, r.topic, r.policy_id, r.version, r.document_id, r.audience, r.authority,
       r.valid_from, r.valid_to, r.withdrawn, %(instant)s, %(approval)s, %(by)s
from jsonb_to_recordset(%(rows)s::jsonb) as r (
    recording_id uuid, topic text, policy_id text, version text, document_id uuid, audience text, authority text,
    valid_from timestamptz, valid_to timestamptz, withdrawn boolean)
"""
_FORGET_CHANGES: Final[LiteralString] = """
delete from policy_term_changes where tenant_id = %(tenant)s and policy_id = any(%(policies)s)
"""
# Only versions that state the term are compared: one without it has no other value.
_ADD_CHANGES: Final[LiteralString] = """
with stated as (
    select v.policy_id, a.audience, t.name as term, v.valid_from,
           md5(string_agg(concat(t.value, ' ', t.rule, ' ',
                   jsonb_build_array(c.regions, c.plans, c.plan_versions, c.channels, c.segments, c.accounts)),
               '; ' order by t.value, t.rule, c.regions, c.position)) as said
    from policy_versions v
    join policy_terms t on t.tenant_id = v.tenant_id and t.document_id = v.document_id
    join policy_clauses c on c.tenant_id = t.tenant_id and c.document_id = t.document_id
                         and c.position = t.clause_position
    join (values ('public'), ('staff')) as a (audience)
         on a.audience = 'staff' or (v.audience = 'public' and c.audience = 'public')
    where v.tenant_id = %(tenant)s and v.policy_id = any(%(policies)s) and v.recorded_to is null
    group by 1, 2, 3, 4
), compared as (
    select *, lag(said) over w as previously_said, lag(valid_from) over w as previous_from
    from stated window w as (partition by policy_id, audience, term order by valid_from)
)
insert into policy_term_changes (tenant_id, policy_id, audience, term, valid_from, previous_from)
select %(tenant)s, policy_id, audience, term, valid_from, previous_from from compared where said <> previously_said
"""
_BUMP: Final[LiteralString] = """
update tenants set revision = revision + 1 where tenant_id = %(tenant)s returning revision
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What a publish did, as `policy@version`."""

    #: Versions that the store did not have.
    added: tuple[str, ...]
    #: Versions that it had with another text, or another period; a predecessor that was closed is one.
    corrected: tuple[str, ...]
    unchanged: tuple[str, ...]
    #: Versions that were given and left out: they were withdrawn before they began, and stay so.
    left_withdrawn: tuple[str, ...] = ()
    #: Of those corrected, the versions whose text stays and whose period alone is another, with that period.
    other_periods: tuple[tuple[str, Period], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What publishing some documents comes to, before anything is written."""

    present: Mapping[tuple[str, str], Entry]
    contents: Mapping[UUID, PolicyDocument]
    given: Sequence[Entry]
    changed: Sequence[Entry]
    publication: Publication


async def publish(
    session: TenantSession,
    documents: Iterable[PolicyDocument],
    *,
    approval: str,
    by: str,
    why: str | None = None,
    embedder: Embedders | None = None,
) -> Publication:
    """Publish `documents`, all or none; other versions of their policies stay.

    A version that the store has with other content is corrected: the store keeps what it held, and since when not.

    Args:
        session: A session of the tenant, in read-committed isolation.
        documents: Versions of any policies, in any order.
        approval: Who or what approved them, e.g. `imported`.
        by: Who publishes.
        why: Their reason, for the log.
        embedder: Gives new passages their vectors; None: they are found by words alone.

    Raises:
        PolicyOverlapError: Two versions of one policy would be in force at once.
        PolicyStateError: The same version is given twice.
    """
    plan = await _plan(session, documents)
    if plan.changed:
        new = {entry.document_id for entry in plan.changed} & plan.contents.keys()
        await add_contents(session, {key: plan.contents[key] for key in sorted(new)}, embedder=embedder)
        await _record(session, plan.changed, plan.present, approval=approval, by=by)
        await record(session, _events(plan, approval=approval, by=by, why=why))
    return plan.publication


async def planned(session: TenantSession, documents: Iterable[PolicyDocument]) -> Publication:
    """What `publish` would do with `documents`; nothing is written, and no other writer of their policies comes first.

    Raises:
        PolicyOverlapError, PolicyStateError: As `publish`.
    """
    return (await _plan(session, documents)).publication


async def _plan(session: TenantSession, documents: Iterable[PolicyDocument]) -> _Plan:
    wanted = sorted(documents, key=lambda document: (document.policy, document.valid.start, document.version))
    policies = sorted({document.policy for document in wanted})
    present = await _locked(session, policies)
    cancelled = {(row[0], row[1]) for row in await session.fetch(_CANCELLED, _of(session, policies))}
    contents = {
        _document_id(session.tenant_id, document): document
        for document in without_given_ends(wanted)
        if (document.policy, document.version) not in cancelled
    }
    given = [given_entry(document_id, document, present) for document_id, document in contents.items()]
    changed = [entry for entry in timelines(given, present) if not entry.is_said_by(present.get(entry.key))]
    touched = {entry.key for entry in changed}
    publication = Publication(
        added=tuple(entry.name for entry in changed if entry.key not in present),
        corrected=tuple(entry.name for entry in changed if entry.key in present),
        unchanged=tuple(entry.name for entry in given if entry.key not in touched),
        left_withdrawn=tuple(document.name for document in wanted if (document.policy, document.version) in cancelled),
        other_periods=tuple(
            (entry.name, Period(start=entry.start, end=entry.end))
            for entry in changed
            if (held := present.get(entry.key)) is not None and held.document_id == entry.document_id
        ),
    )
    return _Plan(present=present, contents=contents, given=given, changed=changed, publication=publication)


async def withdraw(
    session: TenantSession, policy: str, version: str, *, from_: datetime, approval: str, by: str
) -> None:
    """End a published version at `from_`, without a successor; what was before it does not come back.

    A version that has not begun by the database's clock, withdrawn from its start or earlier, never governs, and the
    version before it goes on.

    Args:
        session: A session of the tenant, in read-committed isolation.
        policy: Its policy.
        version: The version.
        from_: The instant from which it no longer governs.
        approval: Who approved it.
        by: Who carries it out.

    Raises:
        PolicyStateError: It is not published, has ended by then, or would never have governed though it did.
    """
    present = await _locked(session, [policy])
    entry = present.get((policy, version))
    if entry is None:
        raise not_published(policy, version)
    valid = Period(start=entry.start, end=entry.end)
    check_withdrawal(policy, version, valid, from_=from_, now=await clock(session))
    if from_ > entry.start:
        remaining = {**present, entry.key: replace(entry, own_end=from_, end=from_, withdrawn=True)}
    else:
        remaining = {key: other for key, other in present.items() if key != entry.key}
    changed = [other for other in timelines((), remaining) if not other.is_said_by(present.get(other.key))]
    await _record(session, changed, present, approval=approval, by=by, ended=[entry])


def not_published(policy: str, version: str) -> PolicyStateError:
    """What is said of a version that would have to be published."""
    return PolicyStateError(policy, version, problem="it is not published", remedy="`policy list` shows what is")


async def lock(session: TenantSession, policies: Sequence[str]) -> None:
    """Hold `policies` until the transaction ends; whoever else would change them takes their turn."""
    await session.fetch(_LOCK, _of(session, policies))


async def clock(session: TenantSession) -> datetime:
    """The database's present: what has begun and what lies ahead goes by it."""
    present: datetime = (await session.fetch(_NOW, {}))[0][0]
    return present


async def _locked(session: TenantSession, policies: Sequence[str]) -> Mapping[tuple[str, str], Entry]:
    """The recordings that stand, once no other writer of these policies is at work."""
    await lock(session, policies)
    return {(row[0], row[1]): _present_entry(row) for row in await session.fetch(_PRESENT, _of(session, policies))}


def _of(session: TenantSession, policies: Sequence[str]) -> dict[str, Any]:
    return {"tenant": session.tenant_id, "policies": list(policies)}


def _present_entry(row: Sequence[Any]) -> Entry:
    policy, version, recording_id, document_id, start, end, own_end, topic, audience, authority, withdrawn, by, at = row
    ends = end if withdrawn else None if own_end is None else datetime.fromisoformat(own_end)
    return Entry(
        policy=policy,
        version=version,
        topic=topic,
        audience=audience,
        authority=authority,
        document_id=document_id,
        start=start,
        end=end,
        own_end=ends,
        withdrawn=withdrawn,
        recording_id=recording_id,
        recorded=f"{version!r} was published by {by!r} at {at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC",
    )


def _document_id(tenant_id: UUID, document: PolicyDocument) -> UUID:
    return uuid5(tenant_id, f"{document.name} {document.fingerprint}")


def _events(plan: _Plan, *, approval: str, by: str, why: str | None) -> Iterator[Event]:
    """What the log tells of a publish: the versions that were given, not those that they closed."""
    named = {entry.key for entry in plan.given}
    for entry in plan.changed:
        if entry.key in named:
            action: Action = "corrected" if entry.key in plan.present else "published"
            details = {"approval": approval, "effective_from": entry.start.isoformat()}
            yield Event(
                policy=entry.policy,
                version=entry.version,
                action="imported" if approval == IMPORTED and action == "published" else action,
                person=by,
                why=why,
                details=details,
            )


async def _record(
    session: TenantSession,
    changed: Sequence[Entry],
    present: Mapping[tuple[str, str], Entry],
    *,
    approval: str,
    by: str,
    ended: Sequence[Entry] = (),
) -> None:
    """Record `changed` and close what it replaces, and `ended`, all at one instant."""
    touched = (*changed, *ended)
    parameters = _of(session, sorted({entry.policy for entry in touched}))
    instant = (await session.fetch(_INSTANT, parameters))[0][0]
    keys = dict.fromkeys(entry.key for entry in touched)
    replaced = [old.recording_id for key in keys if (old := present.get(key)) is not None]
    topics = sorted({(entry.topic, entry.policy) for entry in changed})
    tenant = {"tenant": session.tenant_id}
    await session.fetch(
        _ADD_POLICIES, {**tenant, "topics": [topic for topic, _ in topics], "policies": [name for _, name in topics]}
    )
    # Closed first: the constraint that lets one version be in force looks at each row as it comes.
    await session.fetch(_CLOSE, {**parameters, "recordings": replaced, "instant": instant})
    rows = orjson.dumps([_row(entry) for entry in changed]).decode()
    try:
        await session.fetch(_RECORD, {**tenant, "rows": rows, "instant": instant, "approval": approval, "by": by})
    except psycopg.errors.ExclusionViolation as error:
        # Only rows that were written around the lock can be met here.
        first = changed[0]
        raise PolicyStateError(
            first.policy,
            first.version,
            problem="another writer has recorded an overlapping version",
            remedy="publish again",
        ) from error
    await session.fetch(_FORGET_CHANGES, parameters)
    await session.fetch(_ADD_CHANGES, parameters)
    await session.fetch(_BUMP, tenant)


def _row(entry: Entry) -> dict[str, Any]:
    return {
        "recording_id": uuid4(),
        "topic": entry.topic,
        "policy_id": entry.policy,
        "version": entry.version,
        "document_id": entry.document_id,
        "audience": entry.audience,
        "authority": entry.authority,
        "valid_from": entry.start,
        "valid_to": entry.end,
        "withdrawn": entry.withdrawn,
    }
