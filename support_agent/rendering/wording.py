"""The words of an answer: the package's templates and the tenant's own wordings, in English and Chinese.

Templates are compiled once. The package's come from files and get everything else as variables; only a playbook's
wording, which an admin of the tenant wrote and its loading checked, is compiled from a string, in a sandbox. Whatever a
template prints is made inert: data can bring no image, no foreign link and no marker into an answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, UndefinedError, pass_context
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

from policies.facts import FactDeclaration, FactType, FactValue
from policies.text import normalise
from support_agent.domain.playbook import Wording
from support_agent.domain.question import Language
from support_agent.domain.tenant import Tenant
from support_agent.rendering.filters import FILTERS, said, spoken, type_by_name

Node: TypeAlias = "FactValue | Branch"


class Branch:
    """The values whose dotted names begin alike: `order` in `{{ order.plan }}`.

    No dictionary, for that would shadow names such as `order.items`, and no attribute leads anywhere.
    """

    __slots__ = ("_prefix", "_values")

    def __init__(self, values: Mapping[str, FactValue], prefix: str) -> None:
        self._values = values
        self._prefix = prefix

    def __getitem__(self, name: str) -> Node:
        path = f"{self._prefix}.{name}"
        if path in self._values:
            return self._values[path]
        if any(known.startswith(path + ".") for known in self._values):
            return Branch(self._values, path)
        raise KeyError(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantVoice:
    """One language with dates in one zone; keeps `support_agent.pipeline.ports.Voice`."""

    words: TenantWords
    language: Language
    zone: ZoneInfo

    def tenant(self, wording: Wording, values: Mapping[str, FactValue]) -> str | None:
        try:
            text = rendered(wording[self.language], values, language=self.language, zone=self.zone)
        except (UndefinedError, SecurityError):
            return None
        return self._clean(text)

    def own(self, name: str, /, **values: object) -> str:
        return self._clean(_own_template(self.language, name).render(values, **self._settings()))

    def label(self, name: str) -> str:
        declaration = self.words.facts.get(name)
        fallback = name.rpartition(".")[2].replace("_", " ")
        return declaration.label.get(self.language, fallback) if declaration else fallback

    def _settings(self) -> dict[str, object]:
        contact = self.words.contact[self.language]
        return {"_language": self.language, "_zone": self.zone, "_words": self.words, "contact": contact}

    def _clean(self, text: str) -> str:
        return inert(_SPACES.sub(" ", text).strip(), allowed=self.words.allowed_hosts)


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantWords:
    """A tenant's words; keeps `support_agent.pipeline.ports.Words`."""

    facts: Mapping[str, FactDeclaration]
    allowed_hosts: frozenset[str]
    #: How to reach a person.
    contact: Wording

    @classmethod
    def of(cls, tenant: Tenant) -> TenantWords:
        return cls(facts=tenant.facts, allowed_hosts=tenant.allow_list, contact=tenant.contact)

    def voice(self, language: Language, zone: ZoneInfo) -> TenantVoice:
        return TenantVoice(words=self, language=language, zone=zone)

    def type_of(self, name: str) -> FactType | None:
        """The declared type of a fact, or the type that a term's name ends in."""
        declaration = self.facts.get(name)
        return declaration.type if declaration else type_by_name(name)


#: Longer texts of a record are cut where an answer prints them; the citation quotes them.
_MAX_SHOWN: Final = 100
_SENTENCE: Final = re.compile(r"[.!?:](?:\s|$)|[。！？：]")


def _as_data(text: str) -> str:
    """A record's text as an answer prints it: in one line, cut, and in quotation marks where it could pass for ours."""
    line = " ".join(text.split())
    line = line if len(line) <= _MAX_SHOWN else f"{line[: _MAX_SHOWN - 1]}…"
    return f"“{line}”" if _SENTENCE.search(line) else line


