"""What the airline's support tasks say about cancelling: one reservation that is, or is not, cancelled as it stands.

A reservation counts as cancelled when the expected actions cancel it, or an assertion says so, and nothing changes it
before; as not cancelled when an assertion says that. An assertion that names no reservation means the only one that the
task is about, or, where everything of the customer's is to be cancelled, each that was looked up and is not cancelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_CODE = re.compile(r"\b[A-Z0-9]{6}\b")
_NOT = r"\b(?:not|never|cannot|\w+n['’]t|refuses?|denies|deny|declines?)\b"
#: A denial and the cancelling that it denies, with nothing between them but how it would be done.
_DENIED = re.compile(
    rf"{_NOT}(?:\s+(?:to|be|able|approve|allow|accept|process|perform|proceed|go|ahead|with|the|any|a|request|for))*"
    r"\s+cancel(?P<rest>.*)",
    re.IGNORECASE,
)
_CANCELLED = re.compile(r"\bcancel(?:s|led|ed)?\b(?P<rest>.*)", re.IGNORECASE)
_SOMETHING_ELSE = re.compile(r"\W*(?:lation\s+of\s+)?(?:the\s+|their\s+)?(?:travel\s+)?(?:insurance|bags?|baggage)\b")
_EVERYTHING = re.compile(
    r"\bcancel all(?: of)?(?: \w+){1,3} (?:flights|reservations|bookings|trips)\s*(?:[.;!]|$)", re.IGNORECASE
)
_CLAUSE = re.compile(r"[.,;:!?—\n]|\b(?:because|since|as|but|so|although|due)\b")
_UNSAID = re.compile(rf"{_NOT}|\b(?:no|without|if|unless)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancellation:
    """One reservation of one customer, whether the task has it cancelled, and the reason the customer gives."""

    task: str
    customer: str
    reservation: str
    cancelled: bool
    #: A value of the playbook's reason slot; None: the task gives no reason.
    reason: str | None


#: Reason -> phrases in English that give it: those of the playbook.
Reasons = Mapping[str, Sequence[str]]


def cancellations(
    tasks: Iterator[Mapping[str, Any]], *, owners: Mapping[str, str], reasons: Reasons
) -> list[Cancellation]:
    """The reservations that the tasks say are, or are not, cancelled.

    Args:
        tasks: Lines of tasks.jsonl.
        owners: Reservation -> its customer; no other code is a reservation.
        reasons: What the customer's words are searched for.
    """
    return [
        Cancellation(
            task=task["id"],
            customer=owners[reservation],
            reservation=reservation,
            cancelled=cancelled,
            reason=stated_reason(task, reasons),
        )
        for task in tasks
        for reservation, cancelled in _decided(task, owners).items()
    ]


def stated_reason(task: Mapping[str, Any], reasons: Reasons) -> str | None:
    """The reason that the customer of a task gives: the one whose phrases stand in what they say and do not deny."""
    said = [clause.lower() for clause in _CLAUSE.split(_words(task)) if not _UNSAID.search(clause)]
    found = [
        reason
        for reason, phrases in reasons.items()
        if any(re.search(rf"\b{re.escape(phrase)}\b", clause) for phrase in phrases for clause in said)
    ]
    return found[0] if len(found) == 1 else None


def _decided(task: Mapping[str, Any], owners: Mapping[str, str]) -> dict[str, bool]:
    changed, cancelled, looked_up = _actions(task, owners)
    decided = dict.fromkeys(cancelled, True)
    for sentence in task["assertions"] or ():
        if (denied := _DENIED.search(sentence)) and not _SOMETHING_ELSE.match(denied["rest"]):
            for reservation in _meant(sentence, task, owners, looked_up=looked_up, cancelled=decided):
                decided.setdefault(reservation, False)
        elif not re.search(_NOT, sentence, re.IGNORECASE) and (said := _CANCELLED.search(sentence)):
            decided |= dict.fromkeys(_codes(said["rest"], owners), True)
    return {reservation: value for reservation, value in decided.items() if reservation not in changed}


def _actions(task: Mapping[str, Any], owners: Mapping[str, str]) -> tuple[set[str], list[str], list[str]]:
    """The reservations that are changed (and not cancelled before), cancelled as they stand, and looked up."""
    changed: set[str] = set()
    cancelled: list[str] = []
    looked_up: list[str] = []
    for action in task["expected_actions"] or ():
        reservation = action["arguments"].get("reservation_id")
        if reservation not in owners:
            continue
        if action["name"].startswith("get_"):
            looked_up.append(reservation)
        elif action["name"] != "cancel_reservation":
            changed.add(reservation)
        elif reservation not in changed:
            cancelled.append(reservation)
    return changed.difference(cancelled), cancelled, looked_up


def _meant(
    sentence: str,
    task: Mapping[str, Any],
    owners: Mapping[str, str],
    *,
    looked_up: Sequence[str],
    cancelled: Mapping[str, bool],
) -> Sequence[str]:
    if named := _codes(sentence, owners):
        return named
    if re.search(r"\b(?:any|all)\b", sentence):
        return looked_up if _EVERYTHING.search(task["request"]) else ()
    only = [code for code in (_codes(_words(task), owners) or looked_up) if code not in cancelled]
    return only if len(set(only)) == 1 else ()


def _codes(text: str, owners: Mapping[str, str]) -> list[str]:
    return [code for code in dict.fromkeys(_CODE.findall(text)) if code in owners]


def _words(task: Mapping[str, Any]) -> str:
    return "\n".join(task[part] for part in ("request", "known_info", "task_instructions") if task[part])
