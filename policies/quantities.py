"""Numbers, dates, amounts, times and codes in a text, in the ways English and Chinese write them.

`14 days`, `fourteen days`, `two weeks`, `14 天` and `十四天` are the same quantity; so are `4 April 2025`, `2025-04-04`
and `2025年4月4日`, `25%`, `百分之二十五` and `2500 bp`. A number without a unit may stand for one with any unit; two
units must be the same. Numerals that are part of a word (`一般`, `十分`, "this one", weekdays) are no quantities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from policies.quantity import Key, Quantity, amount, clock, code, day, number, percent


def unsupported(text: str, known: AbstractSet[Key]) -> list[str]:
    """The numbers, dates, amounts, times and codes of `text` that `known` does not hold, as they are written there."""
    return [quantity.text for quantity in quantities(text) if quantity.needs.isdisjoint(known)]


@lru_cache(maxsize=8_192)
def keys_of_text(text: str) -> frozenset[Key]:
    """All that the quantities of `text` say."""
    return frozenset(key for quantity in quantities(text) for key in quantity.says)


# Typed, for to a cache True and 1 are otherwise the same.
@lru_cache(maxsize=8_192, typed=True)
def keys_of_value(value: object, zone: ZoneInfo) -> frozenset[Key]:
    """All that a fact or term says: an instant its day and time in `zone`, a text what stands in it."""
    match value:
        case bool() | None:
            return frozenset()
        case int():
            return number(Decimal(value)).says
        case datetime():
            local = value.astimezone(zone)
            return keys_of_value(local.date(), zone) | clock(local.hour, local.minute).says
        case date():
            on = day((value.year, value.month, value.day))
            return on.says if on is not None else frozenset()
        case str():
            return keys_of_text(value)
        case tuple():
            return frozenset(key for item in value for key in keys_of_value(item, zone))
        case _:
            raise TypeError(f"a {type(value).__name__} is no fact value")


@lru_cache(maxsize=8_192)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities of `text` in reading order, without overlaps."""
    # Both steps keep every character's place, so that a quantity can be pointed at in the original.
    plain = text.translate(_PLAIN).lower()
    if not _TRIGGER.search(plain):
        return ()
    found: list[Quantity] = []
    for match in _ANY.finditer(plain):
        quantity = _READERS[str(match.lastgroup)](match)
        if quantity is not None:
            found.append(replace(quantity, text=text[match.start() : match.end()].strip(), start=match.start()))
    return tuple(found)


# Full-width forms are 0xFEE0 above ASCII; a capital İ would become two characters in lower case.
_PLAIN: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    0x3000: " ",
    0x130: "i",
    0xFFE5: "¥",
    0xFFE1: "£",
}

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES: Final = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "k": 10**3}
_HAN_SCALES: Final = {"十": 10, "百": 100, "千": 10**3, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_WORDS: Final = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_HAN_DIGITS: Final = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}

