"""An airline's own database, as a business would bring it: four tables, and a view that the agent is connected to.

Times are naive, on the clock of the airline's zone. `n_flown` counts the flights of a reservation whose status on their
day is `landed` or `flying`; both it and `airline_cancelled` are null when the status of a flight is not on record.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Date, DateTime, ForeignKey, Integer, MetaData, String, Table, create_engine, text

metadata = MetaData()

passenger = Table("passenger", metadata, Column("user_id", String, primary_key=True), Column("membership", String))
reservation = Table(
    "reservation",
    metadata,
    Column("reservation_id", String, primary_key=True),
    Column("user_id", String, ForeignKey("passenger.user_id"), nullable=False),
    Column("booked_at", DateTime, nullable=False),
    Column("cabin", String, nullable=False),
    Column("insurance", String, nullable=False),
)
segment = Table(
    "segment",
    metadata,
    Column("reservation_id", String, ForeignKey("reservation.reservation_id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("flight_number", String, nullable=False),
    Column("flown_on", Date, nullable=False),
)
flight_day = Table(
    "flight_day",
    metadata,
    Column("flight_number", String, primary_key=True),
    Column("flown_on", Date, primary_key=True),
    Column("status", String, nullable=False),
)
_STATE = """
create view reservation_state as
select r.reservation_id, r.user_id, r.booked_at, r.cabin, r.insurance,
       case when count(d.status) = count(*) then sum(case when d.status in ('landed', 'flying') then 1 else 0 end) end
         as n_flown,
       case when count(d.status) = count(*) then max(case when d.status = 'cancelled' then 1 else 0 end) end
         as airline_cancelled
from reservation r
join segment s on s.reservation_id = r.reservation_id
left join flight_day d on d.flight_number = s.flight_number and d.flown_on = s.flown_on
group by r.reservation_id, r.user_id, r.booked_at, r.cabin, r.insurance
"""


def fill(url: str, data: Path) -> None:
    """Make the tables in the empty database at `url` and load the airline's files of the folder `data` into them."""
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            metadata.create_all(connection)
            connection.execute(text(_STATE))
            for table, rows in _rows(data):
                connection.execute(table.insert(), rows)
    finally:
        engine.dispose()


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _rows(data: Path) -> Iterable[tuple[Table, list[dict[str, object]]]]:
    reservations = list(lines(data / "reservations.jsonl"))
    yield passenger, [{key: user[key] for key in ("user_id", "membership")} for user in lines(data / "users.jsonl")]
    yield reservation, [_reservation(stated) for stated in reservations]
    yield segment, [part for stated in reservations for part in _segments(stated)]
    yield flight_day, [part for flight in lines(data / "flights.jsonl") for part in _days(flight)]


def _reservation(stated: Mapping[str, Any]) -> dict[str, object]:
    kept = {key: stated[key] for key in ("reservation_id", "user_id", "cabin", "insurance")}
    return {**kept, "booked_at": datetime.fromisoformat(stated["created_at"])}


def _segments(stated: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    for number, flight in enumerate(stated["flights"], start=1):
        yield {
            "reservation_id": stated["reservation_id"],
            "number": number,
            "flight_number": flight["flight_number"],
            "flown_on": date.fromisoformat(flight["date"]),
        }


def _days(flight: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    for day, state in flight["dates"].items():
        yield {
            "flight_number": flight["flight_number"],
            "flown_on": date.fromisoformat(day),
            "status": state["status"],
        }
