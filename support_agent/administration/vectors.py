"""Giving a tenant's passages their vectors: those that have none, or all of them by another model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from policies import reembedding
from policies.embedding import LOCAL
from policies.reembedding import START
from support_agent.bootstrap import Application, Progress
from support_agent.errors import InvalidRequestError

if TYPE_CHECKING:
    from policies.embedding import Embedder

#: Between two tries while somebody publishes.
PAUSE_S: Final = 0.5


async def embed(application: Application, tenant: str, *, model: str | None, progress: Progress) -> dict[str, Any]:
    """Give every passage of the tenant a vector by `model`, then search by those; without it, by the model in use.

    Each step is committed by itself: whoever is stopped goes on where it was. Until the switch, search goes by the
    vectors there were.

    Raises:
        InvalidRequestError: Vectors are switched off.
        EmbeddingError: The model cannot be used.
    """
    if application.vectors is None:
        raise InvalidRequestError("SUPPORT_AGENT_VECTORS", "is off; set it to on to make vectors")
    async with application.open_tenant(tenant) as (session, _):
        previous = await reembedding.vector_model(session)
        wanted = _model_name(model, previous)
        n_texts, n_lacking = await reembedding.count(session, wanted)
    progress(f"{tenant}: {n_texts - n_lacking} of {n_texts} texts have vectors by {wanted}")
    embedder, n_embedded = application.vectors.of(wanted), 0
    while True:
        n_embedded += await _embed_lacking(application, tenant, embedder, n_lacking=n_lacking, progress=progress)
        async with application.open_tenant(tenant) as (session, _):
            if await reembedding.switch(session, wanted):
                break
        progress(f"{tenant}: waiting for a publish to end")
        await asyncio.sleep(PAUSE_S)
    n_deleted = await _delete_others(application, tenant)
    return {
        "tenant": tenant,
        "model": wanted,
        "previous_model": previous,
        "n_texts": n_texts,
        "n_embedded": n_embedded,
        "n_deleted": n_deleted,
    }


def _model_name(given: str | None, in_use: str) -> str:
    if given is None:
        return in_use
    if given in {LOCAL, LOCAL.partition(":")[0]}:
        return LOCAL
    return given


async def _embed_lacking(
    application: Application, tenant: str, embedder: Embedder, *, n_lacking: int, progress: Progress
) -> int:
    """Add the vectors that are missing, some texts a transaction and none open while they are encoded; how many."""
    n_done, after = 0, START
    while True:
        async with application.open_session(tenant) as session:
            texts = await reembedding.lacking(session, embedder.model, after=after)
        if not texts:
            return n_done
        numbers = await reembedding.embed(texts, embedder)
        async with application.open_session(tenant) as session:
            await reembedding.add_vectors(session, texts, numbers, model=embedder.model)
        before, n_done, after = n_done, n_done + len(texts), texts[-1].text_id
        # A line a percent, however many texts there are.
        if n_done * 100 // max(n_lacking, 1) > before * 100 // max(n_lacking, 1):
            progress(f"{tenant}: {n_done} of {n_lacking} texts given their vectors")


async def _delete_others(application: Application, tenant: str) -> int:
    n_deleted = 0
    while True:
        async with application.open_session(tenant) as session:
            n_of_step = await reembedding.delete_others(session)
        if n_of_step == 0:
            return n_deleted
        if n_of_step is None:
            await asyncio.sleep(PAUSE_S)
        else:
            n_deleted += n_of_step
