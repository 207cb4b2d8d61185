"""Trial records: orders and customers of a tenant folder, in our own database, read with the question's session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, LiteralString

from connectors.base import Scope
from connectors.columns import clean
from connectors.errors import SourceContractError
from connectors.local import reading
from connectors.records import MAX_ROWS, Row, named_rows, record_evidence
from connectors.settings import RecordSettings, SettingsFault
from policies.session import TenantSession

# Row-level security limits them to the tenant as well; each of the two is tested with the other off.
_ORDER: Final[LiteralString] = """
    SELECT record
    FROM trial_orders
    WHERE tenant_id = %(tenant)s AND order_number = %(order_number)s
      AND (customer_id = %(customer)s OR account_id = %(account)s)
"""
_ORDERS: Final[LiteralString] = """
    SELECT record
    FROM trial_orders
    WHERE tenant_id = %(tenant)s AND (customer_id = %(customer)s OR account_id = %(account)s)
    ORDER BY ordered_at DESC, order_number
    LIMIT %(max_rows)s
"""
_CUSTOMER: Final[LiteralString] = """
    SELECT record
    FROM trial_customers
    WHERE tenant_id = %(tenant)s AND customer_id = %(customer)s
"""
_STATEMENTS: Final[Mapping[str, LiteralString]] = {"by_number": _ORDER, "in_period": _ORDERS, "by_customer": _CUSTOMER}


class _Line(dict[str, Any]):
    """One line of JSON: what it does not say is null."""

    def __missing__(self, key: str) -> None:
        return None


class TrialRecords:
    """The trial orders or customers of the session's tenant."""

    local = True

    def __init__(self, source: Literal["orders", "profile"]) -> None:
        self._source = source

    async def read(
        self,
        lookup: str,
        scope: Scope,
        *,
        parameters: Mapping[str, object],
        session: TenantSession | None,
        timeout_s: float,
    ) -> Sequence[Row]:
        bound = {
            "tenant": scope.tenant_id,
            "customer": scope.customer_id,
            "account": scope.account_id or None,
            "order_number": parameters.get("order_number"),
            "max_rows": MAX_ROWS,
        }
        if any(clean(value) != value for value in bound.values() if isinstance(value, str)):
            return ()
        async with reading(self._source, session, timeout_s=timeout_s) as opened:
            rows = await opened.fetch(_STATEMENTS[lookup], bound)
        return [_Line(record) for (record,) in rows]

    async def check(self, *, timeout_s: float) -> list[SettingsFault]:  # noqa: ARG002 Checked when they are loaded.
        return []

    async def aclose(self) -> None:
        """Nothing to close: the session belongs to the question."""


def trial_faults(records: Sequence[Mapping[str, Any]], *, settings: RecordSettings) -> list[SettingsFault]:
    """What in a folder's trial records does not fit the settings, at most one fault a record, numbered from 1."""
    known = {column for record in records for column in record}
    faults = [
        SettingsFault(
            path=f"connectors.{settings.source}.columns.{column.fact.name}", problem="no record has this column"
        )
        for column in settings.columns
        if records and column.name not in known
    ]
    for number, record in enumerate(records, start=1):
        try:
            for name, row in named_rows([_Line(record)], settings=settings).items():
                record_evidence(name, row, settings=settings)
        except SourceContractError as error:
            faults.append(SettingsFault(path=f"trial.{settings.source}[{number}]", problem=str(error)))
    return faults