_SPACES: Final = re.compile(r"[ \t]*\n[ \t]*|[ \t]{2,}")
# What may be more than words: Markdown images and links, autolinks, bare addresses and schemes that run something.
_ACTIVE: Final = re.compile(
    r"""
      !\[(?P<alt>[^\]]*)\](?:\([^)]*\)|\[[^\]]*\])
    | \[(?P<name>[^\]]*)\]\(\s*<?(?P<target>[^)\s>]*)>?[^)]*\)
    | <?(?P<address>[a-z][a-z0-9+.-]{0,20}://[^\s<>"'“”‘’()（），。；、]+|www\.[^\s<>"'“”‘’()（），。；、]+)>?
    | (?:javascript\s*:|vbscript\s*:|data:[a-z]+/)\S*
    | \[(?P<marker>\d+)\](?!\()
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HOST: Final = re.compile(r"https://([a-z0-9.-]+)(?=[/?#]|$)", re.IGNORECASE)
_MAY_BE_ACTIVE: Final = re.compile(r"\[|://|www\.|script\s*:|data:", re.IGNORECASE)


def inert(text: str, *, allowed: frozenset[str]) -> str:
    """The text without images, links to hosts not `allowed`, markers, and characters that no reader sees.

    A link to an allowed host stays as it is (https only); of another one the words stay, of a bare address an ellipsis.
    """
    visible = normalise(text)
    if not _MAY_BE_ACTIVE.search(visible):
        return visible
    # Removing one thing can put another together, so it is repeated until nothing changes.
    while (cleaned := _ACTIVE.sub(lambda match: _harmless(match, allowed), visible)) != visible:
        visible = cleaned
    return visible


def _harmless(match: re.Match[str], allowed: frozenset[str]) -> str:
    if (marker := match["marker"]) is not None:
        return f"({marker})"
    if (alt := match["alt"]) is not None:
        return alt
    if (name := match["name"]) is not None:
        return f"[{name}]({match['target']})" if _is_allowed(match["target"], allowed) else name
    address = (match["address"] or "").rstrip(".,;:!?")
    if address and _is_allowed(address, allowed):
        return match[0]
    rest = match[0][len(address) :] if match[0].startswith(address) and address else ""
    return "…" + rest


def _is_allowed(address: str, allowed: frozenset[str]) -> bool:
    host = _HOST.match(address)
    return host is not None and host[1].lower() in allowed


def rendered(text: str, values: Mapping[str, FactValue], *, language: Language, zone: ZoneInfo) -> str:
    """A tenant's wording over `values` by dotted name, as its template gives it.

    Raises:
        jinja2.UndefinedError: It prints a value that is absent or null.
    """
    variables: dict[str, object] = {"_language": language, "_zone": zone}
    shown = {name: _as_data(value) if isinstance(value, str) else value for name, value in values.items()}
    for name, value in shown.items():
        root = name.partition(".")[0]
        variables.setdefault(root, value if root == name else Branch(shown, root))
    return wording_template(text).render(variables)


@lru_cache(maxsize=4_096)
def wording_template(text: str) -> Template:
    """A tenant's wording, compiled.

    Raises:
        jinja2.TemplateSyntaxError: It is no template, or uses an unknown filter.
    """
    return wording_environment().from_string(text)


@cache
def wording_environment() -> SandboxedEnvironment:
    """Where tenants' wordings run: values and our filters, nothing else."""
    # Text for people, escaped by each way out for its own channel.
    environment = SandboxedEnvironment(undefined=StrictUndefined, finalize=said, autoescape=False)
    environment.globals.clear()
    environment.filters.update(FILTERS)
    return environment


@cache
def own_environment() -> Environment:
    """Where the package's templates run."""
    environment = Environment(
        loader=PackageLoader("support_agent.rendering", "templates"),
        undefined=StrictUndefined,
        finalize=said,
        trim_blocks=True,
        auto_reload=False,
        # What is printed is text, and each way out escapes it for its own channel.
        autoescape=False,  # noqa: S701 - text, escaped by each way out
    )
    environment.filters.update(FILTERS, spoken=_spoken)
    return environment


@cache
def _own_template(language: Language, name: str) -> Template:
    return own_environment().get_template(f"{language}/{name}.j2")


@pass_context
def _spoken(context: Context, value: FactValue, name: str) -> str:
    """A value as its fact or term `name` is said: `14 days` of `refund.window_days`."""
    words: TenantWords = context["_words"]
    declared = words.facts.get(name)
    if declared is not None and isinstance(value, str) and (labels := declared.value_labels.get(value)):
        return labels.get(context["_language"], value)
    return spoken(value, words.type_of(name), language=context["_language"], zone=context["_zone"])
