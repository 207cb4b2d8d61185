"""What is wrong with policies before they are published, or with what is published.

Each module checks one kind of thing: `timelines` dates, `relations` what one policy says of another, `contradictions`
values, `texts` what stands in the clauses. A pure function of documents: nothing is read and no clock is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain

from policies.applicability import RegionGroups
from policies.authority import Ladder
from policies.document import PolicyDocument
from policies.lint.contradictions import contradictions
from policies.lint.finding import Checked, Finding
from policies.lint.relations import relations
from policies.lint.texts import texts
from policies.lint.timelines import after, timelines

__all__ = ["Finding", "lint"]


def lint(
    drafts: Sequence[PolicyDocument],
    *,
    published: Iterable[PolicyDocument],
    ladder: Ladder,
    groups: RegionGroups,
    now: datetime,
) -> list[Finding]:
    """Everything to be said of `drafts`, by path and line; of versions that have ended only the errors.

    Args:
        drafts: Versions that are to be published together; what is published already may be among them.
        published: What is published, each with its own end or that of its withdrawal; a draft of the same name
            replaces it.
        ladder: The tenant's.
        groups: The tenant's groups of regions.
        now: When they would be published.
    """
    checked = Checked(
        drafts=tuple(drafts),
        all=after(drafts, published),
        published=frozenset((document.policy, document.version) for document in published),
        ladder=ladder,
        groups=groups,
        now=now,
    )
    over = checked.over
    found = {
        finding
        for finding in chain(timelines(checked), relations(checked), contradictions(checked), texts(checked))
        if finding.severity == "error" or finding.path not in over
    }
    return sorted(found, key=lambda finding: (finding.path, finding.line, finding.rule, finding.message))
