"""Dated questions about real policies on either side of a change, and what an answer to one is worth.

A row of `CHANGES.jsonl` holds one fact that changed: both values, both passages, and a question for either side with
its date. An answer counts when its governing citations, three at most, are all of the version in force on that date; it
says the value when its figures stand in it and those of the other side do not; it cites the passage when that stands in
what it quotes.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policies.quantities import keys_of_text, quantities
from policies.quantity import Quantity

DATA = Path(__file__).parents[3] / "shared" / "data" / "policies"
FACTS = Path(__file__).parent / "real_questions" / "facts.jsonl"
#: As the data's README ranks them, highest first.
AUTHORITIES = (
    "national_law,administrative_regulation,judicial_interpretation=department_rule,local_regulation,"
    "company_policy,support_documentation,support_documentation_translation"
)
ORGANISATIONS = sorted(folder.name for folder in DATA.iterdir() if folder.is_dir()) if DATA.exists() else []
#: When every policy has reached its newest version.
LATER = "2026-11-30"
MAX_CITATIONS = 3
MAX_ANSWER = 800
#: Share of a passage's letters, in one piece, that stands for all of it: quotes of long passages are cut.
NEARLY_ALL = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a change: a question, its date, and what was in force then."""

    row: str
    side: str
    organisation: str
    policy: str
    question: str
    date: str
    version: str | None
    newest: str
    value: str
    other_value: str
    passage: str
    other_passage: str

    @property
    def id(self) -> str:
        return f"{self.row}-{self.side}"

    @property
    def half(self) -> int:
        """0: looked at while answering was improved; 1: not."""
        return zlib.crc32(self.row.encode()) % 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What one answer is worth, and why it is worth no more."""

    version: bool
    value: bool
    passage: bool
    #: Conflict records: none of these questions has two sources that disagree.
    n_conflicts: int
    reason: str


def sides() -> Iterator[Side]:
    for line in (DATA / "CHANGES.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        meta = metadata(row["org"])[row["policy"]]
        for name, other, question in (("old", "new", "question"), ("new", "old", "question_new")):
            yield Side(
                row=row["id"],
                side=name,
                organisation=row["org"],
                policy=row["policy"],
                question=row[question],
                date=row[f"{question}_date"],
                version=in_force(meta, row[f"{question}_date"]),
                newest=meta["versions"][-1]["version"],
                value=row[f"{name}_value"],
                other_value=row[f"{other}_value"],
                passage=row[f"{name}_quote"],
                other_passage=row[f"{other}_quote"],
            )


def facts() -> Iterator[Side]:
    """Questions of our own about one fact each, on its date; nothing need have changed.

    A line holds where in the version's file the fact stands (line from 1, characters from 0), and its value.
    """
    for line in FACTS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        meta = metadata(row["organisation"])[row["policy"]]
        version = in_force(meta, row["date"])
        file = next(known["file"] for known in meta["versions"] if known["version"] == version)
        text = (DATA / row["organisation"] / row["policy"] / file).read_text(encoding="utf-8")
        yield Side(
            row=row["id"],
            side="fact",
            organisation=row["organisation"],
            policy=row["policy"],
            question=row["question"],
            date=row["date"],
            version=version,
            newest=meta["versions"][-1]["version"],
            value=row["value"],
            other_value="",
            passage=text.split("\n")[row["line"] - 1][row["from"] : row["to"]],
            other_passage="",
        )


def metadata(organisation: str) -> dict[str, Mapping[str, Any]]:
    """Policy -> its metadata."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((DATA / organisation).glob("*/meta.json"))]
    return {meta["policy"]: meta for meta in found}


def in_force(meta: Mapping[str, Any], day: str) -> str | None:
    """The version in force on an ISO day."""
    covering = (
        version["version"]
        for version in meta["versions"]
        if version["effective_from"] <= day < (version.get("effective_to") or "9999")
    )
    return next(covering, None)


def graded(outcome: Mapping[str, Any], asked: Side) -> Grade:
    """What an outcome in the contract's form is worth as an answer to `asked`."""
    governing = [
        citation
        for citation in outcome["citations"]
        if citation["role"] == "governing" and citation["version"] is not None
    ]
    versions = {(citation["document"], citation["version"]) for citation in governing}
    n_conflicts = len(outcome["conflicts"])
    if versions != {(asked.policy, asked.version)} or len(governing) > MAX_CITATIONS:
        cited = ", ".join(f"{policy}@{version}" for policy, version in sorted(versions))
        reason = f"cites {cited}" if versions else outcome["status"]
        return Grade(version=False, value=False, passage=False, n_conflicts=n_conflicts, reason=reason)
    answer = re.sub(r"\[\d+\]", "", outcome["answer"])
    quotes = sorted(governing, key=lambda citation: citation["lines"] or (0, 0))
    value = _wrong_value(answer, asked) if len(answer) <= MAX_ANSWER else f"{len(answer)} characters"
    passage = "" if _stands_in(asked.passage, "".join(quote["quote"] for quote in quotes)) else "another passage"
    return Grade(
        version=True,
        value=not value,
        passage=not passage and len(answer) <= MAX_ANSWER,
        n_conflicts=n_conflicts,
        reason="; ".join(why for why in (value, passage) if why),
    )


def _wrong_value(answer: str, asked: Side) -> str:
    """Why the answer does not say the value; empty when it does."""
    said = keys_of_text(answer)
    own, other = quantities(asked.value), quantities(asked.other_value)
    # What the passage wanted says itself may be said, though the other side's value has the figure, too.
    allowed = (*own, *quantities(asked.passage))
    if own:
        missing = [figure.text for figure in own if figure.needs.isdisjoint(said) and not _is_written(figure, answer)]
    else:
        missing = [] if _stands_in(asked.passage, answer) else [asked.value]
    if missing:
        return f"does not say {', '.join(missing)}"
    wrong = [figure.text for figure in other if not _is_among(figure, allowed) and not figure.needs.isdisjoint(said)]
    if not other and asked.other_passage and _stands_in(asked.other_passage, answer):
        wrong = [asked.other_value]
    return f"says {', '.join(wrong)}, too" if wrong else ""


def _is_written(figure: Quantity, text: str) -> bool:
    """Whether a bare number stands in a text as it is, whatever it counts there ("16" in "16 years old")."""
    number = re.escape(figure.text)
    return figure.text.isdecimal() and re.search(rf"(?<![\d.,]){number}(?![\d]|[.,]\d)", text) is not None


def _is_among(figure: Quantity, others: tuple[Quantity, ...]) -> bool:
    return any(figure.supported_by(other) for other in others)


def _stands_in(passage: str, text: str) -> bool:
    """Whether a passage, or nearly all of it in one piece, stands in a text, whatever its marks and spaces."""
    sought, letters = _letters(passage), _letters(text)
    size = math.ceil(len(sought) * NEARLY_ALL)
    return any(sought[start : start + size] in letters for start in range(len(sought) - size + 1))


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())
