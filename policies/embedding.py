"""Sentence vectors, English and Chinese in one space: what finds a passage that shares no word with the question.

The interface is pydantic-ai's, so that a hosted model is a name. Neither it (1 s) nor the local encoder (1.2 s) is
loaded before the first text is encoded: a question that words decide never pays for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, Protocol

from policies.errors import EmbeddingError
from policies.tables import LOCAL_MODEL
from policies.text import simplified

if TYPE_CHECKING:
    import pydantic_ai.embeddings

LOCAL: Final = LOCAL_MODEL
#: Characters of a text that its vector is made of: the cost grows with the square of the length, the meaning does not.
MAX_TEXT: Final = 1_000

Models = Mapping[str, "Callable[[], pydantic_ai.embeddings.EmbeddingModel]"]


class Embedder(Protocol):
    """What turns texts into vectors, all of one length."""

    @property
    def model(self) -> str:
        """Its name: only vectors of one model can be compared."""
        ...

    async def embed_query(self, text: str) -> Sequence[float]: ...

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...


class Embedders(Protocol):
    """What knows an embedder by the name of its model."""

    def of(self, model: str) -> Embedder: ...


class SentenceVectors:
    """Vectors by the local encoder, or by a model that pydantic-ai knows by name, loaded when first used."""

    def __init__(self, model: str = LOCAL, *, own: Models | None = None) -> None:
        """Name the model.

        Args:
            model: `provider:name`, as pydantic-ai has it.
            own: Models that pydantic-ai does not know by name, beside the local encoder.
        """
        self.model = model
        self._own: Models = {LOCAL: _local_encoder, **(own or {})}
        self._siblings = {model: self}

    def of(self, model: str) -> SentenceVectors:
        """The same by another model."""
        if model not in self._siblings:
            self._siblings[model] = sibling = SentenceVectors(model, own=self._own)
            sibling._siblings = self._siblings
        return self._siblings[model]

    async def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a question.

        Raises:
            EmbeddingError: The model cannot be loaded, or does not answer.
        """
        return (await self._embed([text], "query"))[0]

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vectors of passages, in their order.

        Raises:
            EmbeddingError: The model cannot be loaded, or does not answer.
        """
        return await self._embed(texts, "document")

    async def _embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Sequence[Sequence[float]]:
        from pydantic_ai.exceptions import AgentRunError, UserError  # noqa: PLC0415 - loaded by the first text

        try:
            result = await self._embedder.embed([simplified(text[:MAX_TEXT]) for text in texts], input_type=kind)
        except (AgentRunError, UserError, ImportError, ValueError) as error:
            # The last three: no such provider, its package or key is missing, the name has no provider.
            raise EmbeddingError(self.model, problem=str(error).strip().split("\n")[0]) from error
        return result.embeddings

    @cached_property
    def _embedder(self) -> pydantic_ai.embeddings.Embedder:
        from pydantic_ai.embeddings import Embedder as ModelEmbedder  # noqa: PLC0415 - loaded by the first text

        own = self._own.get(self.model)
        return ModelEmbedder(self.model if own is None else own())


def vector_text(vector: Sequence[float]) -> str:
    """A vector as PostgreSQL reads it; half precision keeps four digits."""
    # One format for all numbers takes half the time of one each.
    return "[" + ",".join(["%.5g"] * len(vector)) % tuple(vector) + "]"


def _local_encoder() -> pydantic_ai.embeddings.EmbeddingModel:
    from policies.sentence_encoder import LocalSentenceEncoder  # noqa: PLC0415 - loaded by the first text

    return LocalSentenceEncoder()
