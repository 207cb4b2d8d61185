"""The refund question by hand: the least SQL that reaches the same decision by the same clause, for comparison.

It reads the product's own tables as the application role in one tenant transaction and stores a run of the same size.
What it knows beforehand the product has to find out: that a refund is asked for, of which order, that one document of
rank `corporate` governs, what its rule says, and who belongs to the EU.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import psycopg
from psycopg.rows import TupleRow

ZONE: Final = ZoneInfo("Europe/Berlin")
EU: Final = (
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()
)  # fmt: skip
MAX_QUOTA_BP: Final = 1_000

_ORDER: Final[LiteralString] = """
select record from trial_orders
where tenant_id = %(tenant)s and order_number = %(order)s and customer_id = %(customer)s
"""
_PROFILE: Final[LiteralString] = """
select record from trial_customers where tenant_id = %(tenant)s and customer_id = %(customer)s
"""
_COLUMNS: Final[LiteralString] = (
    "v.policy_id, v.version, c.anchor, c.line_start, c.line_end, t.name, t.value, t.rule, t.quote"
)
#: The newest start before the purchase, of each policy of the topic, with the clauses that hold for region and plan.
_GOVERNING: Final[LiteralString] = """
    policies p
    cross join lateral (
        select * from policy_versions v
        where v.tenant_id = %(tenant)s and v.policy_id = p.policy_id and v.recorded_to is null
          and v.valid_from <= {purchased}
        order by v.valid_from desc limit 1
    ) v
    join policy_clauses c on c.tenant_id = %(tenant)s and c.document_id = v.document_id and c.audience = 'public'
         and (c.regions is null or c.regions && {regions}) and (c.plans is null or {plan} = any(c.plans))
    join policy_terms t on t.tenant_id = %(tenant)s and t.document_id = c.document_id
         and t.clause_position = c.position
"""
_IN_FORCE: Final[LiteralString] = """
    p.tenant_id = %(tenant)s and p.topic = 'refund' and v.authority = 'corporate' and v.audience = 'public'
    and (v.valid_to is null or v.valid_to > {purchased})
"""
_VERSION: Final[str] = f"select {_COLUMNS} from {_GOVERNING} where {_IN_FORCE}".format(
    purchased="%(purchased)s", regions="%(regions)s::text[]", plan="%(plan)s"
)
_AT_ONCE: Final[str] = f"""
with o as materialized ({_ORDER}), u as materialized ({_PROFILE})
select o.record, u.record, {_COLUMNS} from o cross join u cross join {_GOVERNING} where {_IN_FORCE}
""".format(
    purchased="(o.record->>'purchased_at')::timestamptz",
    regions="array[u.record->>'region', case when u.record->>'region' = any(%(eu)s::text[]) then 'EU' end]",
    plan="(o.record->>'plan')",
)
_RECORD: Final[LiteralString] = """
insert into runs (tenant_id, run_id, asked_at, status, customer_id, revision, receipt)
values (%(tenant)s, %(run)s, %(asked_at)s, 'answered', %(customer)s, 1, %(receipt)s::json)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorAnswer:
    """What the product decides too."""

    eligible: bool
    #: `policy@version#anchor` of the rule.
    clause: str
    text: str


@asynccontextmanager
async def open_floor(url: str, tenant_id: UUID, *, asked_at: datetime, n_connections: int) -> AsyncIterator[Floor]:
    """Connections of the application role, kept open, on which every statement is prepared once."""
    async with AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(await psycopg.AsyncConnection.connect(url, autocommit=True))
            for _ in range(n_connections)
        ]
        yield Floor(tenant_id, connections, asked_at=asked_at)


class Floor:
    """The two ways to ask; each question is one transaction."""

    def __init__(
        self, tenant_id: UUID, connections: Iterable[psycopg.AsyncConnection[TupleRow]], *, asked_at: datetime
    ) -> None:
        self._tenant_id = tenant_id
        self._asked_at = asked_at
        # Without parameters both statements travel together.
        self._begin = f"begin; select set_config('app.tenant', '{tenant_id}', true)".encode()
        self._free = list(connections)
        # First come, first served: a queue of connections would let whoever just had one overtake those who wait.
        self._admission = asyncio.Semaphore(len(self._free))

    async def in_three_queries(self, customer: str, order: str, *, receipt: str | None = None) -> FloorAnswer:
        """Order, profile, version; `receipt` is stored where it is given."""
        own = {"tenant": self._tenant_id, "customer": customer, "order": order}
        async with self._transaction() as connection:
            ordered = (await _rows(connection, _ORDER, own))[0][0]
            region = (await _rows(connection, _PROFILE, own))[0][0]["region"]
            parameters = {
                "tenant": self._tenant_id,
                "purchased": datetime.fromisoformat(ordered["purchased_at"]),
                "regions": [region, "EU"] if region in EU else [region],
                "plan": ordered["plan"],
            }
            terms = await _rows(connection, _VERSION, parameters)
            answer = self._decide(ordered, {row[5]: row for row in terms})
            await self._store(connection, customer, receipt)
        return answer

    async def at_once(self, customer: str, order: str, *, receipt: str | None = None) -> FloorAnswer:
        """All of it in one statement; `receipt` is stored where it is given."""
        parameters = {"tenant": self._tenant_id, "customer": customer, "order": order, "eu": EU}
        async with self._transaction() as connection:
            rows = await _rows(connection, _AT_ONCE, parameters)
            answer = self._decide(rows[0][0], {row[7]: row[2:] for row in rows})
            await self._store(connection, customer, receipt)
        return answer

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[psycopg.AsyncConnection[TupleRow]]:
        async with self._admission:
            connection = self._free.pop()
            try:
                await connection.execute(self._begin)
                yield connection
                await connection.commit()
            finally:
                self._free.append(connection)

    async def _store(self, connection: psycopg.AsyncConnection[TupleRow], customer: str, receipt: str | None) -> None:
        if receipt is not None:
            run = {
                "tenant": self._tenant_id, "run": uuid4(), "asked_at": self._asked_at, "customer": customer,
                "receipt": receipt,
            }  # fmt: skip
            await connection.execute(_RECORD, run, prepare=True)

    def _decide(self, order: Mapping[str, Any], terms: Mapping[str, tuple[Any, ...]]) -> FloorAnswer:
        policy, version, anchor, _, _, _, _, rule, quote = terms["refund.eligible"]
        days: int = terms["refund.window_days"][6]
        bought_on = datetime.fromisoformat(order["purchased_at"]).astimezone(ZONE).date()
        n_days = (self._asked_at.astimezone(ZONE).date() - bought_on).days
        # By hand what the rule says: only some versions look at the quota.
        within_quota = "quota_used_bp" not in rule or order["quota_used_bp"] < MAX_QUOTA_BP
        eligible = order["status"] != "refunded" and n_days <= days and within_quota
        return FloorAnswer(
            eligible=eligible,
            clause=f"{policy}@{version}#{anchor}",
            text=f"{'Yes' if eligible else 'No'}: bought on {bought_on}, window of {days} days. {quote}",
        )


async def _rows(
    connection: psycopg.AsyncConnection[TupleRow], statement: Any, parameters: Mapping[str, Any]
) -> list[TupleRow]:
    return await (await connection.execute(statement, parameters, prepare=True)).fetchall()
