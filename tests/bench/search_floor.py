"""Hybrid search by hand: one table with all that a search asks for, the scope first, both arms exact, fused by rank.

What it knows beforehand the product has to find out: which version of each policy is in force, what is said about where
it applies, and all that a citation names. It reads without row-level security.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, LiteralString
from uuid import UUID

import psycopg
from psycopg.rows import TupleRow

from support_agent.storage.engine import APPLICATION_ROLE
from tests.bench.corpus import AS_OF, Asked

_TABLE: Final[LiteralString] = """
create table floor_passages as
with said as (
    select text_id, array_to_tsvector(array_agg(token)) as words from passage_postings
    where tenant_id = %(tenant)s group by text_id
)
select p.tenant_id, v.policy_id, v.topic, v.valid_from, coalesce(v.valid_to, 'infinity') as valid_to, c.audience,
       c.regions[1] as region, p.line_start, p.text, e.embedding::halfvec(512) as embedding, w.words
from policy_versions v
join policy_clauses c on c.tenant_id = v.tenant_id and c.document_id = v.document_id
join policy_passages p on p.tenant_id = v.tenant_id and p.document_id = v.document_id and p.clause_position = c.position
join passage_vectors e on e.tenant_id = v.tenant_id and e.text_id = p.text_id
join said w on w.text_id = p.text_id
where v.tenant_id = %(tenant)s
"""
_IN_SCOPE: Final[LiteralString] = """
    tenant_id = %(tenant)s and valid_to > %(at)s and valid_from <= %(at)s and audience = 'public'
"""
_OF_TOPIC: Final[LiteralString] = "and topic = %(topic)s"


def _statement(narrower: LiteralString) -> LiteralString:
    return f"""
with vectors as (
    select id, rank() over (order by distance) as place
    from (select ctid as id, embedding <=> (select %(vector)s::text::halfvec) as distance
          from (select ctid, embedding from floor_passages where {_IN_SCOPE} {narrower} offset 0) s
          order by distance limit 50) n
),
texts as (
    select id, rank() over (order by score desc) as place
    from (select ctid as id, ts_rank(words, (select to_tsquery('simple', %(words)s))) as score
          from (select ctid, words from floor_passages where {_IN_SCOPE} {narrower} offset 0) s
          where words @@ (select to_tsquery('simple', %(words)s))
          order by score desc limit 50) n
),
best as (
    select id, coalesce(1.0 / (60 + t.place), 0) + coalesce(1.0 / (60 + v.place), 0) as fused
    from texts t full join vectors v using (id) order by fused desc limit 10
)
select p.policy_id, p.line_start, p.text, b.fused from best b join floor_passages p on p.ctid = b.id
order by b.fused desc
"""


_WIDE: Final[LiteralString] = _statement("")
_NARROW: Final[LiteralString] = _statement(_OF_TOPIC)


def add_floor(administrator: psycopg.Connection[TupleRow], tenant_id: UUID) -> None:
    """Write the passages of a tenant a second time, flat, with the two indexes that the two scopes want."""
    administrator.execute(_TABLE, {"tenant": tenant_id})
    administrator.execute("create index on floor_passages (tenant_id, topic, valid_to)")
    administrator.execute("create index on floor_passages (tenant_id, valid_to)")
    administrator.execute(f"grant select on floor_passages to {APPLICATION_ROLE}")


async def search_by_hand(
    connection: psycopg.AsyncConnection[TupleRow], tenant_id: UUID, asked: Asked, *, topic: str | None
) -> Sequence[Any]:
    parameters = {
        "tenant": tenant_id, "at": AS_OF.start, "vector": str(list(asked.vector)), "words": " | ".join(asked.tokens),
        "topic": topic,
    }  # fmt: skip
    cursor = await connection.execute(_WIDE if topic is None else _NARROW, parameters, prepare=True)
    return await cursor.fetchall()
