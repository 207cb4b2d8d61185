"""The human queue as stored: one row a case, its evidence in the run it came from."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from policies.session import TenantSession

_LIST = """
SELECT e.escalation_id, e.run_id, e.reason, e.need, e.state, e.created_at, r.customer_id,
       r.receipt->'question'->>'text'
  FROM escalations AS e
  JOIN runs AS r ON r.tenant_id = e.tenant_id AND r.run_id = e.run_id
 WHERE e.tenant_id = %(tenant)s AND e.state <> 'resolved'
 ORDER BY e.created_at, e.escalation_id
 LIMIT %(limit)s
"""
_SHOW = """
SELECT e.escalation_id, e.run_id, e.reason, e.need, e.state, e.created_at, r.customer_id, r.receipt
  FROM escalations AS e
  JOIN runs AS r ON r.tenant_id = e.tenant_id AND r.run_id = e.run_id
 WHERE e.tenant_id = %(tenant)s AND e.escalation_id = %(escalation)s
"""


async def list_open(session: TenantSession, *, limit: int) -> list[dict[str, Any]]:
    """The cases, oldest first."""
    rows = await session.fetch(_LIST, {"tenant": session.tenant_id, "limit": limit})
    return [{**_case(row), "question": row[7]} for row in rows]


async def show(session: TenantSession, escalation_id: UUID) -> dict[str, Any] | None:
    """One case with its run's receipt; None when the tenant has no such case."""
    rows = await session.fetch(_SHOW, {"tenant": session.tenant_id, "escalation": escalation_id})
    return {**_case(rows[0]), "receipt": rows[0][7]} if rows else None


def _case(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a database row
    return {
        "id": str(row[0]),
        "run_id": str(row[1]),
        "reason": row[2],
        "need": row[3],
        "state": row[4],
        "created_at": row[5].isoformat(),
        "customer": row[6],
    }
