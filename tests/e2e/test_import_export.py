"""Folders of policies through the command line: what an import says, refuses and leaves, what an export gives back."""

from __future__ import annotations

import json
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from support_agent.cli.options import now_and_then
from tests.e2e.command import Command, Result
from tests.e2e.test_ask import contents
from tests.integration.conftest import Database

HEAD = "---\npolicy: refund\ntitle: Refunds\nauthority: corporate\neffective_from: {start}\nlanguage: en\n---\n"
TEXT = "## Window {{#window}}\nWithin {days} days of purchase.\n\n```terms\nrefund.window_days: {days}\n```\n"


def put(folder: Path, start: str, days: int, *, policy: str = "refund") -> Path:
    path = folder / policy / f"{start}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = HEAD.format(start=start).replace("policy: refund", f"policy: {policy}") + TEXT.format(days=days)
    path.write_text(text, encoding="utf-8")
    return path


def load(command: Command, folder: Path, *flags: str) -> Result:
    return command("policy", "import", str(folder), "--tenant", "acme", "--create-tenant", *flags)


def changes(result: Result) -> list[tuple[str, str]]:
    assert result.code == 0, result.err
    return [(change["version"], change["change"]) for change in result.json["changes"]]


def policies(command: Command) -> dict[str, tuple[str, str | None]]:
    listed = command("policy", "list", "--tenant", "acme", "--json").json
    return {row["version"]: (row["effective_from"], row["effective_to"]) for row in listed}


def test_dry_run_says_what_publishing_does(own_command: Command, tmp_path: Path) -> None:
    put(tmp_path, "2024-01-01", 30)
    first = load(own_command, tmp_path, "--publish", "--json")
    assert (first.json["n_published"], first.json["n_corrected"]) == (1, 0)

    put(tmp_path, "2024-01-01", 14)
    put(tmp_path, "2025-01-01", 7)
    tried = load(own_command, tmp_path, "--dry-run", "--json")

    assert changes(tried) == [("2024-01-01", "corrected"), ("2025-01-01", "added")]
    assert tried.json["changes"][0]["differs"] == ["#window changed", "refund.window_days"]
    assert tried.json["n_published"] == 0
    assert policies(own_command) == {"2024-01-01": ("2024-01-01", None)}
    done = load(own_command, tmp_path, "--publish", "--json").json
    assert done["changes"] == tried.json["changes"]
    assert (done["n_published"], done["n_corrected"], done["n_unchanged"]) == (1, 1, 0)
    assert changes(load(own_command, tmp_path, "--publish", "--json")) == []


def test_version_that_a_new_one_ends_gets_another_period(own_command: Command, tmp_path: Path) -> None:
    put(tmp_path / "one", "2024-01-01", 30)
    load(own_command, tmp_path / "one", "--publish")
    put(tmp_path / "two", "2025-01-01", 14)

    said = load(own_command, tmp_path / "two", "--json")

    assert changes(said) == [("2024-01-01", "period"), ("2025-01-01", "added")]
    assert said.json["changes"][0]["effective_to"] == "2025-01-01"


def test_what_is_said_of_an_import_is_readable(own_command: Command, tmp_path: Path) -> None:
    put(tmp_path, "2024-01-01", 30)
    load(own_command, tmp_path, "--publish")
    put(tmp_path, "2024-01-01", 14)

    said = load(own_command, tmp_path, "--publish").out

    assert "refund  corrected 2024-01-01: #window changed, refund.window_days" in said
    assert "1 policies, 1 versions: 0 added, 1 corrected, 0 unchanged." in said


def test_noise_makes_no_recording(own_command: Command, own_database: Database, tmp_path: Path) -> None:
    path = put(tmp_path, "2024-01-01", 30)
    load(own_command, tmp_path, "--publish")
    before = contents(own_database)

    text = path.read_text(encoding="utf-8").replace("30 days", "**30**\ndays").replace("\n\n", "\n\n\n")
    path.write_bytes(text.replace("\n", "\r\n").encode())
    again = load(own_command, tmp_path, "--publish", "--json")

    assert again.json["n_unchanged"] == 1
    assert contents(own_database) == before


