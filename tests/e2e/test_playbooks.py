"""`support-agent playbooks list|show|test|lint`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import Command
from tests.e2e.conftest import TENANT
from tests.e2e.tenants import SAMPLE, copy_of_sample
from tests.e2e.test_policy_lifecycle import text, write

TO = ("--tenant", TENANT)
#: Without vectors nothing but words recognises a question.
BY_LIKENESS_ONLY = "We do not want to renew our Team plan"
OWN = """
id: {id}
examples: {{en: ["Do you polish speakers?"], zh: ["你们抛光音箱吗？"]}}
triggers: {{en: [{en}], zh: [抛光]}}
needs: [{{id: policy, source: policy, topic: {topic}, gives: [{gives}]}}]
form: {form}
"""


def with_playbook(folder: Path, name: str, **values: str) -> Path:
    """A copy of the sample tenant with a playbook more."""
    copy = copy_of_sample(folder, TENANT)
    said = {"id": name, "en": "polish", "topic": "warranty", "gives": "passages", "form": "passages", **values}
    (copy / "playbooks" / f"{name}.yaml").write_text(OWN.format(**said), encoding="utf-8")
    return copy


def linted(command: Command, folder: Path) -> list[dict[str, Any]]:
    found = command("playbooks", "lint", str(folder), *TO, "--json")
    assert found.code == int(bool(found.json)), found.said
    # That one example is not what these tests are about.
    return [finding for finding in found.json if BY_LIKENESS_ONLY not in finding["message"]]


def test_list_says_what_each_does_and_where_it_comes_from(command: Command) -> None:
    found = {one["id"]: one for one in command("playbooks", "list", *TO, "--json").json}

    assert found["refund-eligibility"]["decides"] == "refund.eligible"
    assert found["refund-eligibility"]["origin"] == "packaged"
    assert found["cancel-plan"]["origin"] == "tenant"
    assert all(one["used"] for one in found.values())
    assert "refund-eligibility" in command("playbooks", "list", *TO).out


def test_packaged_playbook_that_cannot_be_used_says_why(own_command: Command, tmp_path: Path) -> None:
    to = ("--tenant", "acme")
    write(tmp_path / "documents", "2024-01-01", text("2024-01-01"))
    imported = own_command("policy", "import", str(tmp_path / "documents"), *to, "--publish", "--create-tenant")
    assert imported.code == 0, imported.said
    found = {one["id"]: one for one in own_command("playbooks", "list", *to, "--json").json}
    lint = own_command("playbooks", "lint", *to, "--json")

    assert not found["order-status"]["used"]
    assert "facts.yaml does not declare order.number" in found["order-status"]["why_not"]
    assert "not used" in own_command("playbooks", "list", *to).out
    assert "not-used" in {finding["rule"] for finding in lint.json}


def test_what_is_shown_replaces_the_packaged_one(own_command: Command, tmp_path: Path) -> None:
    folder = copy_of_sample(tmp_path, TENANT)
    own_command("tenant", "load", str(folder))
    shown = own_command("playbooks", "show", "order-status", *TO).out
    (folder / "playbooks" / "order-status.yaml").write_text(
        shown.replace("mode: draft", "mode: shadow"), encoding="utf-8"
    )
    own_command("tenant", "load", str(folder))
    again = own_command("playbooks", "show", "order-status", *TO, "--json").json

    assert (again["mode"], again["origin"]) == ("shadow", "replaces a packaged one")


@pytest.mark.parametrize("arguments", [("show", "nope"), ("test", "nope")])
def test_unknown_playbook_is_named(command: Command, arguments: tuple[str, ...]) -> None:
    done = command("playbooks", *arguments, *TO)

    assert done.code == 1
    assert "'nope'" in done.said
    assert "Traceback" not in done.said


def test_examples_reach_their_playbook(command: Command) -> None:
    found = command("playbooks", "test", *TO, "--json")
    one = command("playbooks", "test", "refund-eligibility", *TO)

    assert [example["example"] for example in found.json if not example["ok"]] == [BY_LIKENESS_ONLY]
    assert found.code == 1
    assert one.code == 0, one.said


@pytest.mark.parametrize(
    ("question", "playbook"),
    [
        ("Can I send the headset back?", "refund-eligibility"),
        ("键盘还能退吗？", "refund-eligibility"),
        ("SO-1501 现在解约还来得及吗？", "cancel-plan"),
        ("What is the capital of France?", None),
    ],
)
def test_question_is_tried_without_being_asked(command: Command, question: str, playbook: str | None) -> None:
    found = command("playbooks", "test", *TO, "--question", question, "--json")

    assert found.code == int(playbook is None)
    assert found.json["playbook"] == playbook
    if playbook is not None:
        speaking = next(one for one in found.json["candidates"] if one["playbook"] == playbook)
        assert speaking["trigger"]


def test_sample_has_nothing_to_be_said_of(command: Command) -> None:
    assert linted(command, SAMPLE) == []


@pytest.mark.parametrize(
    ("values", "rule", "says"),
    [
        ({"en": "still under warranty, warranty"}, "shared-trigger", "'warranty'"),
        ({"en": "buff"}, "example-missed", "'Do you polish speakers?' reaches no playbook"),
        ({"topic": "polishing"}, "no-topic", "'polishing'"),
        ({"gives": "polish.days"}, "no-term", "'polish.days'"),
        ({"form": "sonnet"}, "not-read", "sonnet"),
    ],
)
def test_each_fault_is_found_at_its_line(
    command: Command, tmp_path: Path, values: dict[str, str], rule: str, says: str
) -> None:
    folder = with_playbook(tmp_path, "polishing", **values)
    finding = next(one for one in linted(command, folder) if one["rule"] == rule and says in one["message"])
    lines = (folder / finding["path"]).read_text(encoding="utf-8").splitlines()
    at = {"shared-trigger": "triggers", "example-missed": "polish", "not-read": "form"}.get(rule, "needs")
    assert at in lines[finding["line"] - 1]
    assert finding["remedy"]


def test_folder_of_another_tenant_is_refused(command: Command, tmp_path: Path) -> None:
    done = command("playbooks", "lint", str(copy_of_sample(tmp_path, "other")), *TO)

    assert done.code == 2
    assert "'other'" in done.said


def test_what_no_playbook_recognised_is_drafted(own_command: Command, tmp_path: Path) -> None:
    own_command("tenant", "load", str(SAMPLE))
    for question in ("Do you have a student discount?", "Is there a discount for students?", "学生有优惠吗？"):
        own_command("ask", question, *TO, "--customer", "C-2001", "--at", "2026-11-30", "--json")
    own_command("ask", "Can I still return SO-1182?", *TO, "--customer", "C-2001", "--at", "2026-11-30", "--json")
    drafts = own_command("playbooks", "suggest", *TO, "--json")
    (draft,) = drafts.json
    folder = copy_of_sample(tmp_path, TENANT)
    out = ("--out", str(folder / "playbooks"))
    written, again = own_command("playbooks", "suggest", *TO, *out), own_command("playbooks", "suggest", *TO, *out)

    assert (draft["n_questions"], draft["n_runs"]) == (3, 3)
    assert "1182" not in drafts.out
    assert written.code == 0
    assert (folder / "playbooks" / f"{draft['id']}.yaml").read_text(encoding="utf-8") == draft["yaml"]
    assert (again.code, "already" in again.said) == (2, True)
    assert own_command("tenant", "load", str(folder)).code == 0
    assert draft["id"] in {one["id"] for one in own_command("playbooks", "list", *TO, "--json").json}
    assert own_command("playbooks", "suggest", "--tenant", "nobody").code == 1
