"""Sentence vectors, English and Chinese in one space: what finds a passage that shares no word with the question.

The interface is pydantic-ai's, so that a hosted model is one setting. Neither it (1 s) nor the local encoder (1.2 s) is
loaded before the first text is encoded: a question that words decide never pays for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

from policies.tables import DIMENSIONS

if TYPE_CHECKING:
    import pydantic_ai.embeddings

LOCAL: Final = "local"
#: Characters of a text that its vector is made of: the cost grows with the square of the length, the meaning does not.
MAX_TEXT: Final = 1_000


class Embedder(Protocol):
    """What turns texts into vectors of `policies.tables.DIMENSIONS` numbers."""

    async def embed_query(self, text: str) -> Sequence[float]: ...

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...


class SentenceVectors:
    """Vectors by the local encoder, or by a model that pydantic-ai knows by name, loaded when first used."""

    def __init__(self, model: str = LOCAL) -> None:
        self._name = model

    async def embed_query(self, text: str) -> Sequence[float]:
        result = await self._embedder.embed_query(text[:MAX_TEXT])
        return _checked(result.embeddings, self._name)[0]

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        result = await self._embedder.embed_documents([text[:MAX_TEXT] for text in texts])
        return _checked(result.embeddings, self._name)

    @cached_property
    def _embedder(self) -> pydantic_ai.embeddings.Embedder:
        from pydantic_ai.embeddings import Embedder as ModelEmbedder  # noqa: PLC0415 - loaded by the first text

        if self._name != LOCAL:
            return ModelEmbedder(self._name, settings={"dimensions": DIMENSIONS})
        from policies.sentence_encoder import LocalSentenceEncoder  # noqa: PLC0415 - loaded by the first text

        return ModelEmbedder(LocalSentenceEncoder())


def _checked(vectors: Sequence[Sequence[float]], model: str) -> Sequence[Sequence[float]]:
    if any(len(vector) != DIMENSIONS for vector in vectors):
        raise ValueError(f"the embedding model {model!r} gives other than {DIMENSIONS} numbers; choose one that can")
    return vectors
