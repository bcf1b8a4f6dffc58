"""What a sandbox kept a command from: found in what it printed, believed only if the policy agrees.

A program says in its own words that it could not open something. The words only suggest a path or
a host; it is named as refused when the policy really does not admit it. Whether it exists is not
looked at: what lies outside is refused in one way.
"""

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.contract.gates import Access, HostGate, PathGate, Refusal
from holdfast.contract.paths import is_within
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes import base_system

MOST_LINES = 200
MOST_NAMED = 10
_LONGEST_LINE = 2000

_NOT_PERMITTED = re.compile(
    r"permission denied|operation not permitted|read-only file system|EACCES|EPERM|EROFS",
    re.IGNORECASE,
)
_NOT_THERE = re.compile(r"no such file or directory|ENOENT|not found", re.IGNORECASE)
_PATH = re.compile(
    r"""['"`\u2018]([^'"`\u2018\u2019\n]+)['"`\u2019]|([^\s:'"`\u2018\u2019,;()]*/[^\s:'"`\u2018\u2019,;()]+)"""
)
_HOST = re.compile(
    r"(?:could not resolve host:?|lookup|resolve(?: host)?|connect to|name or service not known:?"
    r"|getaddrinfo \w+|unable to access 'https?://)\s*([A-Za-z0-9.-]+\.[A-Za-z]{2,}|\d+(?:\.\d+){3})",
    re.IGNORECASE,
)


class Confined(NamedTuple):
    """What a command was confined to."""

    policy: SandboxPolicy
    temporary: str
    """Where it sees its temporary directory."""
    cwd: str
    may_open: PathGate
    may_reach: HostGate


def denials(confined: Confined, stderr: str) -> tuple[Refusal, ...]:
    """The refusals behind what a failed command said, each target once."""
    found: dict[str, Refusal] = {}
    for line in stderr.splitlines()[-MOST_LINES:]:
        for refusal in _in_line(confined, line[:_LONGEST_LINE]):
            found.setdefault(refusal.target, refusal)
    return tuple(found.values())[:MOST_NAMED]


def _in_line(confined: Confined, line: str) -> Iterator[Refusal]:
    if confined.policy.network != "open":
        for host in _HOST.findall(line):
            verdict = confined.may_reach(host)
            if isinstance(verdict, Refusal):
                yield verdict
    if _NOT_PERMITTED.search(line):
        accesses: tuple[Access, ...] = ("read", "write")
    elif _NOT_THERE.search(line):
        accesses = ("read",)
    else:
        return
    for quoted, bare in _PATH.findall(line):
        yield from _of_path(confined, quoted or bare, accesses)


def _of_path(confined: Confined, written: str, accesses: tuple[Access, ...]) -> Iterator[Refusal]:
    if "\0" in written or written.startswith("~"):
        return
    path = posixpath.normpath(posixpath.join(confined.cwd, written))
    for access in accesses:
        if _is_admitted(confined, access, path):
            continue
        verdict = confined.may_open(access, path)
        if isinstance(verdict, Refusal):
            yield Refusal(reason=verdict.reason, target=written, requirement=verdict.requirement)
            return


def _is_admitted(confined: Confined, access: Access, path: str) -> bool:
    """Whether the kernel was told to let it through."""
    policy = confined.policy
    own = (confined.temporary, "/dev", "/proc")
    if access == "write":
        if any(is_within(path, root) for root in policy.writable):
            return not any(is_within(path, kept) for kept in policy.protected)
        return any(is_within(path, place) for place in own)
    roots = (*policy.readable, *base_system.readable(), *own)
    return any(is_within(path, root) for root in roots)
