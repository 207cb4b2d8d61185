"""Search beside the hand-written floor, on the data of a large tenant among small ones, and what its cost depends on.

    make bench, or with more: BENCH_PASSAGES=1000000 make bench

The large tenant has nine versions of each policy, so a ninth of its passages is in force: `wide` is all of that that
customers see, `narrow` half a percent of the tenant's passages. Small tenants have twenty passages each.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import mean
from typing import Any, Final
from uuid import UUID, uuid5

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import TupleRow

from policies import store
from policies.search import PassageHit, search
from policies.session import TenantSession
from policies.text import question_tokens
from support_agent.storage import embedded, schema
from support_agent.storage.embedded import LocalServer
from support_agent.storage.engine import APPLICATION_ROLE, OWNER_ROLE, create_engine
from support_agent.storage.tenancy import open_session
from tests.bench import bulk
from tests.bench.corpus import AS_OF, Asked, Corpus
from tests.bench.measuring import Ask, Round, in_turn, middle, ratio
from tests.bench.report import goal, title
from tests.bench.search_floor import add_floor, search_by_hand
from tests.integration.policies.written import written

pytestmark = pytest.mark.bench

N_PASSAGES: Final = int(os.environ.get("BENCH_PASSAGES", "100000"))
N_SMALL: Final = 500
N_VERSIONS: Final = 9
LARGE: Final = Corpus(seed=1, n_policies=N_PASSAGES // (20 * N_VERSIONS), n_versions=N_VERSIONS)
#: The same sixty passages in force, by how many versions there are.
BY_VERSIONS: Final = {n: Corpus(seed=2, n_policies=3, n_versions=n) for n in (1, 10, 100, 1_000)}
#: The same 2,000 passages in force, one version of each policy out of force or ten.
FEW, MANY = (Corpus(seed=3, n_policies=100, n_versions=n) for n in (2, 11))
NAMES: Final = {
    LARGE: "large", FEW: "few", MANY: "many", **{corpus: f"{n} versions" for n, corpus in BY_VERSIONS.items()}
}  # fmt: skip
COLUMNS: Final = ("p50 ms", "p95 ms", "machine", "a second")
TOPICS: Final = {"wide": None, "narrow": "narrow"}
#: Natural questions and the passages that only their words find, for nothing else is said about the matter.
WORDS: Final = {
    "English": (
        "Musical instruments are collected by a courier whom the workshop appoints.",
        "I'd like to know who comes to collect a musical instrument, and when could that be?",
    ),
    "Chinese": ("乐器由维修工场指定的快递员上门取件。", "请问一下，我的乐器是谁来上门取件的呢？"),
}
FLOOR, SEARCH = "floor: scope first", "search"
_DATABASE: Final = f"{schema.DATABASE}_search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """The database, a connection for the floor, and an open transaction of the tenant of each corpus."""

    server_pid: int
    url: str
    by_hand: psycopg.AsyncConnection[TupleRow]
    sessions: Mapping[Corpus, TenantSession]


@pytest.fixture(scope="module")
async def library(bench_server: LocalServer) -> AsyncIterator[Library]:
    _fill(bench_server)
    url = bench_server.url(APPLICATION_ROLE, database=_DATABASE)
    engine = create_engine(url, pool_size=len(NAMES))
    async with AsyncExitStack() as stack:
        by_hand = await stack.enter_async_context(await psycopg.AsyncConnection.connect(url, autocommit=True))
        sessions = {}
        for corpus in NAMES:
            sessions[corpus] = await stack.enter_async_context(open_session(engine, tenant_of(corpus)))
            await sessions[corpus].psycopg.execute("set local idle_in_transaction_session_timeout = 0")
        yield Library(server_pid=bench_server.pid, url=url, by_hand=by_hand, sessions=sessions)
    await engine.dispose()
    with _administrator(bench_server, "postgres") as administrator:
        _drop(administrator)


def tenant_of(corpus: Corpus) -> UUID:
    return uuid5(UUID(int=0), NAMES[corpus])


async def find(session: TenantSession, asked: Asked, *, topic: str | None = None) -> Sequence[PassageHit]:
    return await search(
        session, tokens=asked.tokens, vector=asked.vector, as_of=AS_OF, audiences=["public"], known={}, groups={},
        topic=topic,
    )  # fmt: skip


def places(hits: Sequence[PassageHit]) -> list[tuple[str, int]]:
    return [(hit.clause.version.policy, hit.lines[0]) for hit in hits]


@pytest.mark.parametrize("width", TOPICS)
async def test_search_beside_the_floor(library: Library, width: str) -> None:
    topic, session = TOPICS[width], library.sessions[LARGE]
    scope = LARGE.scope(topic=topic)
    questions = LARGE.questions(scope, 20)
    contenders: dict[str, Ask] = {
        FLOOR: lambda n: search_by_hand(library.by_hand, tenant_of(LARGE), questions[n % 20], topic=topic),
        SEARCH: lambda n: find(session, questions[n % 20], topic=topic),
    }

    rounds = await in_turn(contenders, at_once=1, server_pid=library.server_pid, round_s=1.5)

    recalls = {mode: await _recall(session, mode, questions, scope, topic) for mode in ("generic", "custom")}
    title(
        f"Search, {width}: {len(scope):,} rows in scope of {N_PASSAGES:,} passages, beside {N_SMALL} tenants",
        columns=COLUMNS,
    )
    for name, own in rounds.items():
        print(_row(name, own))
    goal(6, "search / floor", ratio(rounds[SEARCH], rounds[FLOOR], _p50), 1.3)
    for mode, recall in recalls.items():
        goal(7, f"recall@10 against exact search, {mode} plans", recall, 0.99, at_least=True)


@pytest.mark.parametrize("language", WORDS)
async def test_words_count(library: Library, language: str) -> None:
    sentence, question = WORDS[language]
    asked = LARGE.questions(LARGE.scope(), 1)[0]
    body = f"\n## 1 {{#one}}\n{sentence}\n"
    engine = create_engine(library.url, pool_size=1)
    async with open_session(engine, tenant_of(LARGE)) as session:
        await store.publish(session, [written(policy="repairs", body=body)], approval="imported", by="bench")
        hits = await find(session, Asked(tokens=(*question_tokens(question), *asked.tokens[:2]), vector=asked.vector))
        await session.psycopg.rollback()
    await engine.dispose()

    by_words = [hit.text for hit in hits if hit.found_by == ("words",)]

    title(f"A passage that only words find, among {N_PASSAGES:,}: {language}")
    goal(8, "is in the ten", float(sentence in by_words), 1, at_least=True)
    assert sentence in by_words


async def test_versions_of_a_policy_cost_nothing(library: Library) -> None:
    asked = BY_VERSIONS[1].questions(BY_VERSIONS[1].scope(), 20)
    contenders = {f"V = {n}": _asking(library.sessions[corpus], asked) for n, corpus in BY_VERSIONS.items()}
    found = {n: places(await find(library.sessions[corpus], asked[0])) for n, corpus in BY_VERSIONS.items()}

    rounds = await in_turn(contenders, at_once=1, server_pid=library.server_pid)

    assert len({tuple(hits) for hits in found.values()}) == 1
    title(f"Search by versions a policy, {BY_VERSIONS[1].n_in_force} passages in force", columns=COLUMNS)
    for name, own in rounds.items():
        print(_row(name, own))
    for n in (10, 100, 1_000):
        goal(5, f"V = {n} / V = 1", ratio(rounds[f"V = {n}"], rounds["V = 1"], _p50), 1.3)


async def test_what_is_out_of_force_costs_nothing(library: Library) -> None:
    asked = FEW.questions(FEW.scope(), 20)
    contenders = {NAMES[corpus]: _asking(library.sessions[corpus], asked) for corpus in (FEW, MANY)}

    rounds = await in_turn(contenders, at_once=1, server_pid=library.server_pid, n_rounds=9)

    for one in asked:
        assert places(await find(library.sessions[FEW], one)) == places(await find(library.sessions[MANY], one))
    title(
        f"Search by versions out of force, {FEW.n_in_force:,} passages in force; few: 1 a policy, many: 10",
        columns=COLUMNS,
    )
    for name, own in rounds.items():
        print(_row(name, own))
    goal(10, "ten times the versions out of force", ratio(rounds["many"], rounds["few"], _p50), 1.2)


def _asking(session: TenantSession, questions: Sequence[Asked]) -> Ask:
    return lambda n: find(session, questions[n % len(questions)])


async def _recall(
    session: TenantSession, mode: str, questions: Sequence[Asked], scope: Any, topic: str | None
) -> float:
    await session.psycopg.execute(f"set local plan_cache_mode = force_{mode}_plan".encode())
    found = []
    for asked in questions:
        exact = LARGE.exact(asked, scope)
        found.append(len({*places(await find(session, asked, topic=topic))} & {*exact}) / len(exact))
    await session.psycopg.execute("set local plan_cache_mode = force_generic_plan")
    return mean(found)


def _fill(server: LocalServer) -> None:
    with _administrator(server, "postgres") as administrator:
        _drop(administrator)
    schema.prepare(server.url(embedded.ADMINISTRATOR, database=_DATABASE))
    schema.upgrade(server.url(OWNER_ROLE, database=_DATABASE))
    with _administrator(server, _DATABASE) as administrator:
        for corpus, name in NAMES.items():
            bulk.add_tenant(administrator, tenant_of(corpus), slug=name)
            corpus.load(administrator, tenant_of(corpus))
        for number in range(N_SMALL):
            tenant = uuid5(UUID(int=0), f"small {number}")
            bulk.add_tenant(administrator, tenant, slug=f"small-{number}")
            Corpus(seed=1_000 + number, n_policies=1).load(administrator, tenant)
        administrator.execute("analyze")
        add_floor(administrator, tenant_of(LARGE))
        bulk.settle(administrator)


def _administrator(server: LocalServer, database: str) -> psycopg.Connection[TupleRow]:
    return psycopg.connect(server.url(embedded.ADMINISTRATOR, database=database), autocommit=True)


def _drop(administrator: psycopg.Connection[TupleRow]) -> None:
    administrator.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(_DATABASE)))


def _p50(one: Round) -> float:
    return one.percentile_ms(0.5)


def _row(name: str, rounds: Sequence[Round]) -> str:
    columns = (_p50, lambda one: one.percentile_ms(0.95), lambda one: one.machine_ms)
    figures = "".join(f"{middle(rounds, column):>9.2f}" for column in columns)
    return f"{name:28}{figures}{middle(rounds, lambda one: one.per_s):>9.0f}"
