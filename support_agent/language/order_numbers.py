"""The order numbers in a text as sent: full-width forms, dashes and case are folded, and SO 1183 is SO-1183.

A number that is not seen is worse than one too many: the customer would be answered about another order. So a letter
that only looks like a Latin one (Cyrillic О in LО-10421) still makes an attempt at a number; it stays as it is, and the
number then equals no order. But "so 2024 was a good year" is no attempt: in small letters and apart, words around must
say that an order is meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

from policies.text import HAN
from support_agent.domain.reading import OrderNumber, Span

#: For a tenant that has not said how its order numbers look.
DEFAULT_ORDER_NUMBER = r"[A-Z]{2}-[0-9]{3,10}"

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−⁃─ー﹘﹣－"), "-")
# Cyrillic and Greek letters that look like Latin capitals.
_LOOKALIKES = str.maketrans("АВЕЅІЈКМНОРСТУХԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABESIJKMHOPCTYXQWABEZHIKMNOPTYX")
_SHOUTED = re.compile(r"(?<![A-Z])[A-Z]{2,}\s[A-Z]{2}")
# A number that is all letters, such as PGAGLM, is one when it is written in capitals among other words.
_CALLED_A_NUMBER = re.compile(
    r"(?:order|reservation|booking|confirmation|number|no\.?|code|#|[订訂][单單]|[预預][订訂]|[编編][号號]|[单單][号號]|号|號)"
    r"[\s:#：,，(（]*$",
    re.IGNORECASE,
)

# What may stand where a number has its dash; nothing as well.
_GAP = r"[\s_#:./·~=-]{0,3}"
_PATTERN_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
# SO-…, (?:SO|RF)-…: the tenant says which letters, and not just that there are two.
_NAMED_LETTERS = re.compile(r"(?:\((?:\?:)?)?[A-Z]+(?:\|[A-Z]+)*\)?\\?-")
_NO_LETTERS_OF_A_NUMBER = frozenset({"NO", "NR"})
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_ONLY_A_NUMBER = re.compile(
    r"[\s\W]*(?:(?:hi|hello|hey|please|pls|thanks|thank you|it's|its|it is)[\s\W]*)?", re.IGNORECASE
)
_BEFORE_AN_ORDER = re.compile(
    r"(?<![a-z])(?:for|of|about|regarding|concerning|re|from|on|with|return|cancel|refund|exchange|track|check|see|find|my"
    r"|our|the|this|can|could|will|would|has|should|may)[\s:#(]*$",
    re.IGNORECASE,
)
_IS = re.compile(r"(?<![a-z])(?:is|was|does|did|when|where|why)\s+$", re.IGNORECASE)
_AFTER_AN_ORDER = re.compile(
    r"\s*(?:[-,;:)]\s*)?(?:be|still|please|refund\w*|return\w*|cancel\w*|status|arriv\w*|deliver\w*|ship\w*|invoice|warranty"
    r"|hasn't|isn't|wasn't|didn't|never|not)(?![a-z])",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\s*(?:$|[?!.,;:)\-]|(?:can|could|is|has|was|will|does|did|should|may|and|or)(?![a-z]))", re.IGNORECASE
)
_SPEAKS_OF_ORDERS = re.compile(
    r"(?<![a-z])(?:order|number|return|refund|money back|send|sent|ship|deliver|arriv|cancel|renew|warrant|invoice"
    r"|broken|status|where)",
    re.IGNORECASE,
)
_HAN_BEFORE = re.compile(f"[{HAN}][\\s:：,，(（]*$")
# 年, 块, 个: the digits count something.
_HAN_AFTER = re.compile(f"[\\s:：,，)）]*(?![年月日号块元个天人件次万千百])[{HAN}]")
_ALSO = re.compile(r"\s*(?:and|or|&|,|，|、|和|跟|还有|還有)\s*", re.IGNORECASE)


_NAMED_AN_ORDER = re.compile(
    r"(?:(?<![a-z])order|订单号?|訂單號?|单号)\s*(?:number|no\.?|nr\.?|#|号|號)?\s*[:：#]?\s*"
    r"(?P<number>[A-Z]{1,4}-[0-9]{2,12}|[0-9]{5,12})(?![A-Za-z0-9-])",
    re.IGNORECASE,
)


def order_numbers(text: str, pattern: re.Pattern[str]) -> tuple[OrderNumber, ...]:
    """The order numbers in a text, in order.

    Args:
        pattern: How the tenant's numbers look, in capitals.
    """
    written = _same_length(text)
    capitals = written.upper() if len(written.upper()) == len(written) else written
    shape = capitals.translate(_LOOKALIKES)
    shouted = written == capitals and _SHOUTED.search(written) is not None
    found = []
    for match in _bounded(pattern).finditer(shape):
        start, end = match.span()
        as_written = written[start:end]
        certain = any(character.isdigit() for character in as_written) or _CALLED_A_NUMBER.search(text, 0, start)
        if (certain and _has_capital_or_digit(as_written)) or (as_written == capitals[start:end] and not shouted):
            found.append(OrderNumber(span=(start, end), text=text[start:end], number=capitals[start:end]))
    found.extend(_taken_apart(text, written, capitals, pattern=pattern, found=[number.span for number in found]))
    found.extend(_attempts(text, written, pattern=pattern, found=[number.span for number in found]))
    return tuple(sorted(found, key=lambda number: number.span))


def _attempts(text: str, written: str, *, pattern: re.Pattern[str], found: Sequence[Span]) -> Iterator[OrderNumber]:
    """What was meant as an order number and is none: SO-11900 for `SO-` and four digits, "order 999999".

    It equals no order, so the customer is told so; read over, the question would be answered about another one.
    """
    letters = re.match("[A-Z]{2,5}(?=-)", pattern.pattern)
    shapes = [_NAMED_AN_ORDER] if letters is None else [_misspelt(letters[0]), _NAMED_AN_ORDER]
    taken = list(found)
    for shape in shapes:
        for match in shape.finditer(written):
            span = match.span("number")
            if not any(span[0] < end and start < span[1] for start, end in taken):
                taken.append(span)
                yield OrderNumber(span=span, text=text[span[0] : span[1]], number=match["number"].upper())


@cache
def _misspelt(letters: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9])(?P<number>{letters}-?[0-9]{{2,12}})(?![A-Za-z0-9])")


def _has_capital_or_digit(text: str) -> bool:
    return any(character.isdigit() or character.isupper() for character in text)


def _bounded(pattern: re.Pattern[str]) -> re.Pattern[str]:
    # Not `\b`: in 订单SO-1182能退吗 the neighbours are word characters too. `re` caches what it has compiled.
    return re.compile(rf"(?<![A-Z0-9])(?<![A-Z0-9][-_])(?:{pattern.pattern})(?![A-Z0-9]|[-_][A-Z0-9])")


def _taken_apart(
    text: str, written: str, capitals: str, *, pattern: re.Pattern[str], found: Sequence[Span]
) -> Iterator[OrderNumber]:
    """Numbers written with something else, or nothing, in place of their dash."""
    apart = _with_gaps(pattern.pattern)
    if apart is None:
        return
    taken, shape = list(found), capitals.translate(_LOOKALIKES)
    for match in apart.finditer(shape):
        start, end = match.span()
        if any(start < other[1] and other[0] < end for other in taken):
            continue
        gaps = sorted(match.span(name) for name, gap in match.groupdict().items() if gap is not None)
        whole = _joined(shape, start, end, gaps=gaps)
        if not gaps or not pattern.fullmatch(whole) or not any(character.isdigit() for character in whole):
            continue
        also = any(other[1] <= start and _ALSO.fullmatch(written, other[1], start) for other in taken)
        if also or _is_meant(
            written, start, end, head=(start, gaps[0][0]), spaced=_is_spaced(shape, gaps), pattern=pattern
        ):
            taken.append((start, end))
            number = _joined(capitals, start, end, gaps=gaps)
            yield OrderNumber(span=(start, end), text=text[start:end], number=number)


@cache
def _with_gaps(pattern: str) -> re.Pattern[str] | None:
    """The pattern with a gap where it has a dash; None for one that has none, or that cannot be taken apart."""
    pieces: list[str] = _PATTERN_PIECE.findall(pattern)
    gaps = [position for position, piece in enumerate(pieces) if piece in ("-", r"\-")]
    for number, position in enumerate(gaps):
        pieces[position] = f"(?P<gap{number}>{_GAP})"
    try:
        return _bounded(re.compile("".join(pieces))) if gaps else None
    except re.error:
        return None


def _joined(text: str, start: int, end: int, *, gaps: Sequence[Span]) -> str:
    edges = [start, *(edge for gap in gaps for edge in gap), end]
    return "-".join(text[first:last] for first, last in zip(edges[::2], edges[1::2], strict=True))


def _is_spaced(shape: str, gaps: Sequence[Span]) -> bool:
    return any(character.isspace() for gap in gaps for character in shape[slice(*gap)])


def _is_meant(written: str, start: int, end: int, *, head: Span, spaced: bool, pattern: re.Pattern[str]) -> bool:
    """Whether letters and digits without their dash are an order number."""
    letters = written[slice(*head)]
    loud = written == written.upper() and _SHOUTED.search(written) is not None
    capital = letters == letters.upper() and not loud
    if _NAMED_LETTERS.match(pattern.pattern) is None:
        # Any letters would do, and ISO 9001 or EU 2019 are no orders.
        return capital and letters not in _NO_LETTERS_OF_A_NUMBER and _called(written, start)
    if re.match(r"(?:[.,][0-9]|\s?[€$£¥%])", written[end:]):
        return False
    return not spaced or capital or _is_in_context(written, start, end)


def _called(written: str, start: int) -> bool:
    return _CALLED_A_NUMBER.search(written, 0, start) is not None


def _is_in_context(written: str, start: int, end: int) -> bool:
    """Whether the words around "so 1183" make it an order, and "so" no word."""
    if _ONLY_A_NUMBER.fullmatch(written, 0, start) and _ONLY_A_NUMBER.fullmatch(written, end):
        return True
    if _called(written, start) or _HAN_BEFORE.search(written, 0, start) or _HAN_AFTER.match(written, end):
        return True
    if _BEFORE_AN_ORDER.search(written, 0, start) or _AFTER_AN_ORDER.match(written, end):
        return True
    if _YEAR.search(written, start, end):
        return False
    if _IS.search(written, 0, start):
        return True
    rest = written[:start] + written[end:]
    return _GOES_ON.match(written, end) is not None and _SPEAKS_OF_ORDERS.search(rest) is not None


def _same_length(text: str) -> str:
    """Width and dashes folded, character by character, so that spans hold."""
    if text.isascii():
        return text
    folded = (unicodedata.normalize("NFKC", character) for character in text.translate(_DASHES))
    return "".join(one if len(one) == 1 else character for one, character in zip(folded, text, strict=True))
