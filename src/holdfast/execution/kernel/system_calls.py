"""System calls by name, with numbers for the machines holdfast knows.

A call that fails raises OSError with the kernel's error. What a call means is not known here.
"""

import ctypes
import os
import platform
import sys
from functools import cache
from typing import Literal

Machine = Literal["x86_64", "aarch64"]

# Numbers above 423 are the same everywhere.
_SHARED = {
    "pidfd_send_signal": 424,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_open": 434,
    "clone3": 435,
    "openat2": 437,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
    "process_mrelease": 448,
    "fchmodat2": 452,
    "open_tree_attr": 467,
}

NUMBERS: dict[Machine, dict[str, int]] = {
    "x86_64": _SHARED
    | {
        "open": 2,
        "ioctl": 16,
        "kill": 62,
        "fcntl": 72,
        "rt_sigqueueinfo": 129,
        "tkill": 200,
        "tgkill": 234,
        "rt_tgsigqueueinfo": 297,
        "socket": 41,
        "sendto": 44,
        "sendmsg": 46,
        "listen": 50,
        "clone": 56,
        "fork": 57,
        "vfork": 58,
        "execve": 59,
        "execveat": 322,
        "creat": 85,
        "chmod": 90,
        "fchmod": 91,
        "ptrace": 101,
        "syslog": 103,
        "mknod": 133,
        "capset": 126,
        "vhangup": 153,
        "pivot_root": 155,
        "prctl": 157,
        "adjtimex": 159,
        "chroot": 161,
        "acct": 163,
        "settimeofday": 164,
        "mount": 165,
        "umount2": 166,
        "swapon": 167,
        "swapoff": 168,
        "reboot": 169,
        "sethostname": 170,
        "setdomainname": 171,
        "iopl": 172,
        "ioperm": 173,
        "init_module": 175,
        "delete_module": 176,
        "quotactl": 179,
        "sched_setparam": 142,
        "sched_setscheduler": 144,
        "setpriority": 141,
        "sched_setaffinity": 203,
        "lookup_dcookie": 212,
        "clock_settime": 227,
        "kexec_load": 246,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "ioprio_set": 251,
        "migrate_pages": 256,
        "openat": 257,
        "mknodat": 259,
        "fchmodat": 268,
        "unshare": 272,
        "move_pages": 279,
        "fanotify_init": 300,
        "prlimit64": 302,
        "open_by_handle_at": 304,
        "clock_adjtime": 305,
        "sendmmsg": 307,
        "setns": 308,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "kcmp": 312,
        "finit_module": 313,
        "sched_setattr": 314,
        "renameat2": 316,
        "seccomp": 317,
        "kexec_file_load": 320,
        "bpf": 321,
        "userfaultfd": 323,
        "perf_event_open": 298,
        "modify_ldt": 154,
    },
    "aarch64": _SHARED
    | {
        "fcntl": 25,
        "ioctl": 29,
        "kill": 129,
        "tkill": 130,
        "tgkill": 131,
        "rt_sigqueueinfo": 138,
        "rt_tgsigqueueinfo": 240,
        "ioprio_set": 30,
        "mknodat": 33,
        "lookup_dcookie": 18,
        "umount2": 39,
        "mount": 40,
        "pivot_root": 41,
        "chroot": 51,
        "fchmod": 52,
        "fchmodat": 53,
        "openat": 56,
        "vhangup": 58,
        "quotactl": 60,
        "acct": 89,
        "capset": 91,
        "unshare": 97,
        "kexec_load": 104,
        "init_module": 105,
        "delete_module": 106,
        "clock_settime": 112,
        "syslog": 116,
        "ptrace": 117,
        "sched_setparam": 118,
        "sched_setscheduler": 119,
        "sched_setaffinity": 122,
        "setpriority": 140,
        "reboot": 142,
        "sethostname": 161,
        "setdomainname": 162,
        "prctl": 167,
        "settimeofday": 170,
        "adjtimex": 171,
        "socket": 198,
        "listen": 201,
        "sendto": 206,
        "sendmsg": 211,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "clone": 220,
        "execve": 221,
        "execveat": 281,
        "swapon": 224,
        "swapoff": 225,
        "migrate_pages": 238,
        "move_pages": 239,
        "perf_event_open": 241,
        "prlimit64": 261,
        "fanotify_init": 262,
        "open_by_handle_at": 265,
        "clock_adjtime": 266,
        "setns": 268,
        "sendmmsg": 269,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "kcmp": 272,
        "finit_module": 273,
        "sched_setattr": 274,
        "renameat2": 276,
        "seccomp": 277,
        "bpf": 280,
        "userfaultfd": 282,
        "kexec_file_load": 294,
    },
}


class NoSuchMachine(OSError):
    """This machine's system calls are not known here."""


@cache
def this_machine() -> Machine:
    """The machine this runs on; raises NoSuchMachine where nothing is known of it."""
    name = platform.machine()
    if not sys.platform.startswith("linux"):
        raise NoSuchMachine(f"{platform.system()} has no such system calls; Linux has")
    if name in ("x86_64", "aarch64"):
        return name
    raise NoSuchMachine(f"the system calls of {name} are not known; x86_64 and aarch64 are")


_libc = ctypes.CDLL(None, use_errno=True)
_entry = _libc.syscall
_entry.restype = ctypes.c_long


def system_call(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Call the kernel; raises OSError."""
    number = NUMBERS[this_machine()][name]
    result = _entry(ctypes.c_long(number), *(_passed(one) for one in arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def _passed(
    argument: int | bytes | ctypes.Array[ctypes.c_char] | None,
) -> ctypes.c_long | ctypes.c_char_p | ctypes.Array[ctypes.c_char]:
    if argument is None:
        return ctypes.c_long(0)
    if isinstance(argument, int):
        return ctypes.c_long(argument)
    return ctypes.c_char_p(argument) if isinstance(argument, bytes) else argument
