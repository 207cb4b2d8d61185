"""Checks of dates: overlaps, gaps, starts in the past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from zoneinfo import ZoneInfo

from policies.document import PolicyDocument
from policies.lint.finding import Checked, Finding, of_document
from policies.version import Period
from policies.written_keys import written_date


def after(drafts: Sequence[PolicyDocument], published: Iterable[PolicyDocument]) -> tuple[PolicyDocument, ...]:
    """All versions as they would stand, by policy and start; one that states no end lasts to the next."""
    documents = {(document.policy, document.version): document for document in (*published, *drafts)}
    ordered = sorted(documents.values(), key=lambda document: (document.policy, document.valid.start, document.version))
    return tuple(
        document
        for _, group in groupby(ordered, key=lambda document: document.policy)
        for document in _with_ends(list(group))
    )


def timelines(checked: Checked) -> Iterator[Finding]:
    drafts = {(draft.policy, draft.version) for draft in checked.drafts}
    for before, following in pairwise(checked.all):
        if before.policy != following.policy:
            continue
        named = [document for document in (following, before) if (document.policy, document.version) in drafts]
        if named:
            yield from _between(before, following, at=named[0])
    for draft in checked.drafts:
        if draft.valid.start < checked.now and (draft.policy, draft.version) not in checked.published:
            yield of_document(
                draft, "past-date", "warning", f"begins on {_day(draft)}, which has passed",
                "publishing it changes what governed since then: give a later effective_from unless that is meant",
            )  # fmt: skip


def _between(before: PolicyDocument, following: PolicyDocument, *, at: PolicyDocument) -> Iterator[Finding]:
    end, start = before.valid.end, following.valid.start
    if end is None or end > start:
        yield of_document(
            at, "period-overlap", "error", f"versions {before.version} and {following.version} are in force together",
            "change effective_from or effective_to of one of them",
        )  # fmt: skip
    elif end < start:
        yield of_document(
            at, "period-gap", "warning",
            f"no version is in force from {written_date(end, _zone(before))} to {_day(following)}",
            f"take effective_to out of {before.version}, or begin {following.version} earlier, unless that is meant",
        )  # fmt: skip


def _with_ends(versions: Sequence[PolicyDocument]) -> Iterator[PolicyDocument]:
    for version, following in zip(versions, [*versions[1:], None], strict=True):
        open_end = version.valid.end is None and following is not None and version.valid.start < following.valid.start
        yield version.ending(following.valid.start) if open_end and following is not None else version


def in_force_together(one: PolicyDocument, other: PolicyDocument) -> Period | None:
    """When both versions are in force."""
    return one.valid.cut_to(other.valid)


def _day(document: PolicyDocument) -> str:
    return written_date(document.valid.start, _zone(document))


def _zone(document: PolicyDocument) -> ZoneInfo:
    return ZoneInfo(document.front_matter.time_zone)
