"""Records of a foreign database, by the tenant's own queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import DateTime, TextClause, bindparam, text

from connectors.base import Scope
from connectors.columns import MAX_INT, MIN_INT, clean
from connectors.database import ColumnKind, Database
from connectors.errors import SourceContractError, SourceError
from connectors.records import MAX_ROWS, Row
from connectors.settings import ParameterType, RecordSettings, SettingsFault
from policies.session import TenantSession
from policies.version import Period

# The database may compare a period's bounds with days, texts or times of its own zone, so they are sent as wall-clock
# times and this much wider. What lies in the period is decided on the facts.
_MARGIN: Final = timedelta(days=2)
_ALWAYS: Final = Period(start=datetime(1900, 1, 4, tzinfo=UTC), end=datetime(9999, 12, 28, tzinfo=UTC))

_NOBODY: Final[Mapping[ParameterType, str]] = {
    "text": "no such customer",
    "int": "-1",
    "uuid": str(UUID(int=0)),
}


class SqlRecords:
    """The rows of one source in one foreign database, for one tenant."""

    local = False

    def __init__(self, settings: RecordSettings, *, url: str, tenant_id: UUID) -> None:
        """Prepare the pool; nothing connects before the first lookup.

        Raises:
            SourceContractError: The URL is none, or its driver is not installed.
        """
        self._settings = settings
        self._tenant_id = tenant_id
        self._database = Database(settings.source, url)
        self._statements = {name: _statement(query.text) for name, query in settings.lookups.items()}

    async def read(
        self,
        lookup: str,
        scope: Scope,
        *,
        parameters: Mapping[str, object],
        session: TenantSession | None,  # noqa: ARG002 A foreign database has connections of its own.
        timeout_s: float,
    ) -> Sequence[Row]:
        source = self._settings.source
        if lookup not in self._statements:
            raise SourceContractError(source, field=lookup, problem="the settings have no such lookup")
        bound = self._bound(lookup, {**parameters, "customer": scope.customer_id, "account": scope.account_id})
        if bound is None or scope.tenant_id != self._tenant_id:
            return ()
        answer = await self._database.run(self._statements[lookup], bound, timeout_s=timeout_s, max_rows=MAX_ROWS + 1)
        if len(answer.rows) > MAX_ROWS:
            raise SourceContractError(source, field=lookup, problem=f"more than {MAX_ROWS} rows for one customer")
        return answer.rows

    async def check(self, *, timeout_s: float) -> list[SettingsFault]:
        return [
            SettingsFault(path=f"connectors.{self._settings.source}.lookups.{lookup}", problem=problem)
            for lookup in self._statements
            for problem in await self._problems(lookup, timeout_s=timeout_s)
        ]

    async def aclose(self) -> None:
        await self._database.aclose()

    async def _problems(self, lookup: str, *, timeout_s: float) -> list[str]:
        """What shows when the query runs for a customer who cannot exist."""
        nobody = {name: _NOBODY[self._settings.parameters.get(name, "text")] for name in ("customer", "order_number")}
        bound = self._bound(lookup, nobody) or {}
        try:
            answer = await self._database.run(
                self._statements[lookup], bound, timeout_s=timeout_s, max_rows=1, explain=True
            )
        except SourceError as error:
            return [str(error)]
        found = ["gives rows to a customer who does not exist"] if answer.rows else []
        return found + list(_column_problems(answer.kinds, settings=self._settings))

    def _bound(self, lookup: str, stated: Mapping[str, object]) -> dict[str, object] | None:
        """The parameters of the lookup's query; None when its customer or order number cannot occur in the database."""
        wanted = self._settings.lookups[lookup].parameters
        period = stated.get("period")
        start, end = self._wall_clock(period if isinstance(period, Period) else _ALWAYS)
        bound: dict[str, object] = {"account": None, "period_start": start, "period_end": end}
        for name in ("customer", "order_number", "account"):
            value = stated.get(name)
            if name not in wanted or (name == "account" and not value):
                continue
            try:
                bound[name] = _typed(str(value), kind=self._settings.parameters.get(name, "text"))
            except ValueError:
                if name != "account":
                    return None
        return {name: value for name, value in bound.items() if name in wanted}

    def _wall_clock(self, period: Period) -> tuple[datetime, datetime]:
        zone = self._settings.zone or UTC
        start, end = max(period.start, _ALWAYS.start), period.end or _ALWAYS.end
        assert end is not None  # noqa: S101 - open ends were handled above
        return (start - _MARGIN).astimezone(zone).replace(tzinfo=None), (end + _MARGIN).astimezone(zone).replace(
            tzinfo=None
        )


def _statement(query: str) -> TextClause:
    statement = text(query)
    times = [name for name in statement.compile().params if name.startswith("period_")]
    return statement.bindparams(*(bindparam(name, type_=DateTime(timezone=False)) for name in times))


def _typed(value: str, *, kind: ParameterType) -> object:
    """The parameter as the database compares it.

    Raises:
        ValueError: No value of this kind reads so.
    """
    match kind:
        case "int":
            # Another spelling of a number is another id.
            if str(number := int(value)) != value or not MIN_INT <= number <= MAX_INT:
                raise ValueError("no number of 64 bits as a database writes it")
            return number
        case "uuid":
            return UUID(value)
        case "text":
            if clean(value) != value:
                raise ValueError("no database holds such a text")
            return value


def _column_problems(kinds: Mapping[str, ColumnKind], *, settings: RecordSettings) -> Iterator[str]:
    for name in {settings.record: None, **{column.name: None for column in settings.columns}}:
        if name not in kinds:
            yield f"gives no column {name!r}"
    if settings.zone is not None:
        return
    for column in settings.columns:
        kind = kinds.get(column.name)
        if column.fact.type == "instant" and kind not in {"aware", None} and column.map is None:
            yield f"column {column.name!r} may hold times without a zone; set `time_zone`"
        if column.fact.type == "date" and kind in {"aware", "naive"}:
            yield f"column {column.name!r} holds times where a day is declared; set `time_zone`"
