"""Which kind of value a question asks for, and whether a text gives one of that kind.

"How many days", "how soon" and 多久 ask for a duration, "what does it cost" and 多少钱 for an amount. A question may
also name a figure to be judged: "I am 17, am I old enough?", "for an order of €20", "after 14 months". Then a text that
gives a figure of that kind answers it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from policies.candidates import CandidateTerm, candidate_terms

#: `figure`: a number, of whatever.
ValueKind: TypeAlias = Literal["duration", "amount", "percentage", "figure"]

_UNITS: Final = {
    "minute": r"minutes?|分钟",
    "hour": r"hours?|小时",
    "business day": r"(?:business|working) days?|工作日",
    "day": r"days?|天|日",
    "week": r"weeks?|周|星期",
    "month": r"months?|月",
    "year": r"years?|年",
}
_UNIT: Final = "|".join(_UNITS.values())
_ASKS: Final[tuple[tuple[ValueKind, re.Pattern[str]], ...]] = (
    (
        "duration",
        re.compile(
            rf"\bhow (?:long|soon|quickly|fast|late|early|old)\b|\bold enough\b|\b(?:what|at which|minimum) age\b"
            rf"|\bhow (?:many|much)(?: \w+){{0,2}} (?:{_UNIT}|time|notice|warning)\b"
            rf"|\b(?:within|after|until|for|by) (?:what|which|when)\b|\bdeadline\b|\btime ?limit\b"
            rf"|\b(?:notice|grace) period\b|\b(?:in|inside|within) (?:time|the (?:window|period))\b|\btoo late\b"
            rf"|多久|多长(?:的)?时间|(?:多少|几)\s?个?(?:{_UNIT})|期限|有效期|时限|来得及|过期了?吗|几岁|多大年[纪龄]|周岁",
            re.IGNORECASE,
        ),
    ),
    (
        "amount",
        re.compile(
            r"\bhow much\b(?! (?:\w+ )?(?:time|notice|warning|longer))|\bhow (?:expensive|cheap)\b"
            r"|\b(?:what|which|minimum|maximum|highest|lowest)\b[^?.]{0,40}"
            r"\b(?:price|fees?|costs?|charges?|fine|penalty|amount|value|payment|compensation|deposit)\b"
            r"|\bwhat do(?:es)? .{1,40} cost\b"
            r"|多少钱|多少元|几块|(?:价格|单价|费用|收费|金额|运费|罚款|罚金|奖金|赔偿|补偿|押金|工资)[^，。]{0,6}(?:多少|几|什么)"
            r"|(?:最低|最高|最少|最多)?[罚赔付交收]多少",
            re.IGNORECASE,
        ),
    ),
    (
        "percentage",
        re.compile(
            r"\bper ?cent|\bpercentage\b|%|\bwhat (?:share|portion|(?:\w+ )?rate)\b|百分之几|比例|几折|折扣|利率|税率",
            re.IGNORECASE,
        ),
    ),
    (
        "figure",
        re.compile(
            r"\bhow (?:many|often|big|large|fast|far)\b"
            r"|\b(?:what|which)\b[^?.]{0,30}\b(?:limit|maximum|minimum|speed|size|number|quota)\b"
            r"|\b(?:what|which) (?:is|are|was|were) the (?:limit|maximum|minimum|highest|lowest)\b"
            r"|多少|几[个次台张件份人条位]|上限|下限|多大|多快|限制是",
            re.IGNORECASE,
        ),
    ),
)
#: 期限 names a duration without asking for it.
_INTERROGATIVE: Final = re.compile(
    r"\bhow\b|\bwhat\b|\bwhich\b|多少|多久|多长|几(?=[个天日月年次元])|有效期", re.IGNORECASE
)
_AFTER: Final = re.compile(rf"[\s)）-]*(?:[A-Za-z]+ ){{0,3}}(?:{_UNIT})(?![a-z])", re.IGNORECASE)
_FIGURE: Final = re.compile(
    r"\d|[一二两三四五六七八九十百千]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty)\b",
    re.IGNORECASE,
)
#: `4.7.` before a paragraph, `(2)` before an item: it counts nothing.
_NUMBERING: Final = re.compile(r"[0-9]+(?:\.[0-9]+)*[.)）](?![0-9])|[0-9]+(?:\.[0-9]+)+\s+[A-Z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedValue:
    """What a question wants to know in figures."""

    kinds: frozenset[ValueKind] = frozenset()
    #: Kinds of the figures that it names itself, to be judged.
    named: frozenset[ValueKind] = frozenset()
    #: Units of durations that it asks for or names; none: any.
    units: frozenset[str] = frozenset()
    #: Whether it asks more than once: "how soon do you answer, and how long does it take?"
    twice: bool = False

    def __bool__(self) -> bool:
        return bool(self.kinds or self.named)


def asked_value(question: str) -> AskedValue:
    """What `question`, without its dates, asks for."""
    n_asked = {kind: n for kind, asks in _ASKS if (n := len(asks.findall(question)))}
    if len(n_asked) > 1:
        # "How many days" asks for a duration, not for any figure.
        n_asked.pop("figure", None)
    asked = frozenset(n_asked)
    if "percentage" in asked:
        # "What percentage is the fee?"
        asked -= {"amount"}
    named = frozenset(kind for _, kind, _ in _figures(question))
    return AskedValue(
        kinds=asked,
        named=named - {"figure"} if asked else named,
        units=_units(question),
        twice=sum(n_asked[kind] for kind in asked) > 1 and len(_INTERROGATIVE.findall(question)) > 1,
    )


def _units(text: str) -> frozenset[str]:
    return frozenset(
        unit for unit, written in _UNITS.items() if re.search(rf"(?<![a-z])(?:{written})(?![a-z])", text, re.IGNORECASE)
    )


def gives(text: str, asked: AskedValue) -> float:
    """How well the figures of a text are of the kind asked for: 1, less where only the kind or a named one fits, 0."""
    return max((_fits(kind, written, asked) for _, kind, written in _figures(text)), default=0.0)


def values_given(text: str, asked: AskedValue) -> frozenset[tuple[object, ...]]:
    """The values of the kinds asked for that a text gives, to be compared with those of another text."""
    return frozenset(
        (term.kind, term.value, term.upper, term.unit) for term, kind, _ in _figures(text) if kind in asked.kinds
    )


def place_of_value(text: str, asked: AskedValue) -> int | None:
    """Where the first figure of the best fitting kind begins; None: none fits."""
    found = [(_fits(kind, written, asked), -term.start) for term, kind, written in _figures(text)]
    fit, place = max(found, default=(0.0, 0))
    return -place if fit else None


def _fits(kind: ValueKind, written: str, asked: AskedValue) -> float:
    if kind in asked.kinds or ("figure" in asked.kinds and kind != "percentage"):
        if kind == "duration" and asked.units:
            return 1.0 if any(re.search(_UNITS[unit], written, re.IGNORECASE) for unit in asked.units) else 0.7
        return 1.0
    if kind in asked.named or "figure" in asked.named:
        return 1.0 if not asked.kinds else 0.5
    return 0.0


@lru_cache(maxsize=4_096)
def _figures(text: str) -> tuple[tuple[CandidateTerm, ValueKind, str], ...]:
    """The figures of a text, each with its kind and as far as its unit is written."""
    if not _FIGURE.search(text):
        return ()
    found = ((term, *_kind(term, text)) for term in candidate_terms(text))
    return tuple(
        (term, kind, written) for term, kind, written in found if kind is not None and not _is_numbering(text, term)
    )


def _is_numbering(text: str, term: CandidateTerm) -> bool:
    before = text[: term.start].rpartition("\n")[2]
    return not before.strip(" \t*_(（") and _NUMBERING.match(text, term.start) is not None


def _kind(term: CandidateTerm, text: str) -> tuple[ValueKind | None, str]:
    match term.kind:
        case "duration" | "amount" | "percentage":
            return term.kind, term.text
        case "count":
            # "18 consecutive months" is a duration, too.
            if after := _AFTER.match(text, term.end):
                return "duration", text[term.start : after.end()]
            return "figure", term.text
        case _:
            return None, ""
