"""The kinds of confinement there are, strongest first, and how a warden is started in each.

Which of them this machine gives is found out by starting one: nothing else is proof. What a policy
allows is compiled elsewhere.
"""

import math
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.contract.sandbox import SandboxLimits, SandboxPolicy
from holdfast.contract.shell import Confinement
from holdfast.execution.kernel import landlock
from holdfast.execution.kernel.namespaces import Shown
from holdfast.execution.kernel.seccomp import INTERNET, INTERNET6
from holdfast.execution.processes.confinement import (
    Scratch,
    admitted,
    chosen,
    shown,
)
from holdfast.execution.processes.control_groups import RESERVED_PROCESSES, make_groups
from holdfast.execution.processes.held_paths import Identity, held
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.processes.wardens import Warden, start_warden
from holdfast.execution.warden.wire import Message


class Tier(NamedTuple):
    """One kind of confinement."""

    name: Confinement
    separate: bool
    """Own processes, files, network and shared memory."""


STRONGEST_FIRST = (
    Tier("namespaces", separate=True),
    Tier("bubblewrap", separate=True),
    Tier("landlock", separate=False),
)
UNCONFINED = Tier("unconfined", separate=False)
"""Never chosen, only named by a person."""

_CORE = "RLIMIT_CORE"


async def start_in(
    tier: Tier, policy: SandboxPolicy, scratch: Scratch, *, files_only: bool = False
) -> Warden:
    """Start a warden in this kind of confinement; SandboxUnavailable says why there is none.

    ``files_only``: a file system of its own is enough, where the tier gives one.
    """
    reason = _missing(tier, policy)
    if reason is not None:
        raise SandboxUnavailable(reason)
    # Also where nothing is shown: Landlock's rules are made from the same paths.
    named = [one.source for one in chosen(shown(policy, scratch))]
    paths = (
        ()
        if tier is UNCONFINED
        else (*(*named, *policy.readable, *policy.writable, *policy.hidden),)
    )
    with held(paths, (*policy.protected, *policy.hidden)) as found:
        return await _start(tier, policy, scratch, found, files_only=files_only)


async def _start(
    tier: Tier,
    policy: SandboxPolicy,
    scratch: Scratch,
    found: Mapping[str, Identity],
    *,
    files_only: bool,
) -> Warden:
    groups = make_groups(policy.limits)
    setup = _setup(tier, policy, scratch, groups.limited)
    if files_only and tier.separate:
        setup["paths"] = None
    program: list[str] = []
    if tier.name == "bubblewrap":
        view = shown(policy, scratch)
        absent = [one for one in chosen(view) if one.source not in found]
        words = _bubblewrap(
            [
                one
                for one in view
                if one not in absent and (one.kind != "hidden" or one.path in found)
            ]
        )
        program = [shutil.which("bwrap") or "bwrap", *words, "--"]
        # It finds sources and places by name: the warden looks whether they are what was opened.
        setup["same"] = [
            (one.path, *found[one.source]) for one in chosen(view) if one not in absent
        ]
    try:
        return await start_warden(setup, lambda argv: groups.entering([*program, *argv]), groups)
    except BaseException:
        groups.remove()
        raise


def _missing(tier: Tier, policy: SandboxPolicy) -> str | None:
    """Why it cannot even be tried."""
    if tier.name == "namespaces" and os.geteuid() != 0:
        return "only the super-user can make namespaces without a helper"
    if tier.name == "bubblewrap" and shutil.which("bwrap") is None:
        return "bubblewrap is not installed; install the package bubblewrap"
    if tier.name == "landlock" and not landlock.version():
        return "this kernel has no Landlock (5.13 and newer have it, if it is switched on)"
    if policy.hidden and not tier.separate and tier is not UNCONFINED:
        return (
            f"what a rule denies ({policy.hidden[0]!r}) can only be hidden in a file system of its"
            " own; install bubblewrap, or run as the super-user"
        )
    if policy.network == "hosts" and not tier.separate:
        return (
            "single hosts can only be reached out of a network of its own;"
            " install bubblewrap, or run as the super-user"
        )
    return None


def _setup(tier: Tier, policy: SandboxPolicy, scratch: Scratch, limited: frozenset[str]) -> Message:
    confined = tier.name != "unconfined"
    networked = tier.separate or policy.network == "open"
    allowed = admitted(policy, scratch, own_files=tier.separate)
    view = shown(policy, scratch) if tier.name == "namespaces" else []
    return {
        "view": [list(one) for one in view],
        "at": os.path.realpath(scratch.root),
        "separate": tier.separate,
        "limits": {_CORE: (0, 0), **_limits(policy.limits, limited)},
        "paths": [(path, int(rights)) for path, rights in allowed] if confined else None,
        "ports": networked,
        "families": [INTERNET, INTERNET6] if networked else [],
        "proxy": tier.separate and policy.network == "hosts",
        "same": [],
    }


def _limits(limits: SandboxLimits, limited: frozenset[str]) -> dict[str, tuple[int, int]]:
    """The limits of each single process, and those of all that no control group holds."""
    wanted = {
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_DATA": limits.memory_bytes,
        "RLIMIT_NPROC": None if "processes" in limited else _processes(limits),
    }
    held = {name: (most, most) for name, most in wanted.items() if most is not None}
    if limits.cpu_seconds is not None:
        seconds = math.ceil(limits.cpu_seconds)
        held["RLIMIT_CPU"] = (seconds, seconds + 1)  # so it is ended by a signal that says why
    return held


def _processes(limits: SandboxLimits) -> int | None:
    """The kernel counts all of a user's processes together, and the super-user's never."""
    if limits.processes is None or os.geteuid() == 0:
        return None
    return _running_already() + limits.processes + RESERVED_PROCESSES


def _running_already() -> int:
    """The tasks of this user, as far as they can be seen."""
    own, total = os.getuid(), 0
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if entry.name.isdigit() and entry.stat().st_uid == own:
                total += sum(1 for _ in (entry / "task").iterdir())
    return total


def _bubblewrap(view: Sequence[Shown]) -> list[str]:
    words = [
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        # Its own first process would wait for whatever the warden left behind; ours ends it.
        *("--unshare-cgroup-try", "--as-pid-1", "--chdir", "/"),
    ]
    last: list[str] = []
    for one in view:
        match one.kind:
            case "read":
                words += ["--ro-bind-try", one.source, one.path]
            case "write":
                words += ["--bind-try", one.source, one.path]
            case "private":
                words += ["--perms", "0700", "--tmpfs", one.path]
            case "hidden":
                words += _hidden(one.path)
            case _:
                words += ["--symlink", one.source, one.path]
    sealed = [one.path for one in view if one.kind == "hidden" and Path(one.path).is_dir()]
    for path in ("/", *sealed):
        last += ["--remount-ro", path]
    return [*words, "--dev", "/dev", "--proc", "/proc", *last]


def _hidden(path: str) -> list[str]:
    """A device where there are no devices: nobody may open it."""
    if Path(path).is_dir():
        return ["--perms", "0111", "--tmpfs", path]
    return ["--ro-bind", os.devnull, path]
