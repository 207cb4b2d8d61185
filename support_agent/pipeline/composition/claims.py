"""What every draft is made of: claims on evidence, and notes on what is uncertain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from connectors.base import Evidence
from support_agent.domain.claim import Claim, Grounds
from support_agent.pipeline.ports import Voice


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertainty:
    """What an answer could not rest on; `subject` is a fact, a source, a title, or needs in words."""

    kind: Literal["unstated", "limited", "source_unavailable", "stale_rendition", "budget", "judged_today"]
    subject: str


def notes(uncertainties: Iterable[Uncertainty], voice: Voice) -> tuple[str, ...]:
    """Each uncertainty in a sentence; what nobody stated is named in one."""
    found = list(uncertainties)
    unstated = [voice.label(u.subject) for u in found if u.kind == "unstated"]
    others = [voice.own("uncertainty", kind=u.kind, subject=u.subject) for u in found if u.kind != "unstated"]
    return tuple([voice.own("unstated", labels=unstated), *others] if unstated else others)


def claim_on(
    text: str,
    grounds: Grounds,
    *evidence: Evidence,
    considered: bool = False,
    item: bool = False,
    quote: str | None = None,
) -> Claim:
    """A claim on `evidence`, all of which is only `considered` or all of which governs, with what it quotes of it."""
    numbers = tuple(dict.fromkeys(grounds.number(e) for e in evidence))
    quotes = tuple((number, quote) for number in numbers) if quote is not None else ()
    return Claim(text=text, evidence=numbers, considered=numbers if considered else (), item=item, quotes=quotes)
