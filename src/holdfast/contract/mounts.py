"""What a session of the managed profile stands on: directories, each with a meaning of its own.

Values only. Paths are those of the disk: a tool, a command and a person mean the same by one.
"""

from typing import Literal

import msgspec

MountKind = Literal[
    "session_workspace", "agent_substrate", "learnings", "runtime_memory", "repo_mount", "vault"
]
Access = Literal["read_write", "read_only"]
Scope = Literal["session", "agent", "host"]


class Mount(msgspec.Struct, frozen=True, kw_only=True):
    """One directory."""

    kind: MountKind
    mount_path: str
    """Absolute, without links."""
    access: Access
    scope: Scope
    """Who else sees it."""
    prompt: str
    """What it is for, in one line."""
    vault_name: str | None = None


def of_kind(mounts: tuple[Mount, ...], kind: MountKind) -> Mount | None:
    """The first of a kind."""
    return next((one for one in mounts if one.kind == kind), None)
