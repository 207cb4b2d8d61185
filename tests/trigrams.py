"""A small embedding model behind pydantic-ai's interface: letters in threes, counted by their hash."""

from __future__ import annotations

import zlib
from collections.abc import Awaitable, Callable, Sequence

from pydantic_ai.embeddings import EmbeddingModel, EmbeddingResult, EmbeddingSettings
from pydantic_ai.embeddings.result import EmbedInputType


class TrigramModel(EmbeddingModel):
    """Vectors of `length` numbers; `before` is awaited before each batch of texts."""

    def __init__(self, *, length: int = 64, before: Callable[[], Awaitable[None]] | None = None) -> None:
        super().__init__()
        self._length = length
        self._before = before

    @property
    def model_name(self) -> str:
        return f"trigrams-{self._length}"

    @property
    def system(self) -> str:
        return "test"

    async def embed(
        self, inputs: str | Sequence[str], *, input_type: EmbedInputType, settings: EmbeddingSettings | None = None
    ) -> EmbeddingResult:
        texts, _ = self.prepare_embed(inputs, settings)
        if self._before is not None and input_type == "document":
            await self._before()
        return EmbeddingResult(
            embeddings=[self._vector(text) for text in texts], inputs=texts, input_type=input_type,
            model_name=self.model_name, provider_name=self.system,
        )  # fmt: skip

    def _vector(self, text: str) -> list[float]:
        vector = [0.001] * self._length
        for start in range(len(text)):
            vector[zlib.crc32(text[start : start + 3].lower().encode()) % self._length] += 1.0
        return vector
