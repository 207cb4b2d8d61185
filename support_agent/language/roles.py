"""What happened at a time, by the words nearby: bought, delivered, flown, renewed, broke, or what a policy said."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from support_agent.domain.question import Language
from support_agent.domain.reading import Role, Span

# What comes without being what was ordered.
_NO_GOODS = (
    "(?:full |partial )?(?:refund|e-?mail|mail|reply|repl|answer|message|invoice|bill|receipt|call|notice|money"
    "|discount|voucher|question|problem|error|reminder|idea)"
)
# A plan is not delivered: who got one bought it.
_NEVER_DELIVERED = re.compile("(?<![a-z])(?:plans?|subscription|licen[cs]es?|membership)(?![a-z])")
_CUES = {
    "en": re.compile(
        r"(?<![a-z])(?:(?P<purchase>bought|buy|buying|took\s+out|picked\s+up\s+an?|purchas(?:ed|e|es|ing)|order(?:ed|s|ing)?|paid|booked|booking|subscribed"
        r"|signed\s+up|invoices?|transaction)"
        r"|(?P<delivery>deliver(?:ed|y|ies)?|arriv(?:ed|es|e|al|ing)|receiv(?:ed|e|ing)|receipt|(?:turn|show)(?:ed)?\s+up"
        r"|came(?!\s+(?:across|back|from|to|up|with))|reached\s+(?:me|us)|signed\s+for|collected|dropped\s+off"
        r"|handed\s+over|picked\s+(?:it|them|this|these)\s+up|got\s+here)"
        r"|(?P<other>broke(?!n)|died|failed|cracked|crashed|(?:stopped|quit)\s+working|shipped|dispatched|cancel(?:l)?ed"
        r"|activated|contacted|called|e?mailed|wrote|complained|noticed|reported|asked)"
        rf"|(?P<got>got(?=\s+(?:(?:it|them|these|those|this|mine|ours)(?![a-z])|(?:my|our|the|an?)\s+(?!{_NO_GOODS}))))"
        r"|(?P<travel>fly(?:ing)?|flew|flown|flights?|travel(?:led|ed|ling|ing|s)?|trip|depart(?:ed|s|ing|ure)?|check(?:ed)?[\s-]in)"
        r"|(?P<renewal>renew(?:ed|s|al|als|ing)?)"
        r"|(?P<as_of>polic(?:y|ies)|terms|rules|in\s+force))(?![a-z])"
    ),
    "zh": re.compile(
        "(?P<purchase>购买|购入|下单|订购|预订|预定|付款|支付|付的|付了|拍下|拍的|入手|开通|订单|买|订的|订了)"
        "|(?P<delivery>收货|收到|收的|到货|送达|签收|到手|送到|送来|送的货|寄到|寄来|交付|拿到|取货|自提"
        "|(?<![看找见遇得感接想提达办做收送寄拿签])到[的了](?!期))"
        "|(?P<travel>出发|起飞|航班|出行|入住|旅行|登机|飞)"
        "|(?P<other>坏|故障|闪屏|死机|黑屏|不亮|失灵|发货|寄出|激活|联系|打过?电话|反馈|报修|投诉|取消)"
        "|(?P<renewal>续费|续订|续期|续约|续签)"
        "|(?P<as_of>政策|规定|条款|生效|版本|规则)"
    ),
}  # fmt: skip
# "the March policy", 去年的政策; "the policy of March", "what did the policy say in March" are found by nearness.
_FARTHEST = {"en": 45, "zh": 14}
# What is no date of the order must stand right beside the time: 键盘去年坏了, but not 去年的键盘坏了.
_OTHER_FARTHEST = {"en": 10, "zh": 1}
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
        for number in _near(mentions, cue.span(), farthest=_reach(cue.lastgroup, language))
        if not mentions[number].fixed and _in_one_sentence(folded, cue.span(), mentions[number].span)
    )
    found: list[Role | None] = [mention.fallback for mention in mentions]
    bound: set[int | Span] = set()
    for _, number, cue, role in pairs:
        if number not in bound and cue not in bound:
            bound |= {number, cue}
            # Asking what the policy says today is asking at the time of the request.
            found[number] = found[number] if role == "as_of" and found[number] == "request" else _as_role(role, folded)
    return found


def speaks_of_the_future(folded: str, span: Span, *, languages: Sequence[Language]) -> bool:
    """Whether the sentence around the span says that its time is still to come."""
    earliest, latest = max(0, span[0] - _LONG_SENTENCE), span[1] + _LONG_SENTENCE
    start = max((end.end() for end in _SENTENCE_END.finditer(folded, earliest, span[0])), default=earliest)
    sentence_end = _SENTENCE_END.search(folded, span[1], latest)
    end = sentence_end.start() if sentence_end else latest
    return any(_FUTURE[language].search(folded, start, end) for language in languages)


def _reach(role: str | None, language: Language) -> int:
    return _OTHER_FARTHEST[language] if role == "other" else _FARTHEST[language]


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


def _as_role(name: str, folded: str) -> Role | None:
    match name:
        case "got":
            return "purchase" if _NEVER_DELIVERED.search(folded) else "delivery"
        case "purchase" | "delivery" | "travel" | "renewal" | "as_of" | "other":
            return name
        case _:
            return None
