"""`repo_clone`: a repository from a web address, as a directory of the workspace.

Nothing of the repository runs: no hook, no filter, no submodule, and none of this machine's git
configuration counts. The program reaches the one host of the address and follows no redirect.
"""

from collections.abc import Iterator
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from anyio import CancelScope, create_task_group, sleep, to_thread

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import (
    Cancelled,
    FileNotFound,
    InvalidArguments,
    OperationFailed,
    OperationTimedOut,
    SandboxNotRunning,
    ToolError,
    Unavailable,
)
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.runtime import Progress, Runtime
from holdfast.contract.shell import CommandLimits, CommandReport, denial_of
from holdfast.contract.tool import Limits

SECONDS = 600.0
_GRACE = 2.0
"""git removes what it has fetched so far when it is told to end."""
_NAME = late_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_SAID = 2_000

_SETTINGS = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "credential.helper="),
    *("-c", "http.followRedirects=false"),
)
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ALLOW_PROTOCOL": "http:https",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "LC_ALL": "C",
    # The way to every host leads through the proxy, which judges it.
    "no_proxy": "",
    "NO_PROXY": "",
}


class Cloned(msgspec.Struct, frozen=True, kw_only=True):
    """Where the repository is, and what it is at."""

    path: str
    url: str
    branch: str | None
    """None: no branch, or a repository without a commit."""
    commit: str | None


def url_targets(url: str, capability: str) -> Iterator[str]:
    """What a URL names: its host, and the directory that is called by it where none is given.

    Other arguments are not seen here: the name is judged also where it is not used.
    """
    if capability == "net.fetch":
        yield url
    elif name := _name_in(url):
        yield name


def _name_in(url: str) -> str | None:
    """The repository's own name, if the URL says one."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return None
    name = path.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return name if _NAME.fullmatch(name) else None


@builtin(
    requires={
        "shell": [{"cmd": "git"}],
        "fs": {"read": ["**"], "write": ["**"]},
        "net": {"hosts": ["*"]},
    },
    uses={
        "url": ("net.fetch", "fs.read", "fs.write"),
        "directory": ("fs.read", "fs.write"),
    },
    targets={"url": url_targets},
    read_only=False,
    effects=("resource_write", "sandbox_execute"),
    acp_kind="fetch",
    interrupt_behavior="cancel",
    limits=Limits(wall_seconds=None),
)
async def repo_clone(
    rt: Runtime,
    url: Annotated[str, msgspec.Meta(pattern=r"^https?://[^\s]+$", max_length=2_000)],
    directory: str | None = None,
    branch: Annotated[str, msgspec.Meta(pattern=r"^[^-\s][^\s]*$", max_length=250)] | None = None,
    depth: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] | None = None,
) -> Cloned:
    """Clone a git repository from a web address into a new directory of the workspace.

    Without credentials and without submodules. Example:
    {"url": "https://example.org/team/project.git", "depth": 1}

    Args:
        url: Where the repository is: http or https.
        directory: The new directory, in the workspace; the repository's own name without it.
        branch: The branch or tag to check out; the repository's usual one without it.
        depth: Fetch only so many of the latest commits.
    """
    target = _target(url, directory)
    if await to_thread.run_sync(rt.fs.exists, target):
        raise InvalidArguments(
            f"{target!r} exists already, and nothing is overwritten: name another directory.",
            field="directory",
        )
    rt.progress(Progress(message=f"Cloning {url}"))
    options = ["--no-recurse-submodules", "--template="]
    options += [] if branch is None else ["--branch", branch]
    options += [] if depth is None else ["--depth", str(depth)]
    argv = ["git", *_SETTINGS, "clone", "--quiet", *options, "--", url, target]
    report = await _run(rt, argv)
    if report.exit_code != 0:
        raise _trouble(report, url, branch)
    commit, name = await _head(rt, target)
    rt.progress(Progress(message=f"Cloned into {target}"))
    return Cloned(path=target, url=url, branch=name, commit=commit)


def _target(url: str, directory: str | None) -> str:
    try:
        parts = urlsplit(url)
        named = bool(parts.username or parts.password)
    except ValueError as problem:
        raise InvalidArguments(f"The URL cannot be read: {problem}.", field="url") from None
    if named:
        raise InvalidArguments(
            "A URL with a name or password in it is refused: it would be kept in the clone.",
            field="url",
            expected="a URL without credentials",
        )
    if directory:
        if directory.startswith("-"):
            directory = f"./{directory}"
        return directory
    name = _name_in(url)
    if name is None:
        raise InvalidArguments(
            "The URL does not say what to call the clone; give a directory.", field="directory"
        )
    return name


async def _run(rt: Runtime, argv: list[str]) -> CommandReport:
    """To its end. Interrupted, it has a moment to remove what it has fetched so far."""
    reports: list[CommandReport] = []
    undisturbed = CancelScope(shield=True)

    async def work() -> None:
        limits = CommandLimits(wall=SECONDS, grace=_GRACE)
        with undisturbed:
            reports.append(await rt.shell.run(argv, environment=_ENVIRONMENT, limits=limits))
        group.cancel_scope.cancel()

    async def tell() -> None:
        seconds = 0
        try:
            while True:
                await sleep(1)
                seconds += 1
                rt.progress(Progress(message=f"Cloning for {seconds} s"))
        finally:
            if not rt.abort.aborted:
                undisturbed.cancel()  # nobody told the program to end

    async with create_task_group() as group:
        group.start_soon(tell)
        group.start_soon(work)
    if not reports:
        raise Cancelled("The call was interrupted.")
    return reports[0]


def _trouble(report: CommandReport, url: str, branch: str | None) -> ToolError:
    said = report.stderr.text().strip()[-_SAID:]
    if report.killed_by is not None:
        return _ended(report)
    if report.unstarted is not None:
        return Unavailable(f"git could not be started here: {report.unstarted}.")
    denial = denial_of(report)
    if denial is not None:
        return denial
    if branch is not None and "not found in upstream" in said:
        return InvalidArguments(f"The repository has no branch or tag {branch!r}.", field="branch")
    if "could not read Username" in said or "Authentication failed" in said:
        return FileNotFound(
            f"There is no public repository at {url}: the host asks for credentials, and none are"
            " given here.",
            field="url",
        )
    if "not found" in said:
        return FileNotFound(f"There is no repository at {url}.", field="url")
    if "error: 30" in said or "redirect" in said:
        return InvalidArguments(
            f"{url} leads to another address, and none is followed: give that address. {said}",
            field="url",
        )
    return OperationFailed(f"git could not clone it: {said}")


def _ended(report: CommandReport) -> ToolError:
    if report.killed_by == "timeout":
        return OperationTimedOut(
            f"Cloning took longer than {SECONDS:g} seconds; ask for less with depth."
        )
    if report.killed_by == "lost":
        return SandboxNotRunning("The sandbox went away while git ran.")
    return Cancelled("Cloning was ended before it was done; nothing is left of it.")


async def _head(rt: Runtime, target: str) -> tuple[str | None, str | None]:
    """The commit that is checked out, and its branch."""
    argv = ["git", *_SETTINGS, "-C", target, "rev-parse", "HEAD", "--abbrev-ref", "HEAD"]
    report = await rt.shell.run(argv, environment=_ENVIRONMENT, limits=CommandLimits(wall=SECONDS))
    lines = report.stdout.text().split()
    if report.exit_code != 0 or len(lines) != 2:
        return None, None
    return lines[0], None if lines[1] == "HEAD" else lines[1]
