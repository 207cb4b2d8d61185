"""What a question reads of the store: the versions of a topic that can govern, and their terms, in one statement.

Its cost does not grow with the number of versions: each one needed is found as the newest or oldest start beyond a
date, and the nearest version with another value of a term by `policy_term_changes`. A recording's content never
changes, so it is built once a process; later questions read which recordings are meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, LiteralString
from uuid import UUID

from policies.rows import N_CLAUSE_COLUMNS, VERSION_COLUMNS, read_clause, read_term, read_version
from policies.session import TenantSession
from policies.terms import Term
from policies.version import Audience, Period, PolicyVersion, instant_period

#: Recordings kept in memory, of all tenants.
MAX_KEPT: Final = 8_192
_NO_END: Final = datetime(9000, 1, 1, tzinfo=UTC)

#: The recordings of one policy as they are now and as the question may see them.
_CURRENT: Final[LiteralString] = """
    from policy_versions v
    where v.tenant_id = %(tenant)s and v.policy_id = e.policy_id and v.recorded_to is null
      and v.topic = %(topic)s and v.audience = any(%(audiences)s)"""
_CHANGE: Final[LiteralString] = """
    from policy_term_changes c
    where c.tenant_id = %(tenant)s and c.policy_id = e.policy_id and c.audience = %(audience)s and c.term = n.term"""

# `first`: start of the version in force at the start of a date's period, or of the last one before it. `last`: start of
# the last version that begins before the period ends.
_TIMELINE: Final[LiteralString] = f"""
with dated as materialized (
    select e.policy_id, d.starts, d.ends,
           (select v.valid_from {_CURRENT} and v.valid_from <= d.starts order by v.valid_from desc limit 1) as first,
           (select v.valid_from {_CURRENT} and v.valid_from < d.ends order by v.valid_from desc limit 1) as last
    from policies e cross join unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) as d (starts, ends)
    where e.tenant_id = %(tenant)s and e.topic = %(topic)s
),
-- Not where it is compared: `coalesce` may leak what row-level security hides, so no index would be asked with it.
e as materialized (select *, coalesce(first, starts) as earliest from dated),
meant (policy_id, valid_from) as (
    select e.policy_id, v.valid_from
    from e cross join lateral (
        select v.valid_from {_CURRENT} and v.valid_from between e.earliest and e.last
        -- Here and below: a look-up by index for each row, whatever the planner believes of the number of rows.
        offset 0
    ) v
    union
    select e.policy_id, (select v.valid_from {_CURRENT} and v.valid_from < e.first order by v.valid_from desc limit 1)
    from e
    union
    select e.policy_id, (select v.valid_from {_CURRENT} and v.valid_from >= e.ends order by v.valid_from limit 1)
    from e
    union
    select e.policy_id,
           (select c.previous_from {_CHANGE} and c.valid_from <= e.first order by c.valid_from desc limit 1)
    from e cross join unnest(%(needs)s::text[]) as n (term)
    union
    select e.policy_id, (select c.valid_from {_CHANGE} and c.valid_from > e.last order by c.valid_from limit 1)
    from e cross join unnest(%(needs)s::text[]) as n (term)
)
select v.recording_id, {VERSION_COLUMNS}, d.terms
from meant
cross join lateral (
    select * from policy_versions v
    where v.tenant_id = %(tenant)s and v.policy_id = meant.policy_id and v.valid_from = meant.valid_from
      and v.recorded_to is null and v.topic = %(topic)s and v.audience = any(%(audiences)s)
    offset 0
) v
left join lateral (
    select d.attributes, (
        select json_agg(json_build_array(
                   c.anchor, c.heading, c.line_start, c.line_end, c.valid_from, c.valid_to, c.effect, c.audience,
                   c.regions, c.plans, c.plan_versions, c.channels, c.segments, c.accounts,
                   t.name, t.value, t.rule, t.better, t.quote, t.line_start, t.line_end) order by t.position)
        from policy_terms t
        join policy_clauses c on c.tenant_id = %(tenant)s and c.document_id = t.document_id
                             and c.position = t.clause_position
        where t.tenant_id = %(tenant)s and t.document_id = d.document_id
    ) as terms
    from policy_documents d
    where not v.recording_id = any(%(known)s::uuid[]) and d.tenant_id = %(tenant)s and d.document_id = v.document_id
    offset 0
) d on true
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicTimeline:
    """The versions of a topic around some dates, by policy and start, and the terms that they hold.

    A policy with versions but none in force on a date shows the ones before and after the gap.
    """

    versions: tuple[PolicyVersion, ...]
    #: All terms of these versions, not only those asked for: rules use others.
    terms: tuple[Term, ...]


