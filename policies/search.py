"""Hybrid search over passages, in one statement: first who may see what when, then words and vectors on just that.

The scope (tenant, audience, in force on the date, applicability, topic, authority) is a list of rows that both arms run
on exactly; no approximate index is asked, so no near-equal version hides another. Words are looked up in a posting
table and ranked by BM25 within the scope; vectors by cosine distance; reciprocal ranks are summed. Sub-queries that end
in `offset 0` keep their access path, whatever the planner believes: prepared and fresh plans read the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, LiteralString

from policies.applicability import DIMENSIONS, RegionGroups, contains_region
from policies.contents import vector_text
from policies.rows import CLAUSE_COLUMNS, N_CLAUSE_COLUMNS, VERSION_COLUMNS, read_clause, read_version
from policies.session import TenantSession
from policies.version import Audience, Clause, Period

if TYPE_CHECKING:
    # Its module loads the Markdown parser, which no question needs.
    from policies.blocks import PassageKind

#: Tokens of a passage of usual length, its headings included: longer ones count less a token.
USUAL_LENGTH: Final = 40
#: Passages that each arm puts forward.
ARM_LIMIT: Final = 50

_NO_END: Final = datetime(9000, 1, 1, tzinfo=UTC)
_N_VERSION_COLUMNS: Final = 7

_NOW: Final[LiteralString] = "v.recorded_to is null"
_THEN: Final[LiteralString] = (
    "v.recorded_from <= %(known_at)s and (v.recorded_to is null or v.recorded_to > %(known_at)s)"
)


def _statement(known: LiteralString) -> LiteralString:
    of_policy: LiteralString = f"""
        select v.recording_id, v.document_id, v.policy_id, v.valid_from, v.valid_to, v.audience, v.authority, v.topic
        from policy_versions v
        where v.tenant_id = %(tenant)s and v.policy_id = p.policy_id and {known}"""
    limits: LiteralString = """
          and (c.regions is null or %(regions)s::text[] is null or c.regions && %(regions)s)
          and (c.plans is null or %(plans)s::text[] is null or c.plans && %(plans)s)
          and (c.plan_versions is null or %(plan_versions)s::text[] is null or c.plan_versions && %(plan_versions)s)
          and (c.channels is null or %(channels)s::text[] is null or c.channels && %(channels)s)
          and (c.segments is null or %(segments)s::text[] is null or c.segments && %(segments)s)
          and (c.accounts is null or %(accounts)s::text[] is null or c.accounts && %(accounts)s)"""
    return f"""
