"""What a sandbox kept a command from: found in what it printed, believed only if the policy agrees.

A program says in its own words that it could not open something. The words only suggest a path or
a host; it is named as refused when the policy really does not admit it, and marked as said, since a
command can print anything. Whether it exists is looked at only where the command may see that
itself: what lies outside is refused in one way.

What is printed may be hostile, and it is read on the event loop: so much of it is looked at and no
more, and every step of looking takes as long as the line.
"""

import os
import posixpath
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Literal, NamedTuple

import msgspec

from holdfast.contract.gates import Access, HostGate, PathGate, Refusal
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.paths import is_within
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes import base_system

MOST_TEXT = 32 * 1024
"""The end is looked at, in characters."""
MOST_LINES = 200
"""Of that, the last ones."""
LONGEST_LINE = 2000
"""Of each, the beginning."""
MOST_SUGGESTED = 500
"""Paths and hosts that are compared with what the kernel was told."""
MOST_JUDGED = 50
"""Of these, those the policy is asked about, which looks at the disk."""
MOST_NAMED = 10
_LONGEST_HOST = 253

_NOT_PERMITTED = (
    *("permission denied", "operation not permitted", "read-only file system"),
    *("eacces", "eperm", "erofs"),
    # What is kept is a mount of its own: whoever would put something in its place hears this.
    *("device or resource busy", "ebusy"),
)
_NOT_THERE = ("no such file or directory", "enoent", "not found", "not a directory", "enotdir")
_WRITING = (
    *("for writing", "read-only file system", "erofs", "cannot create", "can't create"),
    *("could not create", "cannot touch", "cannot make", "cannot remove", "cannot write"),
    *("unable to create", "failed to create", "write error", "error writing", "could not write"),
)
_READING = (
    *("for reading", "cannot access", "cannot stat", "cannot read", "can't read"),
    *("cannot open directory", "error reading", "read error"),
)
_READERS = frozenset({"cat", "head", "tail", "less", "more", "ls", "grep", "wc", "stat", "file"})
_WRITERS = frozenset({"touch", "mkdir", "rmdir", "tee", "rm", "truncate", "mktemp", "mkfifo"})

_QUOTE = late_pattern("['\"`\u2018\u2019]")
_BETWEEN_WORDS = late_pattern(r"[\s:,;()]")
_HOST = late_pattern(r"localhost|\d+(?:\.\d+){3}|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}")
_DIGITS = late_pattern(r"[1-9][0-9]{0,4}")
_NETWORK = ("resolve", "lookup", "connect to", "not known", "access", "getaddrinfo", "host address")
_ANSWERED = "returned error"
"""Whoever is told of by these words was reached."""
_NO_NETWORK = (
    *("network is unreachable", "enetunreach", "temporary failure in name resolution"),
    *("name or service not known", "eai_again", "nodename nor servname provided"),
)
_NO_HOSTS = Refusal(
    reason="It may reach no host.",
    target="the network",
    requirement="requires.net.hosts = ['the.host.it.wants']",
    basis="said",
)
_PAST_THE_PROXY = Refusal(
    reason="Hosts are reached through the proxy that HTTPS_PROXY and HTTP_PROXY name, and in no"
    " other way: let the program use it.",
    target="the network",
    basis="said",
)
_LOOPBACK = ("127.", "localhost")
_OWN_LOOPBACK = "Until it is granted, this address is the sandbox's own; then, the machine's."
_LOOPBACK_PAST_THE_PROXY = (
    "This address is the sandbox's own. The server of the machine that is granted is reached"
    " through the proxy that HTTP_PROXY names, and in no other way: let the program use it."
)
_PORT = "port"
_USUAL_PORTS = ("80", "443")
_NOT_THERE_YET = (
    "It is not there yet, and a program is given a single file or folder only if it was there"
    " before: make it, or name the folder that it is in."
)
_BEFORE_A_HOST = frozenset(
    {
        *(("resolve", "host"), ("resolve", "hostname"), ("host", "address"), ("connect", "to")),
        *(("not", "known"), ("to", "access"), ("to", "resolve"), ("not", "resolve")),
    }
)

_Wanted = Literal["read", "write", "unclear"]


class Confined(NamedTuple):
    """What a command was confined to."""

    policy: SandboxPolicy
    temporary: str
    """Where it sees its temporary directory."""
    cwd: str
    may_open: PathGate
    may_reach: HostGate
    shows: Callable[[str], bool] = os.path.lexists
    """Whether a path is there for it; asked only of what it may see."""


