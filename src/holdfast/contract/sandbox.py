"""What a process is confined to: values that any sandbox can be made from.

All lists are sorted and hold nothing twice, so that equal policies are equal values.
"""

from typing import Literal

import msgspec

from holdfast.contract.paths import is_within

NetworkMode = Literal["none", "hosts", "open"]
"""``open`` is never compiled from requirements: only a person's recorded act widens so far."""

KEPT_FROM_COMMANDS = (
    ".git/config",
    ".git/hooks",
    *(".git/commondir", ".git/config.worktree", ".git/modules", ".git/worktrees"),
    ".holdfast",
    ".mcp.json",
    ".claude.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    *(".bashrc", ".bash_profile", ".bash_login", ".profile"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin"),
    *(".envrc", ".vscode/tasks.json", ".cargo/config.toml"),
)
"""What a command's sandbox keeps read-only below each writable root.

Fewer than a file tool keeps: ``git commit`` writes into ``.git`` and ``npm install`` into its lock
file, and a kernel policy cannot tell them from anybody else.
"""


class SandboxLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the processes of one call may use together; None: no limit of its own."""

    wall_seconds: float | None = None
    cpu_seconds: float | None = None
    memory_bytes: int | None = None
    processes: int | None = None
    file_bytes: int | None = None


class SandboxPolicy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Absolute paths without links, and hosts. What is not named is not reachable."""

    readable: tuple[str, ...] = ()
    """Files and directories, each with everything below it."""
    writable: tuple[str, ...] = ()
    """The same for writing, which does not include reading."""
    protected: tuple[str, ...] = ()
    """What stays unwritable inside the writable ones, whether it exists yet or not."""
    hidden: tuple[str, ...] = ()
    """What stays unreadable inside the readable ones. Those among them lie further inside."""
    network: NetworkMode = "none"
    hosts: tuple[tuple[str, ...], ...] = ()
    """Lists of host patterns: a host is reached when each list admits it.

    What lies inside is reached only where a pattern of each names it in full.
    """
    limits: SandboxLimits = SandboxLimits()
    owner: str = ""
    """Whose processes these are: those of different owners see nothing of each other."""

    def reads(self, path: str) -> bool:
        """Whether a process may read it."""
        return _decides(path, self.readable, self.hidden)

    def writes(self, path: str) -> bool:
        """Whether a process may write it."""
        return _decides(path, self.writable, self.protected)


def _decides(path: str, inside: tuple[str, ...], outside: tuple[str, ...]) -> bool:
    """Whether the innermost place that a path lies in is one of the first."""
    place = max((one for one in (*inside, *outside) if is_within(path, one)), key=len, default=None)
    return place in inside and place not in outside
