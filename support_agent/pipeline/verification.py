"""The audit of the checklist: what is confirmed, missing, conflicting or forbidden, and what to do next.

Nothing is confirmed but by evidence that the round holds, so a resolution or a model cannot turn a gap into an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Literal

from connectors.base import Evidence
from support_agent.domain.conflict import Resolution
from support_agent.domain.verdict import NeedFinding, Verdict

#: The source of what only the customer can say.
CUSTOMER = "customer"
PASSAGES = "passages"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedNeed:
    """One entry of the checklist and the source that can state it."""

    need: str
    source: str
    #: Whether the answer falls with it when its source is down.
    critical: bool = True
    #: Whether the customer can be asked for it: a fact, not a term or a passage.
    askable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What has been gathered for one question when a round ends."""

    #: All needs, with the facts that the governing rules name; those of equal source are asked together.
    checklist: Sequence[CheckedNeed]
    evidence: Sequence[Evidence] = ()
    #: By need; a term is judged by its resolution, once there is one.
    resolutions: Mapping[str, Resolution] = field(default_factory=dict)
    #: `(source, need)` of every lookup that was made and answered, with whatever result.
    asked: AbstractSet[tuple[str, str]] = frozenset()
    #: Sources that could not be read.
    failed: AbstractSet[str] = frozenset()
    #: Needs that the principal may not see.
    forbidden: AbstractSet[str] = frozenset()
    #: No further lookup may be made: a budget is spent, or the last rounds brought nothing new.
    exhausted: bool = False
    on_conflict: Literal["escalate", "annotate"] = "escalate"


def audit(progress: Progress) -> Verdict:
    """Judge every need of the checklist by the evidence, and say what to do next."""
    stated = _stated(progress.evidence)
    findings = tuple(_finding(checked.need, stated, progress) for checked in progress.checklist)
    missing = tuple(finding.need for finding in findings if finding.status == "missing")
    conflicts = tuple(finding.need for finding in findings if finding.status == "conflicting")
    return Verdict(
        sufficient=bool(findings) and all(finding.status == "confirmed" for finding in findings),
        missing=missing,
        conflicts=conflicts,
        next_action=_next_action(progress, findings),
        findings=findings,
    )


def _stated(evidence: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    """The evidence that says something, by need: a fact that its source gives as null is unknown."""
    stated: dict[str, list[Evidence]] = {}
    for one in evidence:
        if one.value is not None or one.term is not None or one.need == PASSAGES:
            stated.setdefault(one.need, []).append(one)
    return stated


def _finding(need: str, stated: Mapping[str, Sequence[Evidence]], progress: Progress) -> NeedFinding:
    if need in progress.forbidden:
        return NeedFinding(need=need, status="forbidden")
    found = stated.get(need, ())
    keys = tuple(dict.fromkeys(one.key for one in found))
    if (resolution := progress.resolutions.get(need)) is not None:
        return _resolved(resolution, keys)
    if not keys:
        return NeedFinding(need=need, status="missing")
    return NeedFinding(need=need, status="conflicting" if _contradict(found) else "confirmed", evidence=keys)


def _resolved(resolution: Resolution, keys: Sequence[str]) -> NeedFinding:
    need = resolution.need
    if resolution.status == "open" and resolution.conflict is not None:
        judged = resolution.conflict.candidates
        sides = [one.candidate.evidence.key for one in judged if one.removed_by is None]
        return NeedFinding(need=need, status="conflicting", evidence=tuple(key for key in sides if key in keys))
    if resolution.status == "settled" and resolution.winner is not None:
        speakers = [one.evidence.key for one in (resolution.winner, *resolution.agreeing)]
        if speakers[0] in keys:
            return NeedFinding(need=need, status="confirmed", evidence=tuple(key for key in speakers if key in keys))
    return NeedFinding(need=need, status="missing")


def _contradict(found: Sequence[Evidence]) -> bool:
    """Whether one record states one fact in two ways; several records are several cases, and terms are resolved."""
    values: dict[tuple[str, str], object] = {}
    return any(
        values.setdefault((one.source, one.locator.document), one.value) != one.value
        for one in found
        if one.clause is None and one.need != PASSAGES
    )


def _next_action(progress: Progress, findings: Sequence[NeedFinding]) -> str:
    """The first of these that fits.

    What may not be seen is refused before anything else is looked for. A source that is down for a critical need ends
    the search; so does a gap in a policy or an open conflict, but only when every source has been heard, so that a
    person finds the case complete.
    """
    if not findings:
        return "stop"
    if any(finding.status == "forbidden" for finding in findings):
        return "refuse"
    missing = [
        checked for checked, finding in zip(progress.checklist, findings, strict=True) if finding.status == "missing"
    ]
    if any(checked.critical and checked.source in progress.failed for checked in missing):
        return "escalate"
    if (source := _searchable(missing, progress)) is not None:
        return f"search_{source}"
    conflicting = any(finding.status == "conflicting" for finding in findings)
    gap = any(resolution.status == "policy_gap" for resolution in progress.resolutions.values())
    if gap or (conflicting and progress.on_conflict == "escalate"):
        return "escalate"
    open_needs = [checked for checked in missing if checked.critical or checked.source not in progress.failed]
    if not open_needs:
        return "answer"
    return "ask_customer" if _is_askable(open_needs, progress) else "stop"


def _searchable(missing: Iterable[CheckedNeed], progress: Progress) -> str | None:
    """The first source that has not been asked for something missing, while another lookup may be made."""
    if progress.exhausted:
        return None
    return next(
        (
            checked.source
            for checked in missing
            if checked.source != CUSTOMER
            and checked.source not in progress.failed
            and (checked.source, checked.need) not in progress.asked
        ),
        None,
    )


def _is_askable(missing: Iterable[CheckedNeed], progress: Progress) -> bool:
    """Whether the customer can supply something: a fact on the checklist, or one on which a resolution depends."""
    return any(checked.askable or checked.source == CUSTOMER for checked in missing) or any(
        resolution.status == "needs_fact" for resolution in progress.resolutions.values()
    )