def denials(confined: Confined, stderr: str) -> tuple[Refusal, ...]:
    """The refusals behind what a failed command said, each target once."""
    judge = _Judge(confined)
    found: dict[str, Refusal] = {}
    for suggestion in dict.fromkeys(islice(_suggested(stderr), MOST_SUGGESTED)):
        if suggestion.target in found:
            continue
        refusal = judge.refusal(suggestion)
        if refusal is not None:
            found[refusal.target] = refusal
        if len(found) == MOST_NAMED or judge.asked >= MOST_JUDGED:
            break
    nowhere = None if found else judge.of_network(stderr)
    return tuple(found.values()) if nowhere is None else (nowhere,)


class _Suggestion(NamedTuple):
    """What the words of a line are about."""

    target: str
    kind: Literal["path", "host"]
    wanted: _Wanted = "unclear"
    is_missing: bool = False
    """It was not found, rather than not permitted."""


def _suggested(stderr: str) -> Iterator[_Suggestion]:
    """In the order they were printed."""
    text = stderr[-MOST_TEXT:]
    if len(text) < len(stderr):
        text = text.partition("\n")[2]  # half a line would name half a path
    lines = text.rstrip("\n").rsplit("\n", MOST_LINES)
    for line in lines[-MOST_LINES:]:
        for said in _sentences(line[:LONGEST_LINE]):
            yield from _in_line(said)


def _sentences(line: str) -> Iterator[str]:
    """The line itself; of one that is a JSON object, the texts it holds: its keys name nothing."""
    if line.lstrip().startswith("{"):
        try:
            values = msgspec.json.decode(line, type=dict[str, object]).values()
        except (ValueError, RecursionError):
            pass
        else:
            yield from (one for one in values if isinstance(one, str))
            return
    yield line


def _in_line(line: str) -> Iterator[_Suggestion]:
    lower = line.lower()
    if _says(lower, _NETWORK) and _ANSWERED not in lower:
        for host in _hosts(lower):
            yield _Suggestion(host, "host")
    permitted = not _says(lower, _NOT_PERMITTED)
    if permitted and not _says(lower, _NOT_THERE):
        return
    wanted = _wanted(lower)
    for path in _paths(line):
        yield _Suggestion(path, "path", wanted, is_missing=permitted)


def _says(lower: str, phrases: tuple[str, ...]) -> bool:
    return any(phrase in lower for phrase in phrases)


def _wanted(lower: str) -> _Wanted:
    """What the command tried, as far as its words tell."""
    program = lower.partition(":")[0].rpartition("/")[2]
    if _says(lower, _WRITING) or program in _WRITERS:
        return "write"
    if _says(lower, _READING) or program in _READERS:
        return "read"
    return "unclear"


def _hosts(lower: str) -> Iterator[str]:
    """What stands behind the words of a failed connection."""
    before, last = "", ""
    words = [piece.strip(".,:;()[]") for piece in _QUOTE.sub(" ", lower).split()]
    for at, word in enumerate(words):
        if last == "lookup" or before == "getaddrinfo" or (before, last) in _BEFORE_A_HOST:
            name = word.partition("://")[2] or word
            host, _, port = name.partition("/")[0].partition(":")
            if len(host) <= _LONGEST_HOST and _HOST.fullmatch(host):
                yield _with_port(host, port, words[at + 1 : at + 3])
        before, last = last, word


def _with_port(host: str, port: str, behind: list[str]) -> str:
    """The port stands behind a colon or in words; the usual ones need not be named."""
    if not port and behind[:1] == [_PORT]:
        port = "".join(behind[1:])
    named = _DIGITS.fullmatch(port) and port not in _USUAL_PORTS
    return f"{host}:{port}" if named else host


def _paths(line: str) -> Iterator[str]:
    """What is quoted, what has a slash in it, and what stands before the words of the system."""
    _, program, before = line.rpartition(": ")[0].rpartition(": ")
    # Without a program before it, only one word is a name: more are a sentence.
    is_name = before == before.strip() and (program or not _BETWEEN_WORDS.search(before))
    is_name = is_name and not _QUOTE.search(before)
    if before and "/" not in before and is_name and not _are_the_systems(before):
        yield before
    segments = _QUOTE.split(line)
    for number, segment in enumerate(segments):
        # An apostrophe is a quote, too: what begins or ends with a space is between two names.
        if 0 < number < len(segments) - 1 and segment and segment == segment.strip():
            if not _are_the_systems(segment):
                yield segment
        elif "/" in segment:
            yield from (word for word in _BETWEEN_WORDS.split(segment) if "/" in word.rstrip("/"))


def _are_the_systems(words: str) -> bool:
    """Whether it is what the system says of a name, and not a name."""
    lower = words.lower()
    return _says(lower, _NOT_PERMITTED) or _says(lower, _NOT_THERE)


