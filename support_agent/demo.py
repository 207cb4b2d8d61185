"""`make demo`: the sample tenant on a local server, and six questions to it in both languages."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

import policies
from connectors.errors import SourceError
from policies.errors import PolicyError
from support_agent.administration.tenants import load_tenant
from support_agent.bootstrap import open_application
from support_agent.cli.options import talk
from support_agent.errors import SupportAgentError
from support_agent.rendering.terminal import print_outcome
from support_agent.request import AskRequest
from support_agent.settings import read_settings

TENANT = "lumen"
SAMPLE = Path(policies.__file__).parent / "sample"


@dataclass(frozen=True, slots=True)
class _Asked:
    shows: str
    text: str
    customer: str | None
    at: str


QUESTIONS = (
    _Asked(
        "the version in force when it was bought decides",
        "Can I still get a refund for the plan we bought last year?",
        "C-2001",
        "2026-03-10T09:00+01:00",
    ),
    _Asked("the same question in Chinese", "我们去年买的套餐现在还能退吗？", "C-2001", "2026-03-10T09:00+01:00"),
    _Asked("a law's minimum prevails over a shorter window", "我的键盘现在还能退货吗？", "C-2006", "2026-11-30"),
    _Asked("two departments disagree, and it is said", "What is your policy on data export?", "C-2001", "2026-11-30"),
    _Asked("a tie that decides goes to a person", "我们的套餐现在还能取消续费吗？", "C-2207", "2026-11-30"),
    _Asked("what nobody wrote down is not invented", "Do you offer a discount for students?", "C-2005", "2026-11-30"),
)


async def demo(console: Console) -> None:
    """Load the sample tenant and print each question with its outcome."""
    settings = read_settings()
    if settings.database_url is None:
        talk("Starting a local PostgreSQL in .support-agent (the first time takes a few seconds) …")
    async with open_application(settings) as application:
        report = await load_tenant(application, SAMPLE, expected=None, progress=lambda _: None)
        state = "loaded" if report["changed"] else "was loaded already"
        talk(f"Tenant {report['tenant']} {state}: {report['n_policies']} policies, {report['n_versions']} versions.")
        for number, asked in enumerate(QUESTIONS, start=1):
            answered = await application.ask(
                AskRequest(question=asked.text, tenant=TENANT, customer=asked.customer, at=asked.at)
            )
            console.rule(f"{number}/{len(QUESTIONS)}  {asked.shows}", align="left")
            print_outcome(answered.run.outcome, question=asked.text, contract=answered.contract, console=console)
    talk("The server stays up for the next command; `support-agent database stop` stops it.")


def main() -> None:
    """Run the demo; what keeps it from running is said in a sentence."""
    try:
        asyncio.run(demo(Console()))
    except (SupportAgentError, PolicyError, SourceError) as error:
        talk(f"demo: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main()
