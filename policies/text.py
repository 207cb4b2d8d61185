"""What text is compared by: cleaned, folded, and cut into the tokens that full-text search indexes and asks with.

English words are stemmed. Chinese is folded to simplified characters and gives single characters, pairs of neighbours
and the longer words that a dictionary knows; a word of two characters is its pair, so nothing is counted twice.
The segmenter (about 150 ms of start-up), the converter (15 ms) and the stemmer (20 ms) are loaded by the first text
that needs them: an English text loads neither of the Chinese parts, and simplified text does not load the converter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

#: Han characters, for use inside a character class of a regular expression.
HAN: Final = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"

_HAN_RUN = re.compile(f"[{HAN}]+")
# Soft hyphen, zero-width and bidirectional marks, variation selectors, tag characters: what no reader sees.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_LINE_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")

# Characters of the simplified set GB 2312 that the converter changes all the same.
_CHANGED_THOUGH_SIMPLIFIED = frozenset("乾菸薹拚捱摺吒後徵夥榘於袷麴醣麽")

_SAME_WORD = str.maketrans("帐妳", "账你")

_PIECE = re.compile(
    f"(?P<han>[{HAN}]+)"
    r"|(?P<amount>[$€£¥]?[0-9]+(?:[.,][0-9]+)*%?)(?![a-z0-9])"
    r"|(?P<code>[a-z]*[-_]?[0-9]+(?:[-_]?[a-z0-9]+)*)"
    rf"|(?P<word>[^\W\d_{HAN}]+(?:'[^\W\d_{HAN}]+)*)"
)
_LATIN_WORD = re.compile("[A-Za-z]{2,}")
_CODE_PART = re.compile("[a-z]{2,}|[0-9]+")
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")

_STOP_WORDS_TEXT = """
a about after all also am an and any are as at be been being but by can could did do does for from get had has have
how i if in into is it its just may me might my no nor of off on or our out over please shall should so some still
than that the their them then there these they this those to too under us was we were what when where whether which
while who whose why will with would you your i'd i'll i'm i've it's we'd we'll we're we've can't cannot don't
doesn't didn't isn't there's what's
"""
_STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())

_CHINESE_FUNCTION_CHARACTERS = frozenset(
    "的了吗呢吧啊呀嘛哦着过地得是在有和与或及而且但就也都还又再很太更最我你您他她它们这那哪此该其谁什么怎样几请问"
    "把被给让从向对于关为以因所如若则能可会要想应之个些并并且跟同等"
)
_CHINESE_STOP_WORDS_TEXT = """
我们 你们 他们 她们 它们 这个 那个 哪个 这些 那些 哪些 什么 怎么 怎样 如何 为什么 是否 可以 能够 能否 可否 请问 一下
因为 所以 如果 还是 或者 但是 而且 并且 对于 关于 已经 是不是 能不能 可不可以 有没有 现在 多少
"""
_CHINESE_STOP_WORDS = frozenset(_CHINESE_STOP_WORDS_TEXT.split())


def normalise(text: str) -> str:
    """The text in NFC without what no reader sees; control characters become spaces, line breaks become line feeds."""
    if text.isascii() and text.isprintable():
        return text
    visible = _SURROGATE.sub("\ufffd", _INVISIBLE.sub("", text))
    return unicodedata.normalize("NFC", _CONTROL.sub(" ", _LINE_BREAK.sub("\n", visible)))


def fold(text: str) -> str:
    """The text as it is compared: NFKC, without case, traditional characters as simplified ones."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return simplified(folded).replace("’", "'")


def simplified(text: str) -> str:
    """The text with traditional characters turned into simplified ones; simplified text comes back as it is."""
    if text.isascii():
        return text
    converted = _converter()(text) if _has_traditional("".join(_HAN_RUN.findall(text))) else text
    # Written both ways on either side of the strait, so the converter leaves them.
    return converted.translate(_SAME_WORD).replace("甚么", "什么")


