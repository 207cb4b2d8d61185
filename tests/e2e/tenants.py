"""Tenant folders made from the sample: another slug, another text, other records."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import policies

SAMPLE = Path(policies.__file__).parent / "sample"


def copy_of_sample(folder: Path, slug: str) -> Path:
    """A copy of the sample tenant's folder under another slug."""
    target = folder / slug
    shutil.copytree(SAMPLE, target)
    settings = target / "tenant.yaml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("tenant: lumen", f"tenant: {slug}", 1))
    return target


def append_to(document: Path, text: str) -> None:
    document.write_text(f"{document.read_text(encoding='utf-8').rstrip()}\n\n{text.strip()}\n", encoding="utf-8")


def add_record(folder: Path, file_name: str, like: str, **changes: Any) -> None:
    """Add a trial record: that of `like`, a value of the first column, with some columns changed."""
    file = folder / "trial" / file_name
    lines = file.read_text(encoding="utf-8").splitlines()
    model: Mapping[str, Any] = next(row for row in map(json.loads, lines) if next(iter(row.values())) == like)
    lines.append(json.dumps({**model, **changes}, ensure_ascii=False))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
