"""Writes what documents say: clauses, passages, terms, and the words and vectors that search looks for.

A passage is searched by its document's title, its headings and its text; a text that versions share is indexed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, LiteralString
from uuid import UUID

import orjson

from policies.reembedding import add_vectors_of
from policies.rows import encode_value, limits_of
from policies.session import TenantSession
from policies.text import tokens

if TYPE_CHECKING:
    from policies.document import PolicyDocument
    from policies.embedding import Embedders

#: Documents whose rows travel in one statement.
BATCH: Final = 25
#: Bytes of a text's id that say which policy's it is, and which content.
_POLICY: Final = 5
_CONTENT: Final = 8
#: The most that a posting's columns hold.
MAX_COUNT: Final = 32_767

_ADD_DOCUMENTS: Final[LiteralString] = """
insert into policy_documents (tenant_id, document_id, policy_id, version, sha256, text, sidecar, attributes)
select %(tenant)s, r.* from jsonb_to_recordset(%(rows)s::jsonb) as r (
    document_id uuid, policy_id text, version text, sha256 text, text text, sidecar text, attributes jsonb)
on conflict do nothing
returning document_id
"""
_ADD_CLAUSES: Final[LiteralString] = """
insert into policy_clauses (
    tenant_id, document_id, position, anchor, heading, heading_path, line_start, line_end, valid_from, valid_to, effect,
    audience, regions, plans, plan_versions, channels, segments, accounts)
select %(tenant)s, r.* from jsonb_to_recordset(%(rows)s::jsonb) as r (
    document_id uuid, position integer, anchor text, heading text, heading_path text[], line_start integer,
    line_end integer, valid_from timestamptz, valid_to timestamptz, effect text, audience text, regions text[],
    plans text[], plan_versions text[], channels text[], segments text[], accounts text[])
"""
_ADD_TEXTS: Final[LiteralString] = """
insert into passage_texts (tenant_id, text_id, text)
select %(tenant)s, t.* from unnest(%(texts)s::uuid[], %(contents)s::text[]) as t
on conflict do nothing
returning text_id
"""
_TEXTS_OF: Final[LiteralString] = """
select t.text_id from unnest(%(first)s::uuid[], %(last)s::uuid[]) as p (first, last)
cross join lateral (
    select text_id from passage_texts where tenant_id = %(tenant)s and text_id between p.first and p.last offset 0
) t
"""
_ADD_POSTINGS: Final[LiteralString] = """
insert into passage_postings (tenant_id, token, text_id, tf, n_tokens)
select %(tenant)s, p.*
from unnest(%(tokens)s::text[], %(texts)s::uuid[], %(tfs)s::smallint[], %(lengths)s::smallint[]) as p
"""
_ADD_PASSAGES: Final[LiteralString] = """
insert into policy_passages (
    tenant_id, document_id, position, clause_position, kind, text, table_header, line_start, line_end, text_id)
select %(tenant)s, r.* from jsonb_to_recordset(%(rows)s::jsonb) as r (
    document_id uuid, position integer, clause_position integer, kind text, text text, table_header text,
    line_start integer, line_end integer, text_id uuid)
"""
_ADD_TERMS: Final[LiteralString] = """
insert into policy_terms (
    tenant_id, document_id, position, clause_position, name, value, rule, better, quote, line_start, line_end)
select %(tenant)s, r.* from jsonb_to_recordset(%(rows)s::jsonb) as r (
    document_id uuid, position integer, clause_position integer, name text, value jsonb, rule text, better text,
    quote text, line_start integer, line_end integer)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """What is searched of a passage."""

    #: What its vector is made of.
    meant: str
    #: Token -> how often it occurs in the text, its headings and the document's title.
    counts: Counter[str]


async def add_contents(
    session: TenantSession, documents: Mapping[UUID, PolicyDocument], *, embedder: Embedders | None
) -> None:
    """Store the content of `documents`, by id; what is stored already stays as it is."""
    entries = list(documents.items())
    known = await _texts_of(session, {document.policy for document in documents.values()})
    texts: set[UUID] = set()
    for start in range(0, len(entries), BATCH):
        texts |= await _add_batch(session, entries[start : start + BATCH], known)
    if texts and embedder is not None:
        await add_vectors_of(session, sorted(texts), embedders=embedder)


def text_id(policy: str, starts: datetime, searched: str) -> UUID:
    """The id of a text that a version of `policy` is the first to have.

    By policy, then by the version's start, then by content: search asks for what is in force, and finds it side by side
    in every index.
    """
    day = starts.astimezone(UTC).date().toordinal()
    return UUID(bytes=_policy_part(policy) + day.to_bytes(3) + sha256(searched.encode()).digest()[:_CONTENT])


def _policy_part(policy: str) -> bytes:
    return sha256(policy.encode()).digest()[:_POLICY]


