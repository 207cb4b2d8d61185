"""Clauses in bulk, written by the server itself: what else lies in the tables that a question reads.

No vectors: the refund question searches nothing, and a search has figures of its own.
"""

from __future__ import annotations

from typing import Final, LiteralString
from uuid import UUID

import psycopg
from psycopg.rows import TupleRow

CLAUSES_A_DOCUMENT: Final = 10

_DOCUMENTS: Final[LiteralString] = """
create temporary table bulk on commit drop as
select %(tenant)s::uuid as tenant_id, md5(%(tenant)s::text || d)::uuid as document_id, n, v.version,
       'page-' || n as policy_id, 'topic-' || n %% 40 as topic,
       make_timestamptz(2018 + v.version, 1, 1, 0, 0, 0, 'UTC') as valid_from,
       case when v.version < 5 then make_timestamptz(2019 + v.version, 1, 1, 0, 0, 0, 'UTC') end as valid_to
from generate_series(1, %(documents)s) as d
cross join lateral (select (d + 4) / 5 as n, (d - 1) %% 5 + 1 as version) v
"""
_STATEMENTS: Final[tuple[LiteralString, ...]] = (
    "insert into policies (tenant_id, topic, policy_id) select distinct tenant_id, topic, policy_id from bulk",
    """insert into policy_documents (tenant_id, document_id, policy_id, version, sha256, text, attributes)
       select tenant_id, document_id, policy_id, version::text, md5(document_id::text), repeat('Text. ', 100), '{}'
       from bulk""",
    """insert into policy_versions (tenant_id, recording_id, topic, policy_id, version, document_id, audience,
                                    authority, valid_from, valid_to, recorded_from, approval, recorded_by)
       select tenant_id, document_id, topic, policy_id, version::text, document_id, 'public', 'corporate', valid_from,
              valid_to, '2024-01-01', 'imported', 'bulk'
       from bulk""",
    """insert into policy_clauses (tenant_id, document_id, position, anchor, heading, heading_path, line_start,
                                   line_end, effect, audience)
       select tenant_id, document_id, c, 'clause-' || c, 'Clause ' || c, '{}', c * 4 + 1, c * 4 + 3, 'mandatory',
              'public'
       from bulk, generate_series(0, 9) as c""",
    """insert into passage_texts (tenant_id, text_id, text)
       select tenant_id, md5(document_id::text || c)::uuid, 'Clause ' || c || ' of ' || policy_id
       from bulk, generate_series(0, 9) as c""",
    """insert into policy_passages (tenant_id, document_id, position, clause_position, kind, text, line_start, line_end,
                                    text_id)
       select tenant_id, document_id, c, c, 'paragraph', 'Clause ' || c || ' of ' || policy_id, c * 4 + 1, c * 4 + 3,
              md5(document_id::text || c)::uuid
       from bulk, generate_series(0, 9) as c""",
    """insert into passage_postings (tenant_id, token, text_id, tf, n_tokens)
       select tenant_id, 'word-' || w || '-' || (n * 7 + c * 31 + version) % 300, md5(document_id::text || c)::uuid,
              1, 8
       from bulk, generate_series(0, 9) as c, generate_series(1, 8) as w""",
    """insert into policy_terms (tenant_id, document_id, position, clause_position, name, value, quote, line_start,
                                 line_end)
       select tenant_id, document_id, c, c, 'bulk.term_' || c, to_jsonb(version), 'Clause ' || c, c * 4 + 1, c * 4 + 3
       from bulk, generate_series(0, 9) as c""",
)  # fmt: skip


def add_clauses(administrator: psycopg.Connection[TupleRow], tenant_id: UUID, *, n_clauses: int) -> None:
    """Add policies of topics of their own, of five versions and ten clauses a version, to a tenant that exists."""
    parameters = {"tenant": tenant_id, "documents": n_clauses // CLAUSES_A_DOCUMENT}
    with administrator.transaction():
        # What is written fits together; checking each row's references would take most of the time.
        administrator.execute("set local session_replication_role = replica")
        administrator.execute("set local synchronous_commit = off")
        administrator.execute(_DOCUMENTS, parameters)
        for statement in _STATEMENTS:
            administrator.execute(statement)


def add_tenant(administrator: psycopg.Connection[TupleRow], tenant_id: UUID, *, slug: str) -> None:
    administrator.execute("insert into tenants (tenant_id, slug) values (%s, %s)", [tenant_id, slug])


def settle(administrator: psycopg.Connection[TupleRow]) -> None:
    """Let nothing that the server owes to the writing fall into a measurement."""
    administrator.execute("vacuum (analyze)")
    administrator.execute("checkpoint")
