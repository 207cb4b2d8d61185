"""Sessions: one transaction, one tenant, nothing left behind."""

from __future__ import annotations

from policies.session import TenantSession


async def test_session_sees_its_own_tenant_only(session: TenantSession) -> None:
    rows = await session.fetch("select tenant_id from tenants", {})

    assert rows == [(session.tenant_id,)]
