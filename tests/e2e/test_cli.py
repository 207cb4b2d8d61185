"""The command line as scripts and people meet it: what it prints, where, and its exit codes."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import typer

from support_agent.cli import start
from support_agent.cli.main import app
from tests.e2e.command import Command
from tests.e2e.conftest import SAMPLE, TENANT
from tests.e2e.test_ask import contents
from tests.integration.conftest import Database

REFUND = "Can I still get a refund for the plan we bought last year?"
ASKED = ["ask", REFUND, "--tenant", TENANT, "--customer", "C-2001", "--at", "2026-03-10T09:00+01:00"]
CONTRACT = (
    "run_id status answer next_step decision governing_date citations verdict conflicts uncertainties clarification "
    "escalation plan rounds usage"
).split()


def _commands(group: Any, *names: str) -> Iterator[list[str]]:
    """The words of every command there is."""
    inner = getattr(group, "commands", None)
    if inner is None:
        yield list(names)
    for name, command in (inner or {}).items():
        yield from _commands(command, *names, name)


COMMANDS = list(_commands(typer.main.get_command(app)))
NOWHERE = "postgresql://nobody:secretword@127.0.0.1:9/nothing"


@pytest.mark.parametrize("name", COMMANDS, ids=" ".join)
def test_help_shows_an_example_and_json(name: list[str], command: Command) -> None:
    result = command(*name, "--help")

    assert result.code == 0
    assert f"Example: support-agent {' '.join(name)}" in result.said
    assert "--json" in result.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["ask", "refund?"],
        ["ask", "--tenant", TENANT],
        ["ask", "refund?", "--tenant", TENANT, "--input", "-"],
        ["ask", "refund?", "--tenant", TENANT, "--nonsense"],
        ["ask", "refund?", "--tenant", TENANT, "--at", "yesterday"],
        ["ask", "refund?", "--tenant", TENANT, "--at", "2025-03-05T10:00"],
        ["ask", "refund?", "--tenant", TENANT, "--locale", "de"],
        ["ask", "refund?", "--tenant", TENANT, "--fact", "nonsense"],
        ["ask", "refund?", "--tenant", TENANT, "--fact", "order.plan=team", "--fact", "order.plan=team"],
        ["ask", "refund?", "--tenant", TENANT, "--fact", "order.plan=nope"],
        ["ask", "refund?", "--tenant", TENANT, "--fact", "no.such=1"],
        ["ask", "   ", "--tenant", TENANT],
        ["ask", "refund?", "--tenant", TENANT, "--model", "openai:gpt"],
        ["ask", "--tenant", TENANT, "--input", "/no/such/file.jsonl"],
        ["ask", "--tenant", TENANT, "--input", "/"],
        ["tenant", "load", "/no/such/folder"],
        ["tenant", "load", str(SAMPLE), "--tenant", "other"],
        ["policy", "import", "/no/such/folder", "--tenant", TENANT],
        ["policy", "as-of", "soon", "--tenant", TENANT],
        ["policy", "search", " ", "--tenant", TENANT],
        ["policy", "search", "refund", "--tenant", TENANT, "--limit", "0"],
    ],
    ids=lambda arguments: " ".join(arguments)[:60],
)
def test_bad_usage_exits_with_2(arguments: list[str], command: Command) -> None:
    result = command(*arguments)

    assert result.code == 2
    assert result.out == ""
    assert result.err.strip()


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask", "refund?"],
        ["ask", "--input", "-"],
        ["explain", "00000000-0000-0000-0000-000000000000"],
        ["escalation", "list"],
        ["escalation", "show", "00000000-0000-0000-0000-000000000000"],
        ["policy", "list"],
        ["policy", "show", "refund-eu"],
        ["policy", "as-of", "2025-03-05"],
        ["policy", "search", "refund"],
        ["policy", "import", str(SAMPLE / "documents")],
    ],
    ids=" ".join,
)
def test_unknown_tenant_exits_with_1(arguments: list[str], command: Command) -> None:
    result = command(*arguments, "--tenant", "nobody", stdin=b'{"question": "refund?"}\n')

    assert result.code == 1
    assert result.out == ""
    assert "there is no" in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "no-uuid"],
        ["escalation", "show", "no-uuid"],
        ["policy", "show", "no-such-policy"],
        ["policy", "show", "refund-eu@1999-01-01"],
        ["policy", "as-of", "2025-03-05", "--policy", "no-such-policy"],
    ],
    ids=" ".join,
)
def test_what_is_not_there_exits_with_1(arguments: list[str], command: Command) -> None:
    result = command(*arguments, "--tenant", TENANT)

    assert result.code == 1
    assert result.out == ""
    assert "there is no" in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (["ask", "refund?", "--tenant", "nobody"], 1, "not_found"),
        (["ask", "refund?", "--tenant", TENANT, "--at", "yesterday"], 2, "invalid_request"),
        (["policy", "show", "no-such-policy", "--tenant", TENANT], 1, "not_found"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_failure_as_json_is_one_object_too(arguments: list[str], code: int, kind: str, command: Command) -> None:
    result = command(*arguments, "--json")

    assert result.code == code
    assert result.json["error"]["code"] == kind
    assert result.json["error"]["message"] in result.err


def test_faults_as_json_have_path_and_line(own_command: Command, tmp_path: Path) -> None:
    wrong = tmp_path / "refund" / "2025-02-01.md"
    wrong.parent.mkdir()
    wrong.write_text("---\npolicy: refund\ntitle: Refunds\neffective_from: soon\n---\n## Window\nFourteen days.\n")

    result = own_command("policy", "import", str(tmp_path), "--tenant", "new", "--create-tenant", "--json")

    assert result.code == 1
    faults = result.json["error"]["faults"]
    assert ("refund/2025-02-01.md", 4) in [(fault["path"], fault["line"]) for fault in faults]
    assert all(fault["message"] and fault["remedy"] for fault in faults)


def test_answer_as_json_is_one_object_with_the_contracts_keys(command: Command) -> None:
    result = command(*ASKED, "--json")

    assert result.code == 0
    assert len(result.out.strip().splitlines()) == 1
    assert list(result.json)[: len(CONTRACT)] == CONTRACT


def test_answer_in_words_shows_its_citations(command: Command) -> None:
    result = command(*ASKED)

    assert result.code == 0
    for shown in ("19 March 2025", "[1]", "refund-eu", "SO-1182", "within 14 days of purchase"):
        assert shown in result.said


@pytest.mark.parametrize(
    ("question", "request_", "status"),
    [
        ("我们的套餐现在还能取消续费吗？", {"customer": "C-2207"}, "escalated"),
        ("Where is my order SO-1201?", {"customer": "C-2001"}, "refused"),
        ("Can I still get a refund for my plan?", {"customer": "C-2008"}, "needs_clarification"),
        ("Do you offer a discount for students?", {}, "no_answer"),
        ("What does your policy say about data export after the plan ends?", {}, "answered_with_conflict"),
    ],
)
def test_every_outcome_exits_with_0(question: str, request_: dict[str, str], status: str, command: Command) -> None:
    flags = [part for name, value in request_.items() for part in (f"--{name}", value)]

    result = command("ask", question, "--tenant", TENANT, "--at", "2026-11-30", *flags, "--json")

    assert (result.code, result.json["status"]) == (0, status)


def test_many_questions_are_answered_in_order_with_their_ids(command: Command) -> None:
    lines: list[Any] = [
        {"id": "a", "question": REFUND, "customer": "C-2001", "at": "2026-03-10"},
        "not json",
        {"id": "b", "question": "refund?", "at": "nonsense"},
        {"id": 7, "question": "我们去年买的套餐现在还能退吗？", "customer": "C-2001", "at": "2026-03-10"},
        {"question": "What does your policy say about data export after the plan ends?"},
        {"id": "c", "question": "Where is my order?", "tenant": "nobody"},
        {"id": "d", "question": "What does your policy say about data export after the plan ends?"},
    ]
    text = "\n\n".join(line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)

    result = command("ask", "--input", "-", "--tenant", TENANT, "--at", "2026-11-30", stdin=text.encode())

    assert result.code == 0
    assert [answer["id"] for answer in result.lines] == ["a", None, "b", 7, None, "c", "d"]
    assert ["error" in answer for answer in result.lines] == [False, True, True, False, False, True, False]
    assert "7 asked, 3 with errors" in result.err


def test_flags_are_the_defaults_of_lines(command: Command) -> None:
    line = json.dumps({"question": "Where is my order SO-1182?"}).encode()
    flags = ["--tenant", TENANT, "--customer", "C-2001", "--at", "2026-11-30"]

    (own,) = command("ask", "--input", "-", *flags, stdin=line).lines
    (unverified,) = command("ask", "--input", "-", *flags, "--unverified", stdin=line).lines

    assert (own["status"], unverified["status"]) == ("answered", "refused")


def test_run_is_explained_stage_by_stage(command: Command) -> None:
    run_id = command(*ASKED, "--json").json["run_id"]

    receipt = command("explain", run_id, "--tenant", TENANT, "--json").json
    shown = command("explain", run_id, "--tenant", TENANT)

    assert receipt["question"]["text"] == REFUND
    assert len(receipt["rounds"]) >= 2
    assert shown.code == 0
    for word in (REFUND, "orders", "refund-eu@2025-02-01#window", "in_force"):
        assert word in shown.said


def test_case_is_listed_and_shown_with_both_sides(command: Command) -> None:
    asked = ["ask", "我们的套餐现在还能取消续费吗？", "--tenant", TENANT, "--customer", "C-2207", "--at", "2026-11-30"]
    escalation = command(*asked, "--json").json["escalation"]

    listed = command("escalation", "list", "--tenant", TENANT, "--limit", "1000", "--json").json
    case = command("escalation", "show", escalation["id"], "--tenant", TENANT, "--json").json
    shown = command("escalation", "show", escalation["id"], "--tenant", TENANT)

    assert escalation["id"] in {one["id"] for one in listed}
    assert (case["reason"], case["need"]) == ("conflict", escalation["need"])
    for words in ("我们的套餐现在还能取消续费吗？", "cancellation-cn-sales", "cancellation-cn-service", "conflict"):
        assert words in shown.said
    assert command("escalation", "list", "--tenant", TENANT).code == 0


def test_policies_are_listed_shown_dated_and_found(command: Command) -> None:
    listed = command("policy", "list", "--tenant", TENANT, "--json").json
    (dated,) = command("policy", "as-of", "2025-03-05", "--policy", "refund-eu", "--tenant", TENANT, "--json").json
    shown = command("policy", "show", "refund-eu@2025-02-01", "--tenant", TENANT, "--json").json
    found = command("policy", "search", "退款期限", "--tenant", TENANT, "--at", "2026-11-30", "--json").json

    assert [version["version"] for version in listed if version["policy"] == "refund-eu"] == [
        "2024-01-01",
        "2025-02-01",
        "2027-01-01",
    ]
    assert (dated["version"], dated["effective_from"], dated["effective_to"]) == (
        "2025-02-01",
        "2025-02-01",
        "2027-01-01",
    )
    assert shown["text"] == (SAMPLE / "documents" / "refund-eu" / "2025-02-01.md").read_text(encoding="utf-8")
    assert found[0]["clause"].startswith("refund-")


@pytest.mark.parametrize(
    "arguments",
    [
        ["policy", "list"],
        ["policy", "show", "refund-eu"],
        ["policy", "as-of", "2025-03-05"],
        ["policy", "search", "refund window"],
    ],
    ids=" ".join,
)
def test_words_for_people_come_on_standard_output(arguments: list[str], command: Command) -> None:
    result = command(*arguments, "--tenant", TENANT)

    assert result.code == 0
    assert "refund-eu" in result.out
    assert result.err == ""


def test_import_without_publish_stores_nothing(own_command: Command, own_database: Database) -> None:
    before = contents(own_database)

    result = own_command("policy", "import", str(SAMPLE / "documents" / ".."), "--tenant", "new", "--create-tenant")

    assert result.code == 1
    assert contents(own_database) == before


# Servers


@pytest.mark.parametrize("arguments", [ASKED, ["policy", "list", "--tenant", TENANT]], ids=["ask", "list"])
def test_server_that_does_not_answer_is_said_in_a_sentence(arguments: list[str], tmp_path: Path) -> None:
    result = Command.on(NOWHERE, data=tmp_path).process(*arguments)

    assert result.code == 1
    assert result.out == ""
    assert "no PostgreSQL answers at 127.0.0.1:9" in result.err
    assert "DATABASE_URL" in result.err
    assert "Traceback" not in result.err
    assert "secretword" not in result.err


@pytest.mark.parametrize("url", ["nonsense", "mysql://x@127.0.0.1/y", "postgresql://[::1", "postgresql://h:port/x"])
def test_url_that_is_none_is_said_in_a_sentence(url: str, tmp_path: Path) -> None:
    result = Command.on(url, data=tmp_path)(*ASKED)

    assert result.code == 1
    assert result.out == ""
    assert "postgresql://" in result.err


def test_database_without_tables_names_the_command_that_makes_them(own_database: Database, tmp_path: Path) -> None:
    with psycopg.connect(own_database.admin_url, autocommit=True) as connection:
        connection.execute("drop table alembic_version")

    result = Command.on(own_database.url, data=tmp_path)(*ASKED)

    assert result.code == 1
    assert "support-agent database" in result.err


def test_process_answers_and_keeps_talk_apart(command: Command) -> None:
    result = command.process(*ASKED, "--json")

    assert result.code == 0
    assert result.json["decision"]["value"] is False
    assert "Traceback" not in result.err


def test_reader_who_leaves_early_gets_no_traceback(command: Command) -> None:
    process = command.start("policy", "list", "--tenant", TENANT, "--json")
    assert process.stdout is not None
    process.stdout.close()

    _, err = process.communicate(timeout=60)

    assert b"Traceback" not in err


# Loads, all or nothing


def _tenants(database: Database) -> Iterator[str]:
    with psycopg.connect(database.admin_url) as connection:
        yield from (slug for (slug,) in connection.execute("select slug from tenants"))


@pytest.mark.parametrize("after_s", [0.0, 0.15, 0.5])
def test_load_that_is_killed_leaves_nothing(after_s: float, own_command: Command, own_database: Database) -> None:
    empty = contents(own_database)
    process = own_command.start("tenant", "load", str(SAMPLE))
    assert process.stderr is not None
    process.stderr.readline()  # "… versions read, storing": from now on it writes.
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)

    _wait_until_alone(own_database)
    assert (contents(own_database) == empty) == (not list(_tenants(own_database)))
    again = own_command("tenant", "load", str(SAMPLE), "--json")
    assert again.code == 0
    assert own_command("tenant", "load", str(SAMPLE), "--json").json["changed"] is False
    assert own_command(*ASKED, "--json").json["decision"]["value"] is False


def _wait_until_alone(database: Database) -> None:
    """Until the server has noticed that the client is gone."""
    others = "select count(*) from pg_stat_activity where datname = %s and pid <> pg_backend_pid()"
    with psycopg.connect(database.admin_url, autocommit=True) as connection:
        for _ in range(100):
            found = connection.execute(others, [database.name]).fetchone()
            if found == (0,):
                return
            time.sleep(0.1)
    pytest.fail("the server still works for a client that is gone")


def test_two_loads_at_once_load_it_once(own_command: Command, own_database: Database) -> None:
    processes = [own_command.start("tenant", "load", str(SAMPLE), "--json") for _ in range(2)]
    printed = [process.communicate(timeout=60) for process in processes]

    assert [process.returncode for process in processes] == [0, 0], printed
    assert sorted(json.loads(out)["changed"] for out, _ in printed) == [False, True]
    assert len(own_command("policy", "list", "--tenant", TENANT, "--json").json) == 50
    with psycopg.connect(own_database.admin_url) as connection:
        recorded = connection.execute(
            "select count(*), count(*) filter (where recorded_to is null) from policy_versions"
        )
        assert recorded.fetchone() == (50, 50)


def test_ctrl_c_between_two_steps_of_a_command_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("support_agent.cli.main.run", stopped)
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as ended:
            start.run()
    finally:
        signal.signal(signal.SIGINT, before)

    assert ended.value.code == start.STOPPED
    assert capsys.readouterr().err == "stopped\n"
