"""What a question is about: its words without those of asking, each with how much it counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

from policies.glosses import english
from policies.text import chinese_words, is_chinese, question_tokens, tokens

#: Weight of a word of the subject, and of one that any text may have.
WORD: Final = 2.0
EVERYDAY: Final = 0.3
#: How much more a Latin word counts in a Chinese question: who changes the script names a thing. Digits are no script.
NAMED: Final = 1.5
#: Of a single character that is compared by its meanings.
CHARACTER: Final = 0.3
_LINK_TARGET: Final = re.compile(r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*\)")
#: Words of asking, not of the subject, in either language.
_ASKING_WORDS: Final = (
    "policy policies rule rules term terms say says tell know question want need help explain mean exactly "
    "she he her his him "
    "政策 规定 条款 规则 说明 请 知道 问 关于 情况"
)
#: Words of measure and small talk: they choose between passages but make no subject.
_EVERYDAY_WORDS: Final = (
    "long soon quick quickly usually guys get come go back day hour week month year time now today way thing many "
    "much lot take takes need force enough up down "
    "多久 多长 时间 天 一般 小时 钱 多少钱 月 年 日 号 说 点 算 种 有效"
)


def subject_tokens(text: str) -> dict[str, float]:
    """What the question is about: its tokens with their weights; a word counts more than one of its characters."""
    everyday = _tokens_of(_EVERYDAY_WORDS)
    asked = (token for token in question_tokens(text) if token not in _tokens_of(_ASKING_WORDS))
    return {token: _weight(token) * (EVERYDAY if token in everyday else 1.0) for token in asked}


@lru_cache(maxsize=256)
def subject_meanings(text: str) -> dict[str, tuple[float, frozenset[str]]]:
    """What the question is about: its words with their weights and all that stands for each in either language."""
    named = NAMED if is_chinese(text) else 1.0
    latin = {token: weight for token, weight in subject_tokens(text).items() if token.isascii()}
    found = {
        token: (weight * (1.0 if token.isdigit() else named), frozenset({token})) for token, weight in latin.items()
    }
    everyday, asking = _tokens_of(_EVERYDAY_WORDS), _tokens_of(_ASKING_WORDS)
    for word in chinese_words(text):
        if word not in asking:
            weight = CHARACTER if len(word) == 1 else WORD
            found[word] = (weight * (EVERYDAY if word in everyday else 1.0), english(word) | {word})
    return found


@lru_cache(maxsize=4_096)
def said_in(text: str) -> frozenset[str]:
    """The tokens of what a reader sees of a text; where its links lead is not said."""
    return frozenset(tokens(_LINK_TARGET.sub("]", text)))


def share_of(asked: Mapping[str, float], text: str) -> float:
    """The share of the weight of `asked` that stands in `text`; 0 to 1."""
    total = sum(asked.values())
    said = said_in(text)
    return sum(weight for token, weight in asked.items() if token in said) / total if total else 0.0


@cache
def _tokens_of(words: str) -> frozenset[str]:
    # Made by the first search: the Chinese half loads the segmenter, which other questions do without.
    return frozenset(question_tokens(words))


def _weight(token: str) -> float:
    if token.isascii():
        return WORD
    return {1: 0.5, 2: 1.5}.get(len(token), WORD)
