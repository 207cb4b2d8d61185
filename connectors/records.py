"""From the rows of a source of records to evidence: one statement a mapped fact.

A record is stated whole, for the governing rule may name facts that the plan did not. Evidence comes in the order of
the records' names, then of the settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, Protocol, TypeAlias
from uuid import UUID

from connectors.base import Evidence, Locator, Scope, evidence_key
from connectors.columns import Column, fact_value, quoted
from connectors.errors import SourceContractError
from connectors.settings import RecordSettings, SettingsFault
from policies.facts import FactValue
from policies.session import TenantSession
from policies.version import Period, day_period

#: Records that one lookup returns; the newest are kept.
MAX_RECORDS: Final = 50
#: Rows that a lookup may read before its filters; a query that gives more asks for too much.
MAX_ROWS: Final = 1_000
#: The rank of every source of records.
AUTHORITY: Final = "record"

#: A row by column; values as the driver gives them.
Row: TypeAlias = Mapping[str, Any]


class Records(Protocol):
    """Where the rows of one source come from: a foreign database, our trial tables, or memory."""

    #: Whether they are read with the session that is handed in.
    local: bool

    async def read(
        self,
        lookup: str,
        scope: Scope,
        *,
        parameters: Mapping[str, object],
        session: TenantSession | None,
        timeout_s: float,
    ) -> Sequence[Row]:
        """The rows that the lookup finds for the scope's customer and account; at most `MAX_ROWS`.

        Args:
            lookup: Its name in the settings.
            scope: Whose rows, of which tenant.
            parameters: Those of the connector's lookup, e.g. `order_number` or `period`.
            session: Our own database; used only where `local`.
            timeout_s: For everything, connecting included.
        """
        ...

    async def check(self, *, timeout_s: float) -> list[SettingsFault]:
        """What the source shows to be wrong with the settings; no customer's record is read."""
        ...

    async def aclose(self) -> None: ...


def named_rows(rows: Sequence[Row], *, settings: RecordSettings) -> dict[str, Row]:
    """The rows by record name, in the order of the names.

    Raises:
        SourceContractError: A row has no name, or two have the same.
    """
    named: dict[str, Row] = {}
    for row in rows:
        raw = _cell(row, settings.record, settings=settings)
        if not isinstance(raw, (str, int, UUID)) or isinstance(raw, bool) or raw == "":
            raise SourceContractError(settings.source, field=settings.record, problem="a record without a name")
        if (name := quoted(raw)) in named:
            raise SourceContractError(settings.source, field=settings.record, problem="two rows for one record")
        named[name] = row
    return dict(sorted(named.items()))


def record_evidence(name: str, row: Row, *, settings: RecordSettings) -> list[Evidence]:
    """What one record states, in the order of the settings.

    Raises:
        SourceContractError: A column is missing or its value does not fit the declaration.
    """
    return [_evidence(name, row, column, settings=settings) for column in settings.columns]


def stated_value(row: Row, column: Column, *, settings: RecordSettings) -> FactValue:
    """The value of the column's fact in a row.

    Raises:
        SourceContractError: The column is missing or its value does not fit the declaration.
    """
    try:
        return fact_value(_cell(row, column.name, settings=settings), column=column, zone=settings.zone)
    except ValueError as error:
        raise SourceContractError(settings.source, field=column.name, problem=str(error)) from error


def may_lie_in(period: Period, value: FactValue, *, settings: RecordSettings) -> bool:
    """Whether a date or instant lies in the period, a day if any of it does; what is not known is not ruled out."""
    match value:
        case datetime():
            return period.contains(value)
        case date() if settings.zone is not None:
            return period.overlaps(day_period(value, settings.zone))
        case _:
            return True


def _evidence(name: str, row: Row, column: Column, *, settings: RecordSettings) -> Evidence:
    value = stated_value(row, column, settings=settings)
    locator = Locator(document=name, version=None, clause=column.name)
    return Evidence(
        key=evidence_key(settings.source, locator, (column.fact.name, value)),
        source=settings.source,
        locator=locator,
        need=column.fact.name,
        value=value,
        quote=quoted(row[column.name]),
        authority=AUTHORITY,
    )


def _cell(row: Row, column: str, *, settings: RecordSettings) -> object:
    try:
        return row[column]
    except KeyError:
        raise SourceContractError(settings.source, field=column, problem="no such column") from None
