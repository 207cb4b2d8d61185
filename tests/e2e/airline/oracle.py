"""The airline's cancellation rule, written down from the text of its policy and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

ASKED_AT = "2024-05-15T15:00-05:00"

#: Flight number -> day -> status.
Statuses = Mapping[str, Mapping[str, str]]


def any_portion_flown(reservation: Mapping[str, Any], statuses: Statuses) -> bool:
    return bool({"landed", "flying"} & _statuses(reservation, statuses))


def may_cancel(reservation: Mapping[str, Any], statuses: Statuses, reason: str) -> bool:
    if any_portion_flown(reservation, statuses):
        return False
    booked_at = datetime.fromisoformat(reservation["created_at"] + "-05:00")
    return (
        datetime.fromisoformat(ASKED_AT) - booked_at < timedelta(hours=24)
        or "cancelled" in _statuses(reservation, statuses)
        or reservation["cabin"] == "business"
        or (reservation["insurance"] == "yes" and reason in {"health", "weather"})
    )


def _statuses(reservation: Mapping[str, Any], statuses: Statuses) -> set[str]:
    return {statuses[flight["flight_number"]][flight["date"]] for flight in reservation["flights"]}
