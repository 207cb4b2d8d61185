"""Changing the model of a tenant's vectors: search goes on, nothing is missed, and whoever is killed goes on later."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from policies import reembedding, store
from policies.contents import add_contents
from policies.embedding import LOCAL, SentenceVectors
from policies.errors import EmbeddingError
from policies.search import PassageHit, search
from policies.session import TenantSession
from policies.version import instant_period
from support_agent.administration import vectors
from support_agent.bootstrap import Application
from support_agent.domain.tenant import tenant_id
from support_agent.errors import InvalidRequestError
from support_agent.settings import Settings
from support_agent.storage import tenants
from support_agent.storage.engine import create_engine
from support_agent.storage.tenancy import open_session
from support_agent.tenants.folder import new_tenant_files
from tests.integration.conftest import Database
from tests.integration.policies.written import written
from tests.trigrams import TrigramModel

TENANT = "acme"
TRIGRAMS = "test:trigrams-64"
JUNE = instant_period(datetime(2025, 6, 1, tzinfo=UTC))
N_TEXTS = 200
BODY = "\n## Cases {#cases}\n" + "".join(f"- Case {n} is settled by rule {n * 7919 % 1000}.\n" for n in range(N_TEXTS))
Before = Callable[[], Awaitable[None]]


def application(database: Database, folder: Path, *, before: Before | None = None, length: int = 64) -> Application:
    settings = Settings(
        database_url=database.url, database_owner_url=None, data_folder=folder, vectors=False, environment={}
    )
    made = Application(create_engine(database.url, pool_size=4), settings)
    own = {f"test:trigrams-{n}": lambda n=n: TrigramModel(length=n) for n in (32, 100)}
    made._vectors = SentenceVectors(own={TRIGRAMS: lambda: TrigramModel(length=length, before=before), **own})
    return made


@asynccontextmanager
async def opened(database: Database, folder: Path, *, before: Before | None = None) -> AsyncIterator[Application]:
    """The application on a tenant whose `N_TEXTS` passages were published without vectors."""
    made = application(database, folder, before=before)
    try:
        async with made.open_session(TENANT) as session:
            await tenants.save(session, TENANT, dict(new_tenant_files(TENANT, time_zone=None, authorities=None)))
            await store.publish(session, [written(body=BODY)], approval="imported", by="ada")
        yield made
    finally:
        await made.aclose()


async def embed(made: Application, model: str) -> dict[str, object]:
    return await vectors.embed(made, TENANT, model=model, progress=lambda _: None)


async def by_meaning(made: Application, text: str) -> list[PassageHit]:
    """What the vectors in use find."""
    assert made.vectors is not None
    async with made.open_session(TENANT) as session:
        model = await reembedding.vector_model(session)
        hits = await search(
            session, tokens=(), vector=await made.vectors.of(model).embed_query(text), model=model, as_of=JUNE,
            audiences=("public",), known={}, groups={},
        )  # fmt: skip
    return list(hits)


async def models(made: Application) -> dict[str, int]:
    """How many vectors of each model are stored."""
    async with made.open_session(TENANT) as session:
        rows = await session.fetch("select model, count(*) from passage_vectors group by model", {})
    return dict(rows)


async def test_passages_without_vectors_get_them(own_database: Database, tmp_path: Path) -> None:
    async with opened(own_database, tmp_path) as made:
        assert await by_meaning_none(made)

        done = await embed(made, TRIGRAMS)

        assert (done["n_embedded"], done["model"], done["previous_model"]) == (N_TEXTS, TRIGRAMS, LOCAL)
        assert await models(made) == {TRIGRAMS: N_TEXTS}
        assert (await by_meaning(made, "Cases\nCase 123 is settled by rule 37."))[0].text.startswith("Case 123 ")


async def by_meaning_none(made: Application) -> bool:
    async with made.open_session(TENANT) as session:
        hits = await search(
            session, tokens=(), vector=[1.0] * 64, model=TRIGRAMS, as_of=JUNE, audiences=("public",), known={},
            groups={},
        )  # fmt: skip
    return not hits


async def test_search_goes_by_the_old_vectors_until_the_switch(own_database: Database, tmp_path: Path) -> None:
    seen: list[list[str]] = []

    async def look() -> None:
        seen.append([hit.text for hit in await by_meaning(made, "Case 7 is settled")])

    async with opened(own_database, tmp_path, before=look) as made:
        await embed(made, "test:trigrams-32")
        before = [hit.text for hit in await by_meaning(made, "Case 7 is settled")]

        await embed(made, TRIGRAMS)

        after = [hit.text for hit in await by_meaning(made, "Case 7 is settled")]
        assert len(seen) == -(-N_TEXTS // reembedding.BATCH)
        assert all(texts == before for texts in seen)
        assert after != before
        assert await models(made) == {TRIGRAMS: N_TEXTS}


async def test_switch_raises_the_revision_once(own_database: Database, tmp_path: Path) -> None:
    async with opened(own_database, tmp_path) as made:

        async def revision() -> int | None:
            async with made.open_session(TENANT) as session:
                return await tenants.revision(session)

        before = await revision()
        await embed(made, TRIGRAMS)
        switched = await revision()
        await embed(made, TRIGRAMS)

        assert before is not None
        assert (switched, await revision()) == (before + 1, before + 1)


async def test_failure_half_way_keeps_what_was_done(own_database: Database, tmp_path: Path) -> None:
    n_batches = 0

    async def fail_at_the_third() -> None:
        nonlocal n_batches
        n_batches += 1
        if n_batches == 3:
            raise ValueError("the service is away")

    async with opened(own_database, tmp_path, before=fail_at_the_third) as made:
        with pytest.raises(EmbeddingError, match="the service is away"):
            await embed(made, TRIGRAMS)
        assert await models(made) == {TRIGRAMS: 2 * reembedding.BATCH}

        done = await embed(made, TRIGRAMS)

        assert done["n_embedded"] == N_TEXTS - 2 * reembedding.BATCH
        assert await models(made) == {TRIGRAMS: N_TEXTS}


async def test_what_is_published_meanwhile_has_vectors_after_the_switch(own_database: Database, tmp_path: Path) -> None:
    published = 0

    async def publish() -> None:
        nonlocal published
        if published == 6:
            return
        published += 1
        body = f"\n## News {{#news}}\nParagraph {published} of the news.\n"
        async with made.open_session(TENANT) as session:
            await store.publish(
                session, [written(policy=f"news-{published}", body=body)], approval="imported", by="ada",
                embedder=made.vectors and made.vectors.of("test:trigrams-32"),
            )  # fmt: skip

    async with opened(own_database, tmp_path, before=publish) as made:
        await embed(made, "test:trigrams-32")

        await embed(made, TRIGRAMS)

        async with made.open_session(TENANT) as session:
            n_texts, n_lacking = await reembedding.count(session, TRIGRAMS)
        assert (n_texts, n_lacking) == (N_TEXTS + published, 0)
        assert published == 6


async def test_switch_does_not_overtake_a_publish_under_way(own_database: Database, tmp_path: Path) -> None:
    async with opened(own_database, tmp_path) as made:
        await embed(made, "test:trigrams-32")
        assert made.vectors is not None
        async with made.open_session(TENANT) as publisher:
            await store.publish(
                publisher, [written(policy="news")], approval="imported", by="ada", embedder=made.vectors
            )
            running = asyncio.create_task(embed(made, TRIGRAMS))
            await asyncio.sleep(0.4)
            assert not running.done()
            async with made.open_session(TENANT) as session:
                assert await reembedding.vector_model(session) == "test:trigrams-32"

        await running

        async with made.open_session(TENANT) as session:
            assert (await reembedding.count(session, TRIGRAMS))[1] == 0


async def test_switch_does_not_overtake_texts_under_way(own_database: Database, tmp_path: Path) -> None:
    async with opened(own_database, tmp_path) as made:
        await embed(made, "test:trigrams-32")
        async with made.open_session(TENANT) as publisher:
            # What a publish does first; it has not raised the revision yet.
            await add_contents(publisher, {uuid4(): written(policy="news")}, embedder=made.vectors)
            running = asyncio.create_task(embed(made, TRIGRAMS))
            await asyncio.sleep(0.4)
            assert not running.done()

        await running

        async with made.open_session(TENANT) as session:
            assert (await reembedding.count(session, TRIGRAMS))[1] == 0


async def test_publish_after_the_switch_uses_the_new_model(own_database: Database, tmp_path: Path) -> None:
    async with opened(own_database, tmp_path) as made:
        await embed(made, TRIGRAMS)

        async with made.open_session(TENANT) as session:
            await store.publish(session, [written(policy="news")], approval="imported", by="ada", embedder=made.vectors)

        assert await models(made) == {TRIGRAMS: N_TEXTS + 1}


async def test_vectors_of_another_length_are_refused(own_database: Database, tmp_path: Path) -> None:
    async with opened(own_database, tmp_path) as made:
        await embed(made, TRIGRAMS)
        async with made.open_session(TENANT) as session:
            await store.publish(session, [written(policy="news")], approval="imported", by="ada")
        changed = application(own_database, tmp_path, length=48)

        with pytest.raises(EmbeddingError, match="64 numbers before"):
            await embed(changed, TRIGRAMS)

        await changed.aclose()


async def test_without_vectors_nothing_is_made(own_database: Database, tmp_path: Path) -> None:
    async with opened(own_database, tmp_path) as made:
        made._vectors = None

        with pytest.raises(InvalidRequestError, match="SUPPORT_AGENT_VECTORS"):
            await embed(made, TRIGRAMS)


_KILLED = """
import asyncio, sys
from pathlib import Path
from tests.integration.administration.test_vectors import TRIGRAMS, application, embed
from tests.integration.conftest import Database