#: Unit as written (`_` for a space) -> (canonical unit, how many of it).
_UNITS: Final = {
    spelling.replace("_", " "): (unit, factor)
    for spellings, unit, factor in (
        ("day days d calendar_day calendar_days 天 日 自然日 个自然日 個自然日", "day", 1),
        ("business_day business_days working_day working_days 工作日 个工作日 個工作日", "business day", 1),
        ("week weeks 周 週 星期 个星期 個星期 礼拜 个礼拜", "day", 7),
        ("month months 个月 個月", "month", 1),
        ("quarter quarters 季度 个季度", "month", 3),
        ("year years yr yrs 年", "month", 12),
        ("hour hours hr hrs h 小时 小時 个小时 個小時 钟头 个钟头", "hour", 1),
        ("minute minutes min mins 分钟 分鐘", "minute", 1),
    )
    for spelling in spellings.split()
}
#: Before a Chinese numeral they make it a count; after `一` they make an article of it.
_MEASURES: Final = tuple("个個件次台笔筆张張份套位人倍条條款章节節项項种種")
_POINTING: Final = tuple("后後同当當每前某哪那这這")
_DOLLARS: Final = "USD,CAD,AUD,HKD,SGD,NZD,TWD"
_CURRENCIES: Final = {
    "$": _DOLLARS, "dollars": _DOLLARS, "dollar": _DOLLARS, "us$": "USD", "usd": "USD", "美元": "USD", "hk$": "HKD",
    "ca$": "CAD", "a$": "AUD", "€": "EUR", "euros": "EUR", "euro": "EUR", "eur": "EUR", "欧元": "EUR", "£": "GBP",
    "pounds": "GBP", "pound": "GBP", "gbp": "GBP", "英镑": "GBP", "¥": "CNY,JPY", "cn¥": "CNY", "jp¥": "JPY",
    "yuan": "CNY", "rmb": "CNY", "cny": "CNY", "人民币": "CNY", "元人民币": "CNY", "元": "CNY", "块钱": "CNY",
    "块": "CNY", "yen": "JPY", "jpy": "JPY", "日元": "JPY", "chf": "CHF", "hkd": "HKD", "cad": "CAD", "aud": "AUD",
}  # fmt: skip
#: Suffix -> how many percent one of it is.
_SHARES: Final = {
    "%": Decimal(1), "percent": Decimal(1), "per cent": Decimal(1), "pct": Decimal(1), "bp": Decimal("0.01"),
    "bps": Decimal("0.01"), "basis point": Decimal("0.01"), "basis points": Decimal("0.01"),
    "基点": Decimal("0.01"), "个基点": Decimal("0.01"),
}  # fmt: skip


def _either(spellings: Iterable[str]) -> str:
    """A pattern for any of them, longest first; one that ends in a letter ends a word."""
    ordered = sorted(spellings, key=lambda spelling: (-len(spelling), spelling))
    return "|".join(
        re.escape(s).replace(r"\ ", r"[\s-]") + (r"(?![a-z])" if s.isascii() and s[-1].isalpha() else "")
        for s in ordered
    )


