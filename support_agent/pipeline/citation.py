"""From a draft to an answer: the number check, and markers and citations in the place of evidence numbers.

Every number, date, amount and code of a sentence must stand in the passages it cites, as they are quoted, or be a named
calculation. A sentence cites every record it rests on and at most two passages; a passage is quoted in at most 400
characters (code points, the ellipses of a cut included). A draft with an unsupported figure gives no answer at all.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

import regex

from connectors.base import Evidence
from policies.facts import FactDeclaration, FactValue
from policies.quantities import keys_of_text, keys_of_value, quantities, unsupported
from policies.quantity import Key, amount, number, percent
from policies.terms import unit_of
from support_agent.domain.claim import Claim, Draft, Grounds
from support_agent.domain.outcome import Citation
from support_agent.domain.question import Language

MAX_PASSAGES: Final = 2
MAX_QUOTE: Final = 400
#: Currencies without minor units, by ISO 4217; the others that we meet have hundredths.
_WHOLE_CURRENCIES: Final = frozenset({"JPY", "KRW", "CLP", "VND", "ISK", "XAF", "XOF", "PYG", "UGX", "RWF"})
_ELLIPSIS: Final = "…"
#: The smallest difference the store can tell: the last instant of a half-open period lies so far before its end.
_MOMENT: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """The text for the customer and what stands behind its markers; no answer when a figure has no support."""

    draft: Draft
    answer: str | None
    citations: tuple[Citation, ...] = ()
    next_step: str | None = None
    #: Figures that neither the quoted evidence nor a calculation gives, as they were written.
    unsupported: tuple[str, ...] = ()


def finish(
    draft: Draft, grounds: Grounds, *, language: Language, zone: ZoneInfo, next_step: str | None = None
) -> Composition:
    """Check the draft's figures, then put markers and citations in the place of its evidence numbers.

    Args:
        zone: The one that the draft's dates are written in.
        next_step: Checked like a claim that rests on all that the draft rests on; it carries no markers.
    """
    passages = [_passages(claim, grounds) for claim in draft.claims]
    figures = [
        figure
        for claim, cited in zip(draft.claims, passages, strict=True)
        for figure in unsupported_numbers(claim.text, cited, grounds, zone=zone, calculated=claim.calculated)
    ]
    if next_step:
        everything = [passage for cited in passages for passage in cited]
        names = (*grounds.calculated, *grounds.stated, "asked_at")
        figures += unsupported_numbers(next_step, everything, grounds, zone=zone, calculated=names)
    if figures or not draft.claims or not all(passages):
        return Composition(draft=draft, answer=None, unsupported=tuple(dict.fromkeys(figures)))
    book = _Book()
    sentences = [
        _marked(claim, book.markers(cited), language) for claim, cited in zip(draft.claims, passages, strict=True)
    ]
    answer = _joined(sentences, draft, language)
    return Composition(draft=draft, answer=answer, citations=tuple(book.citations), next_step=next_step)


@dataclass(frozen=True, slots=True)
class Passage:
    """Evidence as an answer quotes it."""

    evidence: Evidence
    quote: str
    considered: bool = False


def unsupported_numbers(
    text: str, passages: Sequence[Passage], grounds: Grounds, *, zone: ZoneInfo, calculated: Sequence[str] = ()
) -> list[str]:
    """The figures of `text` that neither `passages` nor the named values of `grounds` give, as they are written."""
    if not quantities(text):
        return []
    known: set[Key] = set()
    for passage in passages:
        known |= _said_by(passage, grounds, zone)
    for name in calculated:
        for value in _named(name, grounds):
            known |= _typed(name, value, grounds, zone)
    return unsupported(text, known)


def excerpt(quote: str, *, around: int = 0, limit: int = MAX_QUOTE) -> str:
    """At most `limit` characters of `quote` that hold its character `around`.

    It is cut between words where they are near, never inside a grapheme; a cut end is marked with an ellipsis.
    """
    if len(quote) <= limit:
        return quote
    start = 0 if around < limit * 3 // 4 else around - limit // 4
    ends = _grapheme_ends(quote)
    if start:
        start = _boundary(quote, ends, start + 1)
    room = limit - (1 if start else 0)
    if len(quote) - start <= room:
        return _ELLIPSIS + quote[start:]
    end = _boundary(quote, ends, start + room - 1)
    return (_ELLIPSIS if start else "") + quote[start : max(end, start)].rstrip() + _ELLIPSIS


class _Book:
    """Citations in order of first use; what is quoted alike from one place has one marker."""

    def __init__(self) -> None:
        self.citations: list[Citation] = []
        self._markers: dict[tuple[object, ...], int] = {}

    def markers(self, passages: Sequence[Passage]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self._marker(passage) for passage in passages))

    def _marker(self, passage: Passage) -> int:
        evidence = passage.evidence
        place = (evidence.source, evidence.locator, passage.quote)
        marker = self._markers.setdefault(place, len(self.citations) + 1)
        if marker > len(self.citations):
            self.citations.append(_citation(passage, marker))
        elif not passage.considered and self.citations[marker - 1].role == "considered":
            self.citations[marker - 1] = replace(self.citations[marker - 1], role="governing")
        return marker


def _citation(passage: Passage, marker: int) -> Citation:
    evidence, clause = passage.evidence, passage.evidence.clause
    return Citation(
        marker=marker,
        source=evidence.source,
        document=evidence.locator.document,
        version=evidence.locator.version,
        clause=evidence.locator.clause,
        lines=evidence.locator.lines,
        role="considered" if passage.considered else "governing",
        quote=passage.quote,
        effective_from=clause.valid.start if clause else None,
        effective_to=clause.valid.end if clause else None,
        time_zone=clause.version.time_zone if clause else None,
        authority=evidence.authority,
        sha256=hashlib.sha256(passage.quote.encode()).hexdigest(),
        found_by=evidence.found_by,
    )


def _passages(claim: Claim, grounds: Grounds) -> list[Passage]:
    """The evidence of `claim` as it is quoted: its records, and the first passages at two places."""
    chosen: list[Passage] = []
    places: set[tuple[object, ...]] = set()
    for n in claim.evidence:
        evidence = grounds.evidence[n - 1]
        if evidence.clause is not None:
            place = (evidence.locator, evidence.quote)
            if place not in places and len(places) == MAX_PASSAGES:
                continue
            places.add(place)
        quote = dict(claim.quotes).get(n) or _quoted(evidence, claim.text)
        chosen.append(Passage(evidence, quote, n in claim.considered))
    return chosen


def _quoted(evidence: Evidence, text: str) -> str:
    """The quote, cut where it is long to the part that gives the figures of `text`."""
    if len(evidence.quote) <= MAX_QUOTE:
        return evidence.quote
    head = excerpt(evidence.quote)
    in_head = keys_of_text(head)
    for wanted in quantities(text):
        if wanted.needs.isdisjoint(in_head):
            for known in quantities(evidence.quote):
                if wanted.supported_by(known):
                    return excerpt(evidence.quote, around=known.start)
    return head


def _said_by(passage: Passage, grounds: Grounds, zone: ZoneInfo) -> AbstractSet[Key]:
    """What a citation shows: the quote, the value behind it, the record's number, the version's name and dates."""
    evidence, clause = passage.evidence, passage.evidence.clause
    shown = keys_of_text(passage.quote) | _typed(evidence.need, evidence.value, grounds, zone)
    if clause is None:
        return shown | keys_of_text(evidence.locator.document)
    shown |= keys_of_text(clause.version.title) | keys_of_text(clause.heading) | keys_of_value(clause.valid.start, zone)
    end = clause.valid.end
    return shown if end is None else shown | keys_of_value(end, zone) | keys_of_value(end - _MOMENT, zone)


def _typed(name: str, value: FactValue, grounds: Grounds, zone: ZoneInfo) -> AbstractSet[Key]:
    """A value in each way that its type is written: minor units also as an amount, basis points also as a share."""
    plain = keys_of_value(value, zone)
    if not isinstance(value, int) or isinstance(value, bool):
        return plain
    declaration = grounds.facts.get(name)
    kind = declaration.type if declaration else unit_of(name)
    if kind == "basis_points":
        return plain | percent(Decimal(value) / 100).says
    if kind == "money":
        currency = _currency(declaration, grounds) if declaration else None
        # A term does not say its currency; its quote does.
        return plain | (amount(_major(value, currency), [currency]) if currency else number(_major(value, None))).says
    return plain


def _currency(declaration: FactDeclaration, grounds: Grounds) -> str | None:
    named = declaration.currency
    value = grounds.values.get(named) if named else None
    return value if isinstance(value, str) else named if named and "." not in named else None


def _major(minor: int, currency: str | None) -> Decimal:
    return Decimal(minor) if currency in _WHOLE_CURRENCIES else Decimal(minor).scaleb(-2)


def _named(name: str, grounds: Grounds) -> Iterator[FactValue]:
    if name == "asked_at":
        yield grounds.asked_at
    elif name in grounds.calculated:
        yield grounds.calculated[name].value
    for value in grounds.stated.get(name, ()):
        yield value
        if isinstance(value, datetime):
            # The end of a stated period lies outside it, and its last day is what is said.
            yield value - _MOMENT


# A quotation with those inside it, or the end of a sentence outside one: a full stop before a space, or a Chinese one.
_QUOTATION_OR_STOP: Final = regex.compile(
    r"(?P<quoted>“(?:[^“”]|(?&quoted))*”)|(?<=[a-z0-9)\]”%])[.!?](?=\s+[A-Z0-9“])|[。！？](?=.)"
)
_LAST_STOP: Final = re.compile(r"[.!?。！？]+$")


def _marked(claim: Claim, markers: Sequence[int], language: Language) -> str:
    """The claim with its markers before the full stop of each of its sentences."""
    signs = "".join(f"[{marker}]" for marker in sorted(markers))
    signs = f" {signs}" if language == "en" else signs
    text = _QUOTATION_OR_STOP.sub(lambda found: found[0] if found[0][0] == "“" else signs + found[0], claim.text)
    stop = _LAST_STOP.search(text)
    if stop is None:
        # English needs no full stop after a quotation that has its own; Chinese sentences would run together.
        return text + signs + ("。" if language == "zh" else "")
    return text[: stop.start()] + signs + stop[0]


def _joined(sentences: Sequence[str], draft: Draft, language: Language) -> str:
    space = " " if language == "en" else ""
    answer = ""
    for claim, sentence in zip(draft.claims, sentences, strict=True):
        if answer:
            answer += "\n" if claim.item else space
        answer += f"- {sentence}" if claim.item else sentence
    return "\n".join([answer, *draft.notes])


@lru_cache(maxsize=256)
def _grapheme_ends(text: str) -> frozenset[int]:
    import regex  # noqa: PLC0415 Few passages are so long that they are cut.

    return frozenset(cluster.end() for cluster in regex.finditer(r"\X", text))


def _boundary(text: str, ends: frozenset[int], at: int) -> int:
    """The last place up to `at` that is between words, or else, within 40 characters, between graphemes."""
    lowest = max(at - 40, 0)
    for place in range(at, lowest, -1):
        if place in ends and (
            text[place - 1].isspace() or text[place - 1] in "，。；、！？：" or text[place : place + 1].isspace()
        ):
            return place
    return max((place for place in ends if place <= at), default=0)
