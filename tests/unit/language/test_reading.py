from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support_agent.domain.reading import Duration, OrderNumber, Reading, TimeExpression
from support_agent.language.reading import read
from tests.unit.language.expectations import ASKED_AT, ZONE, days

ROOT = Path(__file__).parents[3]


def test_a_question_is_read_once_for_all_it_says() -> None:
    reading = read(
        "Order SO-1182, bought last year: refundable within 14 days?", asked_at=ASKED_AT, zone=ZONE, date_order="DMY"
    )

    assert reading == Reading(
        text="Order SO-1182, bought last year: refundable within 14 days?",
        language="en",
        folded="order so-1182, bought last year: refundable within 14 days?",
        tokens=("order", "so", "1182", "bought", "last", "year", "refund", "within", "14", "day"),
        time_expressions=(
            TimeExpression(span=(22, 31), text="last year", period=days("2025"), precision="year", role="purchase"),
        ),
        durations=(Duration(span=(51, 58), text="14 days", amount=14, unit="day"),),
        order_numbers=(OrderNumber(span=(6, 13), text="SO-1182", number="SO-1182"),),
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("我們去\u200b年買的", "我們去年買的"),
        ("\u202elast year\u202c we bought", "last year we bought"),
        ("İ bought it last ye\u00adar", "İ bought it last year"),
        ("ﬁnally ２０２５年", "ﬁnally ２０２５年"),
    ],
)
def test_spans_hold_in_the_text_that_is_shown(text: str, shown: str) -> None:
    reading = read(text, asked_at=ASKED_AT, zone=ZONE, date_order="DMY")

    assert reading.text == shown
    assert len(reading.folded) == len(shown)
    (time,) = reading.time_expressions
    assert time.period == days("2025")
    assert time.text == shown[slice(*time.span)]


@pytest.mark.parametrize(
    ("text", "loaded"),
    [
        ("Can I still get a refund for the plan we bought last year?", "snowballstemmer"),
        ("我们去年买的套餐现在还能退吗？", ""),
        ("我們去年買的套餐現在還能退嗎？", "opencc"),
    ],
)
def test_reading_loads_only_what_the_text_needs(text: str, loaded: str) -> None:
    program = (
        "import sys; from datetime import datetime, UTC; from zoneinfo import ZoneInfo;"
        "from support_agent.language.reading import read;"
        "read(sys.argv[1], asked_at=datetime(2026, 5, 13, tzinfo=UTC), zone=ZoneInfo('UTC'), date_order=None);"
        "print(*(m for m in ('dateparser', 'opencc', 'rjieba', 'snowballstemmer') if m in sys.modules))"
    )

    shown = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program, text], cwd=ROOT, capture_output=True, check=True, encoding="utf-8"
    )

    assert shown.stdout.strip() == loaded
