"""The sample tenant under other names, and with as many versions of its refund policy as a test wants."""

from __future__ import annotations

import re
import shutil
from datetime import date, timedelta
from pathlib import Path

SAMPLE = Path(__file__).parents[1] / "policies" / "sample"
#: Governs the purchase of SO-1182, on 5 March 2025.
GOVERNING = "2025-02-01"
_FIRST_AFTER = date(2025, 3, 10)


def copy_of_sample(to: Path, *, slug: str, n_refund_versions: int | None = None) -> Path:
    """A folder of the sample tenant named `slug`.

    Args:
        to: Folder that gets it.
        slug: The tenant's name, and its folder's.
        n_refund_versions: Versions of `refund-eu`, one a day around the one that governs SO-1182, each with another
            window than the one before; None: those of the sample.
    """
    folder = to / slug
    shutil.copytree(SAMPLE, folder)
    settings = folder / "tenant.yaml"
    settings.write_text(re.sub(r"(?m)^tenant: .*$", f"tenant: {slug}", settings.read_text("utf-8"), count=1), "utf-8")
    if n_refund_versions is not None:
        _replace_versions(folder / "documents" / "refund-eu", n_refund_versions)
    return folder


def _replace_versions(folder: Path, n_versions: int) -> None:
    text = (folder / f"{GOVERNING}.md").read_text("utf-8")
    for path in folder.iterdir():
        if path.name != f"{GOVERNING}.md":
            path.unlink()
    n_before = (n_versions - 1) // 2
    starts = [date.fromisoformat(GOVERNING) - timedelta(days=back) for back in range(n_before, 0, -1)]
    starts += [_FIRST_AFTER + timedelta(days=on) for on in range(n_versions - 1 - n_before)]
    for number, start in enumerate(starts):
        window = (10, 21, 30)[number % 3]
        changed = text.replace(f"effective_from: {GOVERNING}", f"effective_from: {start}")
        changed = changed.replace("within 14 days", f"within {window} days").replace("value: 14", f"value: {window}")
        (folder / f"{start}.md").write_text(changed, "utf-8")
