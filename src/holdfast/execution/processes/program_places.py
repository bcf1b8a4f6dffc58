"""Where a declared program lies for processes that see little of the disk: links are followed."""

import os

from holdfast.contract.paths import is_within
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes.base_system import physical


def located(program: str, policy: SandboxPolicy) -> str:
    """The path by which it is found inside of a sandbox of the policy; a bare name stays one.

    Links on the way lead elsewhere there. A program that is a link itself keeps its name where the
    link can be seen, since some programs are told by it what to do.
    """
    if "/" not in program:
        return program
    folder, name = os.path.split(program)
    direct = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118 - texts, as they came
    if not os.path.islink(direct):  # noqa: PTH114 - the same
        return direct
    seen = (*policy.readable, *policy.writable, *physical())
    return direct if any(is_within(direct, root) for root in seen) else os.path.realpath(direct)
