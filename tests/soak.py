"""How long the property tests run: `make test` takes the short numbers, `make soak` the long ones.

A test names both, so that its cost is read where it stands:
`@settings(max_examples=examples(default=2_000, soak=100_000))`.
"""

from __future__ import annotations

import os

#: Read once, at collection: the profile holds for the whole run.
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")


def examples(*, default: int, soak: int) -> int:
    """The number of examples in the profile of this run."""
    return soak if PROFILE == "soak" else default
