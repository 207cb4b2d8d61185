"""Passages of published documents as evidence; `policy` and `faq` search those of different ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from connectors.base import Evidence, Locator, Lookup, Scope, evidence_key
from connectors.columns import clean
from policies.applicability import RegionGroups
from policies.embedding import LOCAL
from policies.errors import EmbeddingError
from policies.glosses import english_of_text
from policies.search import PassageHit, search
from policies.session import TenantSession
from policies.text import question_tokens
from policies.version import Period, instant_period

#: The need that a passage answers.
PASSAGES: Final = "passages"


class QueryEmbedder(Protocol):
    """What turns a question into the vector that passages are compared with."""

    @property
    def model(self) -> str:
        """Its name: only vectors of one model can be compared."""
        ...

    async def embed_query(self, text: str) -> Sequence[float]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSearch:
    """How a source searches its passages."""

    source: str
    #: Ranks of the documents it speaks for.
    authorities: frozenset[str]
    region_groups: RegionGroups
    #: None: by words alone.
    embedder: QueryEmbedder | None = None
    limit: int = 10

    async def find(self, lookup: Lookup, scope: Scope, *, session: TenantSession) -> list[Evidence]:
        """The passages nearest to the lookup's `text` among those in force in `as_of`, best first; with `glossed` those
        nearest to either.
        """
        text = lookup.parameters.get("text")
        as_of = period_asked_about(lookup)
        if not isinstance(text, str) or not text.strip() or as_of is None:
            return []
        topic, glossed = lookup.parameters.get("topic"), texts_in_terms(lookup)
        hits = await search(
            session,
            tokens=[*question_tokens(" ".join([text, *glossed])), *english_of_text(text)],
            vector=await self._vector(glossed[0] if glossed else text),
            model=self.embedder.model if self.embedder else LOCAL,
            as_of=as_of,
            audiences=scope.audiences,
            known=known_dimensions(lookup),
            groups=self.region_groups,
            topic=clean(topic) if isinstance(topic, str) else None,
            authorities=self.authorities,
            limit=self.limit,
        )
        return [passage_evidence(hit, source=self.source) for hit in hits]

    async def _vector(self, text: str) -> Sequence[float] | None:
        try:
            return None if self.embedder is None else await self.embedder.embed_query(text)
        except EmbeddingError:
            # A hosted model may be away; what words find says of itself that it was found by words.
            return None


def passage_evidence(hit: PassageHit, *, source: str) -> Evidence:
    version = hit.clause.version
    locator = Locator(document=version.policy, version=version.version, clause=hit.clause.anchor, lines=hit.lines)
    return Evidence(
        key=evidence_key(source, locator, hit.text),
        source=source,
        locator=locator,
        need=PASSAGES,
        value=None,
        quote=hit.text,
        header=hit.table_header,
        is_item=hit.kind == "item",
        authority=version.authority,
        clause=hit.clause,
        score=hit.score,
        found_by=hit.found_by,
        words=hit.words,
        similarity=hit.similarity,
    )


def period_asked_about(lookup: Lookup) -> Period | None:
    """The lookup's `as_of`, else the instant of its `asked_at`."""
    match lookup.parameters:
        case {"as_of": Period() as as_of}:
            return as_of
        case {"asked_at": datetime() as asked_at}:
            return instant_period(asked_at)
        case _:
            return None


def texts_in_terms(lookup: Lookup) -> tuple[str, ...]:
    """The lookup's `glossed`: its text with terms of the documents in place of what a glossary explains."""
    glossed = lookup.parameters.get("glossed")
    return glossed if isinstance(glossed, tuple) else ()


def known_dimensions(lookup: Lookup) -> dict[str, str]:
    """The lookup's `known`: dimension of applicability -> what is known of the customer or order there."""
    stated = lookup.parameters.get("known")
    entries = stated.items() if isinstance(stated, Mapping) else ()
    return {name: clean(value) for name, value in entries if isinstance(value, str)}
