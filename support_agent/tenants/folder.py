"""Reads a tenant's folder: its settings as text, checked, and the rows of its trial.

What is stored of `tenant.yaml`, `facts.yaml` and `playbooks/` is their text, so that one reading serves the first load
and every later start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from connectors.settings import load_connector_settings
from policies.authority import DEFAULT_LADDER, Ladder
from policies.encoding import decode
from policies.errors import Fault, PolicyParseError
from policies.facts import Facts, load_facts
from policies.marked_yaml import Entry, load_marked
from support_agent import strict_json
from support_agent.domain.tenant import Tenant
from support_agent.errors import InvalidRequestError
from support_agent.playbooks.loading import parse_playbooks
from support_agent.tenants.settings import TenantSettings, build_tenant

TENANT, FACTS, PLAYBOOKS = "tenant.yaml", "facts.yaml", "playbooks"
#: Member states with the days they joined and left, for tenants that have not stated their own groups.
EUROPEAN_UNION = {
    "EU": [
        *({"region": region} for region in "AT BE DE DK ES FI FR GR IE IT LU NL PT SE".split()),
        *({"region": r, "from": date(2004, 5, 1)} for r in "CY CZ EE HU LT LV MT PL SI SK".split()),
        *({"region": region, "from": date(2007, 1, 1)} for region in ("BG", "RO")),
        {"region": "HR", "from": date(2013, 7, 1)},
        {"region": "GB", "until": date(2020, 2, 1)},
    ]
}
#: What a customer of such a tenant may state about where they stand, as policies limit it.
STATED_FACTS = {
    "profile.region": {"en": "country or region", "zh": "国家或地区"},
    "profile.segment": {"en": "kind of customer", "zh": "客户类型"},
    "profile.account": {"en": "account", "zh": "账户"},
    "order.plan": {"en": "plan or product", "zh": "套餐或产品"},
    "order.plan_version": {"en": "edition of the plan", "zh": "套餐版本"},
    "order.channel": {"en": "where it was bought", "zh": "购买渠道"},
}
BUILT_IN = Path(__file__).parent.parent / PLAYBOOKS


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantFolder:
    """What a folder holds, checked but for its documents."""

    tenant: Tenant
    #: Relative name -> text, as it is stored.
    files: Mapping[str, str]
    documents: Path
    orders: Sequence[Mapping[str, Any]]
    customers: Sequence[Mapping[str, Any]]


def read_folder(folder: Path) -> TenantFolder:
    """Read and check a tenant's folder.

    Raises:
        PolicyParseError: With every fault of every file.
    """
    if not folder.is_dir():
        raise InvalidRequestError("FOLDER", "is not a folder")
    faults: list[Fault] = []
    files: dict[str, str] = {}
    wanted = [folder / TENANT, folder / FACTS, *sorted((folder / PLAYBOOKS).glob("*.yaml"))]
    for path in wanted:
        text = _read(path, folder)
        if isinstance(text, list):
            faults.extend(text)
        else:
            files[path.relative_to(folder).as_posix()] = text
    orders = _rows(folder, "orders.jsonl", required=("order_number", "customer_id"), faults=faults)
    customers = _rows(folder, "customers.jsonl", required=("customer_id",), faults=faults)
    if faults:
        raise PolicyParseError(faults)
    return TenantFolder(
        tenant=read_tenant(files, revision=0),
        files=files,
        documents=folder / "documents",
        orders=orders,
        customers=customers,
    )


def playbook_texts(files: Mapping[str, str]) -> dict[str, str]:
    """The playbooks that a tenant has, by path: the packaged ones, then its own in their place or beside them."""
    texts = {f"{PLAYBOOKS}/{path.name}": path.read_text(encoding="utf-8") for path in sorted(BUILT_IN.glob("*.yaml"))}
    return texts | {name: text for name, text in files.items() if name.startswith(f"{PLAYBOOKS}/")}


def read_tenant(files: Mapping[str, str], *, revision: int, trial: bool = True) -> Tenant:
    """The tenant that the texts of its settings describe.

    Args:
        files: Relative name -> text.
        revision: Of what is stored; 0 for what is not.
        trial: Whether wordings are tried on samples; what is stored was tried when it was loaded.

    Raises:
        PolicyParseError: With every fault of every text.
    """
    faults: list[Fault] = []
    settings = _settings(files.get(TENANT, ""), faults)
    facts = load_facts(files.get(FACTS, "facts: {}").encode(), path=FACTS)
    if isinstance(facts, list):
        raise PolicyParseError([*faults, *facts])
    playbooks = parse_playbooks(playbook_texts(files), facts=facts, trial=trial)
    if isinstance(playbooks, list):
        raise PolicyParseError([*faults, *playbooks])
    if settings is not None:
        faults.extend(_connector_faults(settings, files[TENANT], facts))
    if faults or settings is None:
        raise PolicyParseError(faults)
    return build_tenant(settings, facts=facts, playbooks=tuple(playbooks), revision=revision)


def new_tenant_files(slug: str, *, time_zone: str | None, authorities: str | None) -> dict[str, str]:
    """The settings of a tenant that is made by an import: its slug, zone and ranks, and the European Union by dates.

    Its facts are what policies may be limited to, each as the customer states it.

    Raises:
        InvalidRequestError: A flag has no such value.
    """
    try:
        ladder = Ladder.parse(authorities) if authorities is not None else DEFAULT_LADDER
    except ValueError as error:
        raise InvalidRequestError("--authorities", str(error)) from error
    settings = {
        "tenant": slug,
        "name": {"en": slug, "zh": slug},
        "time_zone": time_zone or "UTC",
        "ladder": [sorted(rung) for rung in ladder.rungs],
        "region_groups": EUROPEAN_UNION,
        "contact": {"en": "Reply here and a person will answer.", "zh": "请直接回复，会有专人答复。"},
    }
    facts = {
        name: {"type": "string", "source": "customer", "null": True, "label": label}
        for name, label in STATED_FACTS.items()
    }
    files = {
        name: yaml.safe_dump(said, allow_unicode=True, sort_keys=False)
        for name, said in ((TENANT, settings), (FACTS, {"facts": facts}))
    }
    read_tenant(files, revision=0)
    return files


def _settings(text: str, faults: list[Fault]) -> TenantSettings | None:
    marked = load_marked(text, path=TENANT)
    if isinstance(marked, Fault):
        faults.append(marked)
        return None
    if not isinstance(marked.value, dict):
        remedy = f"write its keys: {', '.join(TenantSettings.model_fields)}"
        faults.append(Fault(path=TENANT, line=1, message="not a mapping", remedy=remedy))
        return None
    try:
        return TenantSettings.model_validate(marked.plain)
    except ValidationError as error:
        faults.extend(
            Fault(
                path=TENANT,
                line=_line(marked, problem["loc"]),
                message=".".join(str(part) for part in problem["loc"]) or "the file",
                remedy=problem["msg"].removeprefix("Value error, "),
            )
            for problem in error.errors(include_url=False, include_input=False)
        )
        return None


def _connector_faults(settings: TenantSettings, text: str, facts: Facts) -> Iterable[Fault]:
    loaded = load_connector_settings(settings.connectors, facts=facts)
    if not isinstance(loaded, list):
        return
    marked = load_marked(text, path=TENANT)
    for problem in loaded:
        line = _line(marked, tuple(problem.path.split("."))) if isinstance(marked, Entry) else None
        yield Fault(path=TENANT, line=line, message=problem.path, remedy=problem.problem)


def _line(entry: Entry, location: Sequence[int | str]) -> int:
    """The line of the innermost value of `location` that exists."""
    for part in location:
        inner: Any = entry.value
        known = part in inner if isinstance(inner, dict) else isinstance(inner, list) and part in range(len(inner))
        if not known:
            break
        entry = inner[part]
    return entry.line


def _read(path: Path, folder: Path) -> str | list[Fault]:
    name = path.relative_to(folder).as_posix()
    if path.is_symlink():
        return [Fault(path=name, message="a symbolic link", remedy="put the file itself here")]
    try:
        content = path.read_bytes()
    except OSError as error:
        return [Fault(path=name, message=f"cannot be read ({error.strerror})", remedy=f"put {name} into the folder")]
    return decode(content, path=name)


def _rows(folder: Path, name: str, *, required: Sequence[str], faults: list[Fault]) -> list[Mapping[str, Any]]:
    """The trial records of one file; none when the folder has no such file."""
    path = folder / "trial" / name
    if not path.exists():
        return []
    text = _read(path, folder)
    if isinstance(text, list):
        faults.extend(text)
        return []
    rows: dict[str, Mapping[str, Any]] = {}
    # Not `splitlines`: a text may hold other characters that end a line for it.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        row = _record(line, required=required)
        if isinstance(row, dict) and row[required[0]] in rows:
            row = f"{required[0]} stands twice in the file"
        if isinstance(row, str):
            remedy = f"write one JSON object a line, with {', '.join(required)} as text"
            faults.append(Fault(path=f"trial/{name}", line=number, message=row, remedy=remedy))
        else:
            rows[row[required[0]]] = row
    return list(rows.values())


def _record(line: str, *, required: Sequence[str]) -> dict[str, Any] | str:
    """The record of one line, or what is wrong with it."""
    try:
        row = strict_json.loads(line)
    except ValueError as error:
        return f"is not JSON ({error})"
    if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in required):
        return "is not a record"
    if not strict_json.is_storable(row):
        return "holds a NUL or a broken character"
    if "order_number" in required and not _is_instant(row.get("ordered_at")):
        return "ordered_at is not an instant, as in 2025-03-05T14:00:00+01:00"
    return row


def _is_instant(value: object) -> bool:
    """Whether orders can be sorted by it; PostgreSQL would also take `yesterday` and `infinity`."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value) is not None
    except ValueError:
        return False
