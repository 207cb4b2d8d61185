"""Reads playbooks: YAML to domain values, or all faults of all files at once, each with its line.

Nothing is ignored: an unknown key, a missing language, an expression over undeclared facts and a wording that prints
what no need and no calculation gives are refused. A later playbook replaces an earlier one of the same id. A packaged
playbook that names facts which the tenant does not declare is left out, for it was not written for this tenant; facts
that are not critical to it are left out instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

from policies.errors import Fault
from policies.facts import Facts, FactType
from policies.marked_yaml import Entry, load_marked
from support_agent.domain.playbook import AssertedSlot, ClaimWording, NextStep, Playbook, PlaybookNeed, Wording
from support_agent.domain.question import Language
from support_agent.playbooks.vocabulary import Vocabulary
from support_agent.playbooks.wordings import wording_faults

LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")
_FOLDER: Final = Path(__file__).parent

_KEYS: Final = frozenset(
    (
        "id examples triggers requires unless slots needs form decide on_conflict calculations wording next_step mode"
    ).split()
)
_FORMS: Final = ("decision", "facts", "passages", "comparison")
_ORDER_WAYS: Final = ("order_number", "time_range", "item_words")


def parse_playbooks(
    texts: Mapping[str, str], *, facts: Facts, trial: bool = True
) -> tuple[Playbook, ...] | list[Fault]:
    """The playbooks in `texts` (path -> YAML), in order of their ids, or every fault.

    Args:
        texts: Packaged ones first; the path is named in faults.
        facts: What the tenant declares.
        trial: Whether wordings are compiled and said once on sample values; not needed again for what passed before.
    """
    read = [read_playbook(path, text, facts=facts, trial=trial) for path, text in texts.items()]
    faults = [fault for one in read if not one.packaged for fault in one.faults]
    playbooks = {one.playbook.id: one.playbook for one in read if one.playbook is not None and not one.faults}
    return sorted(faults, key=lambda fault: fault.place) or tuple(playbooks[id_] for id_ in sorted(playbooks))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookFile:
    """One file as it was read."""

    path: str
    text: str
    packaged: bool
    #: As far as it could be read.
    playbook: Playbook | None
    #: With any, the playbook is not used: a packaged one is left out, another is refused.
    faults: tuple[Fault, ...]


def read_playbook(path: str, text: str, *, facts: Facts, trial: bool = True) -> PlaybookFile:
    """One playbook with what is wrong with it; the arguments are those of `parse_playbooks`."""
    packaged = text in _packaged()
    reader = _Reader(path, facts, trial=trial, packaged=packaged)
    playbook = reader.read(text)
    return PlaybookFile(path=path, text=text, packaged=packaged, playbook=playbook, faults=tuple(reader.faults))


@cache
def _packaged() -> frozenset[str]:
    return frozenset(path.read_text(encoding="utf-8") for path in _FOLDER.glob("*.yaml"))


class _Reader:
    """Reads one file; each method gives a value that is good enough to go on and notes what is wrong with it."""

    def __init__(self, path: str, facts: Facts, *, trial: bool, packaged: bool) -> None:
        self.faults: list[Fault] = []
        self._path = path
        self._facts = facts
        self._trial = trial
        self._packaged = packaged
        self._vocabulary = Vocabulary(facts)

    def read(self, text: str) -> Playbook | None:
        entry = load_marked(text, path=self._path)
        if isinstance(entry, Fault):
            self.faults.append(entry)
            return None
        keys = self._keys(entry, _KEYS, required=("id", "examples", "triggers", "needs", "form"))
        if keys is None:
            return None
        needs = self._needs(keys)
        self._vocabulary.add_terms(name for need in needs for name in need.gives if need.source in {"policy", "faq"})
        form = self._choice(keys, "form", _FORMS, default="decision")
        decide = self._decide(keys, form, needs)
        asserted, order, topic = self._slots(keys)
        calculations = self._calculations(keys)
        return Playbook(
            id=self._text(keys.get("id")),
            examples=self._phrases(keys.get("examples")),
            triggers=self._phrases(keys.get("triggers")),
            requires=self._phrases(keys.get("requires")),
            unless=self._phrases(keys.get("unless")),
            order_slot=cast("Any", order),
            topic_slot=topic,
            asserted=asserted,
            needs=needs,
            form=cast("Any", form),
            decide=decide,
            on_conflict=cast("Any", self._choice(keys, "on_conflict", ("escalate", "annotate"), default="escalate")),
            calculations=calculations,
            wording=tuple(self._sentence(item, calculations) for item in self._list(keys, "wording")),
            next_steps=tuple(self._next_step(item) for item in self._list(keys, "next_step")),
            mode=cast("Any", self._choice(keys, "mode", ("off", "shadow", "draft", "send"), default="draft")),
        )

    def _fault(self, entry: Entry | None, message: str, remedy: str) -> None:
        line, column = (entry.line, entry.column) if entry is not None else (1, None)
        self.faults.append(Fault(path=self._path, line=line, column=column, message=message, remedy=remedy))

    def _keys(
        self, entry: Entry, allowed: frozenset[str], *, required: Sequence[str] = ()
    ) -> Mapping[str, Entry] | None:
        mapping = entry.mapping()
        if mapping is None:
            self._fault(entry, "not a mapping", f"write its keys: {', '.join(sorted(allowed))}")
            return None
        for name in mapping:
            if name not in allowed:
                self._fault(mapping[name], f"unknown key {name!r}", f"known are {', '.join(sorted(allowed))}")
        for name in required:
            if name not in mapping:
                self._fault(entry, f"{name!r} is missing", "add it")
        return mapping

    def _list(self, keys: Mapping[str, Entry], name: str) -> list[Entry]:
        return keys[name].items() if name in keys else []

    def _text(self, entry: Entry | None) -> str:
        if entry is None:
            return ""
        if not isinstance(entry.value, str) or not entry.value.strip():
            self._fault(entry, "not text", "write text, in quotes where YAML would read it otherwise")
            return ""
        return entry.value.strip()

    def _texts(self, entry: Entry | None) -> tuple[str, ...]:
        return tuple(self._text(item) for item in entry.items()) if entry is not None else ()

    def _choice(self, keys: Mapping[str, Entry], name: str, choices: Sequence[str], *, default: str) -> str:
        entry = keys.get(name)
        if entry is None:
            return default
        # YAML reads a bare `off` as text here, for only true and false are booleans.
        if entry.value not in choices:
            self._fault(entry, f"{name} is {entry.value!r}", f"use one of {', '.join(choices)}")
            return default
        return str(entry.value)

    def _phrases(self, entry: Entry | None) -> Mapping[Language, tuple[str, ...]]:
        keys = self._keys(entry, frozenset(LANGUAGES), required=LANGUAGES) if entry is not None else None
        return {language: self._texts((keys or {}).get(language)) for language in LANGUAGES}

    def _wording(self, keys: Mapping[str, Entry]) -> Wording:
        return {language: self._text(keys.get(language)) for language in LANGUAGES}

    def _needs(self, keys: Mapping[str, Entry]) -> tuple[PlaybookNeed, ...]:
        """The needs; each may only wait for earlier ones, so that no two wait for each other."""
        needs: list[PlaybookNeed] = []
        seen: set[str] = set()
        left_out: set[str] = set()
        for entry in self._list(keys, "needs"):
            need = self._need(entry)
            if need.id in seen:
                self._fault(entry, f"the need {need.id!r} stands twice", "name each need once")
            for name in need.after:
                if name not in seen:
                    self._fault(entry, f"{need.id!r} comes after {name!r}, which is no earlier need", "reorder them")
            seen.add(need.id)
            if need.gives or not self._packaged:
                needs.append(replace(need, after=tuple(name for name in need.after if name not in left_out)))
            else:
                left_out.add(need.id)
        return tuple(needs)

    def _need(self, entry: Entry) -> PlaybookNeed:
        allowed = frozenset({"id", "source", "gives", "topic", "after", "critical"})
        keys = self._keys(entry, allowed, required=("id", "source", "gives")) or {}
        critical = keys["critical"].value if "critical" in keys else True
        if not isinstance(critical, bool):
            self._fault(keys["critical"], "critical is not true or false", "write true or false")
        source = self._text(keys.get("source"))
        return PlaybookNeed(
            id=self._text(keys.get("id")),
            source=source,
            gives=tuple(self._given(keys.get("gives"), source, critical=critical is True)),
            topic=self._text(keys["topic"]) if "topic" in keys else None,
            after=self._texts(keys.get("after")),
            critical=critical is True,
        )

    def _given(self, entry: Entry | None, source: str, *, critical: bool) -> Iterator[str]:
        for item in entry.items() if entry is not None else ():
            name = self._text(item)
            declared = self._facts.get(name)
            if source in {"policy", "faq"} or (declared is not None and declared.source == source):
                yield name
            elif critical or not self._packaged:
                self._fault(item, f"{name!r} is no fact of {source!r}", "declare it in facts.yaml with this source")
                yield name

    def _decide(self, keys: Mapping[str, Entry], form: str, needs: Sequence[PlaybookNeed]) -> str | None:
        decide = self._text(keys["decide"]) if "decide" in keys else None
        if (decide is not None) != (form == "decision"):
            self._fault(
                keys.get("decide", keys.get("form")),
                "decide and form do not fit",
                "a decision, and only it, has decide",
            )
        elif decide is not None and not any(decide in need.gives for need in needs):
            self._fault(keys["decide"], f"no need gives {decide!r}", "add it to what the policy need gives")
        if decide is not None:
            self._vocabulary.define(decide, "bool")
        return decide

    def _slots(self, keys: Mapping[str, Entry]) -> tuple[tuple[AssertedSlot, ...], tuple[str, ...], bool]:
        slots = keys["slots"].mapping() if "slots" in keys else {}
        if slots is None:
            self._fault(keys["slots"], "slots is not a mapping", "write order, topic, or a fact with its values")
            slots = {}
        order = self._order_slot(slots["order"]) if "order" in slots else ()
        topic = slots["topic"].value if "topic" in slots else False
        if not isinstance(topic, bool):
            self._fault(slots["topic"], "topic is not true or false", "write true or false")
        facts = [(name, entry) for name, entry in slots.items() if name not in {"order", "topic"}]
        return tuple(self._asserted(name, entry) for name, entry in facts), order, topic is True

    def _order_slot(self, entry: Entry) -> tuple[str, ...]:
        keys = self._keys(entry, frozenset({"kind", "from"}), required=("from",)) or {}
        ways = self._texts(keys.get("from"))
        for way, item in zip(ways, keys["from"].items() if "from" in keys else (), strict=True):
            if way not in _ORDER_WAYS:
                self._fault(item, f"an order cannot be found by {way!r}", f"use {', '.join(_ORDER_WAYS)}")
        return ways

    def _asserted(self, name: str, entry: Entry) -> AssertedSlot:
        keys = self._keys(entry, frozenset({"values", "ask"}), required=("values", "ask")) or {}
        declared = self._facts.get(name)
        if declared is None:
            self._fault(
                entry, f"the slot {name!r} is no declared fact", "declare it in facts.yaml with source customer"
            )
        values = keys["values"].mapping() if "values" in keys else {}
        for value, words in (values or {}).items():
            if declared is not None and declared.values and value not in declared.values:
                self._fault(words, f"{name} is never {value!r}", f"its values are {', '.join(declared.values)}")
        ask = self._keys(keys["ask"], frozenset(LANGUAGES), required=LANGUAGES) if "ask" in keys else None
        return AssertedSlot(
            fact=name,
            values={value: self._phrases(words) for value, words in (values or {}).items()},
            ask=self._wording(ask or {}),
        )

    def _calculations(self, keys: Mapping[str, Entry]) -> dict[str, str]:
        mapping = keys["calculations"].mapping() if "calculations" in keys else {}
        if mapping is None:
            self._fault(keys["calculations"], "calculations is not a mapping", "write NAME: CEL")
        calculations: dict[str, str] = {}
        for name, entry in (mapping or {}).items():
            expression = self._text(entry)
            if "." not in name:
                self._fault(entry, f"{name!r} is no calculation's name", "write TOPIC.NAME, e.g. refund.deadline")
            calculations[name] = expression
            self._vocabulary.define(name, self._checked(entry, expression))
        return calculations

    def _when(self, keys: Mapping[str, Entry]) -> str | None:
        if "when" not in keys:
            return None
        entry = keys["when"]
        condition = self._text(entry)
        if self._checked(entry, condition) not in {None, "bool"}:
            self._fault(entry, "the condition is not true or false", "compare something")
        return condition

    def _checked(self, entry: Entry, expression: str) -> FactType | None:
        """The type of `expression`, None when it is at fault or unknown."""
        if not expression:
            return None
        checked = self._vocabulary.check(expression)
        if isinstance(checked, tuple):
            self._fault(entry, *checked)
            return None
        return checked

    def _sentence(self, entry: Entry, calculations: Mapping[str, str]) -> ClaimWording:
        keys = self._keys(entry, frozenset({*LANGUAGES, "cites", "when"}), required=(*LANGUAGES, "cites")) or {}
        cites = self._texts(keys.get("cites"))
        for name, item in zip(cites, keys["cites"].items() if "cites" in keys else (), strict=True):
            if name not in self._vocabulary and name not in calculations:
                self._fault(item, f"cites {name!r}, which no need gives", "cite facts and terms of this playbook")
        if "cites" in keys and not cites:
            self._fault(keys["cites"], "cites nothing", "every sentence rests on something: cite it")
        text = self._wording(keys)
        self._templates(keys)
        return ClaimWording(text=text, cites=cites, when=self._when(keys))

    def _next_step(self, entry: Entry) -> NextStep:
        keys = self._keys(entry, frozenset({*LANGUAGES, "when"}), required=LANGUAGES) or {}
        self._templates(keys)
        return NextStep(text=self._wording(keys), when=self._when(keys))

    def _templates(self, keys: Mapping[str, Entry]) -> None:
        if not self._trial:
            return
        for language in LANGUAGES:
            entry = keys.get(language)
            if entry is not None and isinstance(entry.value, str):
                for message, remedy in wording_faults(entry.value, self._vocabulary, trial=self._trial):
                    self._fault(entry, message, remedy)
