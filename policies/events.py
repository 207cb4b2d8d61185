"""The log of what was done to policies: who, when, and why; written in the transaction of what it tells of.

Append-only: the application role may only insert and read, and a trigger refuses the rest to everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, LiteralString, TypeAlias

import orjson

from policies.session import TenantSession

Action: TypeAlias = Literal[
    "submitted", "approved", "sent_back", "discarded", "published", "corrected", "withdrawn", "imported"
]

_ADD: Final[LiteralString] = """
insert into policy_events (tenant_id, policy_id, version, action, person, why, details)
select %(tenant)s, e.policy_id, e.version, e.action, e.person, e.why, e.details
from jsonb_to_recordset(%(rows)s::jsonb) as e (
    policy_id text, version text, action text, person text, why text, details jsonb)
"""
_OF_POLICY: Final[LiteralString] = """
select policy_id, version, action, person, why, details, at from policy_events
where tenant_id = %(tenant)s and policy_id = %(policy)s order by event_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step in a policy's life."""

    policy: str
    version: str
    action: Action
    person: str
    why: str | None = None
    #: What the step was about, as JSON values: the draft's kind, the hash that was approved, the date of a withdrawal.
    details: Mapping[str, Any] = field(default_factory=dict)
    #: When it was written, UTC; None before it is.
    at: datetime | None = None


async def record(session: TenantSession, events: Iterable[Event]) -> None:
    """Add `events` to the log, in their order."""
    rows = [
        {
            "policy_id": event.policy,
            "version": event.version,
            "action": event.action,
            "person": event.person,
            "why": event.why,
            "details": dict(event.details),
        }
        for event in events
    ]
    if rows:
        await session.fetch(_ADD, {"tenant": session.tenant_id, "rows": orjson.dumps(rows).decode()})


async def events(session: TenantSession, policy: str) -> Sequence[Event]:
    """All that was done to a policy, oldest first; nothing for a policy that nobody has touched."""
    rows = await session.fetch(_OF_POLICY, {"tenant": session.tenant_id, "policy": policy})
    return [
        Event(policy=name, version=version, action=action, person=person, why=why, details=details, at=at)
        for name, version, action, person, why, details, at in rows
    ]
