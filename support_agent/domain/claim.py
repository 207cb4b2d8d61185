"""Sentences of an answer and what each rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from connectors.base import Evidence
from policies.facts import Facts, FactValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculation:
    """The result of one of a playbook's named calculations, and the facts and terms it was made from."""

    value: FactValue
    rests_on: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """Everything an answer may rest on."""

    #: In run order: `E1` is the first.
    evidence: tuple[Evidence, ...]
    facts: Facts
    asked_at: datetime
    #: Fact or term -> the evidence that its value rests on.
    of: Mapping[str, Evidence] = field(default_factory=dict)
    #: Facts and resolved terms by dotted name.
    values: Mapping[str, FactValue] = field(default_factory=dict)
    calculated: Mapping[str, Calculation] = field(default_factory=dict)
    #: What the customer said, by fact, and the date the question names as `stated`; a period as its start and end.
    stated: Mapping[str, tuple[FactValue, ...]] = field(default_factory=dict)

    def number(self, evidence: Evidence) -> int:
        """The number of `evidence` in the run.

        Raises:
            ValueError: The run has no such evidence.
        """
        for number, known in enumerate(self.evidence, start=1):
            if known.key == evidence.key:
                return number
        raise ValueError(f"evidence {evidence.key} is not of this run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One checkable sentence with the numbers of its evidence in the run (`E1` is 1)."""

    text: str
    evidence: tuple[int, ...]
    #: Those of `evidence` that did not prevail.
    considered: tuple[int, ...] = ()
    #: What `text` may name beside its evidence: calculations, `asked_at`, `stated` or facts that the customer stated.
    calculated: tuple[str, ...] = ()
    #: Evidence number -> what `text` quotes of it, where that is not all.
    quotes: tuple[tuple[int, str], ...] = ()
    #: Begins a line of its own: an item of a list.
    item: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The claims of an answer in order, and notes on the answer itself (what is uncertain), which cite nothing."""

    claims: tuple[Claim, ...]
    notes: tuple[str, ...] = ()
