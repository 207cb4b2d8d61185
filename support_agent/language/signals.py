"""What a question is besides its subject: a wish for a person, small talk, somebody else's data, internal material."""

from __future__ import annotations

import re
from functools import cache

from support_agent.domain.reading import Signal
from support_agent.language.signal_phrases import (
    CONTINUES,
    GENERAL,
    INTERNAL,
    OTHER_PERSON,
    OWN,
    PERSON,
    PERSONAL,
    REFERS,
    RISK,
)

#: Small talk and abuse end a question only when nothing else stands in it.
_SMALL_TALK = r"""
(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|greetings)(?: there| all| everyone)?
(?:thanks|thank you|thx|cheers|ty)(?: (?:so much|very much|a lot|again|for (?:your|the) help))?
how are you(?: doing)?(?: today)?
what(?:'s| is) up
(?:are you|r u) (?:a )?(?:bot|robot|human|real|there)
who are you
(?:tell me|know) a joke
(?:ok|okay|cool|great|nice|bye|goodbye|see you|lol|haha+)
(?:you(?:'re| are)? )?(?:stupid|idiots?|useless|dumb|morons?|crap|rubbish)(?: (?:bot|robot|machine|company))?
(?:fuck|screw|damn) (?:you|off|this|it)
(?:您|你)(?:们)?好(?:呀|啊|吗)?
(?:哈喽|嗨|早上好|下午好|晚上好|早安|晚安|早)
(?:谢谢|多谢|感谢|谢啦)(?:您|你|你们)?(?:的帮助)?(?:了|啦)?
(?:在吗|在不在|有人吗|再见|拜拜|好的|哈哈+|嗯+)
(?:你是谁|你是机器人吗|你是真人吗|讲个笑话|你叫什么(?:名字)?|今天天气怎么样|你吃饭了吗)
(?:你|你们)?(?:真|太|好)?(?:傻|蠢|笨|垃圾|废物|混蛋|白痴|智障)(?:死了|透了)?(?:的?机器人)?
(?:他妈的|滚|去死|操)
"""
_LATIN = re.compile("[a-z]{2}")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_FILLER = r"[\s\W_]*"
_KEYS_IN_A_ROW = re.compile(r"(?:asdf|qwer|zxcv|hjkl|jkl|dfgh|sdfg)[a-z]*")


def read_signals(folded: str) -> frozenset[Signal]:
    """The signals of a question, from its folded text."""
    found = {signal for signal, phrases in _LISTED.items() if _contains(folded, phrases)}
    if "other_person" in found and not _contains(_without(folded, OWN), OTHER_PERSON):
        found.remove("other_person")
    if "general" in found and _contains(folded, PERSONAL):
        found.remove("general")
    if _small_talk().fullmatch(folded) or _is_gibberish(folded):
        found.add("small_talk")
    return frozenset(found)


_LISTED: dict[Signal, str] = {
    "risk": RISK,
    "person": PERSON,
    "other_person": OTHER_PERSON,
    "internal": INTERNAL,
    "general": GENERAL,
    "continues": CONTINUES,
    "refers": REFERS,
}


def _is_gibberish(folded: str) -> bool:
    """Whether no word stands in the text: only signs, or keys struck at random."""
    words = re.findall(r"[^\W_]+", folded)
    if not all(word.isascii() and word.isalpha() for word in words):
        return False
    return all(_KEYS_IN_A_ROW.fullmatch(word) for word in words) or all(
        not re.search(r"[aeiouy]", word) or re.search(r"[^aeiouy]{6,}|(.)\1{3,}", word) for word in words
    )


def _contains(folded: str, phrases: str) -> bool:
    patterns = _patterns(phrases, english=_LATIN.search(folded) is not None, chinese=not folded.isascii())
    return any(pattern.search(folded) for pattern in patterns)


def _without(folded: str, phrases: str) -> str:
    for pattern in _patterns(phrases, english=True, chinese=True):
        folded = pattern.sub(" ", folded)
    return folded


@cache
def _patterns(phrases: str, *, english: bool, chinese: bool) -> tuple[re.Pattern[str], ...]:
    """The phrases of the languages that stand in a text: one pattern each."""
    lines = [line for line in phrases.replace("\n  ", "").splitlines() if line]
    in_english = [line for line in lines if not _HAN.search(line)]
    in_chinese = [line for line in lines if _HAN.search(line)]
    patterns = [rf"\b(?:{'|'.join(in_english)})"] if english and in_english else []
    patterns += ["|".join(in_chinese)] if chinese and in_chinese else []
    return tuple(map(re.compile, patterns))


@cache
def _small_talk() -> re.Pattern[str]:
    phrase = "|".join(line for line in _SMALL_TALK.splitlines() if line)
    return re.compile(f"{_FILLER}(?:{phrase})(?:{_FILLER}(?:{phrase}))*{_FILLER}")
