"""The versioned policy store: what is published, what governed when, and what was known when.

Valid time (`as_of`) says when a version governs, transaction time (`known_at`) since when the store held it so; without
`known_at` the store answers as it stands. `publishing.py` writes, `timeline.py` is what questions read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from policies.facts import FactType
from policies.publishing import Publication, planned, publish
from policies.rows import CLAUSE_COLUMNS, VERSION_COLUMNS, decode_value, read_clause, read_version
from policies.session import TenantSession
from policies.terms import type_of
from policies.timeline import TopicTimeline, timeline_of_topic
from policies.version import Clause, PolicyVersion

__all__ = [
    "Publication",
    "Recording",
    "StoredDocument",
    "StoredSource",
    "TopicTimeline",
    "as_of",
    "planned",
    "policies",
    "publish",
    "recordings",
    "show",
    "source",
    "sources",
    "term_types",
    "timeline_of_topic",
    "topics",
    "versions",
    "versions_as_of",
]

_KNOWN: Final[LiteralString] = """
    case when %(known_at)s::timestamptz is null then v.recorded_to is null
         else v.recorded_from <= %(known_at)s::timestamptz
              and (v.recorded_to is null or v.recorded_to > %(known_at)s::timestamptz) end
"""
_DOCUMENT: Final[LiteralString] = (
    "join policy_documents d on d.tenant_id = v.tenant_id and d.document_id = v.document_id"
)
_VERSIONS: Final[LiteralString] = f"""
select {VERSION_COLUMNS} from policy_versions v {_DOCUMENT}
where v.tenant_id = %(tenant)s and (%(policy)s::text is null or v.policy_id = %(policy)s) and {_KNOWN}
order by v.policy_id collate "C", v.valid_from
"""
# Versions known at one time never overlap, so the newest start before the date decides, in force or not.
_AS_OF: Final[LiteralString] = f"""
select {VERSION_COLUMNS}
from (select distinct v.policy_id from policies v
      where v.tenant_id = %(tenant)s and (%(policy)s::text is null or v.policy_id = %(policy)s)) p
cross join lateral (
    select * from policy_versions v
    where v.tenant_id = %(tenant)s and v.policy_id = p.policy_id and v.valid_from <= %(as_of)s and {_KNOWN}
    order by v.valid_from desc limit 1
) v {_DOCUMENT}
where v.valid_to is null or v.valid_to > %(as_of)s
order by v.policy_id collate "C"
"""
_SHOW: Final[LiteralString] = f"""
select {VERSION_COLUMNS}, d.text, d.sha256, v.approval, v.recorded_by, d.document_id
from policy_versions v {_DOCUMENT}
where v.tenant_id = %(tenant)s and v.policy_id = %(policy)s and v.version = %(version)s and {_KNOWN}
"""
_CLAUSES: Final[LiteralString] = f"""
select {CLAUSE_COLUMNS} from policy_clauses c
where c.tenant_id = %(tenant)s and c.document_id = %(document)s order by c.position
"""

_SOURCE: Final[LiteralString] = f"""
select d.text, d.sidecar, d.attributes, v.withdrawn from policy_versions v {_DOCUMENT}
where v.tenant_id = %(tenant)s and v.policy_id = %(policy)s and v.version = %(version)s and {_KNOWN}
"""
_RECORDINGS: Final[LiteralString] = f"""
select {VERSION_COLUMNS}, v.withdrawn, v.approval, v.recorded_by from policy_versions v {_DOCUMENT}
where v.tenant_id = %(tenant)s and (%(policy)s::text is null or v.policy_id = %(policy)s)
order by v.policy_id collate "C", v.valid_from, v.version collate "C", v.recorded_from
"""
_SOURCES: Final[LiteralString] = f"""
select d.text, d.sidecar, v.withdrawn, {VERSION_COLUMNS} from policy_versions v {_DOCUMENT}
where v.tenant_id = %(tenant)s and v.policy_id = any(%(policies)s) and {_KNOWN}
order by v.policy_id collate "C", v.valid_from
"""
_TERMS: Final[LiteralString] = """
select distinct on (t.name) t.name, t.value
from policy_terms t
where t.tenant_id = %(tenant)s and t.value is not null
  and exists (select from policy_versions v
              where v.tenant_id = t.tenant_id and v.document_id = t.document_id and v.recorded_to is null)
order by t.name
"""
_TERM_NAMES: Final[LiteralString] = """
select distinct t.name
from policy_terms t
where t.tenant_id = %(tenant)s
  and exists (select from policy_versions v
              where v.tenant_id = t.tenant_id and v.document_id = t.document_id and v.recorded_to is null)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A version with its text, as it was published."""

    version: PolicyVersion
    text: str
    #: Of the text and all that was read from it and beside it.
    sha256: str
    #: How it was approved: `imported`, or by whom.
    approval: str
    recorded_by: str
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A version as the store held it for a time."""

    version: PolicyVersion
    #: Whether its end came by a withdrawal.
    withdrawn: bool
    approval: str
    recorded_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSource:
    """What a version was made from: its text, what stood beside it, and its front matter as it was understood."""

    text: str
    sidecar: str | None
    #: As `policies.document.PolicyDocument.keys` gives them.
    attributes: Mapping[str, Any]
    #: Whether the version's end came by a withdrawal.
    withdrawn: bool


