"""What the evidence of a round amounts to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

NeedStatus: TypeAlias = Literal["confirmed", "missing", "conflicting", "forbidden"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedFinding:
    """The state of one need and the evidence (keys) it rests on."""

    need: str
    status: NeedStatus
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One round's verdict. `missing` and `conflicts` are need names; `conflicts` only holds open ones."""

    sufficient: bool
    missing: tuple[str, ...]
    conflicts: tuple[str, ...]
    #: `answer`, `search_<connector>`, `ask_customer`, `escalate`, `refuse` or `stop`.
    next_action: str
    findings: tuple[NeedFinding, ...] = ()
