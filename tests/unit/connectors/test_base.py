from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import combinations

import pytest

from connectors.base import Locator, evidence_key


def locator(document: str = "SO-1", clause: str = "plan", version: str | None = None) -> Locator:
    return Locator(document=document, version=version, clause=clause)


def test_key_is_the_same_in_every_run() -> None:
    assert evidence_key("orders", locator(), ("order.plan", "team")) == "cfd3d52331324775c08fac08dfb1a0a0"


def test_keys_differ_with_each_part() -> None:
    keys = [
        evidence_key("orders", locator(), "team"),
        evidence_key("profile", locator(), "team"),
        evidence_key("orders", locator("SO-2"), "team"),
        evidence_key("orders", locator("SO-1p", "lan"), "team"),
        evidence_key("orders", locator(version="1"), "team"),
        evidence_key("orders", locator(), ("team",)),
        evidence_key("orders", locator(), None),
        evidence_key("orders", locator(), datetime(2025, 3, 5, tzinfo=UTC)),
        evidence_key("orders", locator(), date(2025, 3, 5)),
    ]

    assert all(a != b for a, b in combinations(keys, 2))


def test_content_without_a_stable_text_is_refused() -> None:
    with pytest.raises(TypeError):
        evidence_key("orders", locator(), {1, 2})