async def policies(session: TenantSession) -> Sequence[str]:
    """The ids of all policies ever published, sorted."""
    rows = await session.fetch(
        'select distinct policy_id collate "C" as id from policies where tenant_id = %(tenant)s order by id',
        {"tenant": session.tenant_id},
    )
    return [row[0] for row in rows]


async def topics(session: TenantSession) -> list[tuple[str, str]]:
    """Every policy ever published with each topic that it was on, sorted."""
    rows = await session.fetch(
        'select policy_id, topic from policies where tenant_id = %(tenant)s order by policy_id collate "C", topic',
        {"tenant": session.tenant_id},
    )
    return [(row[0], row[1]) for row in rows]


async def versions(
    session: TenantSession, policy: str | None = None, *, known_at: datetime | None = None
) -> list[PolicyVersion]:
    """The versions of one policy, or of all, by policy and start."""
    parameters = {"tenant": session.tenant_id, "policy": policy, "known_at": known_at}
    return [read_version(row) for row in await session.fetch(_VERSIONS, parameters)]


async def as_of(
    session: TenantSession, policy: str, *, as_of: datetime, known_at: datetime | None = None
) -> PolicyVersion | None:
    """The version of `policy` in force at the instant `as_of`; None in a gap, and for a policy nobody published."""
    found = await _in_force(session, policy, as_of, known_at)
    return found[0] if found else None


async def versions_as_of(
    session: TenantSession, *, as_of: datetime, known_at: datetime | None = None
) -> list[PolicyVersion]:
    """The version of each policy in force at the instant `as_of`, by policy."""
    return await _in_force(session, None, as_of, known_at)


async def show(
    session: TenantSession, policy: str, version: str, *, known_at: datetime | None = None
) -> StoredDocument | None:
    """One version with its text and clauses; None when there is no such version."""
    parameters: dict[str, Any] = {
        "tenant": session.tenant_id, "policy": policy, "version": version, "known_at": known_at
    }  # fmt: skip
    rows = await session.fetch(_SHOW, parameters)
    if not rows:
        return None
    *columns, text, sha256, approval, recorded_by, document_id = rows[0]
    read = read_version(columns)
    clauses = await session.fetch(_CLAUSES, {"tenant": session.tenant_id, "document": document_id})
    return StoredDocument(
        version=read,
        text=text,
        sha256=sha256,
        approval=approval,
        recorded_by=recorded_by,
        clauses=tuple(clause for row in clauses if (clause := read_clause(row, version=read)) is not None),
    )


async def recordings(session: TenantSession, policy: str | None = None) -> list[Recording]:
    """Every recording of the versions of a policy, or of all: by policy, start, and when the store began to hold it."""
    rows = await session.fetch(_RECORDINGS, {"tenant": session.tenant_id, "policy": policy})
    return [
        Recording(version=read_version(columns), withdrawn=withdrawn, approval=approval, recorded_by=recorded_by)
        for *columns, withdrawn, approval, recorded_by in rows
    ]


async def sources(
    session: TenantSession, policies: Collection[str], *, known_at: datetime | None = None
) -> list[tuple[PolicyVersion, StoredSource]]:
    """The published versions of some policies with what they were made from, by policy and start."""
    parameters = {"tenant": session.tenant_id, "policies": sorted(policies), "known_at": known_at}
    rows = await session.fetch(_SOURCES, parameters)
    return [
        (
            read_version(columns),
            StoredSource(text=text, sidecar=sidecar, attributes=columns[-1], withdrawn=withdrawn),
        )
        for text, sidecar, withdrawn, *columns in rows
    ]


async def source(
    session: TenantSession, policy: str, version: str, *, known_at: datetime | None = None
) -> StoredSource | None:
    """What a published version was made from; None when there is no such version."""
    parameters = {"tenant": session.tenant_id, "policy": policy, "version": version, "known_at": known_at}
    rows = await session.fetch(_SOURCE, parameters)
    if not rows:
        return None
    text, sidecar, attributes, withdrawn = rows[0]
    return StoredSource(text=text, sidecar=sidecar, attributes=attributes, withdrawn=withdrawn)


async def term_names(session: TenantSession) -> frozenset[str]:
    """The names of all terms, values and rules, of the versions published now."""
    return frozenset(row[0] for row in await session.fetch(_TERM_NAMES, {"tenant": session.tenant_id}))


async def term_types(session: TenantSession) -> dict[str, FactType]:
    """The type of every value term that a version published now has, by name."""
    rows = await session.fetch(_TERMS, {"tenant": session.tenant_id})
    return {name: type_of(name, decode_value(value)) for name, value in rows}


async def _in_force(
    session: TenantSession, policy: str | None, as_of: datetime, known_at: datetime | None
) -> list[PolicyVersion]:
    parameters = {"tenant": session.tenant_id, "policy": policy, "as_of": as_of, "known_at": known_at}
    return [read_version(row) for row in await session.fetch(_AS_OF, parameters)]
