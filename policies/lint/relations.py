"""Checks of what one policy says of another: targets that are not there, claims without right, renditions, scopes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policies.applicability import narrower, overlap
from policies.document import PolicyDocument
from policies.lint.finding import Checked, Finding, of_document
from policies.lint.timelines import in_force_together
from policies.version import Reference


def relations(checked: Checked) -> Iterator[Finding]:
    for draft in checked.final:
        yield from _targets(draft, checked)
        yield from _claims(draft, checked)
        yield from _renditions(draft, checked)
        yield from _scopes(draft, checked)


def _targets(draft: PolicyDocument, checked: Checked) -> Iterator[Finding]:
    head = draft.front_matter
    named = [("supersedes", target) for target in head.supersedes] + [("amends", target) for target in head.amends]
    if head.rendition_of is not None:
        named.append(("rendition_of", Reference(policy=head.rendition_of)))
    named += [("transition", Reference(policy=draft.policy, version=step.from_version)) for step in head.transition]
    for key, target in named:
        if not _found(target, checked.all):
            yield of_document(
                draft, "relation-target", "error", f"{key}: there is no {target}",
                "name a policy, version or clause that is published or in this folder",
            )  # fmt: skip


def _found(target: Reference, documents: Sequence[PolicyDocument]) -> bool:
    return any(
        document.policy == target.policy
        and target.version in {None, document.version}
        and (target.clause is None or any(clause.anchor == target.clause for clause in document.clauses))
        for document in documents
    )


def _claims(draft: PolicyDocument, checked: Checked) -> Iterator[Finding]:
    """Relations to a higher rank that delegates nothing to this one: they are ignored when a question is answered."""
    head = draft.front_matter
    height = checked.ladder.level(head.authority)
    ours = {term.name for _, term in draft.terms}
    for key, targets in (("supersedes", head.supersedes), ("amends", head.amends)):
        for target in targets:
            above = [
                other
                for other in checked.all
                if other.policy == target.policy
                and target.version in {None, other.version}
                and in_force_together(draft, other) is not None
                and checked.ladder.level(other.front_matter.authority) > height
            ]
            if above and not any(_delegates(other, to=head.authority, terms=ours) for other in above):
                rank = above[-1].front_matter.authority
                yield of_document(
                    draft, "relation-undelegated", "error",
                    f"{key} {target}, which is of the higher rank {rank!r} and delegates nothing to {head.authority!r}",
                    f"take {key} out, or let {target.policy} delegate the terms",
                )  # fmt: skip


def _delegates(document: PolicyDocument, *, to: str, terms: set[str]) -> bool:
    return any(part.to == to and not terms.isdisjoint(part.terms) for part in document.front_matter.delegates)


def _renditions(draft: PolicyDocument, checked: Checked) -> Iterator[Finding]:
    original = draft.front_matter.rendition_of
    if original is not None:
        held = [other for other in checked.all if other.policy == original]
        governs = [other for other in held if in_force_together(draft, other) is not None]
        if held and not governs:
            yield of_document(
                draft, "rendition-missing", "warning", f"no version of its original {original} is in force with it",
                "give it the dates of the version that it renders",
            )  # fmt: skip
        for other in governs:
            if other.valid.start > draft.valid.start:
                yield of_document(
                    draft, "rendition-stale", "warning",
                    f"renders a version of {original} before {other.version}, and goes on with it",
                    f"publish a rendition of {other.version} from the same day",
                )  # fmt: skip
        return
    for name in sorted({other.policy for other in checked.all if other.front_matter.rendition_of == draft.policy}):
        starts = [other.valid.start for other in checked.all if other.policy == name]
        if draft.valid.start not in starts and min(starts) < draft.valid.start:
            yield of_document(
                draft, "rendition-stale", "warning", f"its rendition {name} has no version that begins with it",
                f"publish a version of {name} from the same day",
            )  # fmt: skip


def _scopes(draft: PolicyDocument, checked: Checked) -> Iterator[Finding]:
    """Two policies of one topic and rank that both hold for somebody, neither of them narrower."""
    head = draft.front_matter
    for other in checked.all:
        theirs = other.front_matter
        together = in_force_together(draft, other)
        if (
            other.policy == draft.policy
            or theirs.topic != head.topic
            or together is None
            or (together.end is not None and together.end <= checked.now)
            or checked.ladder.level(theirs.authority) != checked.ladder.level(head.authority)
            or are_related(draft, other)
        ):
            continue
        on, groups = together.start, checked.groups
        ours, others = head.applies_to, theirs.applies_to
        one_is_narrower = narrower(ours, others, groups=groups, on=on) or narrower(others, ours, groups=groups, on=on)
        if overlap(ours, others, groups=groups, on=on) and not one_is_narrower:
            yield of_document(
                draft, "scope-overlap", "warning",
                f"holds for some of the same customers as {other.policy}@{other.version}, of the same topic and rank",
                "narrow applies_to of one of them, or say which supersedes or amends the other",
            )  # fmt: skip


def are_related(one: PolicyDocument, other: PolicyDocument) -> bool:
    """Whether one of two policies says what it is to the other."""
    return any(
        b.policy in {*(target.policy for target in (*head.supersedes, *head.amends)), head.rendition_of}
        or (head.rendition_of is not None and head.rendition_of == b.front_matter.rendition_of)
        for a, b in ((one, other), (other, one))
        for head in (a.front_matter,)
    )
