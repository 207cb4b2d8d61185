"""Checks of what stands in the clauses: words to a machine, invisible characters, references, owners."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from policies.document import PolicyDocument
from policies.lint.finding import Checked, Finding, Severity, of_document
from policies.references import REFERENCE

#: Wordings that address the program that reads a text instead of the person: English, then Chinese. What a person may
#: or may not ignore, an agent who is a person, and terms that override earlier ones are none.
_TO_A_MACHINE: Final = re.compile(
    r"(?<!if you )(?<!may )(?<!not )(?<!who )\b(?:ignore|disregard|forget)\b(?:"
    r"[^.\n]{0,30}\b(?:instruction|prompt|rule|guideline|polic(?:y|ie))s?\b"
    r"[^.\n]{0,20}\b(?:above|before|previous|prior|earlier|given|you)\b"
    r"|[^.\n]{0,30}\b(?:above|previous|prior|earlier|all other|your)\b"
    r"[^.\n]{0,20}\b(?:instruction|prompt|rule|guideline|message)s?\b)"
    r"|\boverride\b[^.\n]{0,30}\b(?:instruction|prompt)s?\b"
    r"|\b(?:you are|act as|pretend to be)\b[^.\n]{0,20}\b(?:ai|assistant|chat ?bot|language model|llm)\b"
    r"|\b(?:ai|chat ?bot|language model|llm)s?\b(?: assistants?| agents?)?\s*(?:[:,]|must|should|shall)[^.\n]{0,40}"
    r"\b(?:answer|reply|respond|say|approve|tell|output|ignore|reveal)\b"
    r"|</?\s*(?:system|assistant|evidence|instructions?|prompt)\b[^>\n]{0,40}>"
    r"|^\s*(?:system|assistant)\s*(?:prompt|message)?\s*:"
    r"|\bsystem (?:prompt|override)\b"
    r"|(?<!如)(?<!若)(?<!果)(?<!得)(?<!不要)(?<!请勿)(?:忽略|无视|不要理会|忘记)(?:"
    r"[^。，\n]{0,12}(?:指令|指示|提示词|系统提示)|(?:之前|以上|上述|前面|所有|你的)[^。，\n]{0,8}(?:规则|要求|说明))"
    r"|(?:你是|请扮演|扮演)[^。\n]{0,8}(?:助手|机器人|人工智能|语言模型|AI|客服系统)"
    r"|(?:AI|助手|机器人|语言模型|人工智能)[^。\n]{0,6}(?:必须|应当|应该|请)[^。\n]{0,10}(?:回答|回复|批准|输出|告诉|说)"
    r"|系统(?:提示词|消息|指令)\s*[:：]",
    re.IGNORECASE | re.MULTILINE,
)
#: Soft and joining characters have their uses; these only hide or turn around what a reader sees.
_HIDDEN: Final = re.compile("[\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\U000e0000-\U000e007f]")
#: These have no width; they come along with text that is copied from a page.
_CAME_ALONG: Final = frozenset("\u200b\u2060")
_LINK: Final = re.compile(r"\]\(#(?P<anchor>[^)\s]+)\)")


def texts(checked: Checked) -> Iterator[Finding]:
    for draft in checked.final:
        if draft.front_matter.owner is None:
            yield of_document(
                draft, "no-owner", "warning", "nobody owns its clauses",
                "add owner: to the front matter, so that a question about them finds somebody",
            )  # fmt: skip
        yield from _hidden(draft)
        yield from _to_a_machine(draft)
        yield from _references(draft, checked)


def _hidden(draft: PolicyDocument) -> Iterator[Finding]:
    for number, line in enumerate(draft.text.splitlines(), start=1):
        found = list(_HIDDEN.finditer(line))
        worst = next((character for character in found if character[0] not in _CAME_ALONG), found[0] if found else None)
        if worst is not None:
            yield of_document(
                draft, "hidden-text", "warning" if worst[0] in _CAME_ALONG else "error",
                f"column {worst.start() + 1}: the character U+{ord(worst[0]):04X} cannot be seen and hides or turns "
                "around text", "delete it", line=number,
            )  # fmt: skip


def _to_a_machine(draft: PolicyDocument) -> Iterator[Finding]:
    for clause in draft.clauses:
        for passage in clause.passages:
            found = _TO_A_MACHINE.search(_HIDDEN.sub("", passage.text))
            if found is not None:
                yield of_document(
                    draft, "machine-instruction", "error",
                    f"{found[0].strip()!r} speaks to a machine, not to a customer",
                    "reword the passage or take it out; it would be quoted as it stands", line=passage.lines[0],
                )  # fmt: skip


def _references(draft: PolicyDocument, checked: Checked) -> Iterator[Finding]:
    """Clauses that point at a clause which is not there: in this text by link, elsewhere by `policy#clause`."""
    own = {clause.anchor for clause in draft.clauses}
    anchors: dict[str, set[str]] = {}
    for document in checked.all:
        names = {clause.anchor for clause in document.clauses}
        anchors.setdefault(document.policy, set()).update(names)
        anchors[f"{document.policy}@{document.version}"] = names
    for clause in draft.clauses:
        for passage in clause.passages:
            links = dict.fromkeys(link["anchor"] for link in _LINK.finditer(passage.text))
            missing = [anchor for anchor in links if anchor not in own]
            if missing:
                # A page's own anchors are lost when it becomes Markdown; what another version has was taken out.
                severity: Severity = "warning" if anchors[draft.policy].isdisjoint(missing) else "error"
                named = ", ".join(f"#{anchor}" for anchor in missing)
                yield of_document(
                    draft, "clause-reference", severity, f"links to {named}, which this text has not",
                    "link to a clause that is there, or give the clause this anchor: {#…} behind its heading",
                    line=passage.lines[0],
                )  # fmt: skip
            for named_clause in REFERENCE.finditer(passage.text):
                policy, version = named_clause["policy"], named_clause["version"]
                target = policy if version is None else f"{policy}@{version}"
                if policy in anchors and named_clause["clause"] not in anchors.get(target, set()):
                    yield of_document(
                        draft, "clause-reference", "error", f"cites {named_clause[0]}, which is not there",
                        "cite a clause that is there", line=passage.lines[0],
                    )  # fmt: skip
