"""`support-agent glossary list|add|remove|lint|suggest`, and what an entry does for a question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policies.text import is_chinese
from support_agent.administration import glossary as administration
from support_agent.administration.glossary_suggestions import suggested
from support_agent.request import AskRequest
from tests.e2e.command import Command
from tests.e2e.conftest import TENANT, sample_application
from tests.e2e.tenants import SAMPLE, copy_of_sample
from tests.integration.conftest import Database

TO = ("--tenant", TENANT)
AT = ("--at", "2026-11-30")
ADA = ("--by", "ada")


@pytest.fixture
def glossary(own_command: Command) -> Command:
    """The command on a database with the sample tenant, whose glossary is empty."""
    loaded = own_command("tenant", "load", str(SAMPLE))
    assert loaded.code == 0, loaded.said
    return own_command


def ask(command: Command, question: str, tenant: str = TENANT) -> dict[str, Any]:
    asked = command("ask", question, "--tenant", tenant, *AT, "--json")
    assert asked.code == 0, asked.said
    found: dict[str, Any] = asked.json
    return found


def receipt(command: Command, outcome: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = command("explain", outcome["run_id"], *TO, "--json").json
    return found


def cited(outcome: dict[str, Any]) -> list[tuple[str, str]]:
    return [(citation["document"], citation["clause"]) for citation in outcome["citations"]]


@pytest.mark.parametrize(
    ("question", "says", "means", "passage"),
    [
        ("How do I nuke my profile?", "nuke my profile", "delete account", ("account-deletion", "how")),
        ("能开小票吗？", "小票", "发票", ("invoices-cn", "how")),
        ("怎么把东西拷走？", "东西拷走", "data export", ("data-export-it", "period")),
    ],
    ids=["English", "Chinese", "Chinese for an English document"],
)
def test_question_that_found_nothing_finds_the_passage(
    glossary: Command, question: str, says: str, means: str, passage: tuple[str, str]
) -> None:
    before = ask(glossary, question)
    added = glossary("glossary", "add", says, means, *TO, *AT, *ADA, "--json")
    after = ask(glossary, question)

    assert before["status"] == "no_answer"
    assert added.code == 0, added.said
    # Two departments disagree about export: an entry makes no conflict silent.
    assert after["status"] == ("answered_with_conflict" if means == "data export" else "answered")
    assert passage in cited(after)
    # The customer is answered in their language, and quoted what the document says in its own.
    quote = next(one["quote"] for one in after["citations"] if (one["document"], one["clause"]) == passage)
    assert quote in after["answer"]
    assert is_chinese(after["answer"].replace(quote, "")) == is_chinese(question)


def test_run_says_which_entries_it_used(glossary: Command) -> None:
    glossary("glossary", "add", "nuke", "delete", *TO, *AT, *ADA)
    glossary("glossary", "add", "plastic", "card", *TO, *AT, *ADA)
    used = ask(glossary, "How do I nuke my account?")
    unused = ask(glossary, "Can I still get a refund for SO-1182?")

    assert receipt(glossary, used)["reading"]["glossary"] == [{"says": "nuke", "means": "delete", "language": "both"}]
    assert receipt(glossary, unused)["reading"]["glossary"] == []
    assert "nuke → delete" in glossary("explain", used["run_id"], *TO).said


def test_entry_makes_no_playbook_decide(glossary: Command) -> None:
    question = "Can I nuke SO-1182?"
    before = glossary("playbooks", "test", *TO, "--question", question, "--json").json
    glossary("glossary", "add", "nuke", "refund", *TO, *AT, *ADA)
    after = glossary("playbooks", "test", *TO, "--question", question, "--json").json

    assert before == after
    assert ask(glossary, question)["decision"] is None


def test_what_is_removed_is_read_no_more_and_stays_in_the_record(glossary: Command) -> None:
    question = "How do I nuke my profile?"
    glossary("glossary", "add", "nuke my profile", "delete account", *TO, *AT, *ADA)
    answered = ask(glossary, question)
    removed = glossary("glossary", "remove", "Nuke my profiles", *TO, "--by", "bob", "--json")

    assert (answered["status"], ask(glossary, question)["status"]) == ("answered", "no_answer")
    assert [one["removed_by"] for one in removed.json] == ["bob"]
    assert glossary("glossary", "list", *TO, "--json").json == []
    (kept,) = glossary("glossary", "list", *TO, "--removed", "--json").json
    assert (kept["says"], kept["means"], kept["added_by"], kept["removed_by"]) == (
        "nuke my profile", "delete account", "ada", "bob",
    )  # fmt: skip
    assert kept["added_at"] <= kept["removed_at"]
    assert "removed by bob" in glossary("glossary", "list", *TO, "--removed").said


def test_entry_of_one_tenant_is_none_of_another(glossary: Command, tmp_path: Path) -> None:
    glossary("tenant", "load", str(copy_of_sample(tmp_path, "acme")))
    glossary("glossary", "add", "nuke my profile", "delete account", *TO, *AT, *ADA)

    assert ask(glossary, "How do I nuke my profile?", tenant="acme")["status"] == "no_answer"
    assert glossary("glossary", "list", "--tenant", "acme", "--json").json == []
    assert glossary("glossary", "remove", "nuke my profile", "--tenant", "acme", *ADA).code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("add", "refund", "Refunds", *ADA), 1, "mapped to itself"),
        (("add", "what is it", "refund", *ADA), 1, "too general"),
        (("add", "bouncy", "springy", *ADA), 1, "leads back"),
        (("add", "springy", "bouncy", *ADA), 1, "there already"),
        (("add", "!!", "refund", *ADA), 2, "SAYS"),
        (("add", "moolah", "x" * 101, *ADA), 2, "MEANS"),
        (("add", "moolah", "refund"), 2, "--by"),
        (("add", "moolah", "refund", *ADA, "--at", "soon"), 2, "--at"),
        (("add", "moolah", "refund", *ADA, "--language", "fr"), 2, "fr"),
        (("remove", "nothing such", *ADA), 1, "glossary list"),
        (("suggest", "--since", "soon"), 2, "--since"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else None,
)
def test_what_cannot_be_is_refused_with_the_reason(
    glossary: Command, arguments: tuple[str, ...], code: int, said: str
) -> None:
    glossary("glossary", "add", "springy", "bouncy", *TO, *AT, *ADA)
    done = glossary("glossary", *arguments, *TO)

    assert done.code == code, done.said
    assert said in done.said
    assert "Traceback" not in done.said
    assert len(glossary("glossary", "list", *TO, "--json").json) == 1


@pytest.mark.parametrize("name", ["list", "add", "remove", "lint", "suggest"])
def test_unknown_tenant_is_named(glossary: Command, name: str) -> None:
    words = {"add": ("a boon", "refund", *ADA), "remove": ("a boon", *ADA)}.get(name, ())
    done = glossary("glossary", name, *words, "--tenant", "nobody", "--json")

    assert done.code == 1
    assert done.json["error"]["code"] == "not_found"
    assert "Example: support-agent" in glossary("glossary", name, "--help").said


def test_lint_follows_the_documents(glossary: Command) -> None:
    glossary("glossary", "add", "cash back", "refund", *TO, *AT, *ADA)
    fine = glossary("glossary", "lint", *TO, *AT, "--json")
    early = glossary("glossary", "lint", *TO, "--at", "1990-01-01", "--json")
    warned = glossary("glossary", "add", "拷走", "teleportation", *TO, *AT, *ADA)

    assert (fine.code, fine.json) == (0, [])
    assert (early.code, [finding["rule"] for finding in early.json]) == (1, ["no-term"])
    assert warned.code == 0
    assert "stands in no document in force" in warned.err
    shown = glossary("glossary", "lint", *TO, *AT)
    assert (shown.code, "[no-term]" in shown.said) == (1, True)


def test_suggestions_come_from_questions_that_found_nothing(glossary: Command) -> None:
    for question in ("Can I pay with plastic?", "Do you take plastic?", "怎么薅羊毛？", "thanks!"):
        assert ask(glossary, question)["status"] == "no_answer"
    ask(glossary, "Can I still get a refund for SO-1182?")
    found = glossary("glossary", "suggest", *TO, *AT, "--json")

    assert found.code == 0, found.said
    first = found.json["suggestions"][0]
    assert (first["says"], first["n_questions"]) == ("plastic", 2)
    assert "Payment methods" in [candidate["term"] for candidate in first["candidates"]]
    assert {candidate["by"] for candidate in first["candidates"]} == {"co-occurrence"}
    assert [example["text"] for example in first["examples"]] == ["Do you take plastic?", "Can I pay with plastic?"]
    # Small talk was never looked for.
    assert found.json["n_questions"] == 3
    assert any("羊毛" in one["says"] for one in found.json["suggestions"])
    assert "plastic" in glossary("glossary", "suggest", *TO, *AT).out


async def test_vectors_read_by_the_glossary_and_rank_what_is_suggested(own_database: Database, tmp_path: Path) -> None:
    at = "2026-11-30"
    async with sample_application(own_database, tmp_path, vectors=True) as application:
        asked = [AskRequest(question=text, tenant=TENANT, at=at) for text in ("Can I pay with plastic?", "怎么清号？")]
        before = [await application.ask(request) for request in asked]
        found = await suggested(
            application, TENANT, since=None, n_questions=10, limit=5, at=at, progress=lambda _: None
        )
        for says, means in (("plastic", "card"), ("清号", "注销账户")):
            await administration.add(application, TENANT, says, means, language="both", by="ada", at=at)
        after = [await application.ask(request) for request in asked]

    assert [answered.run.outcome.status for answered in before] == ["no_answer"] * 2
    assert [answered.run.outcome.status for answered in after] == ["answered"] * 2
    (plastic,) = [one for one in found["suggestions"] if one["says"] == "plastic"]
    assert {candidate["by"] for candidate in plastic["candidates"]} == {"vectors"}
    assert "card" in {candidate["term"] for candidate in plastic["candidates"]}


def test_phrase_that_the_glossary_has_is_not_suggested_again(glossary: Command) -> None:
    ask(glossary, "Can I pay with plastic?")
    glossary("glossary", "add", "plastic", "credit card", *TO, *AT, *ADA)

    says = [one["says"] for one in glossary("glossary", "suggest", *TO, *AT, "--json").json["suggestions"]]
    assert "plastic" not in says
