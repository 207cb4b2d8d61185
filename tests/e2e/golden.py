"""Golden questions: how a line becomes a request, and what of an outcome differs from its expectation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from support_agent.request import AskRequest

FOLDER = Path(__file__).parents[1] / "golden"


def lines_of(name: str) -> list[dict[str, Any]]:
    """The rows of one golden file."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def request_of(row: Mapping[str, Any], *, tenant: str = "lumen") -> AskRequest:
    """The question of a golden row as a caller would send it."""
    return AskRequest(
        question=row["question"],
        tenant=tenant,
        customer=row.get("customer"),
        staff=row.get("staff"),
        verified=row.get("verified", True),
        facts=row.get("facts"),
        at=row["at"],
    )


def differences(expect: Mapping[str, Any], got: Mapping[str, Any]) -> list[str]:
    """What of `got`, an outcome in the contract's form, differs from what is expected; empty when all holds."""
    return list(_differences(expect, got))


def _differences(expect: Mapping[str, Any], got: Mapping[str, Any]) -> Iterator[str]:
    if got["status"] != expect["status"]:
        escalation = got["escalation"] or {}
        yield f"status is {got['status']} {escalation.get('reason', '')} {escalation.get('need', '')}"
        return
    yield from _decided(expect, got)
    yield from _cited(expect, got)
    yield from _asked_or_handed_over(expect, got)
    yield from _record(expect, got)


def _decided(expect: Mapping[str, Any], got: Mapping[str, Any]) -> Iterator[str]:
    decision = got["decision"] or {}
    for key, name in (("decision", "value"), ("term", "term"), ("clause", "clause")):
        if key in expect and decision.get(name) != expect[key]:
            yield f"{key} is {decision.get(name)}"
    governing = (got["governing_date"] or {}).get("value")
    if "governing_date" in expect and governing != expect["governing_date"]:
        yield f"governing date is {governing}"


def _cited(expect: Mapping[str, Any], got: Mapping[str, Any]) -> Iterator[str]:
    cited = {_locator(citation) for citation in got["citations"]}
    for locator in expect.get("cites", ()):
        if locator not in cited:
            yield f"{locator} is not cited, but {sorted(cited)}"
    for group in expect.get("cites_any", ()):
        if not cited & set(group):
            yield f"none of {group} is cited, but {sorted(cited)}"


def _asked_or_handed_over(expect: Mapping[str, Any], got: Mapping[str, Any]) -> Iterator[str]:
    clarification, escalation = got["clarification"] or {}, got["escalation"] or {}
    if "reason" in expect and escalation.get("reason") != expect["reason"]:
        yield f"reason is {escalation.get('reason')}"
    asked = expect.get("clarify", expect.get("need") if clarification else None)
    if asked is not None and clarification.get("need") != asked:
        yield f"asked for {clarification.get('need')}"
    about = expect.get("need") if escalation and "settled_by" not in expect else None
    if about is not None and escalation.get("need") != about:
        yield f"escalated about {escalation.get('need')}"


def _record(expect: Mapping[str, Any], got: Mapping[str, Any]) -> Iterator[str]:
    if "need" not in expect or not {"settled_by", "winner", "removed"} & expect.keys():
        return
    record = next((conflict for conflict in got["conflicts"] if conflict["need"] == expect["need"]), None)
    if record is None:
        yield f"no record of {expect['need']}, but of {[conflict['need'] for conflict in got['conflicts']]}"
        return
    for key in ("settled_by", "winner"):
        if key in expect and record[key] != expect[key]:
            yield f"{key} of {record['need']} is {record[key]}"
    fates = {candidate["clause"]: candidate["removed_by"] for candidate in record["candidates"]}
    for locator, removed_by in expect.get("removed", {}).items():
        if locator not in fates:
            yield f"{locator} is not in the record, but {fates}"
        elif fates[locator] != removed_by:
            yield f"{locator} was removed by {fates[locator]}"


def _locator(citation: Mapping[str, Any]) -> str:
    if citation["version"] is None:
        return f"{citation['document']}#{citation['clause']}"
    return f"{citation['document']}@{citation['version']}#{citation['clause']}"
