"""A tenant folder and a database from an airline's files: `python -m tests.e2e.airline.assemble DATA TARGET`.

DATA holds policy.md, reservations.jsonl, users.jsonl and flights.jsonl. The policy's text is taken as it is; our front
matter and terms stand beside it, in the tenant folder that this package brings.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.airline.database import fill

TENANT = Path(__file__).parent / "tenant"
VERSION = "2024-01-01"
#: The environment variable that the tenant's connectors name.
CONNECTION = "AIRLINE_DATABASE_URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Airline:
    """What `tenant load` takes, and the URL that `CONNECTION` must hold."""

    folder: Path
    database_url: str


def assemble(data: Path, target: Path, *, database_url: str | None = None) -> Airline:
    """Write the tenant folder to `target` and load the data into a database.

    Args:
        data: The airline's files.
        target: A folder; `tenant` in it must not exist yet.
        database_url: An empty database, or an empty schema of one; None makes an SQLite file in `target`.
    """
    folder = target / "tenant"
    shutil.copytree(TENANT, folder)
    shutil.copyfile(data / "policy.md", folder / "documents" / "airline" / f"{VERSION}.md")
    url = database_url or f"sqlite:///{(target / 'airline.sqlite').resolve()}"
    fill(url, data)
    return Airline(folder=folder, database_url=url)


if __name__ == "__main__":
    airline = assemble(Path(sys.argv[1]), Path(sys.argv[2]))
    sys.stdout.write(f"export {CONNECTION}='{airline.database_url}'\nsupport-agent tenant load {airline.folder}\n")
