"""What a caller sends, checked: the one door through which command line, files and HTTP bring a question in.

Lengths are counted in code points after NFC. Messages name the field and never repeat its value.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time
from typing import Any, Literal, cast
from zoneinfo import ZoneInfo

from policies.facts import FactDeclaration, FactValue
from policies.version import start_of_day
from support_agent import strict_json
from support_agent.domain.question import Language, Principal, Question
from support_agent.domain.tenant import Tenant
from support_agent.errors import InvalidRequestError

MAX_QUESTION = 8_000
MAX_FIELD = 256
#: Instants and dates that a question can be about; beyond them local time and deadlines leave the calendar.
YEARS = range(1800, 3000)
#: Fillers that count as letters or symbols and show nothing.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest:
    """A question as it came in; `tenant` and identities come from the caller's credentials or flags."""

    question: str
    tenant: str
    #: The caller's own, given back with the outcome.
    id: str | int | None = None
    customer: str | None = None
    staff: str | None = None
    verified: bool = True
    facts: Mapping[str, Any] | None = None
    at: str | None = None
    locale: str | None = None
    conversation: str | None = None


def read_request(line: str, *, defaults: AskRequest) -> AskRequest:
    """Read one JSON object over the flags' `defaults`.

    Raises:
        InvalidRequestError: Not one JSON object, a repeated or unknown key, or a wrong type.
    """
    try:
        body = strict_json.loads(line)
    except ValueError as error:
        raise InvalidRequestError("line", f"is not valid JSON ({error})") from error
    if not isinstance(body, dict):
        raise InvalidRequestError("line", "must be one JSON object with at least `question`")
    known = {field.name for field in fields(AskRequest)}
    if unknown := sorted(set(body) - known):
        raise InvalidRequestError("line", f"has {len(unknown)} unknown key(s); known are {', '.join(sorted(known))}")
    if "question" not in body:
        raise InvalidRequestError("question", "is missing")
    merged = {field.name: getattr(defaults, field.name) for field in fields(AskRequest)}
    merged |= {key: value for key, value in body.items() if value is not None}
    merged |= {"id": _request_id(merged["id"]), "tenant": _identifier("tenant", merged["tenant"])}
    return AskRequest(**merged)


def readable_id(line: str) -> str | int | None:
    """The `id` of a line, also of one that cannot be asked; None when it has none that can be given back."""
    try:
        body = json.loads(line)
        return _request_id(body.get("id")) if isinstance(body, dict) else None
    except (ValueError, RecursionError, InvalidRequestError):
        return None


def to_question(request: AskRequest, tenant: Tenant, *, now: datetime) -> Question:
    """Check `request` against the tenant's settings.

    Args:
        now: The present, aware; used when the request names no instant.

    Raises:
        InvalidRequestError: A field is empty, too long, of the wrong form, or names a fact nobody declared.
    """
    text = _text("question", request.question, limit=MAX_QUESTION)
    if not any(unicodedata.category(c)[0] in "LNPS" and c not in _BLANK for c in text):
        raise InvalidRequestError("question", "holds no visible text")
    customer = _identifier("customer", request.customer)
    staff = _identifier("staff", request.staff)
    if not isinstance(request.verified, bool):
        raise InvalidRequestError("verified", "must be true or false")
    # A tuple: raw JSON may hold what no set can look up.
    if request.locale not in (None, "en", "zh"):
        raise InvalidRequestError("locale", "must be en or zh")
    kind: Literal["customer", "staff"] = "staff" if staff else "customer"
    return Question(
        text=text,
        tenant=tenant.slug,
        principal=Principal(kind=kind, customer_id=customer, staff_id=staff, verified=request.verified),
        asked_at=read_instant("at", request.at, zone=tenant.zone) or now.astimezone(UTC),
        locale=cast("Language | None", request.locale),
        conversation=_identifier("conversation", request.conversation),
        stated_facts={} if request.facts is None else _facts(request.facts, tenant),
    )


def read_instant(field: str, raw: str | None, *, zone: ZoneInfo) -> datetime | None:
    """An instant with offset, or a bare date as that day's noon in `zone`, as UTC; None stays None.

    Raises:
        InvalidRequestError: It is neither, or lies outside the calendar.
    """
    if raw is None:
        return None
    return _instant(field, raw, lambda day: datetime.combine(day, time(12), zone).astimezone(UTC), meant="noon")


