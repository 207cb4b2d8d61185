"""How a source is reached: lookup in, evidence out. Connectors read and report; they never rank, decide or write."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias
from uuid import UUID

import orjson

from policies.facts import FactValue
from policies.session import TenantSession
from policies.terms import Term
from policies.version import Audience, Clause, Period, PolicyVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose data a question may read; comes from the authenticated call, never from its text."""

    tenant_id: UUID
    #: None: no customer is known, so no customer's record is seen.
    customer_id: str | None
    #: The customer's account, resolved from the profile source before the first round.
    account_id: str | None = None
    #: Whether the caller vouches for the customer; unverified callers see no record.
    verified: bool = True
    audiences: frozenset[Audience] = frozenset({"public"})

    @property
    def sees_records(self) -> bool:
        return self.verified and bool(self.customer_id)


LookupValue: TypeAlias = FactValue | Period | Mapping[str, Period] | Mapping[str, FactValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """One call of a connector: what is asked, never whose.

    Parameters by source: orders `order_number: str` or `period: Period` and `item_kind: str`; policy `topic: str`,
    `dates: {date fact: Period}`, `asked_at: datetime`; policy search and faq `text: str`, `glossed: (the same
    in terms of the documents, ...)`, `as_of: Period`, `topic: str` and `known: {applicability dimension: value}`.
    """

    source: str
    #: Facts, terms, or `passages` wanted.
    needs: tuple[str, ...]
    parameters: Mapping[str, LookupValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Locator:
    """Where a statement stands: policy, version, clause and lines; or record and column."""

    document: str
    version: str | None
    #: Clause anchor, or the fact's column name.
    clause: str
    lines: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"{self.document}@{self.version}#{self.clause}" if self.version else f"{self.document}#{self.clause}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One statement by one source."""

    #: Hash of source, locator and content: equal statements share it, in any run.
    key: str
    source: str
    locator: Locator
    #: The fact or term stated, or `passages`.
    need: str
    #: None: the source says null (a fact), or the statement is a passage or a rule.
    value: FactValue
    #: The exact words (a passage) or the value as the source writes it.
    quote: str
    #: A rank of the tenant's ladder for documents; `record` for a system of record.
    authority: str
    #: Of a table row: the line that names its columns. Of a list's item: the sentence that leads the list in.
    header: str | None = None
    #: Whether a passage is a list's item.
    is_item: bool = False
    clause: Clause | None = None
    term: Term | None = None
    #: That this version exists, in force or not; its need is `versions`.
    version: PolicyVersion | None = None
    #: Rank score of a search hit, higher is better; and the arms that found it.
    score: float | None = None
    found_by: tuple[Literal["words", "vectors"], ...] = ()
    #: Of a search hit: BM25 within the scope, and cosine similarity to the question; None where that arm was silent.
    words: float | None = None
    similarity: float | None = None


def evidence_key(source: str, locator: Locator, content: object) -> str:
    """The stable key of a statement: 32 hex digits hashed from source, locator and content.

    Args:
        source: The source's name.
        locator: Where it states it.
        content: What it states: JSON values, dates, instants, and lists or tuples of them.
    """
    parts = (source, locator.document, locator.version, locator.clause, locator.lines, content)
    return hashlib.blake2b(orjson.dumps(parts), digest_size=16).hexdigest()


class Connector(Protocol):
    """The adapter to one source."""

    #: The source's name in plans, evidence and settings.
    name: str
    #: Whether it reads our own database with the session it is handed.
    local: bool

    async def fetch(
        self, lookup: Lookup, scope: Scope, *, session: TenantSession | None, timeout_s: float
    ) -> Sequence[Evidence]:
        """Return what the source says within `scope`, in a stable order; nothing when it has nothing.

        Raises:
            SourceUnavailableError: No answer within `timeout_s`, or the source cannot be reached.
            SourceContractError: The source answered with something its declaration does not allow.
        """
        ...
