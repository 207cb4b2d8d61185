"""A policy's life on the command line: two people, refusals, and processes that are killed or meet."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.e2e.command import Command
from tests.e2e.test_ask import contents
from tests.integration.conftest import Database

TENANT = ("--tenant", "acme")
ADA = ("--by", "ada")
BOB = ("--by", "bob")
NEW = "refund@2025-02-01"


def text(start: str, *, days: int = 14, ends: str | None = None) -> str:
    end = f"effective_to: {ends}\n" if ends else ""
    return (
        "---\npolicy: refund\ntitle: Refunds\nauthority: corporate\nlanguage: en\nowner: Desk\n"
        f"effective_from: {start}\n{end}---\n"
        f"# Refunds\n\n## Window {{#window}}\n\nA plan can be refunded within {days} days of purchase.\n"
    )


def write(folder: Path, version: str, content: str | bytes) -> str:
    path = folder / "refund" / f"{version}.md"
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


@pytest.fixture
def acme(own_command: Command, tmp_path: Path) -> Command:
    """A tenant with one version, which came with its import."""
    folder = tmp_path / "first"
    write(folder, "2024-01-01", text("2024-01-01", days=30))
    imported = own_command("policy", "import", str(folder), *TENANT, "--publish", "--create-tenant")
    assert imported.code == 0, imported.said
    return own_command


def submit(command: Command, folder: Path, version: str, content: str | bytes) -> None:
    done = command("policy", "submit", write(folder, version, content), *TENANT, *ADA, "--why", "too long")
    assert done.code == 0, done.said


def approve(command: Command, name: str) -> None:
    done = command("policy", "approve", name, *TENANT, *BOB, "--yes")
    assert done.code == 0, done.said


def publish(command: Command, name: str, *, verb: str = "publish") -> None:
    done = command("policy", verb, name, *TENANT, *ADA, "--yes")
    assert done.code == 0, done.said


def listed(command: Command) -> dict[str, tuple[str, str | None, str]]:
    rows = command("policy", "list", *TENANT, "--json").json
    return {row["version"]: (row["effective_from"], row["effective_to"], row["state"]) for row in rows}


def actions(command: Command) -> list[tuple[str, str, str]]:
    told = command("policy", "history", "refund", *TENANT, "--json").json["events"]
    return [(event["action"], event["version"], event["person"]) for event in told]


def test_policy_lives_from_its_draft_to_its_withdrawal(acme: Command, tmp_path: Path) -> None:
    file = tmp_path / "2025-02-01.md"
    assert acme("policy", "new", "refund", *TENANT, "--effective-from", "2025-02-01", "-o", str(file)).code == 0
    submit(acme, tmp_path, "2025-02-01", file.read_text().replace("30 days", "14 days"))
    approve(acme, NEW)
    publish(acme, NEW)
    back = ("--from", "2090-01-01", "--why", "too strict")
    assert acme("policy", "rollback", "refund@2024-01-01", *TENANT, *ADA, *back).code == 0
    approve(acme, "refund@2090-01-01")
    publish(acme, "refund@2090-01-01", verb="schedule")

    assert listed(acme) == {
        "2024-01-01": ("2024-01-01", "2025-02-01", "superseded"),
        "2025-02-01": ("2025-02-01", "2090-01-01", "in_force"),
        "2090-01-01": ("2090-01-01", None, "scheduled"),
    }
    shown = acme("policy", "show", "refund@2090-01-01", *TENANT, "--json").json
    assert "30 days" in shown["text"]
    assert (shown["approval"], shown["recorded_by"], shown["why"]) == ("bob", "ada", "too strict")

    gone = ("--from", "2090-01-01", "--why", "thought again")
    assert acme("policy", "withdraw", "refund@2090-01-01", *TENANT, *ADA, *gone).code == 0
    approve(acme, "refund@2090-01-01")
    publish(acme, "refund@2090-01-01", verb="schedule")

    assert listed(acme)["2025-02-01"] == ("2025-02-01", None, "in_force")
    assert len(listed(acme)) == 2
    assert [action for action, _, _ in actions(acme)] == [
        "imported", *("submitted", "approved", "published") * 2, "submitted", "approved", "withdrawn",
    ]  # fmt: skip
    assert acme("policy", "list", *TENANT, "--drafts", "--json").json == []


def test_correction_named_in_its_own_folder_keeps_the_keys_beside_it(
    own_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = {
        "policy": "refund", "title": "Refunds", "language": "en", "authority": "corporate",
        "versions": [{"version": "2024-01-01", "file": "2024-01-01.md", "effective_from": "2024-01-01"}],
    }  # fmt: skip
    file = Path(write(tmp_path, "2024-01-01", "## Window\n\nWithin 30 days.\n"))
    file.with_name("meta.json").write_text(json.dumps(beside), encoding="utf-8")
    imported = own_command("policy", "import", str(tmp_path), *TENANT, "--publish", "--create-tenant")
    assert imported.code == 0, imported.said
    file.write_text("## Window\n\nWithin 31 days.\n", encoding="utf-8")
    monkeypatch.chdir(file.parent)

    corrected = own_command("policy", "correct", file.name, *TENANT, *ADA, "--why", "typing error")

    assert corrected.code == 0, corrected.said


def test_correction_keeps_what_was_said(acme: Command, tmp_path: Path) -> None:
    file = write(tmp_path, "2024-01-01", text("2024-01-01", days=31))
    assert acme("policy", "correct", file, *TENANT, *ADA, "--why", "typing error").code == 0
    review = acme("policy", "review", "refund@2024-01-01", *TENANT)
    approve(acme, "refund@2024-01-01")
    publish(acme, "refund@2024-01-01")

    assert "typing error" in review.said
    assert "{+31+}" in review.said
    recorded = acme("policy", "history", "refund", *TENANT, "--json").json["earlier"][0]["recorded_from"]
    then = acme("policy", "show", "refund@2024-01-01", *TENANT, "--known-at", recorded, "--json").json
    assert ("30 days" in then["text"], then["why"]) == (True, None)
    assert acme("policy", "show", "refund@2024-01-01", *TENANT, "--json").json["why"] == "typing error"


def test_review_of_a_first_version_shows_all_of_it(acme: Command, tmp_path: Path) -> None:
    first = text("2024-01-01").replace("policy: refund", "policy: fees")
    submit(acme, tmp_path, "2024-01-01", first)

    review = acme("policy", "review", "fees@2024-01-01", *TENANT)

    assert "within 14 days of purchase" in review.said
    assert acme("policy", "review", "fees@2024-01-01", *TENANT, "--json").json["text"] == first


@pytest.mark.parametrize("name", ["ada", "ADA", " Ada "])
def test_own_change_is_not_approved(name: str, acme: Command, tmp_path: Path) -> None:
    submit(acme, tmp_path, "2025-02-01", text("2025-02-01"))

    refused = acme("policy", "approve", NEW, *TENANT, "--by", name, "--yes", "--json")

    assert refused.code == 1
    assert "nobody approves their own change" in refused.json["error"]["message"]
    assert acme("policy", "publish", NEW, *TENANT, *BOB, "--yes").code == 1
    assert acme("policy", "list", *TENANT, "--drafts", "--json").json[0]["state"] == "in_review"


def test_what_is_sent_back_says_why_and_comes_again(acme: Command, tmp_path: Path) -> None:
    submit(acme, tmp_path, "2025-02-01", text("2025-02-01"))

    assert acme("policy", "approve", NEW, *TENANT, *BOB, "--return").code == 2
    assert acme("policy", "approve", NEW, *TENANT, *BOB, "--return", "--why", "unclear").code == 0
    assert acme("policy", "approve", NEW, *TENANT, *BOB, "--yes").code == 1
    submit(acme, tmp_path, "2025-02-01", text("2025-02-01", days=10))
    approve(acme, NEW)
    publish(acme, NEW)

    assert [action for action, _, _ in actions(acme)][1:] == [
        "submitted", "sent_back", "submitted", "approved", "published"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ("approve", NEW, *BOB),
        ("publish", NEW, *ADA),
        ("schedule", NEW, *ADA),
        ("discard", NEW, *ADA),
    ],
    ids=lambda arguments: arguments[0],
)
def test_step_that_takes_effect_asks_and_names_the_tenant(
    arguments: tuple[str, ...], acme: Command, tmp_path: Path
) -> None:
    submit(acme, tmp_path, "2025-02-01", text("2025-02-01"))

    refused = acme("policy", *arguments, *TENANT)

    assert refused.code == 2
    assert "--yes" in refused.said
    assert "'acme'" in refused.said


@pytest.mark.parametrize("why", ["", "  ", "caf\udce9"], ids=ascii)
def test_reason_has_to_be_words(why: str, acme: Command) -> None:
    refused = acme("policy", "withdraw", "refund@2024-01-01", *TENANT, *ADA, "--from", "2090-01-01", "--why", why)

    assert refused.code == 2
    assert "--why: must be words" in refused.said


@pytest.mark.parametrize("name", ["refund", "@2024-01-01", "refund@", "", "refund@\udce9"], ids=ascii)
def test_name_has_to_be_a_version(name: str, acme: Command) -> None:
    assert acme("policy", "publish", name, *TENANT, *ADA, "--yes").code == 2


def test_person_has_to_be_named(acme: Command, tmp_path: Path) -> None:
    file = write(tmp_path, "2025-02-01", text("2025-02-01"))

    assert acme("policy", "submit", file, *TENANT).code == 2
    assert acme.having(SUPPORT_AGENT_PERSON="ada")("policy", "submit", file, *TENANT).code == 0
    assert acme("policy", "list", *TENANT, "--drafts", "--json").json[0]["author"] == "ada"


@pytest.mark.parametrize("verb", ["submit", "correct"])
@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (text("2024-01-01").replace("\n", "\r\n", 3).encode(), "line ends are mixed"),
        (b"\xef\xbb\xbf" + text("2024-01-01").encode(), "2024-01-01.md:1:1: a byte order mark"),
        (text("2024-01-01").encode() + b"caf\xe9", "is not UTF-8"),
        (text("2024-01-01").replace("owner: Desk", "owner:\n\t- Desk").encode(), "2024-01-01.md:"),
        (text("2024-01-01", ends="2024-01-01").encode(), "effective_to"),
        (text("2024-01-01", ends="2023-01-01").encode(), "effective_to"),
        (text("2024-01-01").replace("2024-01-01", "infinity").encode(), "effective_from"),
    ],
    ids=["line-ends", "mark", "latin-1", "tab", "empty-period", "inverted-period", "infinity"],
)
def test_bad_file_is_refused_with_its_line(
    verb: str, content: bytes, fault: str, acme: Command, tmp_path: Path
) -> None:
    file = write(tmp_path, "2024-01-01", content)

    refused = acme("policy", verb, file, *TENANT, *ADA, "--why", "x", "--json")

    assert refused.code == 1
    assert fault in refused.err
    assert refused.json["error"]["faults"][0]["line"] >= 1
    assert "Traceback" not in refused.said
    assert acme("policy", "list", *TENANT, "--drafts", "--json").json == []


def test_import_is_refused_where_two_have_to_agree(own_command: Command, tmp_path: Path) -> None:
    tenant = tmp_path / "acme"
    write(tenant / "documents", "2024-01-01", text("2024-01-01"))
    settings = (
        "tenant: acme\nname: {en: Acme, zh: 极致}\ntime_zone: UTC\ncontact: {en: the desk, zh: 柜台}\nfour_eyes: true\n"
    )
    (tenant / "tenant.yaml").write_text(settings)
    (tenant / "facts.yaml").write_text("facts: {order.plan: {type: string, source: orders}}\n")
    assert own_command("tenant", "load", str(tenant)).code == 0
    write(tmp_path / "more", "2025-02-01", text("2025-02-01"))

    imported = own_command("policy", "import", str(tmp_path / "more"), *TENANT, "--publish", "--json")
    write(tenant / "documents", "2025-02-01", text("2025-02-01"))
    loaded = own_command("tenant", "load", str(tenant), "--json")

    assert (imported.code, loaded.code) == (1, 1)
    assert "refund@2025-02-01" in imported.json["error"]["message"]
    assert list(listed(own_command)) == ["2024-01-01"]
    submit(own_command, tmp_path, "2025-02-01", text("2025-02-01"))
    approve(own_command, NEW)
    publish(own_command, NEW)
    assert own_command("tenant", "load", str(tenant)).code == 0


# Processes that meet, and processes that are killed


def test_one_of_two_processes_that_publish_overlapping_versions_wins(acme: Command, tmp_path: Path) -> None:
    names = ["refund@spring", "refund@summer"]
    for name in names:
        version = name.split("@")[1]
        submit(acme, tmp_path, version, text("2025-02-01"))
        approve(acme, name)

    processes = [acme.start("policy", "publish", name, *TENANT, *ADA, "--yes", "--json") for name in names]
    printed = [json.loads(process.communicate(timeout=60)[0]) for process in processes]

    assert sorted(process.returncode for process in processes) == [0, 1], printed
    (refusal,) = (said["error"]["message"] for said in printed if "error" in said)
    (winner,) = (said["version"] for said in printed if "error" not in said)
    assert "in force together" in refusal
    assert f"'{winner}' was published by 'ada' at 20" in refusal
    assert "change effective_from or effective_to" in refusal
    assert set(listed(acme)) == {"2024-01-01", winner}
    assert [version for action, version, _ in actions(acme) if action == "published"] == [winner]


@contextmanager
def held(database: Database, table: str) -> Iterator[Callable[[], None]]:
    """Nobody writes to `table` meanwhile; gives a function that waits until somebody tries."""
    waiting = "select count(*) from pg_locks where not granted and relation = %s::regclass and database = "
    waiting += "(select oid from pg_database where datname = current_database())"
    with psycopg.connect(database.admin_url) as connection:
        connection.execute(sql.SQL("lock table {} in share mode").format(sql.Identifier(table)))

        def wait() -> None:
            for _ in range(300):
                if connection.execute(waiting, [table]).fetchone() != (0,):
                    return
                time.sleep(0.1)
            pytest.fail(f"nobody writes to {table}")

        yield wait


def alone(database: Database) -> None:
    """Wait until the server has noticed that the client is gone."""
    others = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    with psycopg.connect(database.admin_url, autocommit=True) as connection:
        for _ in range(100):
            if connection.execute(others).fetchone() == (0,):
                return
            time.sleep(0.1)
    pytest.fail("the server still works for a client that is gone")


def killed(command: Command, *arguments: str, on: Database, at: str) -> None:
    """Run a command and kill it when it is about to write its first row of table `at`."""
    with held(on, at) as until_it_writes:
        process = command.start(*arguments)
        until_it_writes()
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    alone(on)


@pytest.mark.parametrize("table", ["policy_passages", "policy_versions", "policy_events", "policy_drafts"])
def test_publish_that_is_killed_is_undone(table: str, acme: Command, own_database: Database, tmp_path: Path) -> None:
    submit(acme, tmp_path, "2025-02-01", text("2025-02-01"))
    approve(acme, NEW)
    before = contents(own_database)
    step = ("policy", "publish", NEW, *TENANT, *ADA, "--yes")

    killed(acme, *step, on=own_database, at=table)

    assert contents(own_database) == before
    assert acme(*step).code == 0
    assert listed(acme)["2025-02-01"] == ("2025-02-01", None, "in_force")


@pytest.mark.parametrize("table", ["tenants", "policy_documents", "policy_versions", "policy_term_changes"])
def test_import_of_three_hundred_versions_that_is_killed_is_undone(
    table: str, own_command: Command, own_database: Database, tmp_path: Path
) -> None:
    for number in range(300):
        start = (date(2024, 1, 1) + timedelta(days=number)).isoformat()
        terms = f"\n```terms\nrefund.window_days: {number % 7 + 1}\n```\n"
        write(tmp_path, start, text(start, days=number % 7 + 1) + terms)
    before = contents(own_database)
    step = ("policy", "import", str(tmp_path), *TENANT, "--publish", "--create-tenant", "--json")

    killed(own_command, *step, on=own_database, at=table)

    assert contents(own_database) == before
    again = own_command(*step)
    assert (again.code, again.json["n_published"]) == (0, 300)
    assert len(listed(own_command)) == 300