def first_instant(field: str, raw: str | None, *, zone: ZoneInfo) -> datetime | None:
    """As `read_instant`, but a bare date is that day's first instant: from then on the whole day counts."""
    if raw is None:
        return None
    return _instant(field, raw, lambda day: start_of_day(day, zone), meant="its first moment")


def fact_value(declaration: FactDeclaration, raw: Any) -> FactValue:  # noqa: ANN401 - raw JSON or flag text
    """`raw` as the declared type; text is read the way a person writes it on a command line.

    Raises:
        InvalidRequestError: It is not of that type.
    """
    field = f"facts.{declaration.name}"
    try:
        value = _typed(field, declaration, raw)
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise InvalidRequestError(field, f"must be {_KIND[declaration.type]}") from error
    if declaration.values and value not in declaration.values:
        raise InvalidRequestError(field, f"must be one of {', '.join(declaration.values)}")
    return value


_KIND = {
    "bool": "true or false",
    "string": "text",
    "int": "a whole number",
    "money": "a whole number of minor units (cents)",
    "basis_points": "a whole number of basis points (1% is 100)",
    "days": "a whole number of days",
    "hours": "a whole number of hours",
    "instant": "an instant with offset (2025-03-05T14:00+01:00) or a date (2025-03-05), of the years 1800 to 2999",
    "date": "a date (2025-03-05) of the years 1800 to 2999",
    "list": "a list of texts",
}


def _typed(field: str, declaration: FactDeclaration, raw: Any) -> FactValue:  # noqa: ANN401 - raw JSON or flag text
    match declaration.type:
        case "bool":
            if isinstance(raw, bool):
                return raw
            return {"true": True, "false": False}[_text(field, raw).lower()]
        case "string":
            return _text(field, raw)
        case "instant":
            text = _text(field, raw)
            return _date(text) if len(text) == len("2025-03-05") else _aware(text)
        case "date":
            return _date(_text(field, raw))
        case "list":
            return tuple(_text(field, item) for item in (raw.split(",") if isinstance(raw, str) else raw))
        case _:
            if (
                isinstance(raw, bool)
                or not isinstance(raw, int | str)
                or (number := int(raw)) not in strict_json.INTEGERS
            ):
                raise ValueError(declaration.type)
            return number


def _facts(raw: Mapping[str, Any], tenant: Tenant) -> dict[str, FactValue]:
    if not isinstance(raw, Mapping):
        raise InvalidRequestError("facts", "must be an object of fact names and values")
    stated: dict[str, FactValue] = {}
    for name, value in raw.items():
        declaration = tenant.facts.get(name)
        if declaration is None:
            known = ", ".join(sorted(tenant.facts))
            raise InvalidRequestError("facts", f"names a fact that the tenant does not declare; declared are {known}")
        stated[name] = fact_value(declaration, value)
    return stated


def _instant(field: str, raw: str, of_day: Callable[[date], datetime], *, meant: str) -> datetime:
    text = _text(field, raw)
    try:
        return of_day(_date(text)) if len(text) == len("2025-03-05") else _aware(text)
    except (ValueError, OverflowError) as error:
        raise InvalidRequestError(
            field,
            f"must be an instant with offset (2025-03-05T14:00+01:00) or a date (2025-03-05: {meant} there), of the "
            f"years {YEARS.start} to {YEARS[-1]}",
        ) from error


def _date(text: str) -> date:
    day = date.fromisoformat(text)
    if day.year not in YEARS:
        raise ValueError("out of range")
    return day


def _aware(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None or instant.year not in YEARS:
        raise ValueError("no offset, or out of range")
    return instant.astimezone(UTC)


def _request_id(value: Any) -> str | int | None:  # noqa: ANN401 - raw JSON text
    return value if type(value) is int and value in strict_json.INTEGERS else _identifier("id", value)


def _identifier(field: str, value: str | None) -> str | None:
    if value is None:
        return None
    text = _text(field, value).strip()
    if not text:
        raise InvalidRequestError(field, "is empty")
    if any(unicodedata.category(c) == "Cc" for c in text):
        raise InvalidRequestError(field, "holds a control character")
    return text


def _text(field: str, value: Any, *, limit: int = MAX_FIELD) -> str:  # noqa: ANN401 - raw JSON or flag text
    if not isinstance(value, str):
        raise InvalidRequestError(field, "must be text")
    if not strict_json.is_storable(value):
        raise InvalidRequestError(field, "holds a NUL or a broken character")
    text = unicodedata.normalize("NFC", value).strip()
    if len(text) > limit:
        raise InvalidRequestError(field, f"is longer than {limit} characters")
    return text
