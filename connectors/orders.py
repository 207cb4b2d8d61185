"""Orders of the scope's customer, and of the account that the customer belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from connectors.base import Evidence, Lookup, Scope
from connectors.records import (
    MAX_RECORDS,
    Records,
    Row,
    may_lie_in,
    named_rows,
    record_evidence,
    stated_value,
)
from connectors.settings import RecordSettings, SettingsFault
from policies.session import TenantSession
from policies.version import Period


class OrdersConnector:
    """Facts of orders. Source: the tenant's orders database, one row an order."""

    name = "orders"

    def __init__(self, settings: RecordSettings, records: Records) -> None:
        self.local = records.local
        self._settings = settings
        self._records = records
        self._dated = settings.column_of(settings.dated_by)
        self._kind = settings.column_of(settings.kind_by)

    async def fetch(
        self, lookup: Lookup, scope: Scope, *, session: TenantSession | None, timeout_s: float
    ) -> Sequence[Evidence]:
        """Return the facts of the order named by `order_number`, else of the newest orders of `period` and `item_kind`.

        Raises:
            SourceUnavailableError: No answer within `timeout_s`, or the source cannot be reached.
            SourceContractError: A row does not fit the settings and the declared facts.
        """
        if not (scope.sees_records and scope.customer_id):
            return ()
        by_number = "order_number" in lookup.parameters
        rows = await self._records.read(
            "by_number" if by_number else "in_period",
            scope,
            parameters=lookup.parameters,
            session=session,
            timeout_s=timeout_s,
        )
        orders = named_rows(rows, settings=self._settings)
        kept = self._named(orders, lookup) if by_number else self._newest(orders, lookup)
        return [
            evidence
            for name, row in orders.items()
            if name in kept
            for evidence in record_evidence(name, row, settings=self._settings)
        ]

    async def check(self, *, timeout_s: float) -> list[SettingsFault]:
        """What the source shows to be wrong with the settings; no customer's record is read."""
        return await self._records.check(timeout_s=timeout_s)

    async def aclose(self) -> None:
        await self._records.aclose()

    def _named(self, orders: Mapping[str, Row], lookup: Lookup) -> set[str]:
        # Databases compare more loosely (letter case, trailing blanks), and another order is never meant.
        return {name for name in orders if name == lookup.parameters["order_number"]}

    def _newest(self, orders: Mapping[str, Row], lookup: Lookup) -> set[str]:
        matching = [name for name, row in orders.items() if self._matches(row, lookup)]
        if len(matching) > MAX_RECORDS:
            matching.sort(key=lambda name: self._sort_date(orders[name]), reverse=True)
        return set(matching[:MAX_RECORDS])

    def _matches(self, row: Row, lookup: Lookup) -> bool:
        """Whether the order may be meant; what its record does not say rules nothing out."""
        period, kind = lookup.parameters.get("period"), lookup.parameters.get("item_kind")
        if isinstance(period, Period) and self._dated is not None:
            dated = stated_value(row, self._dated, settings=self._settings)
            if not may_lie_in(period, dated, settings=self._settings):
                return False
        if kind is None or self._kind is None:
            return True
        return stated_value(row, self._kind, settings=self._settings) in {kind, None}

    def _sort_date(self, row: Row) -> str:
        dated = None if self._dated is None else stated_value(row, self._dated, settings=self._settings)
        return dated.isoformat() if isinstance(dated, date) else ""
