"""What happened at a time, by the words nearby: bought, delivered, flown, renewed, or what a policy said then."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from support_agent.domain.question import Language
from support_agent.domain.reading import Role, Span

_CUES = {
    "en": re.compile(
        r"(?<![a-z])(?:(?P<purchase>bought|buy|buying|purchas(?:ed|e|es|ing)|order(?:ed|s|ing)?|paid|booked|booking|subscribed"
        r"|signed\s+up|invoices?|transaction)"
        r"|(?P<delivery>deliver(?:ed|y|ies)?|arriv(?:ed|es|e|al|ing)|receiv(?:ed|e|ing)|receipt)"
        r"|(?P<travel>fly(?:ing)?|flew|flown|flights?|travel(?:led|ed|ling|ing|s)?|trip|depart(?:ed|s|ing|ure)?|check(?:ed)?[\s-]in)"
        r"|(?P<renewal>renew(?:ed|s|al|als|ing)?)"
        r"|(?P<as_of>polic(?:y|ies)|terms|rules|in\s+force))(?![a-z])"
    ),
    "zh": re.compile(
        "(?P<purchase>购买|购入|下单|订购|预订|预定|付款|支付|拍下|入手|订单|买|订的|订了)"
        "|(?P<delivery>收货|收到|到货|送达|签收|到手|送到|交付)"
        "|(?P<travel>出发|起飞|航班|出行|入住|旅行|登机|飞)"
        "|(?P<renewal>续费|续订|续期|续约|续签)"
        "|(?P<as_of>政策|规定|条款|生效|版本|规则)"
    ),
}  # fmt: skip
# "the March policy", 去年的政策; "the policy of March", "what did the policy say in March" are found by nearness.
_FARTHEST = {"en": 45, "zh": 14}
_SENTENCE_END = re.compile(r"[?!;。？！；\n]|\.(?=\s|$)")
# A comma between a word and a time keeps them as far apart as so many letters.
_CLAUSE_END = re.compile("[,，]")
_COMMA = 12
# Farther away no word is looked for: the cost of a text grows with its length, not with its square.
_LONG_SENTENCE = 200
_FUTURE = {
    "en": re.compile(
        r"(?<![a-z])(?:will|going\s+to|shall|upcoming|plan(?:ning)?\s+to|renews|expires|due|want\s+to)(?![a-z])|'ll(?![a-z])"
    ),
    "zh": re.compile("将要?|即将|打算|准备|计划|会在|要在|到期|能(?:送|收)?到"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Where a time stands, and the role it has without any word nearby."""

    span: Span
    fallback: Role | None = None
    #: The words themselves fix the role ("as of"), or rule others out (now).
    fixed: bool = False


def roles(folded: str, mentions: Sequence[Mention], *, languages: Sequence[Language]) -> list[Role | None]:
    """The role of each mention: every word is bound to the nearest time in its sentence, and each time to one word.

    Args:
        mentions: In order, not overlapping.
    """
    pairs = sorted(
        (_distance(folded, cue.span(), mentions[number].span), number, cue.span(), cue.lastgroup or "")
        for language in languages
        for cue in _CUES[language].finditer(folded)
        for number in _near(mentions, cue.span(), farthest=_FARTHEST[language])
        if not mentions[number].fixed and _in_one_sentence(folded, cue.span(), mentions[number].span)
    )
    found: list[Role | None] = [mention.fallback for mention in mentions]
    bound: set[int | Span] = set()
    for _, number, cue, role in pairs:
        if number not in bound and cue not in bound:
            bound |= {number, cue}
            # Asking what the policy says today is asking at the time of the request.
            found[number] = found[number] if role == "as_of" and found[number] == "request" else _as_role(role)
    return found


def speaks_of_the_future(folded: str, span: Span, *, languages: Sequence[Language]) -> bool:
    """Whether the sentence around the span says that its time is still to come."""
    earliest, latest = max(0, span[0] - _LONG_SENTENCE), span[1] + _LONG_SENTENCE
    start = max((end.end() for end in _SENTENCE_END.finditer(folded, earliest, span[0])), default=earliest)
    sentence_end = _SENTENCE_END.search(folded, span[1], latest)
    end = sentence_end.start() if sentence_end else latest
    return any(_FUTURE[language].search(folded, start, end) for language in languages)


def _distance(folded: str, cue: Span, span: Span) -> int:
    start, end = min(cue[1], span[1]), max(cue[0], span[0])
    return end - start + (_COMMA if _CLAUSE_END.search(folded, start, end) else 0)


def _near(mentions: Sequence[Mention], cue: Span, *, farthest: int) -> range:
    """Numbers of the mentions that are at most so many characters from the cue."""
    first = bisect_left(mentions, cue[0] - farthest, key=lambda mention: mention.span[1])
    return range(first, bisect_right(mentions, cue[1] + farthest, lo=first, key=lambda mention: mention.span[0]))


def _in_one_sentence(folded: str, cue: Span, span: Span) -> bool:
    """Whether no sentence ends between cue and time, and neither is a part of the other."""
    start, end = min(cue[1], span[1]), max(cue[0], span[0])
    return start <= end and _SENTENCE_END.search(folded, start, end) is None


def _as_role(name: str | None) -> Role | None:
    match name:
        case "purchase" | "delivery" | "travel" | "renewal" | "as_of":
            return name
        case _:
            return None
