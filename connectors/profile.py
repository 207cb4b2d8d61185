"""The profile of the scope's customer: region, segment, account."""

from __future__ import annotations

from collections.abc import Sequence

from connectors.base import Evidence, Lookup, Scope
from connectors.errors import SourceContractError
from connectors.records import Records, named_rows, record_evidence
from connectors.settings import RecordSettings, SettingsFault
from policies.session import TenantSession


class ProfileConnector:
    """Facts of one customer. Source: the tenant's customer database, one row a customer."""

    name = "profile"

    def __init__(self, settings: RecordSettings, records: Records) -> None:
        self.local = records.local
        self._settings = settings
        self._records = records

    async def fetch(
        self,
        lookup: Lookup,  # noqa: ARG002 A profile is stated whole.
        scope: Scope,
        *,
        session: TenantSession | None,
        timeout_s: float,
    ) -> Sequence[Evidence]:
        """Return the facts of the scope's customer.

        Raises:
            SourceUnavailableError: No answer within `timeout_s`, or the source cannot be reached.
            SourceContractError: A row does not fit the settings and the declared facts, or there are several.
        """
        if not (scope.sees_records and scope.customer_id):
            return ()
        rows = await self._records.read("by_customer", scope, parameters={}, session=session, timeout_s=timeout_s)
        if len(rows) > 1:
            raise SourceContractError(self.name, field=self._settings.record, problem="two rows for one customer")
        return [
            evidence
            for name, row in named_rows(rows, settings=self._settings).items()
            for evidence in record_evidence(name, row, settings=self._settings)
        ]

    async def check(self, *, timeout_s: float) -> list[SettingsFault]:
        """What the source shows to be wrong with the settings; no customer's record is read."""
        return await self._records.check(timeout_s=timeout_s)

    async def aclose(self) -> None:
        await self._records.aclose()
