"""A tenant as stored: the checked content of its folder, its glossary, and the revision that every change raises."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from policies.session import TenantSession
from support_agent.domain.glossary import GlossaryEntry

_LOAD = """
SELECT settings, revision, ARRAY(
           SELECT json_build_object('says', says, 'means', means, 'language', language) FROM glossary_entries
            WHERE tenant_id = %(tenant)s AND removed_at IS NULL ORDER BY entry_id)
  FROM tenants WHERE tenant_id = %(tenant)s
"""
_REVISION = "SELECT revision FROM tenants WHERE tenant_id = %(tenant)s"
_SAVE = """
INSERT INTO tenants (tenant_id, slug, settings, settings_sha256, revision)
VALUES (%(tenant)s, %(slug)s, %(settings)s::jsonb, %(sha256)s, 1)
ON CONFLICT (tenant_id) DO UPDATE
   SET settings = excluded.settings, settings_sha256 = excluded.settings_sha256, revision = tenants.revision + 1
 WHERE tenants.settings_sha256 <> excluded.settings_sha256
RETURNING revision
"""
_SAVE_ORDERS = """
INSERT INTO trial_orders (tenant_id, order_number, customer_id, account_id, ordered_at, record)
SELECT %(tenant)s, r->>'order_number', r->>'customer_id', r->>'account_id', (r->>'ordered_at')::timestamptz, r
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
ON CONFLICT (tenant_id, order_number) DO UPDATE
   SET customer_id = excluded.customer_id, account_id = excluded.account_id, ordered_at = excluded.ordered_at,
       record = excluded.record
 WHERE trial_orders.record <> excluded.record
RETURNING 1
"""
_SAVE_CUSTOMERS = """
INSERT INTO trial_customers (tenant_id, customer_id, account_id, record)
SELECT %(tenant)s, r->>'customer_id', r->>'account_id', r
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
ON CONFLICT (tenant_id, customer_id) DO UPDATE
   SET account_id = excluded.account_id, record = excluded.record
 WHERE trial_customers.record <> excluded.record
RETURNING 1
"""


_DROP_ORDERS = """
DELETE FROM trial_orders WHERE tenant_id = %(tenant)s AND NOT order_number = ANY(%(orders)s::text[]) RETURNING 1
"""
_DROP_CUSTOMERS = """
DELETE FROM trial_customers WHERE tenant_id = %(tenant)s AND NOT customer_id = ANY(%(customers)s::text[]) RETURNING 1
"""


async def revision(session: TenantSession) -> int | None:
    """The tenant's revision; None when there is no such tenant."""
    rows = await session.fetch(_REVISION, {"tenant": session.tenant_id})
    return rows[0][0] if rows else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTenant:
    """What a tenant is made of."""

    #: Relative name -> text of its folder.
    settings: Mapping[str, Any]
    revision: int
    #: In the order in which it was entered.
    glossary: tuple[GlossaryEntry, ...]


async def load(session: TenantSession) -> StoredTenant | None:
    """The tenant as it is stored; None when there is no such tenant."""
    rows = await session.fetch(_LOAD, {"tenant": session.tenant_id})
    if not rows:
        return None
    settings, revision, entries = rows[0]
    return StoredTenant(
        settings=settings, revision=revision, glossary=tuple(GlossaryEntry(**entry) for entry in entries)
    )


async def save(session: TenantSession, slug: str, settings: Mapping[str, Any]) -> bool:
    """Store the settings; whether anything changed."""
    text = orjson.dumps(settings, option=orjson.OPT_SORT_KEYS)
    rows = await session.fetch(
        _SAVE,
        {
            "tenant": session.tenant_id,
            "slug": slug,
            "settings": text.decode(),
            "sha256": hashlib.sha256(text).hexdigest(),
        },
    )
    return bool(rows)


async def save_trial(
    session: TenantSession, *, orders: Sequence[Mapping[str, Any]], customers: Sequence[Mapping[str, Any]]
) -> int:
    """Make the trial's records those given; how many are new, changed or gone."""
    n_changed = 0
    kept = {
        "customers": [row["customer_id"] for row in customers],
        "orders": [row["order_number"] for row in orders],
    }
    for statement, rows in ((_SAVE_CUSTOMERS, customers), (_SAVE_ORDERS, orders)):
        n_changed += len(
            await session.fetch(statement, {"tenant": session.tenant_id, "rows": orjson.dumps(rows).decode()})
        )
    for statement in (_DROP_ORDERS, _DROP_CUSTOMERS):
        n_changed += len(await session.fetch(statement, {"tenant": session.tenant_id, **kept}))
    return n_changed
