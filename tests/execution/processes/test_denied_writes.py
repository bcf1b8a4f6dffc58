"""Files that a command was to write and that are not there yet: a kernel knows folders alone."""

from pathlib import Path

import pytest

from holdfast.contract.gates import Access, HostLeave, PathLeave, Refusal
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes.denials import Confined, denials


def may_reach(host: str) -> HostLeave:
    return HostLeave(host, None, lambda _address: True)


def is_there(path: str) -> bool:
    return not path.endswith("new")


def relative(access: Access, path: str) -> Refusal:
    requirement = f"requires.fs.{access} = [{path.removeprefix('/w/')!r}]"
    return Refusal(reason="no.", target=path, requirement=requirement)


READING = Confined(SandboxPolicy(readable=("/w",)), "/tmp", "/w/sub", relative, may_reach, is_there)


@pytest.mark.parametrize(
    ("line", "requirement"),
    [
        ("bash: line 1: new: Read-only file system", "requires.fs.write = ['sub/**']"),
        (
            "mkdir: cannot create directory '../new': Permission denied",
            "requires.fs.write = ['**']",
        ),
        ("bash: line 1: old: Read-only file system", "requires.fs.write = ['sub/old']"),
        ("bash: line 1: /srv/new: Read-only file system", "requires.fs.write = ['/srv/new']"),
    ],
)
def test_for_a_file_that_is_seen_not_to_be_there_its_folder_is_advised(
    line: str, requirement: str
) -> None:
    (found,) = denials(READING, line)
    assert found.requirement == requirement
    assert ("not there yet" in found.reason) == ("**" in requirement)


def test_what_lies_behind_a_link_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "link").symlink_to(tmp_path)
    workspace = str(tmp_path / "w")
    policy = SandboxPolicy(readable=(workspace,))
    confined = Confined(policy, "/tmp", workspace, relative, may_reach)
    (behind,) = denials(confined, "bash: line 1: link/x: Read-only file system")
    assert "not there yet" not in behind.reason
    (inside,) = denials(confined, "bash: line 1: x: Read-only file system")
    assert inside.requirement == f"requires.fs.write = ['{workspace}/**']"


@pytest.mark.parametrize("words", ["Read-only file system", "Permission denied"])
def test_a_file_that_is_named_and_not_there_is_told_of(words: str) -> None:
    policy = SandboxPolicy(readable=("/w",), writable=("/w/sub/new", "/w/sub/old"))
    named = READING._replace(policy=policy)
    (found,) = denials(named, f"bash: line 1: new: {words}")
    assert "only if it was there before" in found.reason
    assert found.requirement == "requires.fs.write = ['sub/**']"
    assert denials(named, f"bash: line 1: old: {words}") == ()
    assert denials(named, "bash: line 1: new: No such file or directory") == ()


def test_where_the_folder_is_open_what_is_kept_in_it_is_not_found_by_its_folder() -> None:
    def hooks(access: Access, path: str) -> PathLeave | Refusal:
        return relative(access, path) if path == "/w/new" else PathLeave(path)

    (found,) = denials(READING._replace(may_open=hooks), "tee: ../new: Permission denied")
    assert found.requirement == "requires.fs.write = ['new']"


def test_a_file_that_is_granted_and_not_there_is_given_with_its_folder() -> None:
    def leave(_access: Access, path: str) -> PathLeave:
        return PathLeave(path)

    granted = READING._replace(policy=SandboxPolicy(), may_open=leave)
    (one,) = denials(granted, "OSError: [Errno 30] Read-only file system: '/srv/out/x.txt'")
    assert one.requirement == "requires.fs.write = ['/srv/out/**']"
    assert "only if it was there before" in one.reason
    assert denials(granted, "cat: /srv/out/x.txt: Permission denied") == ()
