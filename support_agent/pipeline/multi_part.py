"""Several questions in one text: told apart, answered one after the other, and put together again.

"Can I still return the keyboard, and how long is its warranty?" is two questions: each names a subject of its own that
the tenant's vocabulary or a playbook knows. What names none ("Can I change it? What does that cost?") belongs to the
question it stands with, and so does what is no question ("I bought a keyboard in March.").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from connectors.base import Evidence
from support_agent.domain.claim import Claim, Draft
from support_agent.domain.outcome import Citation, Status
from support_agent.domain.plan import Plan
from support_agent.domain.reading import Reading
from support_agent.domain.verdict import Verdict
from support_agent.pipeline.conclusion import Conclusion

#: Questions answered at most; what goes on after them is read together with the last.
MAX_PARTS: Final = 3
#: What an outcome is as a whole, by the weightiest of its parts: a person's part is never lost behind an answer.
_WEIGHTIEST: Final[tuple[Status, ...]] = (
    "refused", "escalated", "needs_clarification", "answered_with_conflict", "answered", "no_answer",
)  # fmt: skip
#: A customer is asked one thing, and handed over once; the reply is read together with the whole text.
_ONE_OF: Final[frozenset[Status]] = frozenset({"needs_clarification", "escalated"})
_OPENERS: Final = (
    "how|what|when|where|which|who|why|can|could|do|does|did|is|are|am|will|would|may|must|should|have|has"
)
#: Where one question may end and the next begin: behind a question mark or a full stop, at an "and" before a word that
#: asks, at a Chinese comma.
_BOUNDARY: Final = re.compile(
    rf"(?<=[?？])\s*|(?<=[.!])\s+|(?<=[。！；;])\s*|(?<=，)|[,;]?\s+(?:and|plus)\s+(?:also\s+|then\s+)?(?=(?:{_OPENERS})\b)",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"[?？]|吗|呢|多久|多少|多长|几天|何时|什么|怎么|怎样|如何|哪|能不能|能否|可不可以|可否|是不是|是否|有没有|会不会|要不要"
    rf"|^\W*(?:(?:and|also|plus|so|but)\W+)*(?:{_OPENERS})\b"
    r"|\b(?:tell me|know|ask|wonder(?:ing)?|explain)\b[^.?!]*\b(?:how|what|when|where|which|who|whether|if)\b",
    re.IGNORECASE,
)
_SUPPOSES: Final = re.compile(r"^\W*(?:如果|要是|假如|假设|若|当|if\b|when\b[^?]*$|because\b|因为|由于)", re.IGNORECASE)
_MARKER: Final = re.compile(r"\[(\d+)\]")


def questions_in(reading: Reading, *, read: Callable[[str], Reading]) -> tuple[str, ...]:
    """The texts of the questions that stand in one text, in order; the text itself where it is one question."""
    pieces = [piece for piece in _BOUNDARY.split(reading.text) if piece and piece.strip()]
    if sum(map(_asks, pieces)) < 2:  # noqa: PLR2004 - one question and the whole text are the same
        return (reading.text,)
    questions: list[str] = []
    named: set[str] = set()
    told = said = order = ""
    for piece in pieces:
        said = f"{said} {piece}".strip()
        if not _asks(piece):
            continue
        asked = read(piece)
        subjects = _subjects(asked)
        if questions and (len(questions) == MAX_PARTS or not named or not subjects or subjects & named):
            questions[-1] = f"{questions[-1]} {said}"
        elif questions:
            # What is told before the first question is told for all of them, and so is the order that was named.
            about = "" if asked.order_numbers or "general" in asked.signals else order
            questions.append(f"{told} {said} {about}".strip())
        else:
            told = said.removesuffix(piece).strip()
            questions.append(said)
        named |= subjects
        order = asked.order_numbers[-1].text if asked.order_numbers else order
        said = ""
    if len(questions) == 1:
        return (reading.text,)
    return (*questions[:-1], f"{questions[-1]} {said}".strip())


def _asks(piece: str) -> bool:
    return _ASKS.search(piece) is not None and _SUPPOSES.search(piece) is None


def _subjects(reading: Reading) -> frozenset[str]:
    """The topics that the words name, else the playbooks."""
    topics = {match.name for match in reading.vocabulary if match.kind == "topic"}
    return frozenset(topics or {f"playbook {match.name}" for match in reading.vocabulary if match.kind == "trigger"})


def joined_conclusion(
    parts: Sequence[Conclusion], *, subjects: Sequence[str | None], evidence: Sequence[Mapping[int, int]]
) -> Conclusion:
    """One conclusion of several; where one part must not be told, none is.

    Args:
        subjects: What each part is about, in the customer's language; said before a part that got no answer.
        evidence: Number of a part's evidence -> its number in the whole run.
    """
    status = min((part.status for part in parts), key=_WEIGHTIEST.index)
    weightiest = next(part for part in parts if part.status == status)
    if status == "refused":
        return weightiest
    citations: list[Citation] = []
    texts: list[str] = []
    for part, subject in zip(parts, subjects, strict=True):
        if part.status in _ONE_OF and part is not weightiest:
            continue
        markers = {citation.marker: _cited(citation, citations) for citation in part.citations}
        text = _remarked(part.answer, markers)
        texts.append(f"{subject}: {text}" if subject and not part.status.startswith("answered") else text)
    decided = next((part for part in parts if part.decision is not None), weightiest)
    return replace(
        weightiest,
        answer="\n".join(dict.fromkeys(texts)),
        next_step=next((part.next_step for part in parts if part.next_step), None),
        decision=decided.decision,
        governing_date=decided.governing_date,
        time_zone=decided.time_zone,
        citations=tuple(citations),
        conflicts=tuple(conflict for part in parts for conflict in part.conflicts),
        uncertainties=tuple(dict.fromkeys(note for part in parts for note in part.uncertainties)),
        draft=_joined_draft([part.draft for part in parts], evidence),
    )


def _remarked(answer: str, markers: Mapping[int, int]) -> str:
    return _MARKER.sub(lambda found: f"[{markers.get(int(found[1]), found[1])}]", answer)


def _cited(citation: Citation, book: list[Citation]) -> int:
    """The marker of a citation in the book of the whole answer, where it is entered if it is new."""
    place = (citation.source, citation.document, citation.version, citation.clause, citation.lines, citation.quote)
    for at, known in enumerate(book):
        if (known.source, known.document, known.version, known.clause, known.lines, known.quote) == place:
            if citation.role == "governing":
                book[at] = replace(known, role="governing")
            return known.marker
    book.append(replace(citation, marker=len(book) + 1))
    return len(book)


def _joined_draft(drafts: Sequence[Draft | None], numbers: Sequence[Mapping[int, int]]) -> Draft | None:
    claims = [
        _renumbered(claim, at)
        for draft, at in zip(drafts, numbers, strict=True)
        if draft is not None
        for claim in draft.claims
    ]
    notes = dict.fromkeys(note for draft in drafts if draft is not None for note in draft.notes)
    return Draft(claims=tuple(claims), notes=tuple(notes)) if claims else None


def _renumbered(claim: Claim, at: Mapping[int, int]) -> Claim:
    return replace(
        claim,
        evidence=tuple(at[number] for number in claim.evidence),
        considered=tuple(at[number] for number in claim.considered),
        quotes=tuple((at[number], quote) for number, quote in claim.quotes),
    )


def joined_evidence(parts: Sequence[Sequence[Evidence]]) -> tuple[tuple[Evidence, ...], list[dict[int, int]]]:
    """All evidence, each piece once, and for each part where its numbers went."""
    places: dict[str, int] = {}
    every: list[Evidence] = []
    numbers: list[dict[int, int]] = []
    for part in parts:
        numbers.append({})
        for number, evidence in enumerate(part, start=1):
            if evidence.key not in places:
                every.append(evidence)
                places[evidence.key] = len(every)
            numbers[-1][number] = places[evidence.key]
    return tuple(every), numbers


def joined_plan(plans: Sequence[Plan]) -> Plan:
    """One plan of several: the sub-questions of all, which are numbered through already."""
    first = next((plan for plan in plans if plan.decide is not None), plans[0])
    return replace(first, sub_questions=tuple(sub for plan in plans for sub in plan.sub_questions))


def joined_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """What all parts lack; what is to be done next is what the first that is not sufficient needs."""
    worst = next((verdict for verdict in verdicts if not verdict.sufficient), verdicts[0])
    return Verdict(
        sufficient=worst.sufficient,
        missing=tuple(dict.fromkeys(need for verdict in verdicts for need in verdict.missing)),
        conflicts=tuple(dict.fromkeys(need for verdict in verdicts for need in verdict.conflicts)),
        next_action=worst.next_action,
        findings=tuple(finding for verdict in verdicts for finding in verdict.findings),
    )