_NUMBER = (
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:[\u00a0\u202f']\d{3})+(?:[.,]\d+)?"
    r"|\d+(?:[.,]\d+)?)(?!\d)"
)
_WORD = f"(?:{_either([*_WORDS, *(scale for scale in _SCALES if scale != 'k')])})"
_HAN = f"[{''.join(_HAN_DIGITS)}{''.join(_HAN_SCALES)}]"
_SHORT_HAN = "[一二三四五六七八九十]{1,3}"
_MONTH = (
    "(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
)
_OFFSET = r"(?:z|[+-]\d\d:?\d\d)?"
_SUFFIX = _either([*_UNITS, *_MEASURES, *_CURRENCIES, *_SHARES])
_HAN_SUFFIX = _either([s for s in (*_UNITS, *_MEASURES, *_CURRENCIES, *_SHARES) if not s.isascii()])

# Named by their reader; earlier ones win where two begin at one place.
_ANY: Final = re.compile(
    rf"""
    (?=[0-9$€£¥第百{"".join(_HAN_DIGITS)}十千万萬亿億人美欧英日元块]|(?<![a-z])(?:[a-z]+[-_\#/]?\d|{_MONTH}\s|{_WORD}|[a-z]{{2,3}}[$¥\s]))
    (?:
      (?P<iso_date>(?<![\d.])\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?!\d)(?:t\d\d:\d\d(?::\d\d(?:\.\d+)?)?{_OFFSET})?)
    | (?P<han_date>(?<!\d)(?:\d{{4}}|[〇零一二三四五六七八九]{{4}})\s?年
        (?:\s?(?:\d{{1,2}}|{_SHORT_HAN})\s?月(?:\s?(?:\d{{1,2}}|{_SHORT_HAN})\s?[日号號])?)?)
    | (?P<han_month>(?<!\d)(?:\d{{1,2}}|(?<![{"".join(_HAN_DIGITS)}]){_SHORT_HAN})\s?月
        (?:\s?(?:\d{{1,2}}|{_SHORT_HAN})\s?[日号號])?)
    | (?P<day_month>(?<![\d.,])\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}}(?!\d))?)(?![a-z])
    | (?P<month_day>\b{_MONTH}\s(?:\d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,?\s\d{{4}}(?!\d))?|,?\d{{4}}(?!\d)))
    | (?P<short_date>(?<![\d./-])\d{{1,2}}(?P<separator>[./-])\d{{1,2}}(?P=separator)\d{{4}}(?!\d))
    | (?P<clock>(?<![\d:])\d{{1,2}}:\d\d(?::\d\d(?:\.\d+)?)?(?:\s?[ap]\.?m\b\.?|{_OFFSET})
        |(?<![\d:])\d{{1,2}}\s?[ap]\.?m\b\.?)
    | (?P<han_share>百分之(?:{_NUMBER}|{_HAN}+))
    | (?P<amount>(?:(?P<currency>{_either(_CURRENCIES)})\s?(?P<digits_of_amount>{_NUMBER})
        (?P<scale_of_amount>\s?(?:thousand|million|billion)\b|k\b|\s?[万萬亿億])?))
    | (?P<section>\d+(?:\.\d+){{2,}})
    | (?P<digits>(?P<number>{_NUMBER})(?P<scale>\s?(?:hundred|thousand|million|billion)\b|k\b|[百千]|\s?[万萬亿億])?
        (?:(?:st|nd|rd|th)\b|[\s-]?(?P<suffix>{_SUFFIX}))?(?![a-z0-9]))
    | (?P<words>(?<![a-z])(?P<spoken>{_WORD}(?:[\s-](?:and\s)?{_WORD})*)(?:[\s-](?P<spoken_suffix>{_SUFFIX}))?)
    | (?P<han>(?<![周週期拜])第?(?P<han_number>{_HAN}+)\s?(?P<han_suffix>{_HAN_SUFFIX}))
    | (?P<code>(?<![a-z0-9])(?:[a-z]+[-_\#/]?\d|\d+[a-z_-]*[a-z])[a-z0-9_-]*(?:\.\d+)*)
    )
    """,
    re.VERBOSE,
)

# Most sentences hold no numeral at all, and this finds that out quickly.
_TRIGGER: Final = re.compile(f"[0-9]|{_HAN}|(?<![a-z]){_WORD}")
_DIGITS: Final = re.compile(r"\d+")
_MONTH_NAME: Final = re.compile(rf"(?<![a-z])(?:{'|'.join(_MONTHS)})")
_HAN_PART: Final = re.compile(r"(\d+|[〇零一二三四五六七八九十]+)\s?([年月日号號])")


def _iso_date(match: re.Match[str]) -> Quantity | None:
    year, month, of_month = map(int, _DIGITS.findall(match[0])[:3])
    return day((year, month, of_month))


def _short_date(match: re.Match[str]) -> Quantity | None:
    first, second, year = map(int, _DIGITS.findall(match[0]))
    return day((year, second, first), (year, first, second))


def _month_name_date(match: re.Match[str]) -> Quantity | None:
    numbers = [int(digits) for digits in _DIGITS.findall(match[0])]
    month = _MONTHS.index(_MONTH_NAME.findall(match[0])[0]) + 1
    of_month = next((n for n in numbers if n <= 31), None)  # noqa: PLR2004 - the days of a month
    year = next((n for n in numbers if n > 31), None)  # noqa: PLR2004 - the days of a month
    return day((year, month, of_month))


def _han_date(match: re.Match[str]) -> Quantity | None:
    parts = {sign: _han_or_digits(digits) for digits, sign in _HAN_PART.findall(match[0])}
    of_month = next((parts[sign] for sign in "日号號" if sign in parts), None)
    return day((parts.get("年"), parts.get("月"), of_month))


def _clock(match: re.Match[str]) -> Quantity | None:
    numbers = [int(digits) for digits in _DIGITS.findall(match[0])]
    hour, minute = numbers[0], numbers[1] if ":" in match[0] else 0
    if re.search(r"[ap]\.?m", match[0]):
        hour = hour % 12 + (12 if "p" in match[0] else 0)
    return clock(hour, minute)


def _amount(match: re.Match[str]) -> Quantity | None:
    value = _decimal(match["digits_of_amount"]) * _scale(match["scale_of_amount"])
    return amount(value, _CURRENCIES[match["currency"]].split(","))


def _digits(match: re.Match[str]) -> Quantity | None:
    return _with_suffix(_decimal(match["number"]) * _scale(match["scale"]), match["suffix"])


def _words(match: re.Match[str]) -> Quantity | None:
    spoken, suffix = match["spoken"], match["spoken_suffix"]
    # "This one" and "no one" count nothing.
    return None if spoken == "one" and suffix is None else _with_suffix(_english(spoken), suffix)


def _han(match: re.Match[str]) -> Quantity | None:
    numeral, suffix = match["han_number"], match["han_suffix"]
    before = match.string[max(match.start() - 1, 0) : match.start()]
    # 一个 is an article; 最后一天 and 同一天 point at a day and count none.
    if numeral == "一" and (suffix in _MEASURES or before in _POINTING):
        return None
    return _with_suffix(Decimal(_chinese(numeral)), suffix)


def _han_share(match: re.Match[str]) -> Quantity | None:
    share = match[0].removeprefix("百分之")
    return percent(_decimal(share) if share[0].isdecimal() else Decimal(_chinese(share)))


def _code(match: re.Match[str]) -> Quantity | None:
    return code(match[0])


def _with_suffix(value: Decimal, suffix: str | None) -> Quantity:
    # A hyphen stands for a space in "30-calendar-day".
    suffix = suffix.replace("-", " ") if suffix else None
    if suffix is None or suffix in _MEASURES:
        return number(value)
    if suffix in _SHARES:
        return percent(value * _SHARES[suffix])
    if suffix in _CURRENCIES:
        return amount(value, _CURRENCIES[suffix].split(","))
    unit, factor = _UNITS[suffix]
    return number(value * factor, unit)


def _decimal(digits: str) -> Decimal:
    plain = re.sub(r"[\u00a0\u202f']", "", digits)
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+", plain):
        return Decimal(plain.replace(".", "").replace(",", "."))
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        return Decimal(plain.replace(",", ""))
    return Decimal(plain.replace(",", "."))


def _scale(word: str | None) -> int:
    word = word.strip() if word else None
    return 1 if not word else _SCALES.get(word) or _HAN_SCALES[word]


def _english(spoken: str) -> Decimal:
    total = current = 0
    for word in re.findall("[a-z]+", spoken):
        if word == "hundred":
            current = max(current, 1) * 100
        elif word in _SCALES:
            total, current = total + max(current, 1) * _SCALES[word], 0
        else:
            current += _WORDS.get(word, 0)
    return Decimal(total + current)


def _chinese(numeral: str) -> int:
    if not any(c in _HAN_SCALES for c in numeral):
        return int("".join(str(_HAN_DIGITS[c]) for c in numeral))
    total = section = digit = 0
    for c in numeral:
        if c in _HAN_DIGITS:
            digit = _HAN_DIGITS[c]
            continue
        scale = _HAN_SCALES[c]
        if scale >= 10**4:
            total, section, digit = (total + max(section + digit, 1)) * scale, 0, 0
        else:
            section, digit = section + max(digit, 1) * scale, 0
    return total + section + digit


def _han_or_digits(numeral: str) -> int:
    return int(numeral) if numeral[0].isdecimal() else _chinese(numeral)


_READERS: Final[dict[str, Callable[[re.Match[str]], Quantity | None]]] = {
    "iso_date": _iso_date,
    "short_date": _short_date,
    "day_month": _month_name_date,
    "month_day": _month_name_date,
    "han_date": _han_date,
    "han_month": _han_date,
    "clock": _clock,
    "amount": _amount,
    "digits": _digits,
    "words": _words,
    "han": _han,
    "han_share": _han_share,
    "section": _code,
    "code": _code,
}
