"""Policy documents as their authors would write them, and the tenant around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from policies.authority import DEFAULT_LADDER
from policies.document import PolicyDocument, SourceFile, parse_document
from policies.errors import Fault
from policies.facts import FactDeclaration, FactType
from policies.front_matter import Surroundings

HEAD = """\
---
policy: refund-eu
title: Refunds
authority: corporate
effective_from: 2025-02-01
language: en
---
"""


def fact(name: str, kind: FactType, *values: str) -> FactDeclaration:
    return FactDeclaration(name=name, type=kind, source="orders", values=values)


FACTS = {
    declared.name: declared
    for declared in (
        fact("order.purchased_at", "instant"),
        fact("order.delivered_on", "date"),
        fact("order.plan", "string", "annual", "monthly"),
        fact("order.note", "string"),
        fact("order.quota_used_bp", "basis_points"),
        fact("order.paid", "bool"),
        fact("order.tags", "list"),
    )
}
AROUND = Surroundings(ladder=DEFAULT_LADDER, time_zone="Europe/Berlin", facts=FACTS, region_groups=frozenset({"EU"}))


def parse(text: str, **more: Any) -> PolicyDocument | list[Fault]:
    source = SourceFile(path="refund-eu/2025-02-01.md", content=text.encode())
    return parse_document(source, around=AROUND, **more)


def document(text: str, **more: Any) -> PolicyDocument:
    """The document of a text without faults."""
    parsed = parse(text, **more)
    assert isinstance(parsed, PolicyDocument), "\n".join(map(str, parsed))
    return parsed


def faults(text: str, **more: Any) -> list[str]:
    parsed = parse(text, **more)
    assert isinstance(parsed, list)
    return [str(fault) for fault in parsed]


def put(folder: Path, **files: str | bytes) -> Path:
    """Write files into `folder`, whose keys are paths with `__` for `/`."""
    for name, content in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
