"""Follow-ups: a question that says only what is different from the one before it, read together with that one.

"And if I bought it in May?", 那上个月买的呢, or the number that answers "Which order is it about?". What the new words
say of times, orders and items replaces what the earlier ones said; the rest of the earlier question stands. A question
that can be understood alone is read alone, but for "it": the one order that the earlier answer was about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from policies.text import HAN
from support_agent.domain.question import Question
from support_agent.domain.reading import Reading
from support_agent.pipeline.subject import subject_meanings

#: Words, or pairs of Chinese characters, up to which a text may be the reply to a question back.
SHORT: Final = 6
#: Words of a name, such as of the topic that was asked back for.
OF_A_NAME: Final = 2
#: What a word counts for that has a meaning of its own.
OWN_WEIGHT: Final = 1.5
#: What says that an order is meant, and not what is asked about it.
_BUYING: Final = re.compile(
    r"\b(?:bought|buy|ordered|order(?:ed)?|purchased?|got|received|paid|one|ones|about|instead)\b"
    r"|换成|换做|购买|下单|订购|买|订|收到|付款|那[个一款件台笔]?|这[个一款件台笔]?|订单|还有|如果|要是|假如|同样|另外|以及|呢|的",
    re.IGNORECASE,
)
#: Outcomes after which a conversation goes on about the same thing.
GOES_ON: Final = frozenset({"answered", "answered_with_conflict", "needs_clarification", "no_answer"})
_YEAR: Final = re.compile(r"[0-9]{4}")
_HAN: Final = re.compile(f"[{HAN}]")


def leans(reading: Reading) -> bool:
    """Whether the words alone may not say what is asked, so that it is worth knowing what was asked before."""
    if "small_talk" in reading.signals:
        return False
    return (
        "continues" in reading.signals or _is_short(reading) or ("refers" in reading.signals and _names_none(reading))
    )


def continued(question: Question, reading: Reading, *, read: Callable[[Question], Reading]) -> Reading:
    """What `question`, read as `reading`, says as the continuation of `question.earlier`; the same where it is none."""
    earlier = question.earlier
    if earlier is None or earlier.status not in GOES_ON or not leans(reading):
        return reading
    replies = earlier.status == "needs_clarification" and _is_reply(reading)
    if replies or ("continues" in reading.signals and _says_little(reading)):
        before = read(replace(question, text=earlier.text, asked_at=earlier.asked_at))
        another_day = earlier.asked_at.date() != question.asked_at.date()
        text = f"{_what_stands(before, reading, another_day=another_day)} {reading.text}"
    elif (order := referred_to(reading, earlier.orders)) is not None:
        text = f"{reading.text} {order}"
    else:
        return reading
    return read(replace(question, text=text, locale=question.locale or reading.language))


def referred_to(reading: Reading, orders: Sequence[str]) -> str | None:
    """The number of the one order that was spoken of before, where the words go on about it and name none."""
    goes_on = _names_none(reading) and reading.signals & {"continues", "refers"}
    return orders[0] if len(orders) == 1 and goes_on else None


def _what_stands(before: Reading, now: Reading, *, another_day: bool) -> str:
    """The earlier text without what the new one says otherwise.

    On another day "yesterday" is another one, so times without a year are left out: rather asked again than wrong.
    """
    gone = [
        time.text
        for time in before.time_expressions
        if now.time_expressions
        or (another_day and not _YEAR.search(time.text))
        # It only told which order was meant.
        or (now.order_numbers and time.role in {"purchase", None})
    ]
    if now.order_numbers:
        gone += [order.text for order in before.order_numbers]
    if _names(now, "item"):
        gone += [item.phrase for item in before.vocabulary if item.kind == "item"]
    return _without(before, gone)


def _without(reading: Reading, phrases: Iterable[str]) -> str:
    text = reading.text
    for phrase in phrases:
        text = re.sub(re.escape(phrase), " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def _names(reading: Reading, kind: str) -> bool:
    return any(match.kind == kind for match in reading.vocabulary)


def _is_reply(reading: Reading) -> bool:
    """Whether the text can be what was asked back for, and no question of its own."""
    if _n_words(reading) <= OF_A_NAME:
        return True
    asks = reading.text.rstrip().endswith(("?", "？")) and not _says_little(reading)
    return not asks and not _names(reading, "trigger") and not _names(reading, "topic")


def _says_little(reading: Reading) -> bool:
    """Whether the text says only when, which order or which item, so that nothing but these differs.

    "And if I damaged it?" says more: the earlier question with another date would not answer it.
    """
    if _names(reading, "trigger") or _names(reading, "topic"):
        return False
    named = [item.phrase for item in reading.vocabulary if item.kind == "item"]
    times = [time.text for time in reading.time_expressions]
    rest = _without(reading, [*named, *times, *(order.text for order in reading.order_numbers)])
    return not any(weight >= OWN_WEIGHT for weight, _ in subject_meanings(_BUYING.sub(" ", rest)).values())


def _names_none(reading: Reading) -> bool:
    """Whether nothing in the question says which order it is about."""
    return not reading.order_numbers and not reading.time_expressions and not _names(reading, "item")


def _is_short(reading: Reading) -> bool:
    return _n_words(reading) <= SHORT


def _n_words(reading: Reading) -> float:
    """Words in Latin letters, and pairs of Chinese characters."""
    return len(reading.tokens) + len(_HAN.findall(reading.text)) / 2
