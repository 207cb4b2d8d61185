"""What a tenant sets to connect its own orders and profiles: a connection, queries, and columns for declared facts.

Everything that can be known without the database is checked here, all at once; a connector's `check` asks the database.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias
from zoneinfo import ZoneInfo

from connectors.columns import MAX_INT, Column, fact_value
from connectors.query import parameters_of, query_problems
from policies.facts import FactDeclaration, Facts, FactValue

ParameterType: TypeAlias = Literal["text", "int", "uuid"]

#: The connection that means the trial records in our own database.
LOCAL: Final = "local"

#: Source -> lookup -> the parameters that its query must use, and those that it may.
LOOKUPS: Final[Mapping[str, Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]]] = {
    "orders": {
        "by_number": (("customer", "order_number"), ("account",)),
        "in_period": (("customer",), ("account", "period_start", "period_end")),
    },
    "profile": {"by_customer": (("customer",), ())},
}
_RECORD_NAME = {"orders": "order_number", "profile": "customer_id"}
_KEYS = frozenset({"connection", "time_zone", "lookups", "record", "columns", "parameters", "dated_by", "kind_by"})
_TYPED = ("customer", "account", "order_number")
_PURCHASED_AT, _ITEM_KIND = "order.purchased_at", "order.item_kind"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFault:
    """One thing wrong with the settings: where (a dotted path in `tenant.yaml`), and what."""

    path: str
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One SELECT over bound parameters, and those that it takes."""

    text: str
    parameters: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSettings:
    """How one source of records (`orders`, `profile`) is read."""

    source: str
    #: `local`, or the name of the environment variable that holds a SQLAlchemy URL.
    connection: str
    #: Zone of naive columns and of dates.
    zone: ZoneInfo | None = None
    #: Lookup -> its query; empty for the trial records.
    lookups: Mapping[str, Query] = field(default_factory=dict)
    #: Column that names the record.
    record: str
    columns: tuple[Column, ...]
    #: What the database compares a parameter with, where that is no text.
    parameters: Mapping[str, ParameterType] = field(default_factory=dict)
    #: The fact that a period filters on, and the one that an item kind does; None: no such filter.
    dated_by: str | None = None
    kind_by: str | None = None

    @property
    def local(self) -> bool:
        return self.connection == LOCAL

    def column_of(self, fact: str | None) -> Column | None:
        return next((column for column in self.columns if column.fact.name == fact), None)


def load_connector_settings(
    sources: Mapping[str, Any], *, facts: Facts, environment: Collection[str] | None = None
) -> Mapping[str, RecordSettings] | list[SettingsFault]:
    """The settings of each source of records, or everything that is wrong with them.

    Args:
        sources: The mapping `connectors` of `tenant.yaml`.
        facts: The tenant's declared facts.
        environment: Names of the environment variables that are set; None leaves that unchecked.
    """
    reader = _Reader(facts=facts, environment=environment)
    loaded = {source: reader.source(str(source), stated) for source, stated in sources.items()}
    return reader.faults or {source: settings for source, settings in loaded.items() if settings is not None}