def test_version_in_a_file_of_its_own_stays_one(own_command: Command, tmp_path: Path) -> None:
    put(tmp_path, "2024-01-01", 30)
    put(tmp_path, "2025-01-01", 30)

    load(own_command, tmp_path, "--publish")

    assert list(policies(own_command)) == ["2024-01-01", "2025-01-01"]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        pytest.param(b"\xef\xbb\xbf---\npolicy: refund\n", ":1:1: a byte order mark", id="byte order mark"),
        pytest.param("---\npolicy: refund\n".encode("utf-16"), ":1:1: UTF-16", id="UTF-16"),
        pytest.param(b"## A\r\nOne.\nTwo.", ":2:5: line ends are mixed", id="mixed line ends"),
        pytest.param(b"## A\ncaf\xe9", ":2:4: byte 0xE9", id="Latin-1"),
        pytest.param(HEAD.format(start="2024-01-01").encode() + b"## A\nOne\ttwo.", ":9:4: a tab", id="tab"),
        pytest.param(b"---\npolicy:\trefund\n---\n", ":2:8:", id="tab in front matter"),
        pytest.param(b"## A\nOne\x00", ":2:4: a NUL", id="NUL"),
    ],
)
def test_bytes_that_are_no_clean_text_are_refused_with_line_and_column(
    content: bytes, place: str, own_command: Command, tmp_path: Path
) -> None:
    (tmp_path / "refund").mkdir()
    (tmp_path / "refund" / "2024-01-01.md").write_bytes(content)

    result = load(own_command, tmp_path)

    assert result.code == 1
    assert f"refund/2024-01-01.md{place}" in result.err


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "a" * 300, "a\x00b", "..", "CON/x", "a\\b", "refund\n2"]
)
def test_name_in_a_file_is_never_a_path(name: str, own_command: Command, tmp_path: Path) -> None:
    path = put(tmp_path / "policies", "2024-01-01", 30)
    meta = {"policy": "refund", "versions": [{"version": name, "file": "2024-01-01.md"}]}
    (path.parent / "meta.json").write_text(json.dumps(meta), encoding="utf-8")

    as_version = load(own_command, tmp_path / "policies", "--publish")
    meta["versions"] = [{"version": "2024-01-01", "file": name}]
    (path.parent / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    as_file = load(own_command, tmp_path / "policies", "--publish")

    assert (as_version.code, as_file.code) == (1, 1)
    assert "is no version name" in as_version.err
    assert "is not there" in as_file.err
    assert "root:" not in as_version.out + as_version.err + as_file.out + as_file.err


@pytest.mark.parametrize("name", ["../../etc/passwd", "a" * 300, "a\x00b"])
def test_folder_that_cannot_be_is_a_sentence(name: str, own_command: Command, tmp_path: Path) -> None:
    result = load(own_command, tmp_path / name)

    assert result.code == 2
    assert "Traceback" not in result.said


def test_links_are_refused(own_command: Command, tmp_path: Path) -> None:
    path = put(tmp_path / "policies", "2024-01-01", 30)
    (path.parent / "2025-01-01.md").symlink_to("/etc/passwd")

    result = load(own_command, tmp_path / "policies", "--publish")

    assert result.code == 1
    assert "a symbolic link" in result.err


def _export(command: Command, folder: Path, *flags: str) -> Result:
    return command("policy", "export", str(folder), "--tenant", "acme", *flags)


def test_export_gives_a_folder_that_imports_unchanged(own_command: Command, tmp_path: Path) -> None:
    put(tmp_path / "in", "2024-01-01", 30)
    put(tmp_path / "in", "2025-01-01", 14)
    put(tmp_path / "in", "2024-01-01", 9, policy="returns")
    load(own_command, tmp_path / "in", "--publish")

    report = _export(own_command, tmp_path / "out", "--json").json

    assert (report["n_policies"], report["n_versions"]) == (2, 3)
    assert (tmp_path / "out/refund/2025-01-01.md").read_bytes() == (tmp_path / "in/refund/2025-01-01.md").read_bytes()
    assert changes(load(own_command, tmp_path / "out", "--publish", "--json")) == []


def test_export_never_overwrites(own_command: Command, tmp_path: Path) -> None:
    put(tmp_path / "in", "2024-01-01", 30)
    load(own_command, tmp_path / "in", "--publish")

    result = _export(own_command, tmp_path / "in")

    assert result.code == 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["2024-01-01.md", "in", "refund"]


def test_export_as_known_before_is_what_was_held_then(own_command: Command, tmp_path: Path) -> None:
    put(tmp_path / "in", "2024-01-01", 30)
    load(own_command, tmp_path / "in", "--publish")
    recorded = own_command("policy", "list", "--tenant", "acme", "--json").json[0]["recorded_from"]
    put(tmp_path / "in", "2024-01-01", 14)
    load(own_command, tmp_path / "in", "--publish")

    _export(own_command, tmp_path / "now")
    _export(own_command, tmp_path / "then", "--known-at", recorded)

    assert "Within 14 days" in (tmp_path / "now/refund/2024-01-01.md").read_text()
    assert "Within 30 days" in (tmp_path / "then/refund/2024-01-01.md").read_text()


# Stopped


@pytest.mark.parametrize("after_s", [0.2, 0.6, 1.5])
def test_import_that_is_stopped_says_one_line_and_leaves_nothing(
    after_s: float, own_command: Command, own_database: Database, tmp_path: Path
) -> None:
    for policy in range(40):
        for year in range(2015, 2025):
            put(tmp_path, f"{year}-01-01", 30, policy=f"policy-{policy}")
    before = contents(own_database)
    flags = ("--tenant", "acme", "--create-tenant", "--publish")
    process = own_command.start("policy", "import", str(tmp_path), *flags)
    time.sleep(after_s)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 130, err
    assert err.decode().splitlines()[-1].startswith("stopped")
    assert b"Traceback" not in err
    assert contents(own_database) == before


def test_import_that_is_killed_leaves_nothing_or_all(
    own_command: Command, own_database: Database, tmp_path: Path
) -> None:
    for year in range(2000, 2025):
        put(tmp_path, f"{year}-01-01", 30)
    before = contents(own_database)
    process = own_command.start("policy", "import", str(tmp_path), "--tenant", "acme", "--create-tenant", "--publish")
    assert process.stderr is not None
    process.stderr.readline()  # "… versions read, publishing": from now on it writes.
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    time.sleep(0.5)

    after = contents(own_database)
    assert after == before or len(policies(own_command)) == 25
    load(own_command, tmp_path, "--publish")
    assert len(policies(own_command)) == 25


# Size


def test_ten_thousand_clauses_are_imported(own_command: Command, tmp_path: Path) -> None:
    path = put(tmp_path, "2024-01-01", 30)
    clauses = "".join(f"\n## Clause {n}\nText of clause {n}.\n" for n in range(9_999))
    path.write_text(path.read_text(encoding="utf-8") + clauses, encoding="utf-8")

    done = load(own_command, tmp_path, "--publish", "--json")

    assert done.code == 0, done.err
    assert len(own_command("policy", "show", "refund", "--tenant", "acme", "--json").json["clauses"]) == 10_000


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ("\n## A\n" * 10_000, "10001 clauses, more than 10000"),
        (f"\n## A\n{'word ' * 40_001}", "a clause of 200"),
        ("\nx" * 2_500_001, "bytes"),
    ],
)
def test_document_beyond_the_limits_is_refused(more: str, fault: str, own_command: Command, tmp_path: Path) -> None:
    path = put(tmp_path, "2024-01-01", 30)
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")

    result = load(own_command, tmp_path)

    assert result.code == 1
    assert fault in result.err


def test_progress_is_told_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock: list[float] = [0.0]
    monkeypatch.setattr("support_agent.cli.options.time.monotonic", lambda: clock[0])
    told: list[str] = []
    tell: Any = now_and_then(told.append, every_s=2.0)

    for second in range(7):
        clock[0] = float(second)
        tell(f"at {second}")

    assert told == ["at 2", "at 4", "at 6"]


def test_export_into_a_folder_that_cannot_be_written_is_a_sentence(own_command: Command, tmp_path: Path) -> None:
    put(tmp_path / "in", "2024-01-01", 30)
    load(own_command, tmp_path / "in", "--publish")
    (tmp_path / "file").write_text("x")

    for folder in (tmp_path / "file", tmp_path / "file" / "in", tmp_path / ("a" * 300)):
        result = _export(own_command, folder)
        assert result.code == 2, result.said
    shutil.rmtree(tmp_path / "in")
