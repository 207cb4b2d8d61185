from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from connectors.columns import Column, clean, fact_value, quoted
from policies.facts import FactDeclaration, FactType, FactValue

BERLIN = ZoneInfo("Europe/Berlin")
#: As a driver gives a column without a zone.
NAIVE = datetime(2025, 3, 5)  # noqa: DTZ001 - naive on purpose
TWICE = datetime(2025, 10, 26, 2, 30)  # noqa: DTZ001 - naive on purpose
PLUS_8 = timezone(timedelta(hours=8))


def column(fact_type: FactType, *, scale: int = 1, map: Any = None, **declared: Any) -> Column:  # noqa: A002 - the key's name
    fact = FactDeclaration(name="order.fact", type=fact_type, source="orders", **declared)
    return Column(fact=fact, name="fact", scale=scale, map=map)


@pytest.mark.parametrize(
    ("declared", "raw", "value"),
    [
        (column("bool"), True, True),
        (column("bool"), 0, False),
        (column("string"), "team", "team"),
        (column("string"), 1182, "1182"),
        (column("string"), UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (column("string"), "a\0b\ud800", "a\ufffdb\ufffd"),
        (column("string"), "a\0b套餐", "a\ufffdb套餐"),
        (column("int"), 7, 7),
        (column("int"), Decimal("7.00"), 7),
        (column("int"), 7.0, 7),
        (column("money", scale=100), 19.99, 1999),
        (column("money", scale=100), Decimal("-0.01"), -1),
        (column("money", scale=100), 12, 1200),
        (column("basis_points", scale=100), 12.5, 1250),
        (column("days"), 2**63 - 1, 2**63 - 1),
        (column("instant"), datetime(2025, 3, 5, 1, tzinfo=PLUS_8), datetime(2025, 3, 4, 17, tzinfo=UTC)),
        (column("instant"), NAIVE.replace(hour=1), datetime(2025, 3, 5, tzinfo=UTC)),
        (column("instant"), date(2025, 3, 5), datetime(2025, 3, 4, 23, tzinfo=UTC)),
        (column("instant"), "2025-03-05", datetime(2025, 3, 4, 23, tzinfo=UTC)),
        (column("instant"), "2025-03-05T01:00:00Z", datetime(2025, 3, 5, 1, tzinfo=UTC)),
        (column("instant"), "2025-03-05 01:00:00.25", datetime(2025, 3, 5, 0, 0, 0, 250_000, tzinfo=UTC)),
        (
            column("instant"),
            NAIVE.replace(month=10, day=26, hour=2, minute=30, fold=1),
            datetime(2025, 10, 26, 0, 30, tzinfo=UTC),
        ),
        (column("date"), date(2025, 3, 5), date(2025, 3, 5)),
        (column("date"), "2025-03-05", date(2025, 3, 5)),
        (column("date"), NAIVE.replace(hour=23, minute=59), date(2025, 3, 5)),
        (column("date"), datetime(2025, 3, 4, 23, 30, tzinfo=UTC), date(2025, 3, 5)),
        (column("list"), ["a", "b"], ("a", "b")),
        (column("list"), '["a"]', ("a",)),
        (column("list"), (), ()),
        (column("string", null=True), None, None),
        (column("bool", map={"yes": True, "no": False}), "no", False),
        (column("bool", map={None: False, "x": True}), None, False),
        (column("money", scale=100, map={"free": 0}), "free", 0),
        (column("string", values=("team",)), "team", "team"),
    ],
)
def test_fitting_values_are_read(declared: Column, raw: object, value: FactValue) -> None:
    read = fact_value(raw, column=declared, zone=BERLIN)

    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("declared", "raw"),
    [
        (column("bool"), 2),
        (column("bool"), "true"),
        (column("string"), True),
        (column("string"), 1.5),
        (column("string"), b"bytes"),
        (column("int"), True),
        (column("int"), "7"),
        (column("int"), 7.5),
        (column("int"), float("nan")),
        (column("int"), float("inf")),
        (column("int"), Decimal("NaN")),
        (column("int"), Decimal("sNaN")),
        (column("int"), 2**63),
        (column("money", scale=100), 19.999),
        (column("money", scale=100), Decimal(2**63)),
        (column("instant"), 1_741_166_400),
        (column("instant"), "yesterday"),
        (column("instant"), ""),
        (column("instant"), datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=8)))),
        (column("instant"), date.min),
        (column("instant"), "9999-12-31T23:59:59Z"),
        (column("instant"), "0001-01-02"),
        (column("date"), "9999-12-31"),
        (column("instant"), datetime(1, 1, 1, tzinfo=PLUS_8)),
        (column("date"), "05/03/2025"),
        (column("date"), datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2)))),
        (column("list"), "a"),
        (column("list"), '{"a": 1}'),
        (column("list"), [1]),
        (column("string"), None),
        (column("string", values=("team",)), "Team"),
        (column("bool", map={"yes": True}), "maybe"),
        (column("bool", map={"yes": True}), ["yes"]),
        (column("bool", map={"yes": True}), None),
    ],
)
def test_other_values_are_refused(declared: Column, raw: object) -> None:
    with pytest.raises(ValueError, match=r"\w") as refused:
        fact_value(raw, column=declared, zone=BERLIN)

    assert type(refused.value) is ValueError
    assert "yesterday" not in str(refused.value)


@pytest.mark.parametrize(
    ("fact_type", "raw"),
    [
        ("instant", NAIVE),
        ("instant", "2025-03-05 10:00"),
        ("instant", date(2025, 3, 5)),
        ("date", NAIVE),
        ("date", datetime(2025, 3, 5, tzinfo=UTC)),
    ],
)
def test_times_without_a_zone_ask_for_one(fact_type: FactType, raw: object) -> None:
    with pytest.raises(ValueError, match="time_zone"):
        fact_value(raw, column=column(fact_type), zone=None)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("T1", "T1"),
        (None, "null"),
        (True, "true"),
        (Decimal("19.90"), "19.90"),
        (NAIVE.replace(hour=10), "2025-03-05T10:00:00"),
        (datetime(2025, 3, 5, 10, tzinfo=PLUS_8), "2025-03-05T02:00:00+00:00"),
        (date(2025, 3, 5), "2025-03-05"),
        (["a", "b"], "a, b"),
    ],
)
def test_quote_is_what_the_source_writes(raw: object, text: str) -> None:
    assert quoted(raw) == text


def test_clean_keeps_pairs_of_surrogates() -> None:
    assert clean("\ud83d\ude00\ude00") == "😀\ufffd"