with versions as materialized (
    select v.recording_id, v.document_id, v.policy_id, v.valid_from, v.valid_to
    from (select distinct p.policy_id from policies p
          where p.tenant_id = %(tenant)s and (%(topic)s::text is null or p.topic = %(topic)s)) p
    cross join lateral (
        ({of_policy} and v.valid_from <= %(starts)s order by v.valid_from desc limit 1)
        union all
        ({of_policy} and v.valid_from > %(starts)s and v.valid_from < %(ends)s)
    ) v
    where (v.valid_to is null or v.valid_to > %(starts)s)
      and v.audience = any(%(audiences)s)
      and (%(topic)s::text is null or v.topic = %(topic)s)
      and (%(authorities)s::text[] is null or v.authority = any(%(authorities)s))
),
scope as materialized (
    select v.policy_id, v.valid_from as version_from, v.recording_id, v.document_id, r.*
    from versions v
    cross join lateral (
        select c.position as clause_position, p.position, p.line_start, p.text_id
        from policy_clauses c
        join policy_passages p on p.tenant_id = %(tenant)s and p.document_id = v.document_id
                              and p.clause_position = c.position
        where c.tenant_id = %(tenant)s and c.document_id = v.document_id
          and c.audience = any(%(audiences)s)
          and (c.valid_from is null or c.valid_from < %(ends)s)
          and (c.valid_to is null or c.valid_to > %(starts)s){limits}
        offset 0
    ) r
),
texts as materialized (select array_agg(distinct text_id) as ids from scope),
found as materialized (
    select o.token, o.text_id,
           o.tf * 2.2::float8
           / (o.tf + 1.2::float8 * (0.25::float8 + 0.75::float8 * o.n_tokens / {USUAL_LENGTH})) as weight
    from passage_postings o
    where o.tenant_id = %(tenant)s and o.token = any(%(tokens)s) and o.text_id = any((select ids from texts)::uuid[])
),
-- Here and below: a full join is never a nested loop, which a planner that knows no side's size would take.
by_text as (
    select f.text_id, round(sum(f.weight * r.rarity) * 1e6) / 1e6 as score
    from found f
    full join (
        select token,
               ln(1 + ((select cardinality(ids) from texts) - count(*) + 0.5)::float8 / (count(*) + 0.5)) as rarity
        from found group by token
    ) r on r.token = f.token
    group by f.text_id
),
words as (
    select s.policy_id, s.version_from, s.recording_id, s.document_id, s.clause_position, s.position, s.line_start,
           b.score
    from scope s full join by_text b on b.text_id = s.text_id
    where coalesce(b.score, 0) > 0
    order by b.score desc, s.policy_id collate "C", s.version_from, s.line_start, s.position limit {ARM_LIMIT}
),
near as materialized (
    select v.text_id, round((v.embedding <=> (select %(vector)s::text::halfvec)) * 1e6) / 1e6 as distance
    from passage_vectors v
    where %(vector)s::text is not null and v.tenant_id = %(tenant)s
      and v.text_id = any((select ids from texts)::uuid[])
),
vectors as (
    select s.policy_id, s.version_from, s.recording_id, s.document_id, s.clause_position, s.position, s.line_start,
           n.distance
    from scope s full join near n on n.text_id = s.text_id
    where coalesce(n.distance, -1) >= 0
    order by n.distance, s.policy_id collate "C", s.version_from, s.line_start, s.position limit {ARM_LIMIT}
),
best as (
    select policy_id, version_from, recording_id, document_id, clause_position, position, line_start,
           w.score, n.distance, round(coalesce(1.0 / (60 + w.place), 0) + coalesce(1.0 / (60 + n.place), 0), 9) as fused
    from (select *, rank() over (order by score desc) as place from words) w
    full join (select *, rank() over (order by distance) as place from vectors) n
         using (policy_id, version_from, recording_id, document_id, clause_position, position, line_start)
    order by fused desc, policy_id collate "C", version_from, line_start, position limit %(limit)s
)
select r.*, b.fused::float8, b.score::float8, b.distance::float8
from best b
cross join lateral (
    select {VERSION_COLUMNS}, {CLAUSE_COLUMNS}, p.text, p.kind, p.table_header, p.line_start, p.line_end
    from policy_versions v, policy_documents d, policy_clauses c, policy_passages p
    where v.tenant_id = %(tenant)s and v.policy_id = b.policy_id and v.valid_from = b.version_from
      and v.recording_id = b.recording_id
      and d.tenant_id = %(tenant)s and d.document_id = b.document_id
      and c.tenant_id = %(tenant)s and c.document_id = b.document_id and c.position = b.clause_position
      and p.tenant_id = %(tenant)s and p.document_id = b.document_id and p.clause_position = b.clause_position
      and p.position = b.position
    offset 0
) r
order by b.fused desc, b.policy_id collate "C", b.version_from, b.line_start, b.position
"""


_SEARCH_NOW: Final[LiteralString] = _statement(_NOW)
_SEARCH_THEN: Final[LiteralString] = _statement(_THEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageHit:
    """A passage that search found."""

    clause: Clause
    text: str
    kind: PassageKind
    #: Of a table row: the line that names its columns.
    table_header: str | None
    lines: tuple[int, int]
    #: Sum of reciprocal ranks; compares hits of one search only.
    score: float
    #: Which arms put it forward; a question in one language meets a passage in another by `vectors` alone.
    found_by: tuple[Literal["words", "vectors"], ...]
    #: BM25 within the scope; None where no word met.
    words: float | None
    #: Cosine similarity of question and passage; None without vectors.
    similarity: float | None


async def search(  # noqa: PLR0913 - each says whose passages, of when, and what for
    session: TenantSession,
    *,
    tokens: Sequence[str],
    vector: Sequence[float] | None,
    as_of: Period,
    audiences: Iterable[Audience],
    known: Mapping[str, str | None],
    groups: RegionGroups,
    topic: str | None = None,
    authorities: Iterable[str] | None = None,
    limit: int = 10,
    known_at: datetime | None = None,
) -> Sequence[PassageHit]:
    """The passages nearest to a question among those it may see that are in force in `as_of`, best first.

    Args:
        session: A session of the tenant.
        tokens: Of the question, by `policies.text.question_tokens`; a passage with any of them is found.
        vector: Of the question; None: words alone.
        as_of: When a passage must be in force, for a part of it.
        audiences: Whose passages; none: nothing is found.
        known: Applicability dimension -> what is known; an unknown one limits nothing.
        groups: The tenant's groups of regions.
        topic: Only policies of this topic.
        authorities: Only policies of these ranks.
        limit: Hits at most.
        known_at: As the store knew it then; None: as it stands.
    """
    parameters = {
        "tenant": session.tenant_id,
        "tokens": sorted(set(tokens)),
        "vector": None if vector is None else vector_text(vector),
        "starts": as_of.start,
        "ends": as_of.end or _NO_END,
        "audiences": sorted(audiences),
        "topic": topic,
        "authorities": None if authorities is None else sorted(authorities),
        "limit": limit,
        "known_at": known_at,
        **{name: _names(name, known.get(name), groups=groups, as_of=as_of) for name in DIMENSIONS},
    }
    rows = await session.fetch(_SEARCH_NOW if known_at is None else _SEARCH_THEN, parameters)
    return [hit for row in rows if (hit := _hit(row)) is not None]


def _names(dimension: str, value: str | None, *, groups: RegionGroups, as_of: Period) -> list[str] | None:
    """Every name by which a clause may say that it applies to `value` at some time in `as_of`."""
    if value is None:
        return None
    if dimension != "regions":
        return [value]
    instants = {as_of.start} | {
        instant
        for members in groups.values()
        for member in members
        for instant in (member.start, member.end)
        if instant is not None and as_of.contains(instant)
    }
    around = {
        name for name in groups if any(contains_region(name, value, groups=groups, on=instant) for instant in instants)
    }
    return sorted({value, value.partition("-")[0], *around})


def _hit(row: Sequence[Any]) -> PassageHit | None:
    version = read_version(row[:_N_VERSION_COLUMNS])
    clause = read_clause(row[_N_VERSION_COLUMNS : _N_VERSION_COLUMNS + N_CLAUSE_COLUMNS], version=version)
    if clause is None:
        return None
    text, kind, table_header, first, last, score, words, distance = row[_N_VERSION_COLUMNS + N_CLAUSE_COLUMNS :]
    found_by: list[Literal["words", "vectors"]] = []
    if words is not None:
        found_by.append("words")
    if distance is not None:
        found_by.append("vectors")
    return PassageHit(
        clause=clause,
        text=text,
        kind=kind,
        table_header=table_header,
        lines=(first, last),
        score=score,
        found_by=tuple(found_by),
        words=words,
        similarity=None if distance is None else 1 - distance,
    )
