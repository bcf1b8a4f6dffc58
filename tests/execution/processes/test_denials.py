"""What a command says it could not open is believed only where the policy agrees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.gates import Access, HostLeave, PathLeave, Refusal
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes.denials import MOST_NAMED, Confined, denials

POLICY = SandboxPolicy(readable=("/w",), writable=("/w",), protected=("/w/.git/hooks",))


def may_open(access: Access, path: str) -> PathLeave | Refusal:
    if path.startswith("/w/") and ".git/hooks" not in path:
        return PathLeave(path)
    return Refusal(reason=f"no {access}", target=path, requirement=f"requires.fs.{access}")


def may_reach(host: str) -> HostLeave | Refusal:
    if host == "good.example":
        return HostLeave(host, None, lambda _address: True)
    return Refusal(reason="no host", target=host, requirement="requires.net.hosts")


CONFINED = Confined(POLICY, "/tmp", "/w/sub", may_open, may_reach)

SAID = [
    ("cat: /etc/shadow: Permission denied", "/etc/shadow", "read"),
    ("cat: /home/eve/secret: No such file or directory", "/home/eve/secret", "read"),
    ("touch: cannot touch '/usr/x': Read-only file system", "/usr/x", "write"),
    ("bash: line 1: ../.git/hooks/pre-push: Read-only file system", "../.git/hooks/pre-push", "w"),
    ("PermissionError: [Errno 13] Permission denied: '/home/me/ssh/id'", "/home/me/ssh/id", "r"),
    ("gcc: error: \u2018/srv/a b.c\u2019: No such file or directory", "/srv/a b.c", "read"),
    ("curl: (6) Could not resolve host: evil.example", "evil.example", "hosts"),
    ("dial tcp: lookup evil.example: no such host", "evil.example", "hosts"),
    ("fatal: unable to access 'https://evil.example/x.git/': oh", "evil.example", "hosts"),
]


@pytest.mark.parametrize(("line", "target", "kind"), SAID)
def test_a_refusal_names_its_target_and_what_would_permit_it(
    line: str, target: str, kind: str
) -> None:
    (found,) = denials(CONFINED, f"some words\n{line}\n")
    assert found.target == target
    assert (found.requirement or "").split(".")[-1].startswith(kind[0])


@pytest.mark.parametrize(
    "line",
    [
        "rm: cannot remove 'mine': Permission denied",  # ours to write: an ordinary mode
        "cat: ../gone.txt: No such file or directory",
        "cat: /usr/share/none: No such file or directory",
        "sort: cannot create temporary file in '/tmp/x': Permission denied",
        "the file /etc/shadow is interesting",
        "curl: (6) Could not resolve host: good.example",
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


def test_a_network_that_is_open_refuses_no_host() -> None:
    policy = SandboxPolicy(network="open")
    line = "curl: (6) Could not resolve host: evil.example"
    assert denials(CONFINED._replace(policy=policy), line) == ()


@given(st.text(max_size=300))
def test_whatever_is_printed_can_be_read(text: str) -> None:
    for found in denials(CONFINED, text + ": Permission denied"):
        assert found.target in text + ": Permission denied"
