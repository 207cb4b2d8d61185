"""Spelled numbers, English and Chinese, as far as people use them for times."""

from __future__ import annotations

from typing import Final

_UP_TO_NINETEEN = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    "|nineteen"
).split("|")
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety".split("|")
_ORDINALS = (
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth"
    "|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|twenty-first|twenty-second|twenty-third|twenty-fourth"
    "|twenty-fifth|twenty-sixth|twenty-seventh|twenty-eighth|twenty-ninth|thirtieth|thirty-first"
).split("|")

_ENGLISH: dict[str, int] = {
    "a": 1,
    "an": 1,
    **{word: number for number, word in enumerate(_UP_TO_NINETEEN, start=1)},
    **{word: number for number, word in zip(range(20, 100, 10), _TENS, strict=True)},
}
_ORDINAL: dict[str, int] = {word: number for number, word in enumerate(_ORDINALS, start=1)}
_CHINESE_DIGITS: dict[str, int] = {
    **{character: number for number, character in enumerate("零一二三四五六七八九")},
    "〇": 0,
    "两": 2,
}

SPELLED_NUMBERS: Final = frozenset(_ENGLISH)
SPELLED_ORDINALS: Final = frozenset(_ORDINAL)
#: Patterns of a number: no group, longest first where one begins like another.
ENGLISH_NUMBER: Final = (
    rf"(?:[0-9]{{1,4}}|(?:{'|'.join(_TENS)})[ -](?:{'|'.join(_UP_TO_NINETEEN[:9])})(?![a-z])"
    rf"|(?:{'|'.join(sorted((*_UP_TO_NINETEEN, *_TENS), key=len, reverse=True))}|an|a)(?![a-z]))"
)
ENGLISH_ORDINAL: Final = rf"(?:{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})"
CHINESE_NUMBER: Final = "(?:[0-9]{1,4}|[零〇一二两三四五六七八九十百]{1,5})"


def english_number(text: str) -> int:
    """The number that `ENGLISH_NUMBER` matched."""
    if text.isdigit():
        return int(text)
    return sum(_ENGLISH[word] for word in text.replace("-", " ").split())


def english_ordinal(text: str) -> int:
    """The number that `ENGLISH_ORDINAL` matched, or digits with or without their ending."""
    return _ORDINAL[text] if text in _ORDINAL else int(text.rstrip("stndrh"))


def chinese_number(text: str) -> int:
    """The number that `CHINESE_NUMBER` matched: 14, 十四, 一百零五; digits in a row stay digits (二〇二四)."""
    if text.isdigit() and text.isascii():
        return int(text)
    if "十" not in text and "百" not in text:
        return int("".join(str(_CHINESE_DIGITS[character]) for character in text))
    hundreds, _, rest = text.rpartition("百")
    tens, has_tens, ones = rest.rpartition("十")
    return (
        100 * _chinese_digit(hundreds, "百" in text) + 10 * _chinese_digit(tens, bool(has_tens)) + _chinese_ones(ones)
    )


def chinese_span_of_numbers(text: str) -> tuple[int, int]:
    """The number, or both ends of what two neighbouring digits say: 两三, 七八."""
    digits = [_CHINESE_DIGITS.get(character, -9) for character in text]
    if len(digits) == 2 and digits[0] > 0 and digits[1] == digits[0] + 1:  # noqa: PLR2004 - two neighbouring digits
        return digits[0], digits[1]
    number = chinese_number(text)
    return number, number


def _chinese_digit(text: str, present: bool) -> int:  # noqa: FBT001 - a digit or none
    # 十四 is 14: a missing digit before 十 counts one.
    return _chinese_ones(text) if text else int(present)


def _chinese_ones(text: str) -> int:
    digit = text.lstrip("零〇")
    if digit and digit not in _CHINESE_DIGITS:
        raise ValueError(f"not a number: {text!r}")
    return _CHINESE_DIGITS[digit] if digit else 0
