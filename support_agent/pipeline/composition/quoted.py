"""Answers that quote: what a policy says, two versions side by side, both sides of an open conflict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from connectors.base import Evidence
from support_agent.domain.claim import Claim, Draft, Grounds
from support_agent.domain.conflict import Conflict
from support_agent.pipeline.citation import MAX_PASSAGES, MAX_QUOTE, excerpt
from support_agent.pipeline.composition.claims import Uncertainty, claim_on, notes
from support_agent.pipeline.extract import Sought, quoted
from support_agent.pipeline.ports import Voice

#: Characters quoted of a passage beside the one that leads: with both, an answer is still read in one go.
MAX_BESIDE: Final = 280


def passage_draft(
    hits: Sequence[Evidence],
    grounds: Grounds,
    voice: Voice,
    *,
    wanted: Sought,
    beside: Evidence | None = None,
    ranked: bool = False,
    uncertainties: Sequence[Uncertainty] = (),
) -> Draft:
    """What the policy says, never yes or no: the first of `hits`, or all of them as a list for staff (`ranked`).

    Args:
        wanted: What of a long passage is quoted.
        beside: A further passage for a customer, of the same version or of its original; less is quoted of it.
    """
    claims: list[Claim] = []
    for hit in hits if ranked else hits[:1]:
        if hit.clause is None:
            continue
        period, quote = hit.clause.valid, _quoted_in_full(hit, wanted)
        if ranked:
            text = voice.own(
                "ranked_passage",
                title=hit.clause.version.title,
                heading=hit.clause.heading,
                start=period.start,
                end=period.end,
                quote=quote,
            )
        else:
            text = voice.own("passage", faq=hit.authority == "faq", start=period.start, quote=quote)
        claims.append(claim_on(text, grounds, hit, item=ranked, quote=quote))
        if beside is not None and not ranked:
            further = _quoted_in_full(beside, wanted, limit=MAX_BESIDE)
            text = voice.own("passage_beside", quote=further, original=_start_of_original(beside, hit))
            claims.append(claim_on(text, grounds, beside, quote=further))
        if period.start > grounds.asked_at:
            claims.append(claim_on(voice.own("not_yet", start=period.start), grounds, hit, quote=quote))
        governed_by = hit.clause.version.governed_by
        if not ranked and governed_by not in {None, "asked_at"}:
            claims.append(
                claim_on(voice.own("own_date", label=voice.label(str(governed_by))), grounds, hit, quote=quote)
            )
    return Draft(claims=tuple(claims), notes=notes(uncertainties, voice))


def _start_of_original(beside: Evidence, hit: Evidence) -> datetime | None:
    """When the version of `beside` began to be in force where it is the original of what `hit` renders."""
    if beside.clause is None or hit.clause is None or beside.locator.document != hit.clause.version.rendition_of:
        return None
    return beside.clause.valid.start


def _quoted_in_full(hit: Evidence, wanted: Sought, *, limit: int = MAX_QUOTE) -> str:
    """What is quoted of a passage; an item that no sentence leads in with the heading above it, which may deny it.

    "Damage from falls" means nothing without "What is not covered".
    """
    quote = quoted(hit, wanted, limit=limit)
    heading = hit.clause.heading if hit.clause is not None else ""
    bare = hit.is_item and hit.header is None and heading and not quote.startswith(heading)
    return f"{heading}\n{quote}" if bare else quote


def comparison_draft(
    older: Sequence[Evidence],
    newer: Sequence[Evidence],
    grounds: Grounds,
    voice: Voice,
    *,
    uncertainties: Sequence[Uncertainty] = (),
) -> Draft:
    """Two versions side by side: what each says, with its dates, and the values that changed.

    Args:
        older: Terms and passages of the earlier version, best first; likewise `newer`.
    """
    changed = list(_changed_terms(older, newer))
    first = changed[0] if changed else None
    claims = [
        claim_on(
            voice.own("side", start=side.clause.valid.start, end=side.clause.valid.end, quote=excerpt(side.quote)),
            grounds,
            side,
        )
        for evidence, at in ((older, 0), (newer, 1))
        if (side := (first[at] if first else None) or next(iter(evidence), None)) is not None
        and side.clause is not None
    ]
    for before, after in changed:
        both = [evidence for evidence in (before, after) if evidence is not None]
        label = both[-1].clause.heading if both[-1].clause is not None else voice.label(both[-1].need)
        text = voice.own(
            "changed_term",
            name=both[-1].need,
            label=label,
            older=before.value if before else None,
            newer=after.value if after else None,
        )
        claims.append(claim_on(text, grounds, *both, item=True))
    if not changed and older and newer and any(evidence.term is not None for evidence in (*older, *newer)):
        claims.append(claim_on(voice.own("unchanged"), grounds, older[0], newer[0]))
    return Draft(claims=tuple(claims), notes=notes(uncertainties, voice))


def conflict_draft(
    conflict: Conflict, grounds: Grounds, voice: Voice, *, uncertainties: Sequence[Uncertainty] = ()
) -> Draft:
    """An open conflict, said openly: that our sources disagree, and each side with its dates."""
    standing = [judged.candidate.evidence for judged in conflict.candidates if judged.removed_by is None]
    sides = list({(str(side.locator), side.quote): side for side in standing}.values())
    claims = [claim_on(voice.own("disagreement"), grounds, *sides[:MAX_PASSAGES], considered=True)]
    for side in sides:
        clause = side.clause
        text = voice.own(
            "disagreeing_side",
            title=clause.version.title if clause else side.locator.document,
            start=clause.valid.start if clause else None,
            end=clause.valid.end if clause else None,
            quote=excerpt(side.quote),
        )
        claims.append(claim_on(text, grounds, side, considered=True))
    return Draft(claims=tuple(claims), notes=notes(uncertainties, voice))


def _changed_terms(
    older: Sequence[Evidence], newer: Sequence[Evidence]
) -> Iterator[tuple[Evidence | None, Evidence | None]]:
    """Value terms that differ, in the newer version's order; one that only a side has is a change too."""
    before, after = _value_terms(older), _value_terms(newer)
    if not before or not after:
        return
    for name in dict.fromkeys([*after, *before]):
        then, now = before.get(name), after.get(name)
        if then is None or now is None or then.value != now.value:
            yield then, now


def _value_terms(evidence: Iterable[Evidence]) -> dict[str, Evidence]:
    return {e.need: e for e in evidence if e.term is not None and e.term.rule is None}