#: Tenant and topic -> what each recording that was read holds, by its id. A recording's content never changes, so the
#: statement only brings what is not here.
_kept: dict[tuple[UUID, str], dict[UUID, TopicTimeline]] = {}


async def timeline_of_topic(
    session: TenantSession,
    *,
    topic: str,
    needs: Iterable[str],
    dates: Mapping[str, Period],
    asked_at: datetime,
    audiences: Iterable[Audience],
) -> TopicTimeline:
    """The versions that can govern, and those that the record of a conflict shows beside them.

    Of each policy of the topic and each date: every version in force in the date's period, the nearest before and
    after, and for each need the nearest before and after with another value.

    Args:
        session: A session of the tenant.
        topic: The topic.
        needs: Names of the terms wanted.
        dates: Date fact -> the period it names.
        asked_at: When the question was asked; always one of the dates, for transitions.
        audiences: Whose clauses the question may see.
    """
    visible = frozenset(audiences)
    periods = {(period.start, period.end or _NO_END) for period in (*dates.values(), instant_period(asked_at))}
    starts, ends = zip(*sorted(periods), strict=True)
    parameters = {
        "tenant": session.tenant_id,
        "topic": topic,
        "needs": sorted(set(needs)),
        "audiences": sorted(visible),
        "audience": "staff" if "staff" in visible else "public",
        "starts": list(starts),
        "ends": list(ends),
    }
    known = _of_topic(session.tenant_id, topic)
    rows = await session.fetch(_TIMELINE, {**parameters, "known": list(known)})
    for recording_id, *columns, terms in rows:
        if recording_id not in known:
            known[recording_id] = _content(columns, terms or ())
    return _seen([known[row[0]] for row in rows], visible)


def _of_topic(tenant_id: UUID, topic: str) -> dict[UUID, TopicTimeline]:
    """What is kept of a topic; all of it is dropped when it has grown beyond bounds."""
    if sum(map(len, _kept.values())) > MAX_KEPT:
        _kept.clear()
    return _kept.setdefault((tenant_id, topic), {})


def _content(columns: Sequence[Any], terms: Iterable[Sequence[Any]]) -> TopicTimeline:
    version = read_version(columns)
    clauses = {}
    read = []
    for row in terms:
        anchor = row[0]
        if anchor not in clauses:
            clauses[anchor] = read_clause(_with_instants(row[:N_CLAUSE_COLUMNS]), version=version)
        clause = clauses[anchor]
        if clause is not None:
            read.append(read_term(row[N_CLAUSE_COLUMNS:], clause=clause))
    return TopicTimeline(versions=(version,), terms=tuple(read))


def _with_instants(row: Sequence[Any]) -> list[Any]:
    # JSON carries the two bounds as text.
    return [datetime.fromisoformat(value) if place in {4, 5} and value else value for place, value in enumerate(row)]


def _seen(recordings: Sequence[TopicTimeline], audiences: frozenset[Audience]) -> TopicTimeline:
    ordered = sorted(recordings, key=lambda one: (one.versions[0].policy, one.versions[0].valid.start))
    return TopicTimeline(
        versions=tuple(one.versions[0] for one in ordered),
        terms=tuple(term for one in ordered for term in one.terms if term.clause.audience in audiences),
    )
