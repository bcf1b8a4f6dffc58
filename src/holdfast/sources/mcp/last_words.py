"""What a server's program said last, and what it may reach: words for whoever wonders why it ended.

A program that its sandbox keeps from something seldom says so. Text in, text out; nothing is read
or asked here.
"""

import re
from collections.abc import Callable

from holdfast.contract.requirements import RequirementSet

LOOKED_AT = 4096
"""So many bytes of its end are looked at."""
_LINES = 8
_CHARACTERS = 1000
_CUT_SECRET = 1024
"""So many bytes at the beginning may be the rest of a secret, where no line begins."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BARE = re.compile(r"[A-Za-z0-9_-]+")

_NETWORK = (
    *("network is unreachable", "enetunreach", "eai_again", "enotfound", "getaddrinfo"),
    *("temporary failure in name resolution", "name or service not known", "no route to host"),
    *("could not resolve host", "ehostunreach", "connection refused", "econnrefused"),
    *("failed to resolve", "dns error", "failed to lookup address", "http error 403"),
)
_FILES = (
    *("permissionerror", "permission denied", "eacces", "eperm", "operation not permitted"),
    *("read-only file system", "erofs", "no such file or directory", "enoent"),
    *("filenotfounderror", "modulenotfounderror", "cannot find module", "err_module_not_found"),
)


def last_lines(printed: bytes, clean: Callable[[str], str]) -> str:
    """The last lines in one, without what ``clean`` takes out; empty where nothing was printed."""
    if len(printed) >= LOOKED_AT:
        _, found, rest = printed.partition(b"\n")
        printed = rest if found else printed[_CUT_SECRET:]
    lines = clean(printed.decode("utf-8", "replace")).strip().splitlines()
    shown = [_CONTROL.sub(" ", line).strip() for line in lines]
    text = " | ".join([line for line in shown if line][-_LINES:])
    return text if len(text) <= _CHARACTERS else f"…{text[-_CHARACTERS:]}"


def is_blocked(said: str) -> bool:
    """Whether these are the words of a program that could not reach something."""
    return _says(said, _NETWORK) or _says(said, _FILES)


def reach_advice(server: str, requires: RequirementSet, said: str) -> str:
    """What the server may reach, and which setting gives it more."""
    fs, hosts = requires.fs, requires.net.hosts
    reads = f"its own program and {_listed(fs.read)}" if fs.read else "nothing but its own program"
    may = (
        f"It may read {reads}, write {_listed(fs.write) or 'nothing'} and reach"
        f" {_listed(hosts) or 'no host'}"
    )
    more = [] if _says(said, _FILES) else ['hosts = ["HOST"]']
    if _says(said, _FILES) or not _says(said, _NETWORK):
        more = ['read = ["PATH"]', 'write = ["PATH"]', *more]
    name = server if _BARE.fullmatch(server) else f'"{server}"'
    return f"{may}; requires = {{ {', '.join(more)} }} in [mcp.{name}] gives it more"


def _says(said: str, phrases: tuple[str, ...]) -> bool:
    lower = said.lower()
    return any(phrase in lower for phrase in phrases)


def _listed(patterns: tuple[str, ...]) -> str:
    return ", ".join(patterns)
