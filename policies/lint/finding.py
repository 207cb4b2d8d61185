"""What a check finds, and what all checks look at."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from policies.applicability import RegionGroups
from policies.authority import Ladder
from policies.document import PolicyDocument

#: An error is never meant so; a warning may be, and is for a person to judge.
Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing wrong at one place, and what to do about it."""

    path: str
    #: From 1.
    line: int
    #: Name of the check, e.g. `period-gap`.
    rule: str
    severity: Severity
    message: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The documents under check among all that there would be."""

    drafts: tuple[PolicyDocument, ...]
    #: All versions as they would stand, each with its final period, by policy and start.
    all: tuple[PolicyDocument, ...]
    #: Policy and version of what is published already.
    published: frozenset[tuple[str, str]]
    ladder: Ladder
    groups: RegionGroups
    now: datetime

    @property
    def final(self) -> tuple[PolicyDocument, ...]:
        """The drafts, each with its final period."""
        names = {(draft.policy, draft.version) for draft in self.drafts}
        return tuple(document for document in self.all if (document.policy, document.version) in names)

    @property
    def over(self) -> frozenset[str]:
        """Paths of what is published and has ended: history, of which only errors are worth a word."""
        return frozenset(
            document.path
            for document in self.final
            if (document.policy, document.version) in self.published
            and document.valid.end is not None
            and document.valid.end <= self.now
        )


def of_document(
    document: PolicyDocument, rule: str, severity: Severity, message: str, remedy: str, *, line: int = 1
) -> Finding:
    return Finding(path=document.path, line=line, rule=rule, severity=severity, message=message, remedy=remedy)
