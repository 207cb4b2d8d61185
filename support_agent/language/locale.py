"""Which of our two languages a question is in."""

from __future__ import annotations

import re

from policies.text import HAN
from support_agent.domain.question import Language

_HAN_CHARACTER = re.compile(f"[{HAN}]")
_LATIN_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")
# Words of grammar say more than names do: "What does 七天无理由 mean" is English, "我的 order 能 refund 吗" Chinese.
_CHINESE_GRAMMAR = frozenset("的了吗嗎呢吧是我你您他这這那什么麼怎能可以在有没沒不请請问問还還就都把被们們")
_ENGLISH_GRAMMAR_TEXT = """
a an the i my we our you it is are was do does did can could what when where how why which who will of in on for to and
not have has
"""
_ENGLISH_GRAMMAR = frozenset(_ENGLISH_GRAMMAR_TEXT.split())
_GRAMMAR_WEIGHT = 2
# An English word says about as much as one and a half characters.
_LATIN_WEIGHT = 1.5


def language_of(text: str, *, locale: str | None = None, default: Language = "en") -> Language:
    """The language to answer in: the caller's locale (BCP 47) where it is one of ours, else that of most of the text.

    Args:
        default: For text without a word of either.
    """
    if locale is not None and (named := _named(locale)) is not None:
        return named
    if text.isascii():
        return "en" if _LATIN_WORD.search(text) else default
    characters = _HAN_CHARACTER.findall(text)
    latin_words = [word.lower() for word in _LATIN_WORD.findall(text)]
    if not characters and not latin_words:
        return default
    chinese = len(characters) + _GRAMMAR_WEIGHT * sum(character in _CHINESE_GRAMMAR for character in characters)
    english = len(latin_words) + _GRAMMAR_WEIGHT * sum(word in _ENGLISH_GRAMMAR for word in latin_words)
    return "zh" if chinese > _LATIN_WEIGHT * english else "en"


def _named(locale: str) -> Language | None:
    match re.split("[-_]", locale.lower())[0]:
        case "zh" | "cmn" | "yue":
            return "zh"
        case "en":
            return "en"
        case _:
            return None