async def _texts_of(session: TenantSession, policies: Iterable[str]) -> dict[bytes, UUID]:
    """The texts that the policies have, by policy and content, whichever version was the first to have them."""
    parts = sorted(map(_policy_part, policies))
    parameters = {
        "tenant": session.tenant_id,
        "first": [UUID(bytes=part.ljust(16, b"\0")) for part in parts],
        "last": [UUID(bytes=part.ljust(16, b"\xff")) for part in parts],
    }
    return {_identity(row[0]): row[0] for row in await session.fetch(_TEXTS_OF, parameters)}


def _identity(text: UUID) -> bytes:
    return text.bytes[:_POLICY] + text.bytes[-_CONTENT:]


async def _add_batch(
    session: TenantSession, entries: Sequence[tuple[UUID, PolicyDocument]], known: dict[bytes, UUID]
) -> set[UUID]:
    rows = [
        {
            "document_id": document_id, "policy_id": document.policy, "version": document.version,
            "sha256": document.fingerprint, "text": document.text, "sidecar": document.sidecar,
            "attributes": document.keys(),
        }
        for document_id, document in entries
    ]  # fmt: skip
    added = {row[0] for row in await _insert(session, _ADD_DOCUMENTS, rows)}
    new = [(document_id, document) for document_id, document in entries if document_id in added]
    await _insert(session, _ADD_CLAUSES, [row for entry in new for row in _clause_rows(*entry)])
    texts: dict[UUID, _Text] = {}
    passages = [row for entry in new for row in _passage_rows(*entry, texts, known)]
    await _add_texts(session, texts)
    await _insert(session, _ADD_PASSAGES, passages)
    await _insert(session, _ADD_TERMS, [row for entry in new for row in _term_rows(*entry)])
    return set(texts)


async def _insert(session: TenantSession, statement: LiteralString, rows: Sequence[Mapping[str, Any]]) -> Any:  # noqa: ANN401 - rows returned
    if not rows:
        return ()
    return await session.fetch(statement, {"tenant": session.tenant_id, "rows": orjson.dumps(rows).decode()})


def _clause_rows(document_id: UUID, document: PolicyDocument) -> Iterator[dict[str, Any]]:
    for position, clause in enumerate(document.clauses):
        yield {
            "document_id": document_id, "position": position, "anchor": clause.anchor, "heading": clause.heading,
            "heading_path": clause.outer, "line_start": clause.lines[0], "line_end": clause.lines[1],
            "valid_from": clause.starts, "valid_to": clause.ends, "effect": clause.effect,
            "audience": clause.audience, **limits_of(clause.applies_to),
        }  # fmt: skip


def _passage_rows(
    document_id: UUID, document: PolicyDocument, texts: dict[UUID, _Text], known: dict[bytes, UUID]
) -> Iterator[dict[str, Any]]:
    """The document's passages; `texts` gets what is searched of those it lacks, `known` its id."""
    passages = (
        (place, clause, passage) for place, clause in enumerate(document.clauses) for passage in clause.passages
    )
    for position, (place, clause, passage) in enumerate(passages):
        meant = "\n".join(part for part in (clause.heading, passage.table_header, passage.text) if part)
        around = "\n".join((document.front_matter.title, *clause.outer))
        new_id = text_id(document.policy, document.valid.start, f"{around}\0{meant}")
        found_id = known.setdefault(_identity(new_id), new_id)
        if found_id not in texts:
            texts[found_id] = _Text(meant=meant, counts=Counter(tokens(f"{around}\n{meant}")))
        yield {
            "document_id": document_id, "position": position, "clause_position": place, "kind": passage.kind,
            "text": passage.text, "table_header": passage.table_header, "line_start": passage.lines[0],
            "line_end": passage.lines[1], "text_id": found_id,
        }  # fmt: skip


async def _add_texts(session: TenantSession, texts: Mapping[UUID, _Text]) -> None:
    if not texts:
        return
    parameters = {
        "tenant": session.tenant_id,
        "texts": list(texts),
        "contents": [text.meant for text in texts.values()],
    }
    new = [row[0] for row in await session.fetch(_ADD_TEXTS, parameters)]
    postings = [
        (token, text_id, min(tf, MAX_COUNT), min(texts[text_id].counts.total(), MAX_COUNT))
        for text_id in new
        for token, tf in texts[text_id].counts.items()
    ]
    if postings:
        columns = zip(("tokens", "texts", "tfs", "lengths"), zip(*postings, strict=True), strict=True)
        await session.fetch(
            _ADD_POSTINGS, {"tenant": session.tenant_id, **{name: list(values) for name, values in columns}}
        )


def _term_rows(document_id: UUID, document: PolicyDocument) -> Iterator[dict[str, Any]]:
    terms = ((place, term) for place, clause in enumerate(document.clauses) for term in clause.terms)
    for position, (place, term) in enumerate(terms):
        yield {
            "document_id": document_id, "position": position, "clause_position": place, "name": term.name,
            "value": None if term.rule is not None else encode_value(term.value), "rule": term.rule,
            "better": term.better, "quote": term.quote, "line_start": term.lines[0], "line_end": term.lines[1],
        }  # fmt: skip
