"""Policy documents for tests of the store: written as an author would, read by the real parser."""

from __future__ import annotations

from policies.authority import DEFAULT_LADDER
from policies.document import PolicyDocument, SourceFile, parse_document
from policies.facts import FactDeclaration
from policies.front_matter import Surroundings

AROUND = Surroundings(
    ladder=DEFAULT_LADDER,
    time_zone="UTC",
    facts={
        "order.purchased_at": FactDeclaration(name="order.purchased_at", type="instant", source="orders"),
    },
    region_groups=frozenset({"EU"}),
)

REFUND_BODY = """
## Refund window {#window}
Annual plans can be returned within 30 days of purchase.

```terms
refund.window_days: {value: 30, better: higher}
refund.eligible: days_since(order.purchased_at) <= refund.window_days
```
"""


def written(
    version: str = "2025-01-01",
    *,
    policy: str = "refund",
    topic: str = "refund",
    starts: str | None = None,
    ends: str | None = None,
    body: str = REFUND_BODY,
    **keys: object,
) -> PolicyDocument:
    """One version; it starts on the day of its name unless `starts` says otherwise. `keys` are front matter."""
    head = {
        "policy": policy,
        "topic": topic,
        "title": "Refund policy",
        "authority": "corporate",
        "language": "en",
        "effective_from": starts or version,
        **({"effective_to": ends} if ends else {}),
        **keys,
    }
    lines = "\n".join(f"{key}: {value}" for key, value in head.items())
    source = SourceFile(path=f"{policy}/{version}.md", content=f"---\n{lines}\n---\n{body}".encode())
    document = parse_document(source, around=AROUND)
    assert isinstance(document, PolicyDocument), document
    return document


def window(days: int) -> str:
    """A body whose refund window is `days`."""
    return REFUND_BODY.replace("30", str(days))