class _Judge:
    """Compares what was said with what the kernel was told and with what the policy admits."""

    def __init__(self, confined: Confined) -> None:
        self._confined = confined
        self._own = (confined.temporary, "/dev", "/proc")
        self._system = (*base_system.readable(), *self._own)
        self.asked = 0
        """How often the policy was."""

    def refusal(self, said: _Suggestion) -> Refusal | None:
        """Why it is out of reach; None: it is not, or its words mean something else."""
        if said.kind == "host":
            return self._of_host(said.target)
        if "\0" in said.target or said.target.startswith("~"):
            return None
        path = posixpath.normpath(posixpath.join(self._confined.cwd, said.target))
        read = None if said.wanted == "write" else self._of_path("read", path)
        # What is only missing could be read, and nobody said that it was to be written.
        may_be_write = said.wanted == "write" or read is not None or not said.is_missing
        write = self._of_writing(said, path) if said.wanted != "read" and may_be_write else None
        return _told(said.target, read, write)

    def _of_writing(self, said: _Suggestion, path: str) -> Refusal | None:
        if self._is_admitted("write", path):
            named = path in self._confined.policy.writable
            return (
                self._not_there_before(path) if named and not self._confined.shows(path) else None
            )
        refused = self._refused("write", path)
        if refused is None:
            return self._not_there_before(path) if said.wanted == "write" else None
        if refused.requirement is None or not self._is_seen_to_be_missing(path):
            return refused
        folder = self._refused("write", _all_beside(path))
        if folder is None or folder.requirement is None:
            return refused
        reason = f"{refused.reason} {_NOT_THERE_YET}"
        return msgspec.structs.replace(refused, reason=reason, requirement=folder.requirement)

    def _is_seen_to_be_missing(self, path: str) -> bool:
        """Only where the command may see so much: behind a link it may not."""
        policy = self._confined.policy
        if not policy.reads(path) or self._confined.shows(path):
            return False
        return policy.reads(os.path.realpath(path))

    def _not_there_before(self, path: str) -> Refusal:
        """The kernel is told of what is there, and of all that is in a folder."""
        folder = _all_beside(path)
        # Where the policy refuses the folder, it names it as people write it.
        verdict = self._refused("write", folder)
        written = f"requires.fs.write = [{folder!r}]" if verdict is None else verdict.requirement
        return Refusal(reason=_NOT_THERE_YET, target=path, requirement=written)

    def _of_host(self, host: str) -> Refusal | None:
        mode = self._confined.policy.network
        if mode == "open":
            return None
        self.asked += 1
        verdict = self._confined.may_reach(host)
        is_own = mode == "hosts" and host.startswith(_LOOPBACK)
        if isinstance(verdict, Refusal):
            reason = f"{verdict.reason} {_OWN_LOOPBACK}" if is_own else verdict.reason
            return msgspec.structs.replace(verdict, reason=reason, target=host, basis="said")
        if is_own:
            return Refusal(reason=_LOOPBACK_PAST_THE_PROXY, target=host, basis="said")
        return None

    def of_network(self, stderr: str) -> Refusal | None:
        """Why no host at all is reached, where a command says so and names none."""
        mode = self._confined.policy.network
        if mode == "open" or not _says(stderr[-MOST_TEXT:].lower(), _NO_NETWORK):
            return None
        return _NO_HOSTS if mode == "none" else _PAST_THE_PROXY

    def _of_path(self, access: Access, path: str) -> Refusal | None:
        return None if self._is_admitted(access, path) else self._refused(access, path)

    def _refused(self, access: Access, path: str) -> Refusal | None:
        self.asked += 1
        verdict = self._confined.may_open(access, path)
        return verdict if isinstance(verdict, Refusal) else None

    def _is_admitted(self, access: Access, path: str) -> bool:
        """Whether the kernel was told to let it through."""
        policy = self._confined.policy
        if access == "read":
            return policy.reads(path) or self._lies_in(path, self._system)
        return policy.writes(path) or self._lies_in(path, self._own)

    def _lies_in(self, path: str, places: tuple[str, ...]) -> bool:
        policy = self._confined.policy
        named = (*policy.readable, *policy.writable)
        return any(is_within(path, one) for one in places) and not any(
            is_within(path, one) for one in named
        )


def _all_beside(path: str) -> str:
    return f"{posixpath.dirname(path).rstrip('/')}/**"


def _told(target: str, read: Refusal | None, write: Refusal | None) -> Refusal | None:
    """One refusal of both, where nobody can tell which of them it was."""
    refused = [one for one in (read, write) if one is not None]
    if not refused:
        return None
    wanted = [one.requirement for one in refused if one.requirement is not None]
    return Refusal(
        reason=" ".join(one.reason for one in refused),
        target=target,
        requirement=" or ".join(wanted) or None,
        basis="said",
    )
