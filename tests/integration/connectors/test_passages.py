"""Search by meaning where the model that makes the vectors is away."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from connectors.base import Lookup, Scope
from connectors.passages import PASSAGES
from connectors.policy import PolicyConnector
from policies import store
from policies.embedding import SentenceVectors
from policies.errors import EmbeddingError
from policies.session import TenantSession
from tests.integration.policies.written import written
from tests.trigrams import TrigramModel

JUNE = datetime(2025, 6, 1, tzinfo=UTC)


class Away(SentenceVectors):
    async def embed_query(self, text: str) -> Sequence[float]:
        raise EmbeddingError(self.model, problem=f"no answer to {len(text)} characters")


async def found_by(session: TenantSession, embedder: SentenceVectors) -> list[tuple[str, ...]]:
    connector = PolicyConnector(authorities=frozenset({"corporate"}), region_groups={}, embedder=embedder)
    lookup = Lookup(source="policy", needs=(PASSAGES,), parameters={"text": "annual plans", "asked_at": JUNE})
    scope = Scope(tenant_id=session.tenant_id, customer_id=None, audiences=frozenset({"public"}))
    evidence = await connector.fetch(lookup, scope, session=session, timeout_s=10)
    return [one.found_by for one in evidence]


async def test_words_are_searched_while_the_model_is_away(session: TenantSession) -> None:
    vectors = SentenceVectors(own={"test:trigrams": TrigramModel})
    await session.fetch("update tenants set vector_model = 'test:trigrams'", {})
    await store.publish(session, [written()], approval="imported", by="ada", embedder=vectors)

    assert await found_by(session, vectors.of("test:trigrams")) == [("words", "vectors")]
    assert await found_by(session, Away("test:trigrams")) == [("words",)]


async def test_vectors_of_another_model_are_not_compared(session: TenantSession) -> None:
    vectors = SentenceVectors(own={"test:trigrams": TrigramModel, "test:short": lambda: TrigramModel(length=8)})
    await session.fetch("update tenants set vector_model = 'test:trigrams'", {})
    await store.publish(session, [written()], approval="imported", by="ada", embedder=vectors)

    assert await found_by(session, vectors.of("test:short")) == [("words",)]
