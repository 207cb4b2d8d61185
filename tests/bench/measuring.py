"""Rounds of questions, contenders in turn, and what a round cost the machine: our process and the server's together.

Others may share the machine, so ratios are taken within a round and their median counts.
"""

from __future__ import annotations

import os
import time
from asyncio import TaskGroup
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median

#: Asks question number n.
Ask = Callable[[int], Awaitable[object]]

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_WARM_UP = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What some questions cost."""

    #: Seconds of question n.
    latencies: Mapping[int, float]
    wall_s: float
    client_s: float
    server_s: float

    @property
    def machine_ms(self) -> float:
        """Processor time of both sides a question."""
        return (self.client_s + self.server_s) / len(self.latencies) * 1_000

    @property
    def client_ms(self) -> float:
        return self.client_s / len(self.latencies) * 1_000

    @property
    def per_s(self) -> float:
        return len(self.latencies) / self.wall_s

    def percentile_ms(self, share: float, *, only: Callable[[int], bool] = lambda _: True) -> float:
        ordered = sorted(latency for number, latency in self.latencies.items() if only(number))
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1_000


async def in_turn(
    contenders: Mapping[str, Ask], *, at_once: int, server_pid: int, n_rounds: int = 5, round_s: float = 0.6
) -> dict[str, list[Round]]:
    """`n_rounds` rounds of each contender, one after the other, each of about `round_s` and at least 4 a worker."""
    sizes: dict[str, int] = {}
    for name, ask in contenders.items():
        warm = await _round(ask, n=max(_WARM_UP, 2 * at_once), at_once=at_once, server_pid=server_pid)
        sizes[name] = max(int(warm.per_s * round_s), 4 * at_once, 20)
    rounds: dict[str, list[Round]] = {name: [] for name in contenders}
    for _ in range(n_rounds):
        for name, ask in contenders.items():
            rounds[name].append(await _round(ask, n=sizes[name], at_once=at_once, server_pid=server_pid))
    return rounds


def middle(rounds: Sequence[Round], of: Callable[[Round], float]) -> float:
    """The median over rounds."""
    return median(of(one) for one in rounds)


def ratio(rounds: Sequence[Round], to: Sequence[Round], of: Callable[[Round], float]) -> float:
    """How many times `of` the other contender, the median over pairs of rounds."""
    return median(of(one) / of(other) for one, other in zip(rounds, to, strict=True))


def server_cpu_s(pid: int) -> float:
    """Processor seconds of a PostgreSQL server so far, all its processes, those that have ended included."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        # After the name in parentheses: state, parent, …; user and system time are fields 14 and 15 of all.
        fields = text.rpartition(")")[2].split()
        if int(stat.parent.name) == pid:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == pid:
            ticks += sum(map(int, fields[11:13]))
    return ticks / _TICKS_A_SECOND


async def _round(ask: Ask, *, n: int, at_once: int, server_pid: int) -> Round:
    latencies: dict[int, float] = {}
    numbers = count()

    async def work() -> None:
        while (number := next(numbers)) < n:
            began = time.perf_counter()
            await ask(number)
            latencies[number] = time.perf_counter() - began

    server, client, wall = server_cpu_s(server_pid), time.process_time(), time.perf_counter()
    async with TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work())
    return Round(
        latencies=latencies,
        wall_s=time.perf_counter() - wall,
        client_s=time.process_time() - client,
        server_s=server_cpu_s(server_pid) - server,
    )
