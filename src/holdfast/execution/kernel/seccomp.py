"""Seccomp: system calls the calling thread, and all it starts, can never make again.

The filter is a classic BPF program, made here from a table: what is not in the table is allowed,
because files, ports and signals are Landlock's and the namespaces' part. Another instruction set
than the machine's own ends the process: its numbers would mean something else.
"""

import ctypes
import errno
import struct
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from holdfast.execution.kernel.system_calls import NUMBERS, Machine, system_call

_SET_MODE_FILTER = 1

_LOAD = 0x20
_JUMP_IF_EQUAL = 0x15
_JUMP_IF_ANY_BIT = 0x45
_JUMP_IF_AT_LEAST = 0x35
_AND = 0x54
_RETURN = 0x06

ALLOW = 0x7FFF0000
KILL = 0x80000000
_ERROR = 0x00050000

_NUMBER_AT = 0
_ARCHITECTURE_AT = 4
_ARGUMENTS_AT = 16

_ARCHITECTURES: Mapping[Machine, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
"""On x86_64 numbers from here on are a second set of the same calls."""

UNIX, INTERNET, INTERNET6 = 1, 2, 10
_RAW, _PACKET = 3, 10
_KIND_OF_SOCKET = 0xF
_FAST_OPEN = 0x20000000
_NEW_NAMESPACE = 0x7E020000
_NEW_TIME = 0x80
_SET_ID_BITS = 0o6000
_CREATE, _UNNAMED = 0o100, 0o20000000
"""O_CREAT and the bit of O_TMPFILE: without them a mode means nothing and may be anything."""
_TYPE_INTO_TERMINAL = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX."""

_NEVER = (
    # Namespaces and mounts.
    "setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr",
    "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
    # Other processes.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
    "pidfd_getfd", "kcmp", "migrate_pages", "perf_event_open",
    # The kernel itself, and parts of it with a long record of holes.
    "bpf", "keyctl", "add_key", "request_key", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "userfaultfd", "kexec_load", "kexec_file_load", "init_module",
    "finit_module", "delete_module", "fanotify_init", "lookup_dcookie", "modify_ldt",
    "open_by_handle_at",
    # The machine.
    "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "settimeofday",
    "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname", "iopl", "ioperm",
    "vhangup",
)  # fmt: skip

_ONLY_FOR_ITSELF = {
    "prlimit64": 0,
    "sched_setparam": 0,
    "sched_setscheduler": 0,
    "sched_setattr": 0,
    "sched_setaffinity": 0,
    "move_pages": 0,
}
"""Which argument names the process: a child could otherwise end its warden by a limit."""

_ONLY_FOR_ITS_OWN = {"setpriority": (0, 1), "ioprio_set": (1, 2)}
"""The numbers for a process and a group of them, where 0 is one's own; those of a user are all."""

_WITHOUT_BITS = {
    "clone": (0, _NEW_NAMESPACE),
    "unshare": (0, _NEW_NAMESPACE | _NEW_TIME),
    "sendto": (3, _FAST_OPEN),
    "sendmsg": (2, _FAST_OPEN),
    "sendmmsg": (3, _FAST_OPEN),
    "chmod": (1, _SET_ID_BITS),
    "fchmod": (1, _SET_ID_BITS),
    "fchmodat": (2, _SET_ID_BITS),
    "fchmodat2": (2, _SET_ID_BITS),
    "creat": (1, _SET_ID_BITS),
    "mknod": (1, _SET_ID_BITS),
    "mknodat": (2, _SET_ID_BITS),
}
"""Which argument must not have which bits. The kernel itself takes them from a new directory."""

_OPENING = {"open": 1, "openat": 2}
"""Where the flags are; the mode of what is created comes next."""


class Instruction(NamedTuple):
    """One step of the filter; jumps count the steps that are passed over."""

    code: int
    if_true: int
    if_false: int
    value: int


def program(machine: Machine, families: Iterable[int]) -> list[Instruction]:
    """The filter of a machine, with the socket families that may be opened."""
    numbers = NUMBERS[machine]
    steps = [
        _load(_ARCHITECTURE_AT),
        Instruction(_JUMP_IF_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        _return(KILL),
        _load(_NUMBER_AT),
    ]
    if machine == "x86_64":
        steps += [Instruction(_JUMP_IF_AT_LEAST, 0, 1, _X32), _return(KILL)]
    for name, block in _blocks(families):
        if name in numbers:
            steps += [Instruction(_JUMP_IF_EQUAL, 0, len(block), numbers[name]), *block]
    return [*steps, _return(ALLOW)]


def packed(steps: Iterable[Instruction]) -> bytes:
    """The filter as the kernel reads it."""
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def confine_thread(code: bytes) -> None:
    """Put the filter over the calling thread, which needs no_new_privs; raises OSError."""
    kept = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("=HxxxxxxQ", len(code) // 8, ctypes.addressof(kept))
    system_call("seccomp", _SET_MODE_FILTER, 0, ctypes.create_string_buffer(header, len(header)))


def _blocks(families: Iterable[int]) -> Iterable[tuple[str, list[Instruction]]]:
    """What happens at each call; a block ends in an answer."""
    # What these are asked for lies in memory, where no filter can look: new namespaces, and files
    # that change users. Who uses them also runs on a kernel without them, and asks in the old way.
    for name in ("clone3", "openat2"):
        yield name, [_refuse(errno.ENOSYS)]
    for name in _NEVER:
        yield name, [_refuse()]
    for name, argument in _ONLY_FOR_ITSELF.items():
        yield name, _if_any_bit(argument, 0xFFFFFFFF)
    for name, kinds in _ONLY_FOR_ITS_OWN.items():
        yield name, _unless_own(kinds)
    for name, (argument, bits) in _WITHOUT_BITS.items():
        yield name, _if_any_bit(argument, bits)
    for name, flags in _OPENING.items():
        yield name, _if_created_with(flags, _SET_ID_BITS)
    yield "ioctl", _if_one_of(1, _TYPE_INTO_TERMINAL)
    named = sorted(set(families))
    yield "socket", _sockets(named)
    if not named:
        # Without an address it takes a port of its own choice, which Landlock's rule for binding
        # does not see. Whoever may open sockets has a network of its own, and all ports of it; who
        # may not has none to listen on, but for one that was handed to it.
        yield "listen", [_refuse(errno.EACCES)]


def _sockets(families: list[int]) -> list[Instruction]:
    kinds = [
        _load_argument(1),
        Instruction(_AND, 0, 0, _KIND_OF_SOCKET),
        Instruction(_JUMP_IF_EQUAL, 1, 0, _RAW),
        Instruction(_JUMP_IF_EQUAL, 0, 1, _PACKET),
        _refuse(),
        _return(ALLOW),
    ]
    named = [
        Instruction(_JUMP_IF_EQUAL, len(families) - here, 0, family)
        for here, family in enumerate(families)
    ]
    return [_load_argument(0), *named, _refuse(errno.EACCES), *kinds]


def _if_any_bit(argument: int, bits: int) -> list[Instruction]:
    return [
        _load_argument(argument),
        Instruction(_JUMP_IF_ANY_BIT, 0, 1, bits),
        _refuse(),
        _return(ALLOW),
    ]


def _unless_own(kinds: tuple[int, int]) -> list[Instruction]:
    """Argument 1 is 0, and argument 0 one of the two."""
    return [
        _load_argument(1),
        Instruction(_JUMP_IF_ANY_BIT, 3, 0, 0xFFFFFFFF),
        _load_argument(0),
        Instruction(_JUMP_IF_EQUAL, 2, 0, kinds[0]),
        Instruction(_JUMP_IF_EQUAL, 1, 0, kinds[1]),
        _refuse(),
        _return(ALLOW),
    ]


def _if_created_with(flags: int, bits: int) -> list[Instruction]:
    return [
        _load_argument(flags),
        Instruction(_JUMP_IF_ANY_BIT, 0, 3, _CREATE | _UNNAMED),
        _load_argument(flags + 1),
        Instruction(_JUMP_IF_ANY_BIT, 0, 1, bits),
        _refuse(),
        _return(ALLOW),
    ]


def _if_one_of(argument: int, values: tuple[int, ...]) -> list[Instruction]:
    found = [
        Instruction(_JUMP_IF_EQUAL, len(values) - here, 0, value)
        for here, value in enumerate(values)
    ]
    return [_load_argument(argument), *found, _return(ALLOW), _refuse()]


def _load(offset: int) -> Instruction:
    return Instruction(_LOAD, 0, 0, offset)


def _load_argument(index: int) -> Instruction:
    """The lower half of an argument, as both machines store it."""
    return _load(_ARGUMENTS_AT + 8 * index)


def _return(answer: int) -> Instruction:
    return Instruction(_RETURN, 0, 0, answer)


def _refuse(code: int = errno.EPERM) -> Instruction:
    return _return(_ERROR | code)
