"""Search beside exact search over the same passages, computed here, whatever plan PostgreSQL has for it.

Nothing warns when an index or a plan loses neighbours: only the comparison shows it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid4

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from policies import store
from policies.search import PassageHit, search
from policies.session import TenantSession
from policies.text import question_tokens
from support_agent.storage.engine import create_engine
from support_agent.storage.tenancy import open_session
from tests.bench import bulk
from tests.bench.corpus import AS_OF, Asked, Corpus
from tests.integration.conftest import Database
from tests.integration.policies.written import written

#: 12,000 passages, 4,000 of them in force; 0.5 % of all are of one topic, or apply in one country.
LARGE: Final = Corpus(seed=1, n_policies=200, n_versions=3)
TINY: Final = Corpus(seed=2, n_policies=1, n_clauses=1, n_passages=3)
#: The same in force, after one version and after ten.
FEW, MANY = (Corpus(seed=3, n_policies=20, n_versions=n) for n in (2, 11))
MODES: Final = ("auto", "force_generic_plan", "force_custom_plan")
#: Tables that grow with what is published.
BIG: Final = frozenset(
    "policy_versions policy_documents policy_clauses policy_passages passage_texts passage_postings"
    " passage_vectors".split()
)
_NARROWING: Final = re.compile("document_id|policy_id|text_id")
_PLACEHOLDER: Final = re.compile(r"%\((\w+)\)s")
_TYPES: Final = {
    "tenant": "uuid", "starts": "timestamptz", "ends": "timestamptz", "limit": "bigint", "known_at": "timestamptz",
    "vector": "text", "topic": "text", "model": "text", "is_period": "boolean",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a question may see, and the tenant that holds it."""

    corpus: Corpus
    topic: str | None = None
    region: str | None = None

    @property
    def scope(self) -> Any:
        return self.corpus.scope(topic=self.topic, region=self.region)


VIEWS: Final = {
    "0.5 % by topic": View(corpus=LARGE, topic="narrow"),
    "0.5 % by region": View(corpus=LARGE, region="SE"),
    "all that is in force": View(corpus=LARGE),
    "three passages": View(corpus=TINY),
}


@pytest.fixture(scope="module")
def loaded(new_database: Callable[[], Database]) -> tuple[Database, Mapping[Corpus, UUID]]:
    """A database with the corpora, each a tenant."""
    database = new_database()
    found = {}
    with psycopg.connect(database.admin_url, autocommit=True) as administrator:
        for corpus in (LARGE, TINY, FEW, MANY):
            found[corpus] = tenant_id = uuid4()
            bulk.add_tenant(administrator, tenant_id, slug=tenant_id.hex)
            corpus.load(administrator, tenant_id)
        administrator.execute("analyze")
    return database, found


@pytest.fixture
async def own_engine(loaded: tuple[Database, Mapping[Corpus, UUID]]) -> AsyncIterator[AsyncEngine]:
    """One new connection, which has planned nothing yet."""
    engine = create_engine(loaded[0].url, pool_size=1)
    yield engine
    await engine.dispose()


async def ask(session: TenantSession, asked: Asked, view: View, *, with_vector: bool = True) -> Sequence[PassageHit]:
    return await search(
        session, tokens=asked.tokens, vector=asked.vector if with_vector else None, as_of=AS_OF, audiences=["public"],
        known={"regions": view.region}, groups={}, topic=view.topic,
    )  # fmt: skip


def places(hits: Iterable[PassageHit]) -> list[tuple[str, int]]:
    return [(hit.clause.version.policy, hit.lines[0]) for hit in hits]


def recall(found: Sequence[tuple[str, int]], exact: Sequence[tuple[str, int]]) -> float:
    return len({*found} & {*exact}) / len(exact)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
async def test_ten_best_are_those_of_exact_search(
    loaded: tuple[Database, Mapping[Corpus, UUID]], own_engine: AsyncEngine, view: View, mode: str
) -> None:
    questions, scope = view.corpus.questions(view.scope, 12), view.scope
    found: list[float] = []

    # From the sixth execution on PostgreSQL may change its mind about the plan.
    for number, asked in enumerate(questions):
        async with open_session(own_engine, loaded[1][view.corpus]) as session:
            await session.psycopg.execute(f"set local plan_cache_mode = {mode}".encode())
            hits = await ask(session, asked, view)
        exact = view.corpus.exact(asked, scope)
        found.append(recall(places(hits), exact))
        assert len(exact) == min(10, len(scope))
        assert number or places(hits) == exact, "the first plan"

    assert sum(found) / len(found) >= 0.99


async def test_ten_best_by_words_alone_are_those_of_exact_search(
    loaded: tuple[Database, Mapping[Corpus, UUID]], own_engine: AsyncEngine
) -> None:
    view = VIEWS["all that is in force"]
    async with open_session(own_engine, loaded[1][LARGE]) as session:
        for asked in LARGE.questions(view.scope, 8):
            exact = LARGE.exact(asked, view.scope, with_vector=False)
            assert places(await ask(session, asked, view, with_vector=False)) == exact


