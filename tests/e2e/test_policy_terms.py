"""From the words of a text to its terms: `policy terms suggest` and `policy terms accept`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.command import Command
from tests.e2e.conftest import TENANT

TO = ("--tenant", TENANT)
TEXT = """---
policy: parking
title: Parking
authority: corporate
effective_from: 2027-01-01
time_zone: Europe/Berlin
language: en
owner: Ops
---
# Parking

## Free time {#free}

You can park for 90 minutes; afterwards it costs €2.50 an hour, and 10% less for members. 会员可免费停车 3 小时。

## Refunds {#refunds}

Within thirty (30) days we refund what you paid; in December within 45 days. 会员为两周内。
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "2027-01-01.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def suggested(command: Command, file: Path) -> list[dict[str, Any]]:
    found = command("policy", "terms", "suggest", str(file), *TO, "--json")
    assert found.code == 0, found.said
    return list(found.json["candidates"])


def accept(command: Command, file: Path, *arguments: str) -> tuple[int, str]:
    done = command("policy", "terms", "accept", str(file), *arguments, *TO)
    return done.code, done.said


def test_values_in_both_languages_come_with_name_unit_and_place(command: Command, file: Path) -> None:
    found = {candidate["text"]: candidate for candidate in suggested(command, file)}

    expected = {
        "90 minutes": ("minute", 90, "parking.free_time_minutes"),
        "€2.50": ("EUR", 250, "parking.free_time_minor"),
        "10%": (None, 1000, "parking.free_time_bp"),
        "3 小时": ("hour", 3, "parking.free_time_hours"),
        "thirty (30) days": ("day", 30, "parking.refunds_days"),
        "45 days": ("day", 45, "parking.refunds_days"),
        "两周": ("day", 14, "parking.refunds_days"),
    }
    assert {text: (c["unit"], c["term_value"], c["name"]) for text, c in found.items()} == expected
    lines = TEXT.splitlines()
    for text, candidate in found.items():
        start, end = candidate["span"]
        assert candidate["passage"][start:end] == text
        assert text in lines[candidate["line"] - 1]


def test_every_single_suggestion_is_accepted_under_its_name(command: Command, file: Path) -> None:
    of_free = [candidate for candidate in suggested(command, file) if candidate["clause"] == "free"]
    for candidate in of_free:
        code, said = accept(command, file, "free", candidate["name"])
        assert code == 0, said

    sidecar = yaml.safe_load(file.with_name("2027-01-01.terms.yaml").read_text(encoding="utf-8"))
    assert sidecar == {"free": {c["name"]: {"value": c["term_value"]} for c in of_free}}
    assert [c["accepted"] for c in suggested(command, file) if c["clause"] == "free"] == [True] * len(of_free)
    assert file.read_text(encoding="utf-8") == TEXT


def test_second_acceptance_is_refused_and_changes_nothing(command: Command, file: Path) -> None:
    assert accept(command, file, "refunds", "parking.refund_days", "--value", "30", "--better", "higher")[0] == 0
    sidecar = file.with_name("2027-01-01.terms.yaml")
    before = sidecar.read_bytes()

    code, said = accept(command, file, "refunds", "parking.refund_days", "--value", "45")

    assert (code, sidecar.read_bytes()) == (2, before)
    assert "stands in this clause already" in said


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("refunds", "parking.refunds_days"), 2, "14, 30, 45"),
        (("refunds", "parking.refunds_hours"), 2, "none"),
        (("nowhere", "parking.refunds_days"), 2, "its clauses are"),
        (("nowhere", "parking.refunds_days", "--value", "3"), 1, "no clause has the anchor"),
        (("refunds", "parking.refunds_days", "--value", "{a: ["), 1, "not YAML"),
        (("refunds", "Bad Name", "--value", "2"), 1, "unknown key 'Bad Name'"),
        (("refunds", "parking.refunds_days", "--value", "soon"), 1, "parking.refunds_days"),
    ],
)
def test_what_cannot_be_a_term_is_refused_with_a_reason(
    command: Command, file: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    refused = accept(command, file, *arguments)

    assert refused[0] == code, refused[1]
    assert says in refused[1]
    assert not file.with_name("2027-01-01.terms.yaml").exists()


def test_terms_of_a_published_version_are_shown(command: Command) -> None:
    found = command("policy", "terms", "suggest", "refund-eu@2025-02-01", *TO, "--json").json
    unknown = command("policy", "terms", "suggest", "refund-eu@1999-01-01", *TO)

    assert any(c["term_value"] == 14 and c["accepted"] for c in found["candidates"])
    assert unknown.code == 1
    assert "policy list" in unknown.said
