"""The full record of one question: what was asked of whom, what came back, and what was made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from connectors.base import Evidence, LookupValue
from support_agent.domain.claim import Draft
from support_agent.domain.conflict import Resolution
from support_agent.domain.outcome import Outcome
from support_agent.domain.question import Question
from support_agent.domain.reading import Reading
from support_agent.domain.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupRecord:
    """One lookup as it was sent and what it brought."""

    sub_question: str
    source: str
    needs: tuple[str, ...]
    parameters: Mapping[str, LookupValue]
    #: Evidence returned, and how much of it was new.
    n_returned: int
    n_added: int
    elapsed_ms: float
    #: Why it failed, without customer text; None when it did not.
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    number: int
    lookups: tuple[LookupRecord, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One question from the text to the outcome. Evidence number n is `evidence[n - 1]`."""

    question: Question
    reading: Reading
    rounds: tuple[Round, ...]
    evidence: tuple[Evidence, ...]
    resolutions: tuple[Resolution, ...]
    draft: Draft | None
    outcome: Outcome
    #: Policy revision of the tenant that the run saw.
    revision: int
    #: Stage -> milliseconds.
    timings: Mapping[str, float] = field(default_factory=dict)
