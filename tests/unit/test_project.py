"""The repository itself: what the lock file, the tracked files and the exceptions from the linters must keep."""

from __future__ import annotations

import re
import socket
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest
from pytest_socket import SocketConnectBlockedError

ROOT = Path(__file__).parents[2]
TOP_LEVEL = {
    ".ci",
    ".gitignore",
    ".pre-commit-config.yaml",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "connectors",
    "docs",
    "migrations",
    "policies",
    "pyproject.toml",
    "requirements.lock",
    "support_agent",
    "tests",
}
#: In pieces, so that this file does not hold what it looks for.
REGISTRY_HOSTS = tuple(".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org")))
MACHINE_PATH = re.compile(r"(?<![\w./*~-])/(?:work|root|home|opt|Users)/\w")
DIRECTIVE = re.compile(r"#\s*(?:noqa|type:\s*ignore|mypy:\s*ignore|ruff:\s*noqa)\b(?P<rest>.*)")
#: Rule codes, brackets and dashes; what is left beside them is the reason.
CODES = re.compile(r"\[[\w, -]+\]|\b[A-Z]{1,4}\d{3,4}\b|[^\w]+")
MIN_REASON_LETTERS = 10


@cache
def repository_files() -> tuple[Path, ...]:
    """All files that git tracks, relative to the root; what a user keeps beside them is theirs."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached"]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout: which files belong to the project is unknown")
    return tuple(Path(name) for name in listing.stdout.decode().split("\0") if name and (ROOT / name).is_file())


def text_of(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


def found_in_files(pattern: re.Pattern[str]) -> list[str]:
    """`path:line` of every match in the repository."""
    return [
        f"{path}:{number}"
        for path in repository_files()
        for number, line in enumerate(text_of(path).splitlines(), start=1)
        if pattern.search(line)
    ]


def locked_requirements() -> dict[str, str]:
    """Each requirement of the lock file with the lines that belong to it."""
    blocks = re.split(r"\n(?=\w)", text_of(Path("requirements.lock")))
    return {block.split(" ", 1)[0]: block for block in blocks if not block.startswith("#")}


def test_every_locked_requirement_is_exact_and_hashed() -> None:
    loose = [
        name
        for name, block in locked_requirements().items()
        if "==" not in name or not re.search(r"--hash=sha256:[0-9a-f]{64}\b", block)
    ]

    assert locked_requirements()
    assert loose == []


def test_lock_holds_no_address_or_option() -> None:
    lines = text_of(Path("requirements.lock")).splitlines()

    assert [line for line in lines if "://" in line or " @ " in line or line.startswith(("-", "/", "."))] == []


def test_lock_covers_every_declared_dependency() -> None:
    project = tomllib.loads(text_of(Path("pyproject.toml")))["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["dev"]]

    locked = {name.split("==")[0] for name in locked_requirements()}

    assert {re.split(r"[^\w-]", name, maxsplit=1)[0].lower() for name in declared} - locked == set()


def test_top_level_holds_only_what_belongs_there() -> None:
    assert {path.parts[0] for path in repository_files()} - TOP_LEVEL == set()


def test_no_file_names_a_registry_host() -> None:
    assert found_in_files(re.compile("|".join(map(re.escape, REGISTRY_HOSTS)))) == []


def test_no_file_names_a_path_of_one_machine() -> None:
    assert found_in_files(MACHINE_PATH) == []


def lines_without_reason(source: str) -> list[int]:
    """Numbers of the lines that silence a checker with no reason behind the codes or in a comment above."""
    lines = ["", *source.splitlines()]
    return [
        number
        for number, line in enumerate(lines)
        if (match := DIRECTIVE.search(line))
        and len(CODES.sub("", match["rest"])) < MIN_REASON_LETTERS
        and not lines[number - 1].lstrip().startswith("# ")
    ]


def test_every_silenced_check_gives_its_reason() -> None:
    silent = {
        str(path): numbers
        for path in repository_files()
        if path.suffix == ".py" and path != Path(__file__).relative_to(ROOT)
        if (numbers := lines_without_reason(text_of(path)))
    }

    assert silent == {}


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        pytest.param("x = f()  # noqa: S608", True, id="code alone"),
        pytest.param("x = f()  # type: ignore[no-any-return]", True, id="ignore alone"),
        pytest.param("x = f()  # noqa: S608 - only our own constants", False, id="reason behind"),
        pytest.param("x = f()  # type: ignore[misc]  # the stub forgets None", False, id="second comment"),
        pytest.param("# Only our own constants.\nx = f()  # noqa: S608", False, id="comment above"),
    ],
)
def test_reason_is_found_beside_the_directive(line: str, bare: bool) -> None:
    assert bool(lines_without_reason(line)) is bare


# The guard warns before it raises.
@pytest.mark.filterwarnings("ignore:A test tried to use socket")
def test_sockets_reach_the_named_hosts_only() -> None:
    # Also loopback, so that nothing leaves the machine should the guard be gone; but not among the hosts we allow.
    with socket.socket() as stranger, pytest.raises(SocketConnectBlockedError):
        stranger.connect(("127.0.0.2", 9))

    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as allowed:
        assert allowed.getpeername() == server.getsockname()
