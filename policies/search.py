"""Hybrid search over passages, in one statement: first who may see what when, then words and vectors on just that.

The scope (tenant, audience, in force on the date, applicability, topic, authority) is a list of rows that both arms run
on exactly; no approximate index is asked, so no near-equal version hides another. Words are looked up in a posting
table and ranked by BM25 within the scope, vectors by cosine distance; each arm ranks distinct texts, so that versions
that say the same do not push out others, and weighted reciprocal ranks are summed.

Sub-queries that end in `offset 0` keep their access path, whatever the planner believes, and a full join is never a
nested loop, which it would take where it knows no side's size (`coalesce` keeps it from seeing that less than a full
join would do): prepared and fresh plans read the same rows. A common table expression that is read twice is worked out
once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, LiteralString

from policies.applicability import DIMENSIONS, RegionGroups, contains_region
from policies.embedding import LOCAL, vector_text
from policies.rows import CLAUSE_COLUMNS, N_CLAUSE_COLUMNS, VERSION_COLUMNS, read_clause, read_version
from policies.session import TenantSession
from policies.version import Audience, Clause, Period, instant_period

if TYPE_CHECKING:
    # Its module loads the Markdown parser, which no question needs.
    from policies.blocks import PassageKind

#: BM25: how late further occurrences of a token stop counting, how much a passage's length counts, and how many tokens
#: one of usual length has, its headings included.
K1: Final = 1.2
B: Final = 0.75
USUAL_LENGTH: Final = 40
#: Reciprocal ranks: what each arm's count for, and how slowly they fall. Set by `tests/evals/tune_search.py`.
WORDS: Final = 1.5
VECTORS: Final = 1.0
DEPTH: Final = 10
#: Passages that each arm puts forward.
ARM_LIMIT: Final = 50

_NO_END: Final = datetime(9000, 1, 1, tzinfo=UTC)
_N_VERSION_COLUMNS: Final = 7

_NOW: Final[LiteralString] = "v.recorded_to is null"
_THEN: Final[LiteralString] = (
    "v.recorded_from <= %(known_at)s and (v.recorded_to is null or v.recorded_to > %(known_at)s)"
)


def _statement(known: str) -> LiteralString:
    of_policy = f"""
        select v.* from policy_versions v
        where v.tenant_id = %(tenant)s and v.policy_id = p.policy_id and {known}"""
    limits = " ".join(f"and coalesce(c.{name} && %({name})s::text[], true)" for name in DIMENSIONS)
    return _on_one_line(f"""
with versions as (
    select row_number() over (order by v.policy_id collate "C", v.valid_from) as place, v.*
    from (select distinct p.policy_id from policies p
          where p.tenant_id = %(tenant)s and coalesce(p.topic = %(topic)s, true)) p, lateral (
        ({of_policy} and v.valid_from <= %(starts)s order by v.valid_from desc limit 1)
        union all
        ({of_policy} and v.valid_from > %(starts)s and v.valid_from < %(ends)s and %(is_period)s)
    ) v
    where coalesce(v.valid_to > %(starts)s, true) and v.audience = any(%(audiences)s)
      and coalesce(v.topic = %(topic)s, true) and coalesce(v.authority = any(%(authorities)s::text[]), true)
),
scope as (
    select v.place as version, p.*
    from versions v, lateral (
        select p.clause_position as clause, p.position, p.line_start, p.text_id
        from policy_passages p
        where p.tenant_id = %(tenant)s and p.document_id = v.document_id
          and p.clause_position = any(array(
              select c.position
              from policy_clauses c
              where c.tenant_id = %(tenant)s and c.document_id = v.document_id and c.audience = any(%(audiences)s)
                and coalesce(c.valid_from < %(ends)s, true) and coalesce(c.valid_to > %(starts)s, true) {limits}))
        offset 0
    ) p
),
texts as (select array_agg(text_id order by text_id) as ids, count(*) as n from scope),
found as (
    select o.token, o.text_id,
           o.tf * {K1 + 1:g}::float8
           / (o.tf + {K1 * (1 - B):g}::float8 + {K1 * B / USUAL_LENGTH:g}::float8 * o.n_tokens) as weight
    from passage_postings o
    where o.tenant_id = %(tenant)s and o.token = any(%(tokens)s) and o.text_id = any((select ids from texts)::uuid[])
),
words as (
    select *, rank() over (order by score desc) as place
    from (select f.text_id, round(sum(f.weight * r.rarity) * 1e6) / 1e6 as score
          from found f
          full join (select token, ln(1 + ((select n from texts) - count(*) + 0.5)::float8 / (count(*) + 0.5)) as rarity
                     from found group by token) r on r.token = f.token
          group by f.text_id
          order by score desc, f.text_id limit {ARM_LIMIT}) b
),
vectors as (
    select *, rank() over (order by distance) as place
    from (select v.text_id, round((v.embedding <=> (select %(vector)s::text::halfvec)) * 1e6) / 1e6 as distance
          from passage_vectors v
          where %(vector)s::text is not null and v.tenant_id = %(tenant)s and v.model = %(model)s
            and v.text_id = any((select ids from texts)::uuid[])
          order by distance, v.text_id limit {ARM_LIMIT}) b
),
fused as (
    select text_id, w.score, n.distance,
           round(coalesce({WORDS} / ({DEPTH} + w.place), 0) + coalesce({VECTORS} / ({DEPTH} + n.place), 0), 9) as fused
    from words w full join vectors n using (text_id)
),
best as (
    select s.*, f.fused, f.score, f.distance
    from scope s full join fused f on f.text_id = s.text_id
    where coalesce(f.fused, 0) > 0
    order by f.fused desc, s.version, s.line_start, s.position limit %(limit)s
)
select r.*, b.fused::float8, b.score, b.distance
from best b, lateral (select * from versions v where v.place = b.version offset 0) v, lateral (
    select {VERSION_COLUMNS}, {CLAUSE_COLUMNS}, p.text, p.kind, p.table_header, p.line_start, p.line_end
    from policy_documents d, policy_clauses c, policy_passages p
    where d.tenant_id = %(tenant)s and d.document_id = v.document_id
      and c.tenant_id = %(tenant)s and c.document_id = v.document_id and c.position = b.clause
      and p.tenant_id = %(tenant)s and p.document_id = v.document_id and p.clause_position = b.clause
      and p.position = b.position
    offset 0
) r
order by b.fused desc, b.version, b.line_start, b.position
""")


def _on_one_line(statement: str) -> LiteralString:
    # The driver takes a statement apart anew each time it is sent if it has more than 4,096 characters.
    return " ".join(statement.split())


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
    #: Which arms put it forward; between languages words meet by what a dictionary says they mean.
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
    model: str = LOCAL,
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
        model: Which made the vector; only passages' vectors of the same one are compared.
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
        "model": model,
        "starts": as_of.start,
        "ends": as_of.end or _NO_END,
        "is_period": as_of != instant_period(as_of.start),
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
