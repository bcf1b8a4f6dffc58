"""What every implementation of a port must do; the fakes and the real things pass the same kit.

Each kit is a plain function that raises AssertionError with what went wrong, so that it fits any
test runner.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC
from pathlib import Path

import msgspec

from holdfast.contract.audit import NO_EXIT, AuditLog, ProgramRun
from holdfast.contract.ports import (
    Clock,
    GrantStore,
    IdSource,
    PathFacts,
    PathProblem,
    PathView,
    SidecarStore,
)
from holdfast.contract.rules import Rule

_ID_LENGTH = 30


def check_clock(clock: Clock) -> None:
    """UTC, consistent with itself, and never going back."""
    _expect(clock.now().tzinfo is UTC, "now() must be in UTC")
    gap = abs(clock.unix_ns() / 1e9 - clock.now().timestamp())
    _expect(gap < 1, f"unix_ns() and now() are {gap} s apart")
    ticks = [clock.ticks() for _ in range(1000)]
    _expect(ticks == sorted(ticks), "ticks() went back")


def check_ids(ids: IdSource) -> None:
    """Distinct, of one length, prefixed, and sorted by the order they were given."""
    given = [ids.new("evt") for _ in range(10_000)]
    _expect(len(set(given)) == len(given), "an id was given twice")
    _expect(given == sorted(given), "ids do not sort by creation")
    _expect(all(one.startswith("evt_") for one in given), "an id lacks its prefix")
    _expect({len(one) for one in given} == {_ID_LENGTH}, "ids are not 30 characters long")


def check_audit(log: AuditLog, kept: Callable[[], Iterable[ProgramRun]]) -> None:
    """Keeps what ran in the order it came, raises nothing; ``kept`` gives it back."""
    first = ProgramRun(
        at_ns=1_785_542_400_123_456_789,
        tool="build",
        argv=("make", "-j2", "all"),
        cwd="/work",
        exit=2,
        ms=1_200,
        stdout_bytes=10,
        stderr_bytes=20,
        truncated=True,
        env_keys=("LANG", "CC"),
        session="ses_a",
        call="cal_a",
    )
    second = ProgramRun(
        at_ns=first.at_ns + 1,
        tool="(watchdog)",
        argv=(),
        cwd="",
        exit=NO_EXIT,
        ms=0,
        stdout_bytes=0,
        stderr_bytes=0,
        truncated=False,
    )
    for run in (first, second):
        log.ran(run)
    _expect(list(kept()) == [first, second], "not kept as told, in the order it came")
    log.ran(msgspec.structs.replace(second, argv=("\udcff\n\0", "é"), at_ns=first.at_ns + 2))
    _expect(len(list(kept())) == len([first, second]) + 1, "what is no text was not kept")


def check_sidecars(
    make: Callable[[int], SidecarStore], read: Callable[[str], bytes | None]
) -> None:
    """Keeps whole outputs under a session quota, and forgets them with the session.

    ``make`` gives a store with that many bytes per session; ``read`` gives back what lies at a
    path, None when nothing does.
    """
    store = make(10)
    first = store.keep("ses_a", "tool-1", b"123456")
    _expect(first is not None, "six bytes fit a quota of ten")
    assert first is not None
    _expect(first.stored_bytes == 6 and read(first.path) == b"123456", "not kept as given")
    second = store.keep("ses_a", "tool-2", "abéd".encode())
    assert second is not None
    _expect(read(second.path) == "abé".encode()[: second.stored_bytes], "not cut to the quota")
    _expect(second.stored_bytes <= 4, "the session quota was exceeded")
    other = store.keep("ses_b", "tool-1", b"xyz")
    assert other is not None
    _expect(other.path != first.path, "two sessions share a path")
    store.forget("ses_a")
    _expect(read(first.path) is None, "a forgotten output is still there")
    _expect(read(other.path) == b"xyz", "forgetting one session touched another")
    store.forget("ses_a")
    again = store.keep("ses_a", "tool-1", b"1234567890")
    _expect(again is not None, "forgetting did not give the quota back")


def check_grants(make: Callable[[], GrantStore]) -> None:
    """Keeps what is added, in order, for every store of the same project; always as grants."""
    first, again = make(), make()
    _expect(first.load() == (), "a project nobody answered for has grants")
    for pattern in ("make", "ls"):
        rule = Rule(permission="run", pattern=pattern, scope="project", source="the kit")
        first.add([msgspec.structs.replace(rule, action="allow", remembered=True)])
    for store in (first, again):
        kept = [rule.pattern for rule in store.load()]
        _expect(kept == ["make", "ls"], f"the grants are {kept}, not make and then ls")
        _expect(all(rule.remembered for rule in store.load()), "a grant came back as a rule")


def check_path_facts(make: Callable[[Mapping[str, str], Mapping[str, str]], PathFacts]) -> None:
    """Follows text and disk apart, names what leads nowhere, and knows what does not exist yet.

    ``make`` builds files (path to content) and links (path to target) below a directory of its own,
    ``@`` in a path or target, and gives facts in whose answers and questions ``@`` stands for it.
    """
    facts = make(
        {"@/ws/docs/a.md": "a", "@/out/o.txt": "o", "@/ws-old/x": "x"},
        {
            "@/ws/docs/out": "@/out",
            "@/ws/docs/near": "a.md",
            "@/ws/docs/up": "../../out",
            "@/ws/docs/gone": "@/out/new.txt",
            "@/ws/loop": "@/ws/loop",
            "@/ws/there": "back",
            "@/ws/back": "there",
            "@/link": "@/ws",
        },
    )
    for path, lexical, physical in _PATHS:
        seen = facts.look(path, "@/ws")
        wanted = PathView(lexical, physical)
        _expect(seen == wanted, f"{path!r} gives {seen}, not {wanted}")
    for path, trouble in _TROUBLES.items():
        seen = facts.look(path, "@/ws")
        found = seen.trouble if isinstance(seen, PathProblem) else seen
        _expect(found == trouble, f"{path!r} gives {found}, not {trouble!r}")
    seen = facts.look("docs", None)
    _expect(seen == PathProblem("no_workspace"), f"a relative path without a base gives {seen}")


_PATHS = [
    ("docs/a.md", "@/ws/docs/a.md", "@/ws/docs/a.md"),
    ("@/ws/docs/a.md", "@/ws/docs/a.md", "@/ws/docs/a.md"),
    ("./docs//./a.md", "@/ws/docs/a.md", "@/ws/docs/a.md"),
    (".", "@/ws", "@/ws"),
    ("..", "@", "@"),
    ("docs/", "@/ws/docs", "@/ws/docs"),
    ("~/x", "@/ws/~/x", "@/ws/~/x"),
    ("docs/new", "@/ws/docs/new", "@/ws/docs/new"),
    ("docs/new/", "@/ws/docs/new", "@/ws/docs/new"),
    ("new/deep/../file", "@/ws/new/file", "@/ws/new/file"),
    ("docs/near", "@/ws/docs/near", "@/ws/docs/a.md"),
    ("docs/out", "@/ws/docs/out", "@/out"),
    ("docs/out/o.txt", "@/ws/docs/out/o.txt", "@/out/o.txt"),
    ("docs/out/new/deep", "@/ws/docs/out/new/deep", "@/out/new/deep"),
    ("docs/up/o.txt", "@/ws/docs/up/o.txt", "@/out/o.txt"),
    ("docs/out/../ws-old/x", "@/ws/docs/ws-old/x", "@/ws-old/x"),
    ("docs/gone", "@/ws/docs/gone", "@/out/new.txt"),
    ("docs/gone/more", "@/ws/docs/gone/more", "@/out/new.txt/more"),
    ("@/link/docs/a.md", "@/link/docs/a.md", "@/ws/docs/a.md"),
    ("../ws-old/x", "@/ws-old/x", "@/ws-old/x"),
    ("/../..", "/", "/"),
    ("///", "/", "/"),
]
_TROUBLES = {
    "": "empty",
    "docs/a.md\0": "nul",
    "docs/\ud800": "not_text",
    "loop": "loop",
    "loop/x": "loop",
    "there/x": "loop",
    "docs/a.md/x": "not_a_directory",
    "docs/a.md/..": "not_a_directory",
    "docs/a.md/": "not_a_directory",
    "docs/near/x": "not_a_directory",
    "x" * 256: "too_long",
    "x/" * 3000: "too_long",
}


def read_file(path: str) -> bytes | None:
    """For `check_sidecars` of a store that writes files."""
    place = Path(path)
    return place.read_bytes() if place.is_file() else None


def _expect(held: bool, otherwise: str) -> None:  # noqa: FBT001 - an assertion reads best this way
    if not held:
        raise AssertionError(otherwise)
