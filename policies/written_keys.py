"""Front matter as an author writes it, made from what the store holds; and an old text given a new start."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import yaml

from policies.applicability import DIMENSIONS
from policies.layout import own_head_of
from policies.version import Reference

_PLAIN: Final = (
    "policy", "title", "topic", "time_zone", "authority", "effect", "governed_by", "rendition_of", "audience",
    "language", "owner", "source",
)  # fmt: skip


def written_keys(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The front-matter keys that say what a stored document's attributes hold; what says nothing is left out."""
    zone = ZoneInfo(attributes["time_zone"])
    keys: dict[str, Any] = {name: attributes[name] for name in _PLAIN if attributes.get(name) is not None}
    keys |= {
        key: written_date(datetime.fromisoformat(attributes[name]), zone)
        for key, name in (("effective_from", "starts"), ("effective_to", "ends"))
        if attributes.get(name) is not None
    }
    limits = {name: values for name in DIMENSIONS if (values := attributes["applies_to"].get(name)) is not None}
    relations = {
        "applies_to": limits,
        "transition": [
            {"from": step["from_version"], "when": step["when"], "take": step["take"]}
            for step in attributes["transition"]
        ],
        "supersedes": [str(Reference(**target)) for target in attributes["supersedes"]],
        "amends": [str(Reference(**target)) for target in attributes["amends"]],
        "delegates": [{"to": part["to"], "terms": sorted(part["terms"])} for part in attributes["delegates"]],
    }
    return keys | {name: value for name, value in relations.items() if value}


def written_date(instant: datetime, zone: ZoneInfo) -> str:
    """`instant` as a date where it begins a day in `zone`, else with its offset."""
    local = instant.astimezone(zone)
    begins = (local.hour, local.minute, local.second, local.microsecond) == (0, 0, 0, 0) and local.fold == 0
    return local.date().isoformat() if begins else local.isoformat()


def stated_keys(text: str, sidecar: str | None) -> frozenset[str]:
    """The front-matter keys that a text states in its head, or its sidecar for it."""
    head = own_head_of(text)
    own = _mapping(head["yaml"]) if head is not None else {}
    beside = _mapping(sidecar or "").get("front_matter") or {}
    return frozenset((*own, *beside))


def _mapping(text: str) -> dict[str, Any]:
    loaded = yaml.safe_load(text)
    return loaded if isinstance(loaded, dict) else {}


def restarted(text: str, *, start: str) -> str:
    """A document's text with its own `effective_from` set to `start`, and its own end taken away.

    A text that states no start keeps every letter: what speaks for it stands beside it.
    """
    head = own_head_of(text)
    if head is None:
        return text
    first, last = head.span("yaml")
    return text[:first] + _restarted_keys(head["yaml"], start=start) + text[last:]


def _restarted_keys(yaml: str, *, start: str) -> str:
    moved = re.sub(r"^effective_from\s*:.*$", f"effective_from: {start}", yaml, flags=re.MULTILINE)
    return re.sub(r"^effective_to\s*:.*\n", "", moved, flags=re.MULTILINE)
