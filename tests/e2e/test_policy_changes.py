"""`policy diff`, `policy history` and `policy as-of` as a person and a script read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.e2e.command import Command
from tests.e2e.conftest import SAMPLE, TENANT
from tests.e2e.test_import_export import load, put

OLD, NEW = "refund-eu@2024-01-01", "refund-eu@2025-02-01"


def diff(command: Command, *arguments: str) -> dict[str, Any]:
    result = command("policy", "diff", *arguments, "--tenant", TENANT, "--json")
    assert result.code == 0, result.err
    found: dict[str, Any] = result.json
    return found


def test_diff_shows_terms_and_words(command: Command) -> None:
    found = diff(command, OLD, NEW)

    values = {term["name"]: term for term in found["terms"]}
    assert (values["refund.window_days"]["old"]["value"], values["refund.window_days"]["new"]["value"]) == (30, 14)
    assert {change["key"] for change in found["keys"]} >= {"effective_from"}
    assert ["delete", "30"] in found["clauses"][0]["marks"]
    said = command("policy", "diff", OLD, NEW, "--tenant", TENANT).out
    assert "refund.window_days  30 days → 14 days" in said
    assert "within [-30-]{+14+} days" in said


def test_diff_of_one_version_is_against_the_one_before_it(command: Command) -> None:
    assert diff(command, NEW) == diff(command, OLD, NEW)


def test_diff_of_a_file_is_against_what_is_stored(command: Command, tmp_path: Path) -> None:
    text = (SAMPLE / "documents/refund-eu/2025-02-01.md").read_text(encoding="utf-8")
    same, other = tmp_path / "2025-02-01.md", tmp_path / "2025-02-02.md"
    same.write_text(text, encoding="utf-8")
    other.write_text(
        text.replace("within 14 days", "within 7 days").replace("{value: 14", "{value: 7"), encoding="utf-8"
    )

    assert diff(command, NEW, str(same))["clauses"] == []
    assert [change["kind"] for change in diff(command, NEW, str(other))["clauses"]] == ["changed"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["diff", "refund-eu@1999-01-01"], 1),
        (["diff", "refund-eu@2024-01-01"], 1),  # nothing is before it
        (["diff", "refund-eu"], 2),
        (["diff", NEW, "nowhere.md"], 2),
        (["diff", NEW, "a" * 300 + ".md"], 2),
        (["history", "nothing"], 1),
        (["history", "refund-eu", "--known-at", "1999-01-01"], 1),
        (["history", "refund-eu", "--known-at", "0001-01-01"], 2),
        (["as-of", "2025-02-30"], 2),
        (["as-of", "12345-01-01"], 2),
        (["as-of", "9999-12-31"], 2),
        (["as-of", "2025-03-05T10:00"], 2),
        (["as-of", "2025-03-05", "--known-at", "yesterday"], 2),
    ],
)
def test_what_cannot_be_shown_is_a_sentence(arguments: list[str], code: int, command: Command) -> None:
    result = command("policy", *arguments, "--tenant", TENANT)

    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("support-agent: ")


@pytest.fixture
def changed(own_command: Command, tmp_path: Path) -> Command:
    """A policy with a gap, a correction and a version that lies ahead."""
    first = put(tmp_path, "2024-01-01", 30)
    first.write_text(first.read_text().replace("language: en", "language: en\neffective_to: 2024-06-01"))
    put(tmp_path, "2025-01-01", 14)
    put(tmp_path, "2999-01-01", 7)
    load(own_command, tmp_path, "--publish", "--by", "ada")
    put(tmp_path, "2025-01-01", 15)
    load(own_command, tmp_path, "--publish", "--by", "grace")
    return own_command


def test_history_shows_gaps_corrections_and_what_lies_ahead(changed: Command) -> None:
    found = changed("policy", "history", "refund", "--tenant", "acme", "--json").json

    assert [(row["version"], row["state"]) for row in found["versions"]] == [
        ("2024-01-01", "expired"), ("2025-01-01", "in_force"), ("2999-01-01", "scheduled")
    ]  # fmt: skip
    assert [(gap["from"], gap["to"]) for gap in found["gaps"]] == [("2024-06-01", "2025-01-01")]
    assert [(row["version"], row["recorded_by"], row["state"]) for row in found["earlier"]] == [
        ("2025-01-01", "ada", "corrected")
    ]
    assert [(event["person"], event["action"]) for event in found["events"]] == [
        *[("ada", "imported")] * 3, ("grace", "corrected")
    ]  # fmt: skip


def test_history_as_known_before_a_correction(changed: Command) -> None:
    recorded = changed("policy", "history", "refund", "--tenant", "acme", "--json").json["earlier"][0]["recorded_from"]

    found = changed("policy", "history", "refund", "--tenant", "acme", "--known-at", recorded, "--json").json

    assert [row["recorded_by"] for row in found["versions"]] == ["ada"] * 3
    assert found["earlier"] == []


def test_as_of_names_the_gap_and_what_comes_next(changed: Command) -> None:
    (row,) = changed("policy", "as-of", "2024-08-01", "--tenant", "acme", "--json").json
    (then,) = changed("policy", "as-of", "2026-01-01", "--tenant", "acme", "--json").json

    assert (row["version"], row["next"]) == (None, {"version": "2025-01-01", "effective_from": "2025-01-01"})
    assert (then["version"], then["next"]["version"]) == ("2025-01-01", "2999-01-01")
    said = changed("policy", "as-of", "2024-08-01", "--tenant", "acme").out
    assert "none in force" in said
    assert "2025-01-01" in said


@pytest.mark.parametrize("width", [40, 60, 200])
@pytest.mark.parametrize(
    "arguments", [["history", "refund-cn"], ["diff", "refund-cn@2025-06-01"], ["as-of", "2025-03-05"]]
)
def test_terminal_of_any_width_is_kept_to(width: int, arguments: list[str], command: Command) -> None:
    said = command.having(COLUMNS=str(width))("policy", *arguments, "--tenant", TENANT)

    assert said.code == 0
    assert max(map(cell_len, said.out.splitlines())) <= width