async def slowly():
    print("batch", flush=True)
    await asyncio.sleep(0.1)

async def main():
    database = Database(name="", url=sys.argv[1], owner_url="", admin_url="")
    await embed(application(database, Path(sys.argv[2]), before=slowly), TRIGRAMS)

asyncio.run(main())
"""


async def test_killed_half_way_goes_on_where_it_was(own_database: Database, tmp_path: Path) -> None:
    async with opened(own_database, tmp_path) as made:
        await embed(made, "test:trigrams-32")
        command = [sys.executable, "-c", _KILLED, own_database.url, str(tmp_path)]
        process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, cwd=Path(__file__).parents[3])
        assert process.stdout is not None
        for _ in range(3):
            assert await process.stdout.readline() == b"batch\n"
        process.kill()
        await process.wait()
        stored = await models(made)
        texts_of_old = [hit.text for hit in await by_meaning(made, "Case 7")]

        done = await embed(made, TRIGRAMS)

        assert stored == {"test:trigrams-32": N_TEXTS, TRIGRAMS: 2 * reembedding.BATCH}
        assert len(texts_of_old) == 10
        assert done["n_embedded"] == N_TEXTS - 2 * reembedding.BATCH
        assert await models(made) == {TRIGRAMS: N_TEXTS}


async def test_tenants_do_not_share_a_model(own_database: Database, tmp_path: Path) -> None:
    async def other() -> tuple[str, int]:
        async with open_session(made._engine, tenant_id("other")) as session:
            rows = await session.fetch("select count(*) from passage_vectors", {})
            return await reembedding.vector_model(session), rows[0][0]

    async with opened(own_database, tmp_path) as made:
        await add_other(made)

        await embed(made, TRIGRAMS)

        assert await other() == (LOCAL, 1)


async def add_other(made: Application) -> None:
    async with made.open_session("other") as session:
        await tenants.save(session, "other", dict(new_tenant_files("other", time_zone=None, authorities=None)))
        await store.publish(session, [written()], approval="imported", by="ada")
        (text,) = await reembedding.lacking(session, LOCAL)
        await reembedding.add_vectors(session, [text], [[0.1] * 512], model=LOCAL)


async def test_lacking_goes_on_after_a_text(session: TenantSession) -> None:
    await store.publish(session, [written(body=BODY)], approval="imported", by="ada")

    found: list[UUID] = []
    while page := await reembedding.lacking(session, LOCAL, after=found[-1] if found else reembedding.START, limit=70):
        found += [one.text_id for one in page]

    assert len(found) == len(set(found)) == N_TEXTS
