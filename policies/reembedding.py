"""The stored vectors of a tenant: which model's it is searched by, what lacks one, and how it changes to another model.

A tenant is searched by the vectors of one model. Those of another are added beside them, a few texts a transaction, so
that whoever is stopped goes on where it was; once no text lacks one, one transaction switches, and what is left of
other models is deleted. Who publishes holds the tenant's vectors shared until the commit, and gives new texts vectors
of the model in use; who switches or deletes holds them alone, and never waits for that but tries again: a publisher may
hold what the other needs next. So no text is missed: the switch sees it, or its writer sees the switch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, LiteralString
from uuid import UUID

from policies.embedding import vector_text
from policies.errors import EmbeddingError
from policies.session import TenantSession

if TYPE_CHECKING:
    from policies.embedding import Embedder, Embedders

#: Texts that are encoded at once; the hosted models take no fewer.
BATCH: Final = 64
#: Vectors that one transaction deletes.
MAX_DELETED: Final = 5_000
#: Before the first text.
START: Final = UUID(int=0)

_SHARE: Final[LiteralString] = """
select pg_advisory_xact_lock_shared(hashtextextended(%(tenant)s::text || ' vectors', 0))
"""
_TAKE: Final[LiteralString] = """
select pg_try_advisory_xact_lock(hashtextextended(%(tenant)s::text || ' vectors', 0))
"""
_MODEL: Final[LiteralString] = "select vector_model from tenants where tenant_id = %(tenant)s"
_LACKING: Final[LiteralString] = """
select t.text_id, t.text from passage_texts t
where t.tenant_id = %(tenant)s and t.text_id > %(after)s
  and not exists (select from passage_vectors v
                  where v.tenant_id = %(tenant)s and v.text_id = t.text_id and v.model = %(model)s)
order by t.text_id limit %(limit)s
"""
_LACKING_OF: Final[LiteralString] = """
select t.text_id, t.text from passage_texts t
where t.tenant_id = %(tenant)s and t.text_id = any(%(texts)s)
  and not exists (select from passage_vectors v
                  where v.tenant_id = %(tenant)s and v.text_id = t.text_id and v.model = %(model)s)
order by t.text_id
"""
_COUNT: Final[LiteralString] = """
select count(*), count(*) filter (where not exists (
    select from passage_vectors v
    where v.tenant_id = %(tenant)s and v.text_id = t.text_id and v.model = %(model)s))
from passage_texts t where t.tenant_id = %(tenant)s
"""
_LENGTH: Final[LiteralString] = """
select vector_dims(embedding) from passage_vectors where tenant_id = %(tenant)s and model = %(model)s limit 1
"""
_ADD: Final[LiteralString] = """
insert into passage_vectors (tenant_id, text_id, model, embedding)
select %(tenant)s, v.text_id, %(model)s, v.embedding::halfvec
from unnest(%(texts)s::uuid[], %(vectors)s::text[]) as v (text_id, embedding)
on conflict do nothing
"""
# Whoever has raised the revision holds the row until the commit, and may be waiting for the vectors.
_FREE: Final[LiteralString] = """
select 1 from tenants where tenant_id = %(tenant)s for no key update skip locked
"""
_SWITCH: Final[LiteralString] = """
update tenants set vector_model = %(model)s, revision = revision + 1
where tenant_id = %(tenant)s and vector_model <> %(model)s
"""
_DELETE: Final[LiteralString] = """
delete from passage_vectors
where tenant_id = %(tenant)s and (text_id, model) in (
    select v.text_id, v.model from passage_vectors v
    where v.tenant_id = %(tenant)s and v.model <> (select vector_model from tenants where tenant_id = %(tenant)s)
    limit %(limit)s)
returning 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """A text that has no vector of a model."""

    text_id: UUID
    text: str


async def vector_model(session: TenantSession) -> str:
    """The model whose vectors the tenant is searched by."""
    rows = await session.fetch(_MODEL, {"tenant": session.tenant_id})
    return str(rows[0][0])


async def add_vectors_of(session: TenantSession, texts: Sequence[UUID], *, embedders: Embedders) -> None:
    """Give those of `texts` that have none a vector of the model in use; nobody changes it before the commit.

    Raises:
        EmbeddingError: The model cannot be used.
    """
    await session.fetch(_SHARE, {"tenant": session.tenant_id})
    # In a statement of its own: only now is the change of whoever had the vectors visible.
    embedder = embedders.of(await vector_model(session))
    parameters = {"tenant": session.tenant_id, "texts": list(texts), "model": embedder.model}
    lacking = [_lacking(row) for row in await session.fetch(_LACKING_OF, parameters)]
    for start in range(0, len(lacking), BATCH):
        batch = lacking[start : start + BATCH]
        await add_vectors(session, batch, await embed(batch, embedder), model=embedder.model)


async def lacking(session: TenantSession, model: str, *, after: UUID = START, limit: int = BATCH) -> Sequence[Lacking]:
    """Texts of the tenant that have no vector of `model`, in the order of their ids; none: there are no more."""
    parameters = {"tenant": session.tenant_id, "model": model, "after": after, "limit": limit}
    return [_lacking(row) for row in await session.fetch(_LACKING, parameters)]


async def count(session: TenantSession, model: str) -> tuple[int, int]:
    """How many texts the tenant has, and how many of them have no vector of `model`."""
    rows = await session.fetch(_COUNT, {"tenant": session.tenant_id, "model": model})
    return rows[0][0], rows[0][1]


async def embed(texts: Sequence[Lacking], embedder: Embedder) -> Sequence[Sequence[float]]:
    """The vectors of `texts`, in their order."""
    return await embedder.embed_documents([one.text for one in texts])


async def add_vectors(
    session: TenantSession, texts: Sequence[Lacking], vectors: Sequence[Sequence[float]], *, model: str
) -> None:
    """Store the vectors of `texts`; one that is there already stays.

    Raises:
        EmbeddingError: They are not as long as those that the tenant has of this model.
    """
    stored = await session.fetch(_LENGTH, {"tenant": session.tenant_id, "model": model})
    length = stored[0][0] if stored else len(vectors[0])
    if any(len(vector) != length for vector in vectors):
        raise EmbeddingError(model, problem=f"it gave vectors of {length} numbers before and now gives others")
    parameters = {
        "tenant": session.tenant_id,
        "model": model,
        "texts": [one.text_id for one in texts],
        "vectors": [vector_text(vector) for vector in vectors],
    }
    await session.fetch(_ADD, parameters)


async def switch(session: TenantSession, model: str) -> bool:
    """Search the tenant by the vectors of `model` from the commit on; False: not yet, a text lacks one or a writer is
    at work.
    """
    parameters = {"tenant": session.tenant_id, "model": model}
    if not await _taken(session) or not await session.fetch(_FREE, parameters):
        return False
    if await lacking(session, model, limit=1):
        return False
    await session.fetch(_SWITCH, parameters)
    return True


async def delete_others(session: TenantSession) -> int | None:
    """Delete up to `MAX_DELETED` vectors of models not in use; how many, and None while a writer is at work."""
    if not await _taken(session):
        return None
    return len(await session.fetch(_DELETE, {"tenant": session.tenant_id, "limit": MAX_DELETED}))


async def _taken(session: TenantSession) -> bool:
    return bool((await session.fetch(_TAKE, {"tenant": session.tenant_id}))[0][0])


def _lacking(row: Sequence[Any]) -> Lacking:
    return Lacking(text_id=row[0], text=row[1])
