"""Under an allowlist every simple command stands for itself, and doubt refuses."""

import pytest

from holdfast.contract.requirements import ArgPattern, Prefix, ShellRunRequirement, Wildcard
from holdfast.policy.shell.analysis import admits, analyse

ANY = Wildcard(True)


def _entries(*entries: tuple[str, list[ArgPattern] | None]) -> list[ShellRunRequirement]:
    return [
        ShellRunRequirement(cmd, None if args is None else tuple(args)) for cmd, args in entries
    ]


GIT_STATUS = _entries(("git", ["status"]))
GIT = _entries(("git", None))
ECHO = _entries(("echo", None))
LS_AND_GIT = _entries(("ls", None), ("git", ["log"]))


@pytest.mark.parametrize(
    ("entries", "text", "admitted"),
    [
        (GIT_STATUS, "git status", True),
        (GIT_STATUS, "git 'status'", True),
        (GIT_STATUS, "git push", False),
        (GIT_STATUS, "Git status", False),
        (GIT_STATUS, "/usr/bin/git status", False),
        (GIT_STATUS, "git status; rm -rf /", False),
        (GIT_STATUS, "git status\nrm -rf /", False),
        (GIT_STATUS, "git status && git status", True),
        (GIT_STATUS, "GIT_PAGER=evil git status", False),
        (GIT_STATUS, "git status &", False),
        (GIT_STATUS, "", False),
        (_entries(("git", [])), "git", True),
        (_entries(("git", ["log", ANY])), "git log", False),
        (_entries(("git", ["log", ANY])), "git log HEAD~1 HEAD", False),
        (_entries(("git", ["log", ANY])), "git log docs/*", False),
        (_entries(("git", ["log", Prefix("--max-count=")])), "git log --max-count=5", True),
        (_entries(("git", ["log", Prefix("--max-count=")])), "git log --format=x", False),
        (_entries(("git", ["log", Prefix("")])), "git log anything", True),
        (_entries(("git", ["status"]), ("git", ["diff"])), "git diff", True),
        (_entries(("git", ["commit", "-m", ANY])), 'git commit -m "a; b && c"', True),
        (_entries(), "ls", False),
        (GIT, "git log | sh", False),
        (GIT, 'git log "unterminated', False),
        (GIT, "git log > f", True),
        (GIT, "$x log", False),
        (GIT, "git log $x", False),
        (ECHO, "echo $(cat /etc/passwd)", False),
        (ECHO, "echo `id`", False),
        (_entries(("sh", ["-c", ANY])), "sh -c 'rm -rf /'", False),
        (_entries(("sh", ["-c", ANY]), ("ls", None)), "sh -c 'ls -l'", True),
        (LS_AND_GIT, "(ls -l; git log) | ls", True),
        (LS_AND_GIT, "ls ./*.py", True),
        (LS_AND_GIT, "sudo ls", False),
        (_entries(("*", None)), "anything $x `y` & 'broken", True),
        (_entries(("*", ["-l"])), "ls -l | wc -l", True),
        (_entries(("*", ["-l"])), "ls -l $x", False),
    ],
)
def test_every_simple_command_must_be_covered_on_its_own(
    entries: list[ShellRunRequirement], text: str, admitted: bool
) -> None:
    assert admits(entries, analyse(text)) is admitted
