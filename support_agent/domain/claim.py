"""Sentences of an answer and what each rests on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One checkable sentence with the numbers of its evidence in the run (`E1` is 1)."""

    text: str
    evidence: tuple[int, ...]
    #: Values that named calculations on the evidence gave, as they are written in `text`.
    calculated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The claims of an answer, in order."""

    claims: tuple[Claim, ...]
