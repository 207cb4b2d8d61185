"""Publishing: from documents to recordings, one in force at a time, history kept.

A policy's timeline is written as a whole: each version lasts to its own end, or else to the next version's start, so a
new version closes the one before it. What differs from the present recordings is recorded anew from one instant on, and
what it replaces is closed at that instant; what does not differ is left alone, so publishing twice changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, LiteralString
from uuid import UUID, uuid4, uuid5

import orjson
import psycopg

from policies.contents import add_contents
from policies.errors import PolicyOverlapError, PolicyStateError
from policies.events import Action, Event, record
from policies.session import TenantSession
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
class _Entry:
    """One version in a policy's timeline, present or to be."""

    policy: str
    version: str
    topic: str
    audience: str
    authority: str
    document_id: UUID
    start: datetime
    #: Its own end, by its document or by a withdrawal; None: until the next version.
    own_end: datetime | None
    end: datetime | None
    withdrawn: bool
    #: The recording that holds it now, and None where none does.
    recording_id: UUID | None = None
    #: Who made that recording, and when.
    recorded: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.policy, self.version

    @property
    def name(self) -> str:
        return f"{self.policy}@{self.version}"

    def is_said_by(self, other: _Entry | None) -> bool:
        return other is not None and (self.document_id, self.start, self.end, self.withdrawn) == (
            other.document_id,
            other.start,
            other.end,
            other.withdrawn,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What publishing some documents comes to, before anything is written."""

    parameters: Mapping[str, Any]
    present: Mapping[tuple[str, str], _Entry]
    contents: Mapping[UUID, PolicyDocument]
    given: Sequence[_Entry]
    changed: Sequence[_Entry]
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
        await _record(session, plan.changed, plan.present, plan.parameters, approval=approval, by=by)
        await record(session, _events(plan.given, plan.changed, plan.present, approval=approval, by=by, why=why))
    return plan.publication


async def planned(session: TenantSession, documents: Iterable[PolicyDocument]) -> Publication:
    """What `publish` would do with `documents`; nothing is written, and no other writer of their policies comes first.

    Raises:
        PolicyOverlapError, PolicyStateError: As `publish`.
    """
    return (await _plan(session, documents)).publication


async def _plan(session: TenantSession, documents: Iterable[PolicyDocument]) -> _Plan:
    wanted = sorted(documents, key=lambda document: (document.policy, document.valid.start, document.version))
    parameters = {"tenant": session.tenant_id, "policies": sorted({document.policy for document in wanted})}
    present = await _locked(session, parameters)
    cancelled = {(row[0], row[1]) for row in await session.fetch(_CANCELLED, parameters)}
    contents = {
        _document_id(session.tenant_id, document): document
        for document in _without_given_ends(wanted)
        if (document.policy, document.version) not in cancelled
    }
    given = [_given_entry(document_id, document, present) for document_id, document in contents.items()]
    changed = [entry for entry in _timelines(given, present) if not entry.is_said_by(present.get(entry.key))]
    left_out = (f"{document.policy}@{document.version}" for document in wanted)
    touched = {entry.key for entry in changed}
    publication = Publication(
        added=tuple(entry.name for entry in changed if entry.key not in present),
        corrected=tuple(entry.name for entry in changed if entry.key in present),
        unchanged=tuple(entry.name for entry in given if entry.key not in touched),
        left_withdrawn=tuple(name for name in left_out if tuple(name.split("@", 1)) in cancelled),
        other_periods=tuple(
            (entry.name, Period(start=entry.start, end=entry.end))
            for entry in changed
            if (held := present.get(entry.key)) is not None and held.document_id == entry.document_id
        ),
    )
    return _Plan(
        parameters=parameters, present=present, contents=contents, given=given, changed=changed, publication=publication
    )


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
    parameters = {"tenant": session.tenant_id, "policies": [policy]}
    present = await _locked(session, parameters)
    entry = present.get((policy, version))
    if entry is None:
        raise PolicyStateError(policy, version, problem="it is not published", remedy="`policy list` shows what is")
    now = (await session.fetch(_NOW, {}))[0][0]
    check_withdrawal(policy, version, Period(start=entry.start, end=entry.end), from_=from_, now=now)
    if from_ > entry.start:
        remaining = {**present, entry.key: replace(entry, own_end=from_, end=from_, withdrawn=True)}
    else:
        remaining = {key: other for key, other in present.items() if key != entry.key}
    changed = [other for other in _timelines((), remaining) if not other.is_said_by(present.get(other.key))]
    await _record(session, changed, present, parameters, approval=approval, by=by, ended=[entry])


def check_withdrawal(policy: str, version: str, valid: Period, *, from_: datetime, now: datetime) -> None:
    """Refuse an end of a version that governs in `valid` which would change nothing, or what has been.

    Raises:
        PolicyStateError: It has ended by then, or would never have governed though it did.
    """
    if valid.end is not None and valid.end <= from_:
        raise PolicyStateError(policy, version, problem="it has ended by then", remedy="give an earlier date")
    if from_ <= valid.start <= now:
        raise PolicyStateError(
            policy,
            version,
            problem=f"it has governed since {valid.start.isoformat()}",
            remedy="withdraw it from a later date, or correct it",
        )


async def _locked(session: TenantSession, parameters: Mapping[str, Any]) -> Mapping[tuple[str, str], _Entry]:
    """The recordings that stand, once no other writer of these policies is at work."""
    await session.fetch(_LOCK, parameters)
    return {(row[0], row[1]): _present_entry(row) for row in await session.fetch(_PRESENT, parameters)}


def _present_entry(row: Sequence[Any]) -> _Entry:
    policy, version, recording_id, document_id, start, end, own_end, topic, audience, authority, withdrawn, by, at = row
    ends = end if withdrawn else None if own_end is None else datetime.fromisoformat(own_end)
    return _Entry(
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


def _without_given_ends(documents: Sequence[PolicyDocument]) -> list[PolicyDocument]:
    """An end at which the next version starts says nothing of its own: a version put between them moves it."""
    following = {
        id(before): after.valid.start for before, after in pairwise(documents) if before.policy == after.policy
    }
    return [
        document.ending(None)
        if document.valid.end is not None and document.valid.end == following.get(id(document))
        else document
        for document in documents
    ]


def _document_id(tenant_id: UUID, document: PolicyDocument) -> UUID:
    return uuid5(tenant_id, f"{document.policy}@{document.version} {document.fingerprint}")


def _given_entry(document_id: UUID, document: PolicyDocument, present: Mapping[tuple[str, str], _Entry]) -> _Entry:
    head = document.front_matter
    held = present.get((document.policy, document.version))
    # Publishing its text again does not undo a withdrawal.
    held_until = held.end if held is not None and held.withdrawn else None
    withdrawn_from = min((end for end in (document.withdrawn_from, held_until) if end is not None), default=None)
    end = min((end for end in (head.ends, withdrawn_from) if end is not None), default=None)
    if end is not None and end <= head.starts:
        raise PolicyStateError(
            document.policy,
            document.version,
            problem=f"it ends at {end.isoformat()}, before it would begin",
            remedy="give it an earlier start, or a new version another name",
        )
    return _Entry(
        policy=document.policy,
        version=document.version,
        topic=head.topic,
        audience=head.audience,
        authority=head.authority,
        document_id=document_id,
        start=head.starts,
        own_end=end,
        end=end,
        withdrawn=end is not None and end == withdrawn_from,
    )


def _timelines(given: Sequence[_Entry], present: Mapping[tuple[str, str], _Entry]) -> list[_Entry]:
    """The timelines of all policies as they are to be.

    Raises:
        PolicyOverlapError: Two versions would be in force at once.
        PolicyStateError: One version is given twice.
    """
    for key, n_given in Counter(entry.key for entry in given).items():
        if n_given > 1:
            raise PolicyStateError(*key, problem="it is given twice", remedy="give each version a name of its own")
    entries = {**present, **{entry.key: entry for entry in given}}
    ordered = sorted(entries.values(), key=lambda entry: (entry.policy, entry.start, entry.version))
    return [entry for _, timeline in groupby(ordered, key=attrgetter("policy")) for entry in _ended(list(timeline))]


def _ended(timeline: Sequence[_Entry]) -> Iterator[_Entry]:
    for entry, following in pairwise(timeline):
        if entry.start == following.start or (entry.own_end is not None and entry.own_end > following.start):
            published = entry.recorded or following.recorded
            raise PolicyOverlapError(entry.policy, entry.version, following.version, published=published)
        yield replace(entry, end=entry.own_end or following.start)
    yield replace(timeline[-1], end=timeline[-1].own_end)


def _events(
    given: Sequence[_Entry],
    changed: Sequence[_Entry],
    present: Mapping[tuple[str, str], _Entry],
    *,
    approval: str,
    by: str,
    why: str | None,
) -> Iterator[Event]:
    """What the log tells of a publish: the versions that were given, not those that they closed."""
    named = {entry.key for entry in given}
    for entry in changed:
        if entry.key in named:
            action: Action = "corrected" if entry.key in present else "published"
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
    changed: Sequence[_Entry],
    present: Mapping[tuple[str, str], _Entry],
    parameters: Mapping[str, Any],
    *,
    approval: str,
    by: str,
    ended: Sequence[_Entry] = (),
) -> None:
    """Record `changed` and close what it replaces, and `ended`, all at one instant."""
    instant = (await session.fetch(_INSTANT, parameters))[0][0]
    keys = dict.fromkeys(entry.key for entry in (*changed, *ended))
    replaced = [old.recording_id for key in keys if (old := present.get(key)) is not None]
    topics = sorted({(entry.topic, entry.policy) for entry in changed})
    rows = [
        {
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
        for entry in changed
    ]
    tenant = {"tenant": session.tenant_id}
    await session.fetch(
        _ADD_POLICIES, {**tenant, "topics": [topic for topic, _ in topics], "policies": [name for _, name in topics]}
    )
    # Closed first: the constraint that lets one version be in force looks at each row as it comes.
    await session.fetch(_CLOSE, {**parameters, "recordings": replaced, "instant": instant})
    try:
        await session.fetch(
            _RECORD, {**tenant, "rows": orjson.dumps(rows).decode(), "instant": instant, "approval": approval, "by": by}
        )
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
