"""Sources kept in memory, for tests and trials; they keep the promises of those that they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from connectors.base import Scope
from connectors.errors import SourceUnavailableError
from connectors.records import Row
from connectors.settings import RecordSettings, SettingsFault
from policies.session import TenantSession


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """One row, and whose it is."""

    row: Row
    customer_id: str
    account_id: str | None = None


class MemoryRecords:
    """The rows of one source by tenant; stands for a foreign database or for the trial tables."""

    local = False

    def __init__(
        self, settings: RecordSettings, records: Mapping[UUID, Sequence[MemoryRecord]], *, takes_s: float = 0.0
    ) -> None:
        """Keep `records` by tenant.

        Args:
            settings: How their rows are read.
            records: Tenant -> records.
            takes_s: How long each read takes; a read that is given less time fails, without waiting.
        """
        self._settings = settings
        self._records = records
        self._takes_s = takes_s

    async def read(
        self,
        lookup: str,
        scope: Scope,
        *,
        parameters: Mapping[str, object],
        session: TenantSession | None,  # noqa: ARG002 Memory needs none.
        timeout_s: float,
    ) -> Sequence[Row]:
        if self._takes_s > timeout_s:
            raise SourceUnavailableError(self._settings.source, waited_s=timeout_s)
        return [
            record.row
            for record in self._records.get(scope.tenant_id, ())
            if _in_scope(record, scope, with_account=lookup != "by_customer")
            and (lookup != "by_number" or record.row.get(self._settings.record) == parameters["order_number"])
        ]

    async def check(self, *, timeout_s: float) -> list[SettingsFault]:  # noqa: ARG002 There is no database to ask.
        return []

    async def aclose(self) -> None:
        """Nothing to close."""


def _in_scope(record: MemoryRecord, scope: Scope, *, with_account: bool) -> bool:
    if record.customer_id == scope.customer_id:
        return True
    return with_account and bool(scope.account_id) and record.account_id == scope.account_id