class _Reader:
    """Reads settings and keeps the faults that it meets."""

    def __init__(self, *, facts: Facts, environment: Collection[str] | None) -> None:
        self.faults: list[SettingsFault] = []
        self._facts = facts
        self._environment = environment

    def source(self, source: str, stated: object) -> RecordSettings | None:
        path = f"connectors.{source}"
        if source not in LOOKUPS:
            self._fault(path, f"no source takes settings but {', '.join(LOOKUPS)}")
            return None
        if not isinstance(stated, Mapping):
            self._fault(path, "must be a mapping with `connection`")
            return None
        for key in stated.keys() - _KEYS:
            self._fault(f"{path}.{key}", f"unknown key; known: {', '.join(sorted(_KEYS))}")
        connection = self._connection(path, stated.get("connection"))
        zone = self._zone(path, stated.get("time_zone"))
        columns = self._columns(path, stated.get("columns"), source=source, local=connection == LOCAL)
        record = stated.get("record", _RECORD_NAME[source] if connection == LOCAL else None)
        if not isinstance(record, str):
            self._fault(f"{path}.record", "must name the column that names a record")
        return RecordSettings(
            source=source,
            connection=connection,
            zone=zone,
            lookups=self._lookups(path, stated.get("lookups"), source=source, local=connection == LOCAL),
            record=str(record),
            columns=columns,
            parameters=self._parameters(path, stated.get("parameters", {})),
            dated_by=self._filter(path, stated, "dated_by", _PURCHASED_AT, types=("instant", "date"), columns=columns),
            kind_by=self._filter(path, stated, "kind_by", _ITEM_KIND, types=("string",), columns=columns),
        )

    def _connection(self, path: str, stated: object) -> str:
        if not isinstance(stated, str) or not stated:
            self._fault(f"{path}.connection", "must be `local` or the name of an environment variable")
            return ""
        if "://" in stated:
            self._fault(f"{path}.connection", "holds a URL; put it in an environment variable and name that here")
            return ""
        if stated != LOCAL and self._environment is not None and stated not in self._environment:
            self._fault(f"{path}.connection", f"the environment variable {stated!r} is not set")
        return stated

    def _zone(self, path: str, stated: object) -> ZoneInfo | None:
        if stated is None:
            return None
        try:
            return ZoneInfo(str(stated))
        except (ValueError, OSError):
            # A name that leads out of the zone folder, a folder, or no zone (`ZoneInfoNotFoundError` is a KeyError).
            pass
        except KeyError:
            pass
        self._fault(f"{path}.time_zone", f"{str(stated)!r} is no IANA time zone")
        return None

    def _lookups(self, path: str, stated: object, *, source: str, local: bool) -> Mapping[str, Query]:
        known = LOOKUPS[source]
        if local:
            if stated is not None:
                self._fault(f"{path}.lookups", "the trial records have lookups of their own; leave these out")
            return {}
        first = next(iter(known))
        if not isinstance(stated, Mapping) or first not in stated:
            self._fault(f"{path}.lookups", f"must give `{first}`; known: {', '.join(known)}")
            return {}
        queries: dict[str, Query] = {}
        for name, lookup in stated.items():
            at = f"{path}.lookups.{name}"
            query = lookup.get("query") if isinstance(lookup, Mapping) else lookup
            if name not in known:
                self._fault(at, f"unknown lookup; known: {', '.join(known)}")
            elif not isinstance(query, str):
                self._fault(at, "must have a `query`")
            else:
                required, optional = known[name]
                problems = query_problems(query, allowed=required + optional, required=required)
                self.faults.extend(SettingsFault(path=f"{at}.query", problem=problem) for problem in problems)
                queries[name] = Query(text=query.strip().rstrip(";"), parameters=parameters_of(query))
        return queries

    def _columns(self, path: str, stated: object, *, source: str, local: bool) -> tuple[Column, ...]:
        at = f"{path}.columns"
        if stated is None and local:
            # Trial records are written for the facts: `order.plan` stands in the column `plan`.
            own = [fact for fact in self._facts.values() if fact.source == source]
            return tuple(Column(fact=fact, name=fact.name.rpartition(".")[2]) for fact in own)
        if not isinstance(stated, Mapping) or not stated:
            self._fault(at, "must map declared facts to columns")
            return ()
        columns = [self._column(f"{at}.{name}", name, column, source=source) for name, column in stated.items()]
        return tuple(column for column in columns if column is not None)

    def _column(self, at: str, name: str, stated: object, *, source: str) -> Column | None:
        fact = self._facts.get(name)
        if fact is None:
            self._fault(at, "no such fact in facts.yaml")
            return None
        if fact.source != source:
            self._fault(at, f"facts.yaml says that {fact.source!r} states this fact")
            return None
        form = {"column": stated} if isinstance(stated, str) else stated
        if not isinstance(form, Mapping) or not isinstance(form.get("column"), str):
            self._fault(at, "must be a column, or a mapping with `column`, `scale`, `map`")
            return None
        for key in form.keys() - {"column", "scale", "map"}:
            self._fault(f"{at}.{key}", "unknown key; known: column, scale, map")
        return Column(
            fact=fact,
            name=form["column"],
            scale=self._scale(at, form.get("scale", 1), fact),
            map=self._map(at, form.get("map"), fact),
        )

    def _scale(self, at: str, stated: object, fact: FactDeclaration) -> int:
        if isinstance(stated, bool) or not isinstance(stated, int) or not 1 <= stated <= MAX_INT:
            self._fault(f"{at}.scale", "must be a whole number from 1 up")
            return 1
        if stated != 1 and fact.type in {"bool", "string", "instant", "date", "list"}:
            self._fault(f"{at}.scale", f"a fact of type {fact.type} has no scale")
        return stated

    def _map(self, at: str, stated: object, fact: FactDeclaration) -> Mapping[object, FactValue] | None:
        if stated is None:
            return None
        if not isinstance(stated, Mapping) or not stated:
            self._fault(f"{at}.map", "must map the source's values to ours")
            return None
        values: dict[object, FactValue] = {}
        for theirs, ours in stated.items():
            try:
                values[theirs] = fact_value(ours, column=Column(fact=fact, name=""), zone=None)
            except ValueError as error:
                self._fault(f"{at}.map", str(error))
        return values

    def _parameters(self, path: str, stated: object) -> Mapping[str, ParameterType]:
        types: dict[str, ParameterType] = {}
        for name, kind in stated.items() if isinstance(stated, Mapping) else [("", None)]:
            if name in _TYPED and kind in {"text", "int", "uuid"}:
                types[name] = kind
            else:
                self._fault(f"{path}.parameters", f"maps {', '.join(_TYPED)} to text, int or uuid")
        return types

    def _filter(
        self,
        path: str,
        stated: Mapping[str, Any],
        key: str,
        default: str,
        *,
        types: Sequence[str],
        columns: Sequence[Column],
    ) -> str | None:
        fact = stated.get(key, default)
        found = next((column.fact for column in columns if column.fact.name == fact), None)
        if found is None or found.type not in types:
            if key in stated:
                self._fault(f"{path}.{key}", f"must name a mapped fact of type {' or '.join(types)}")
            return None
        if found.type == "date" and stated.get("time_zone") is None:
            self._fault(f"{path}.time_zone", f"the days of {found.name!r} need a zone")
        return found.name

    def _fault(self, path: str, problem: str) -> None:
        self.faults.append(SettingsFault(path=path, problem=problem))