def tokens(text: str) -> list[str]:
    """What full-text search indexes of a text, in reading order, repeated as often as it occurs.

    English words come as stems, numbers as they stand (`14`, `$25` also as `25`), codes whole and in parts
    (`so-1182`, `so`, `1182`), Chinese as characters, pairs and dictionary words.
    """
    return list(_tokens(fold(normalise(text)), chinese=_indexed_chinese, skipped=frozenset()))


def question_tokens(text: str) -> list[str]:
    """What full-text search asks with: the tokens of a question without the words that every text has, each once."""
    found = _tokens(fold(normalise(text)), chinese=_asked_chinese, skipped=_STOP_WORDS)
    return list(dict.fromkeys(found))


def is_chinese(text: str) -> bool:
    """Whether a text is written in Chinese, names and codes in Latin letters notwithstanding."""
    if text.isascii():
        return False
    n_chinese = sum(len(run) for run in _HAN_RUN.findall(text))
    return n_chinese > 0 and n_chinese >= len(_LATIN_WORD.findall(text))


def chinese_words(text: str) -> list[str]:
    """The Chinese words of a text, simplified, without those that every text has; each once."""
    runs = _HAN_RUN.findall(fold(normalise(text)))
    words = dict.fromkeys(word for run in runs for word in _words(run))
    return [w for w in words if w not in _CHINESE_STOP_WORDS and w not in _CHINESE_FUNCTION_CHARACTERS]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a folded English word; a word of another alphabet is its own stem."""
    return _stemmer()(word) if len(word) > 2 and word.isascii() else word  # noqa: PLR2004 - shorter ones are pairs and characters


def _tokens(folded: str, *, chinese: Callable[[str], Iterator[str]], skipped: frozenset[str]) -> Iterator[str]:
    for piece in _PIECE.finditer(folded):
        match piece.lastgroup, piece[0]:
            case "word", word if word not in skipped:
                yield stem(word)
            case "han", run:
                yield from chinese(run)
            case "amount", amount:
                yield from _amount(_THOUSANDS.sub("", amount))
            case "code", code:
                yield from dict.fromkeys((code.lstrip("-_"), *_CODE_PART.findall(code)))


def _amount(amount: str) -> Iterator[str]:
    yield amount
    if (number := amount.strip("$€£¥%")) != amount:
        yield number


def _indexed_chinese(run: str) -> Iterator[str]:
    yield from run
    yield from map("".join, pairwise(run))
    yield from (word for word in _words(run) if len(word) > 2)  # noqa: PLR2004 - shorter ones are pairs and characters


def _asked_chinese(run: str) -> Iterator[str]:
    words = [word for word in _words(run) if len(word) > 1 and word not in _CHINESE_STOP_WORDS]
    yield from (character for character in run if character not in _CHINESE_FUNCTION_CHARACTERS)
    for first, second in pairwise(run):
        # A pair with a function character is kept only as a word (有效, 对公): across words it says nothing.
        if first + second in words or not {first, second} & _CHINESE_FUNCTION_CHARACTERS:
            yield first + second
    yield from (word for word in words if len(word) > 2)  # noqa: PLR2004 - shorter ones are pairs and characters


def segments(run: str) -> list[str]:
    """A run of Chinese characters as the words it is made of, each character in one of them."""
    return _segmenter()(run)


def _words(run: str) -> list[str]:
    return _segmenter()(run) if len(run) > 1 else [run]


def _has_traditional(characters: str) -> bool:
    try:
        characters.encode("gb2312")
    except UnicodeEncodeError:
        return True
    return not _CHANGED_THOUGH_SIMPLIFIED.isdisjoint(characters)


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer  # noqa: PLC0415 Loaded by the first text that needs it.

    stem_word: Callable[[str], str] = snowballstemmer.stemmer("english").stemWord
    return stem_word


@cache
def _converter() -> Callable[[str], str]:
    import opencc  # noqa: PLC0415 Loaded by the first text that needs it.

    convert: Callable[[str], str] = opencc.OpenCC("t2s").convert
    return convert


@cache
def _segmenter() -> Callable[[str], list[str]]:
    import rjieba  # noqa: PLC0415 Loaded by the first text that needs it.

    return rjieba.cut