async def test_versions_out_of_force_change_no_row(
    loaded: tuple[Database, Mapping[Corpus, UUID]], own_engine: AsyncEngine
) -> None:
    async def found(corpus: Corpus, asked: Asked) -> list[tuple[object, ...]]:
        async with open_session(own_engine, loaded[1][corpus]) as session:
            hits = await ask(session, asked, View(corpus=corpus))
        return [(*place, hit.score, hit.words, hit.similarity) for place, hit in zip(places(hits), hits, strict=True)]

    for asked in FEW.questions(FEW.scope(), 5):
        assert await found(FEW, asked) == await found(MANY, asked) != []


@pytest.mark.parametrize(
    ("language", "sentence", "question"),
    [
        pytest.param(
            "en",
            "Musical instruments are collected by a courier whom the workshop appoints.",
            "I'd like to know who comes to collect a musical instrument, and when could that be?",
            id="English",
        ),
        pytest.param(
            "zh", "乐器由维修工场指定的快递员上门取件。", "请问一下，我的乐器是谁来上门取件的呢？", id="Chinese"
        ),
    ],
)
async def test_passage_found_only_by_words_is_in_the_ten(
    loaded: tuple[Database, Mapping[Corpus, UUID]],
    own_engine: AsyncEngine,
    language: str,
    sentence: str,
    question: str,
) -> None:
    asked = LARGE.questions(LARGE.scope(), 1)[0]
    async with open_session(own_engine, loaded[1][LARGE]) as session:
        # No embedder: the passage has no vector, and all others do.
        document = written(policy=f"repairs-{language}", language=language, body=f"\n## 1 {{#one}}\n{sentence}\n")
        await store.publish(session, [document], approval="imported", by="ada")
        by_words_of_others = [word for word in asked.tokens if word.startswith("w0000")]
        both = Asked(tokens=(*question_tokens(question), *by_words_of_others), vector=asked.vector)
        hits = await ask(session, both, View(corpus=LARGE))
        await session.psycopg.rollback()

    assert len(hits) == 10
    assert [(hit.text, hit.found_by) for hit in hits if hit.clause.version.policy.startswith("repairs")] == [
        (sentence, ("words",))
    ]


@pytest.mark.parametrize("mode", MODES[1:])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
async def test_no_plan_scans_a_big_table(
    loaded: tuple[Database, Mapping[Corpus, UUID]], own_engine: AsyncEngine, view: View, mode: str
) -> None:
    asked = view.corpus.questions(view.scope, 1)[0]
    async with open_session(own_engine, loaded[1][view.corpus]) as session:
        await session.psycopg.execute(f"set local plan_cache_mode = {mode}".encode())
        nodes = [node async for node in plan_of(session, asked, view)]

    read = {node["Relation Name"] for node in nodes if "Relation Name" in node}
    assert read >= {"policy_versions", "policy_passages", "passage_postings", "passage_vectors"}
    # Row-level security alone lets an index be read from end to end, by tenant: that is a scan by another name.
    conditions = [
        (node["Relation Name"], node["Node Type"], node.get("Index Cond") or node.get("Recheck Cond") or "")
        for node in nodes
        if node.get("Relation Name") in BIG
    ]
    assert [one for one in conditions if not _NARROWING.search(one[2])] == []


async def plan_of(session: TenantSession, asked: Asked, view: View) -> AsyncIterator[Mapping[str, Any]]:
    """The nodes of the plan of the statement that search sends, with these parameters, as this role."""
    sent: list[tuple[str, Mapping[str, Any]]] = []

    class Listening(TenantSession):
        async def fetch(self, statement: Any, parameters: Mapping[str, Any]) -> Any:
            sent.append((statement, parameters))
            return ()

    await ask(
        Listening(tenant_id=session.tenant_id, sqlalchemy=session.sqlalchemy, psycopg=session.psycopg), asked, view
    )
    ((statement, parameters),) = sent
    names = list(dict.fromkeys(_PLACEHOLDER.findall(statement)))
    numbered = _PLACEHOLDER.sub(lambda match: f"${names.index(match[1]) + 1}", statement)
    declared = ", ".join(_TYPES.get(name, "text[]") for name in names)
    await session.psycopg.execute(f"prepare asked ({declared}) as {numbered}".encode())
    cursor = psycopg.AsyncClientCursor(session.psycopg)
    values = ", ".join(f"%({name})s" for name in names)
    await cursor.execute(f"explain (format json) execute asked({values})".encode(), parameters)
    row = await cursor.fetchone()
    await session.psycopg.execute("deallocate asked")
    assert row is not None
    waiting = [row[0][0]["Plan"]]
    while waiting:
        node = waiting.pop()
        waiting += node.get("Plans", [])
        yield node
