"""What a worker gives up before it sees a foreign byte: everything but computing.

No sockets, no other programs, no further processes, no signals; of files, Python's own to read, and
where the kernel has no Landlock none at all. What it reads is not known here.
"""

import errno
import os
import resource
import sys
from collections.abc import Iterable

from holdfast.execution.kernel import landlock, privileges, seccomp
from holdfast.execution.kernel.seccomp import ALLOW, Instruction
from holdfast.execution.kernel.system_calls import NUMBERS, Machine, NoSuchMachine, this_machine

_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ERROR = 0x00050000
_FIRST_ARGUMENT_AT = 16
_THREAD = 0x10000

_OTHERS = (
    *("execve", "execveat", "fork", "vfork"),
    *("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open"),
    *("pidfd_send_signal",),
)
_FILES = ("open", "openat", "creat")

_READ_ALONE = landlock.Right.READ_FILE | landlock.Right.READ_DIR


def limit(memory_bytes: int, cpu_seconds: int) -> None:
    """Bound what the process may use, for good."""
    for name, most in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (most, most))


def confine_thread(abi: int) -> None:
    """Give the rest up, for good, in the calling thread; raises OSError.

    ``abi``: the version of Landlock there is.
    """
    privileges.gain_nothing()
    if abi:
        # Before the capabilities: without them a Python in somebody's home may be out of sight.
        allowed = [(path, _READ_ALONE) for path in _own_files()]
        landlock.confine_thread(allowed, abi, ports=False)
    privileges.drop_capabilities()
    try:
        machine = this_machine()
    except NoSuchMachine:
        return
    seccomp.confine_thread(seccomp.packed(seccomp.program(machine, ())))
    seccomp.confine_thread(seccomp.packed(program(machine, files=bool(abi))))


def program(machine: Machine, *, files: bool) -> list[Instruction]:
    """The filter that leaves computing, and opening ``files`` if something else watches over it."""
    numbers = NUMBERS[machine]
    refused = [numbers[name] for name in _named(files=files) if name in numbers]
    steps = [Instruction(_LOAD, 0, 0, 0)]
    for number in refused:
        steps += [Instruction(_JUMP_IF_EQUAL, 0, 1, number), _refuse()]
    steps += [
        Instruction(_JUMP_IF_EQUAL, 0, 3, numbers["clone"]),
        Instruction(_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        Instruction(_JUMP_IF_ANY_BIT, 1, 0, _THREAD),
        _refuse(),
        Instruction(_RETURN, 0, 0, ALLOW),
    ]
    return steps


def _named(*, files: bool) -> Iterable[str]:
    return _OTHERS if files else (*_OTHERS, *_FILES)


def _own_files() -> list[str]:
    """Where the running Python and what it has installed lies."""
    return list(dict.fromkeys(os.path.realpath(place) for place in sys.path if place))


def _refuse() -> Instruction:
    return Instruction(_RETURN, 0, 0, _ERROR | errno.EPERM)
