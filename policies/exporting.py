"""The store as a folder again: one folder a policy, one file a version, and an overlay of what the texts do not say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from policies.front_matter import default_effect
from policies.layout import SIDECAR
from policies.store import StoredSource
from policies.version import PolicyVersion
from policies.written_keys import stated_keys, written_date, written_keys

OVERLAY: Final = "overlay.yaml"
#: A text that states these states all that has no default.
_NEEDED: Final = frozenset({"policy", "title", "authority", "effective_from", "language"})


def exported_files(versions: Iterable[tuple[PolicyVersion, StoredSource]], *, time_zone: str) -> dict[str, str]:
    """Relative path -> text, as `policy import` reads them: the texts as published, and all that was said beside them.

    Args:
        versions: What the store holds, each with its period there.
        time_zone: The tenant's, in which a text that names none is read.
    """
    files: dict[str, str] = {}
    overlay: dict[str, dict[str, dict[str, Any]]] = {}
    for version, held in versions:
        path = f"{version.policy}/{version.version}"
        files[f"{path}.md"] = held.text
        if held.sidecar is not None:
            files[f"{path}{SIDECAR}"] = held.sidecar
        if beside := _said_beside(version, held, time_zone=time_zone):
            overlay.setdefault(version.policy, {"versions": {}})["versions"][version.version] = dict(beside)
    if overlay:
        files[OVERLAY] = yaml.safe_dump(overlay, allow_unicode=True, sort_keys=True, width=120)
    return files


def _said_beside(version: PolicyVersion, held: StoredSource, *, time_zone: str) -> Mapping[str, Any]:
    """The keys that the text and its sidecar leave to others, and a withdrawal."""
    stated = stated_keys(held.text, held.sidecar)
    keys = {key: value for key, value in written_keys(held.attributes).items() if key not in stated}
    if stated >= _NEEDED:
        defaults = {
            "topic": version.policy,
            "time_zone": time_zone,
            "effect": default_effect(version.authority),
            "audience": "public",
        }
        keys = {key: value for key, value in keys.items() if defaults.get(key) != value}
    if held.withdrawn and version.valid.end is not None:
        keys["withdrawn_from"] = written_date(version.valid.end, version.zone)
    return keys
