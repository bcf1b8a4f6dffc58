"""What a command says it could not open is believed only where the policy agrees."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract import sandbox
from holdfast.contract.gates import Access, HostLeave, PathLeave, Refusal
from holdfast.contract.paths import is_within
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes import denials as reading
from holdfast.execution.processes.denials import (
    LONGEST_LINE,
    MOST_JUDGED,
    MOST_LINES,
    MOST_NAMED,
    MOST_SUGGESTED,
    MOST_TEXT,
    Confined,
    denials,
)

POLICY = SandboxPolicy(readable=("/w",), writable=("/w",), protected=("/w/.git/hooks",))


def may_open(access: Access, path: str) -> PathLeave | Refusal:
    if path.startswith("/w/") and ".git/hooks" not in path:
        return PathLeave(path)
    return Refusal(reason=f"no {access}", target=path, requirement=f"requires.fs.{access}")


def may_reach(host: str) -> HostLeave | Refusal:
    if host == "good.example":
        return HostLeave(host, None, lambda _address: True)
    return Refusal(reason="no host", target=host, requirement="requires.net.hosts")


def is_there(path: str) -> bool:
    return not path.endswith("new")


CONFINED = Confined(POLICY, "/tmp", "/w/sub", may_open, may_reach, is_there)
WITH_HOSTS = CONFINED._replace(policy=msgspec.structs.replace(POLICY, network="hosts"))
WITHOUT_BOUNDS = CONFINED._replace(policy=msgspec.structs.replace(POLICY, network="open"))

READ, WRITE = "requires.fs.read", "requires.fs.write"
EITHER = f"{READ} or {WRITE}"
HOSTS = "requires.net.hosts"
HOOK = "../.git/hooks/pre-push"

SAID = [
    ("cat: /etc/shadow: Permission denied", "/etc/shadow", READ),
    ("/bin/cat: /home/eve/secret: No such file or directory", "/home/eve/secret", READ),
    ("cp: cannot open '/srv/a' for reading: Permission denied", "/srv/a", READ),
    ("cp: cannot stat '/srv/a': No such file or directory", "/srv/a", READ),
    ("touch: cannot touch '/usr/x': Read-only file system", "/usr/x", WRITE),
    ("touch: cannot touch '/srv/x': No such file or directory", "/srv/x", WRITE),
    ("mkdir: cannot create directory \u2018/srv/x\u2019: Permission denied", "/srv/x", WRITE),
    ("cp: cannot create regular file '/srv/x': No such file or directory", "/srv/x", WRITE),
    ("can't open '/srv/x' for writing: EACCES", "/srv/x", WRITE),
    ("tee: /srv/x: Permission denied", "/srv/x", WRITE),
    ("bash: line 1: /srv/x: Read-only file system", "/srv/x", WRITE),
    (f"bash: line 1: {HOOK}: Read-only file system", HOOK, WRITE),
    (f"bash: line 1: {HOOK}: Permission denied", HOOK, WRITE),
    # It may have been `<`, `>` or a program: nobody can tell from outside.
    ("bash: line 1: /srv/x: Permission denied", "/srv/x", EITHER),
    ("bash: line 1: /srv/x: No such file or directory", "/srv/x", EITHER),
    ("cat: /srv/file/x: Not a directory", "/srv/file/x", READ),
    ("could not write config file ../.git/hooks: Device or resource busy", "../.git/hooks", WRITE),
    ("PermissionError: [Errno 13] Permission denied: '/home/me/ssh/id'", "/home/me/ssh/id", EITHER),
    ("gcc: error: \u2018/srv/a b.c\u2019: No such file or directory", "/srv/a b.c", EITHER),
    ("curl: (6) Could not resolve host: evil.example", "evil.example", HOSTS),
    ("curl: (7) Failed to connect to 192.0.2.7 port 80", "192.0.2.7", HOSTS),
    (
        "ssh: Could not resolve hostname evil.example: Name or service not known",
        "evil.example",
        HOSTS,
    ),
    ("wget: unable to resolve host address 'evil.example'", "evil.example", HOSTS),
    ("Error: getaddrinfo ENOTFOUND evil.example", "evil.example", HOSTS),
    ("dial tcp: lookup evil.example: no such host", "evil.example", HOSTS),
    ("fatal: unable to access 'https://evil.example/x.git/': oh", "evil.example", HOSTS),
]


@pytest.mark.parametrize(("line", "target", "requirement"), SAID)
def test_a_refusal_names_its_target_and_what_would_permit_it(
    line: str, target: str, requirement: str
) -> None:
    (found,) = denials(CONFINED, f"some words\n{line}\n")
    assert (found.target, found.requirement) == (target, requirement)


def test_a_bare_name_before_the_words_of_the_system_counts() -> None:
    def never(access: Access, path: str) -> Refusal:
        return Refusal(reason=f"no {access} of {path}", target=path)

    policy = msgspec.structs.replace(POLICY, hidden=("/w/sub/key",))
    hidden = CONFINED._replace(policy=policy, may_open=never)
    (found,) = denials(hidden, "cat: key: Permission denied")
    assert (found.target, found.reason) == ("key", "no read of /w/sub/key")
    assert not denials(hidden, "cat: lock: Permission denied")


def test_what_only_the_command_says_is_marked_so() -> None:
    said = "cat: /etc/shadow: Permission denied\nlookup evil.example: no such host"
    assert [one.basis for one in denials(CONFINED, said)] == ["said", "said"]


def test_a_refusal_that_nothing_would_lift_has_no_requirement() -> None:
    def never(access: Access, path: str) -> Refusal:
        return Refusal(reason=f"never {access}.", target=path)

    (found,) = denials(CONFINED._replace(may_open=never), "bash: line 1: /srv/x: Permission denied")
    assert (found.reason, found.requirement) == ("never read. never write.", None)


@pytest.mark.parametrize(
    "line",
    [
        "rm: cannot remove 'mine': Permission denied",  # ours to write: an ordinary mode
        "cat: ../gone.txt: No such file or directory",
        "cat: /usr/share/none: No such file or directory",
        "sort: cannot create temporary file in '/tmp/x': Permission denied",
        "the file /etc/shadow is interesting",
        "curl: (6) Could not resolve host: good.example",
        "curl: (7) Failed to connect to 3.11 or to a-word",
        "mkdir: cannot create directory 'x/y': No such file or directory",
        "bash: line 1: /usr/share/none: No such file or directory",
        "fatal: not found: /",
        "ls: ~/.ssh: No such file or directory",
        "cat: 'a\\0b': Permission denied".replace("\\0", "\0"),
    ],
)
def test_what_the_policy_admits_was_not_refused_by_it(line: str) -> None:
    assert denials(CONFINED, line) == ()


def test_each_target_is_named_once_and_not_too_many() -> None:
    many = "\n".join(f"cat: /srv/{n % 30}: Permission denied" for n in range(90))
    found = denials(CONFINED, many)
    assert len(found) == len({one.target for one in found}) == MOST_NAMED


def test_a_target_is_told_as_it_was_first_said() -> None:
    said = "cat: /srv/x: Permission denied\ntouch: cannot touch '/srv/x': Permission denied"
    assert [one.requirement for one in denials(CONFINED, said)] == [READ]


def test_a_network_that_is_open_refuses_no_host() -> None:
    policy = SandboxPolicy(network="open")
    line = "curl: (6) Could not resolve host: evil.example"
    assert denials(CONFINED._replace(policy=policy), line) == ()


class Counting:
    """A gate that counts how often it is asked."""

    def __init__(self, *, admits: bool) -> None:
        self.asked = 0
        self._admits = admits

    def __call__(self, access: Access, path: str, /) -> PathLeave | Refusal:
        """Admit everything, or nothing."""
        self.asked += 1
        return PathLeave(path) if self._admits else may_open(access, path)


DENIED = "Permission denied "
HOSTILE = {
    "slashes": "/" * LONGEST_LINE,
    "quotes": "'" * LONGEST_LINE,
    "paths": "/a " * LONGEST_LINE,
    "quoted": "'/a'" * LONGEST_LINE,
    "open quotes": "'/a" * LONGEST_LINE,
    "one word": "a" * LONGEST_LINE,
    "dots": "lookup " + "a." * LONGEST_LINE,
    "lookups": "lookup a.b.c-" * LONGEST_LINE,
    "addresses": "getaddrinfo " * LONGEST_LINE,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lines_suggest_no_more_than_they_hold(name: str) -> None:
    """Work grows as the line does: what is suggested is at most the line once again, and paths."""
    line = (DENIED + HOSTILE[name])[:LONGEST_LINE]
    paths, hosts = list(reading._paths(line)), list(reading._hosts(line))  # pyright: ignore[reportPrivateUsage] - the work itself is counted
    assert sum(map(len, paths)) <= len(line)
    assert sum(map(len, hosts)) <= len(line)


def test_the_policy_is_asked_so_often_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{DENIED}" + " ".join(f"/s/{n}/{m}" for m in range(200)) for n in range(MOST_LINES)]
    admitting = Counting(admits=True)
    assert denials(CONFINED._replace(may_open=admitting), "\n".join(lines)) == ()
    assert MOST_JUDGED <= admitting.asked <= MOST_JUDGED + 1
    refusing = Counting(admits=False)
    assert len(denials(CONFINED._replace(may_open=refusing), "\n".join(lines))) == MOST_NAMED
    assert refusing.asked == 2 * MOST_NAMED
    compared: list[str] = []

    def within(path: str, root: str) -> bool:
        compared.append(root)
        return is_within(path, root)

    monkeypatch.setattr(sandbox, "is_within", within)
    ours = "\n".join(line.replace("/s/", "/w/") for line in lines)
    assert denials(CONFINED, ours) == ()
    # Each is compared with the one readable root, the one writable and the one kept.
    assert 3 * (MOST_SUGGESTED - 1) <= len(compared) <= 3 * MOST_SUGGESTED


def test_hosts_count_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_JUDGED", 3)
    said = "".join(f"lookup {name}.example: x\n" for name in ("good", "a", "b", "c"))
    assert [one.target for one in denials(CONFINED, said)] == ["a.example", "b.example"]


def test_only_the_last_lines_are_looked_at() -> None:
    said = "cat: /etc/shadow: Permission denied\n"
    assert len(denials(CONFINED, said + "x\n" * (MOST_LINES - 1))) == 1
    assert denials(CONFINED, said + "x\n" * MOST_LINES) == ()


def test_only_the_end_of_a_long_text_is_looked_at() -> None:
    said = "cat: /etc/shadow: Permission denied\n"
    line = "x" * (LONGEST_LINE - 1) + "\n"
    many = line * (MOST_TEXT // LONGEST_LINE)
    assert len(many) < MOST_TEXT < len(many) + LONGEST_LINE
    assert len(denials(CONFINED, said + many)) == 1
    assert denials(CONFINED, said + many + line) == ()
    half = "x" * (MOST_TEXT - len(said) + 10) + "\n"
    assert denials(CONFINED, said + half) == ()


def test_only_the_beginning_of_a_line_is_looked_at() -> None:
    said = "cat: /etc/shadow: Permission denied"
    filled = "x" * (LONGEST_LINE - len(said) - 1)
    assert len(denials(CONFINED, f"{filled} {said}")) == 1
    assert denials(CONFINED, f"{filled}x {said}") == ()


@given(st.text(max_size=300))
def test_whatever_is_printed_can_be_read(text: str) -> None:
    printed = text + ": Permission denied"
    for found in denials(CONFINED, printed):
        assert found.target in printed or found.target in printed.lower()
        assert found.basis == "said"


@pytest.mark.parametrize(
    "said",
    [
        "OSError: [Errno 101] Network is unreachable",
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "<urlopen error [Errno -2] Name or service not known>",
        "connect ENETUNREACH 2001:db8::1:443 - Local (:::0)",
    ],
)
def test_a_network_that_is_not_there_is_told_where_no_host_is_named(said: str) -> None:
    stderr = f"Traceback (most recent call last):\n  line\n{said}\n"
    (none,) = denials(CONFINED, stderr)
    assert none.requirement is not None
    assert none.requirement.startswith("requires.net.hosts = ")
    (hosts,) = denials(WITH_HOSTS, stderr)
    assert "HTTPS_PROXY" in hosts.reason
    assert hosts.requirement is None
    assert denials(WITHOUT_BOUNDS, stderr) == ()
    assert {none.basis, hosts.basis} == {"said"}


def test_a_host_that_is_named_is_what_is_told_of() -> None:
    stderr = "curl: (6) Could not resolve host: evil.example\nNetwork is unreachable\n"
    (found,) = denials(CONFINED, stderr)
    assert found.target == "evil.example"


def test_the_own_loopback_of_a_sandbox_is_told_from_the_machines() -> None:
    said = "curl: (7) Failed to connect to 127.0.0.1 port 8080 after 0 ms: Couldn't connect"
    (found,) = denials(WITH_HOSTS, said)
    assert "this address is the sandbox's own" in found.reason
    assert (found.target, found.requirement) == ("127.0.0.1:8080", HOSTS)
    (none,) = denials(CONFINED, said)
    assert (none.reason, none.requirement) == ("no host", HOSTS)


def test_a_granted_server_of_the_machine_is_reached_through_the_proxy_alone() -> None:
    def granted(host: str) -> HostLeave:
        return HostLeave(host, None, lambda _address: True)

    said = "dial tcp: connect to localhost:8080 failed"
    (found,) = denials(WITH_HOSTS._replace(may_reach=granted), said)
    assert "through the proxy that HTTP_PROXY names" in found.reason
    assert (found.target, found.requirement) == ("localhost:8080", None)
    assert denials(CONFINED._replace(may_reach=granted), said) == ()


@pytest.mark.parametrize(
    ("said", "target"),
    [
        ("Failed to connect to 192.0.2.7 port 8080 after 3 ms", "192.0.2.7:8080"),
        ("could not connect to db.example:5432", "db.example:5432"),
        ("unable to access 'http://git.example:3000/x.git/': oh", "git.example:3000"),
        ("unable to access 'https://git.example:443/x.git/': oh", "git.example"),
        ("Failed to connect to 192.0.2.7 port", "192.0.2.7"),
        ("Failed to connect to 192.0.2.7 port 0x50", "192.0.2.7"),
        ("could not connect to db.example:123456", "db.example"),
    ],
)
def test_a_port_that_was_named_is_named_again(said: str, target: str) -> None:
    (found,) = denials(CONFINED, said)
    assert found.target == target


NOWHERE = Confined(SandboxPolicy(), "/tmp", "/srv/own", may_open, may_reach)


@pytest.mark.parametrize(
    ("line", "targets"),
    [
        ("OSError: [Errno 30] Read-only file system: '/srv/x'", ["/srv/x"]),
        ("PermissionError: [Errno 13] Permission denied: 'x.txt'", ["x.txt"]),
        ("Error: EACCES: permission denied, open '/srv/x'", ["/srv/x"]),
        ('{"error": "could not save: Read-only file system"}', []),
        ('{"error": "cannot create /srv/x: Read-only file system", "code": 3}', ["/srv/x"]),
        ('{"error": ["/srv/x: Permission denied"]}', []),
        ("{/srv/x: Permission denied", ["{/srv/x"]),
        ("could not save: Read-only file system", []),
        ("notes.txt: Permission denied", ["notes.txt"]),
        ("cat: my notes.txt: Permission denied", ["my notes.txt"]),
        ("the program said 'permission denied'", []),
    ],
)
def test_what_the_system_says_of_a_name_is_no_name(line: str, targets: list[str]) -> None:
    assert [one.target for one in denials(NOWHERE, line)] == targets
