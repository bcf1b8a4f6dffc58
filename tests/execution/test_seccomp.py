"""The filter of system calls, judged by an interpreter for both machines, and by this kernel."""

import ctypes
import errno
import mmap
import os
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from execution.bpf import answer
from hypothesis import given
from hypothesis import strategies as st

from holdfast.execution.kernel import privileges, seccomp
from holdfast.execution.kernel.seccomp import ALLOW, INTERNET, INTERNET6, KILL, UNIX, Instruction
from holdfast.execution.kernel.system_calls import NUMBERS, Machine, system_call, this_machine

MACHINES: tuple[Machine, ...] = ("x86_64", "aarch64")
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386, ARM = 0x40000003, 0x40000028
REFUSED = 0x00050000 | errno.EPERM
NOT_HERE = 0x00050000 | errno.ENOSYS
NO_FAMILY = 0x00050000 | errno.EACCES


@cache
def filter_of(machine: Machine, *families: int) -> Sequence[Instruction]:
    return seccomp.program(machine, families)


def asked(machine: Machine, name: str, *arguments: int, families: Sequence[int] = ()) -> int:
    steps = filter_of(machine, *families)
    return answer(steps, NUMBERS[machine][name], ARCHITECTURES[machine], *arguments)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    "name",
    [
        *("setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen"),
        *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "bpf"),
        *("keyctl", "add_key", "request_key", "io_uring_setup", "io_uring_enter", "userfaultfd"),
        *("perf_event_open", "kexec_load", "init_module", "finit_module", "open_by_handle_at"),
        *("process_madvise", "fanotify_init", "reboot", "swapon", "settimeofday", "syslog"),
    ],
)
def test_what_no_tool_needs_is_refused(machine: Machine, name: str) -> None:
    assert asked(machine, name) == REFUSED
    assert asked(machine, name, *[2**64 - 1] * 6) == REFUSED


@pytest.mark.parametrize("machine", MACHINES)
def test_new_threads_and_processes_are_allowed_and_new_namespaces_are_not(machine: Machine) -> None:
    thread = 0x3D0F00
    assert asked(machine, "clone", thread) == ALLOW
    assert asked(machine, "clone", 0x4111) == ALLOW
    for namespace in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert asked(machine, "clone", thread | namespace) == REFUSED
        assert asked(machine, "unshare", namespace) == REFUSED
    assert asked(machine, "unshare", 0x80) == REFUSED
    assert asked(machine, "unshare", 0x200) == ALLOW
    # Its flags lie in memory, where no filter looks: callers fall back to the one that is judged.
    assert asked(machine, "clone3") == NOT_HERE


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "place"),
    [
        *(("prlimit64", 0), ("sched_setaffinity", 0), ("sched_setscheduler", 0)),
        *(("sched_setattr", 0), ("move_pages", 0)),
    ],
)
def test_limits_are_only_set_for_oneself(machine: Machine, name: str, place: int) -> None:
    arguments = [0] * 6
    assert asked(machine, name, *arguments) == ALLOW
    arguments[place] = 1234
    assert asked(machine, name, *arguments) == REFUSED


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "process"), [("setpriority", 0), ("ioprio_set", 1)])
def test_priorities_are_ones_own_and_not_the_users(
    machine: Machine, name: str, process: int
) -> None:
    group, user = process + 1, process + 2
    for kind in (process, group):
        assert asked(machine, name, kind, 0, 19) == ALLOW
        assert asked(machine, name, kind, 1234, 19) == REFUSED
        # The kernel takes the lower half alone.
        assert asked(machine, name, kind | 1 << 32, 0, 19) == ALLOW
    for kind in (user, user + 1, 2**32 - 1):
        assert asked(machine, name, kind, 0, 19) == REFUSED
        assert asked(machine, name, kind, 1000, 19) == REFUSED


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_listens_where_no_socket_may_be_opened(machine: Machine) -> None:
    assert asked(machine, "listen", 3, 5) == NO_FAMILY
    for families in ((UNIX,), (INTERNET, INTERNET6)):
        assert asked(machine, "listen", 3, 5, families=families) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_only_named_families_of_sockets_are_opened(machine: Machine) -> None:
    stream, datagram, raw, packet, quietly = 1, 2, 3, 10, 0o2000000
    for family in range(46):
        assert asked(machine, "socket", family, stream) == NO_FAMILY
    both = (INTERNET, INTERNET6)
    for family in range(46):
        wanted = ALLOW if family in both else NO_FAMILY
        assert asked(machine, "socket", family, stream, families=both) == wanted
        assert asked(machine, "socket", family, datagram | quietly, families=both) == wanted
    for kind in (raw, packet, raw | quietly):
        assert asked(machine, "socket", INTERNET, kind, families=both) == REFUSED
    assert asked(machine, "socket", UNIX, stream, families=(UNIX,)) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "place"), [("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)])
def test_no_connection_is_made_by_sending(machine: Machine, name: str, place: int) -> None:
    arguments = [7] * 6
    arguments[place] = 0x4000
    assert asked(machine, name, *arguments) == ALLOW
    arguments[place] |= 0x20000000
    assert asked(machine, name, *arguments) == REFUSED


@pytest.mark.parametrize("machine", MACHINES)
def test_no_file_becomes_one_that_changes_users(machine: Machine) -> None:
    for name, place in (("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2)):
        arguments = [3] * 6
        arguments[place] = 0o755
        assert asked(machine, name, *arguments) == ALLOW
        for bit in (0o4000, 0o2000):
            arguments[place] = 0o755 | bit
            assert asked(machine, name, *arguments) == REFUSED


PLAIN, CREATE, UNNAMED = 0o102000, 0o100, 0o20000000


@pytest.mark.parametrize("machine", MACHINES)
def test_no_file_is_made_that_changes_users(machine: Machine) -> None:
    places = [("openat", 3), ("mknodat", 2)]
    if machine == "x86_64":
        places += [("open", 2), ("creat", 1), ("mknod", 1)]
    for name, place in places:
        arguments = [CREATE] * 6
        arguments[place] = 0o101755  # a plain file with the sticky bit
        assert asked(machine, name, *arguments) == ALLOW
        for bit in (0o4000, 0o2000, 0o6000):
            arguments[place] = 0o101755 | bit
            assert asked(machine, name, *arguments) == REFUSED
    for flags in (CREATE, UNNAMED, CREATE | UNNAMED | PLAIN):
        assert asked(machine, "openat", 0, 0, flags, 0o4755) == REFUSED
    # Nothing is made: the mode is whatever was left in its register.
    assert asked(machine, "openat", 0, 0, PLAIN, 0o7777) == ALLOW
    # Its mode lies in memory: callers fall back to the one that is judged.
    assert asked(machine, "openat2", 0, 0, 0, 24) == NOT_HERE


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_is_typed_into_a_terminal(machine: Machine) -> None:
    for request in (0x5412, 0x541C):
        assert asked(machine, "ioctl", 0, request) == REFUSED
        # The kernel takes the lower half alone.
        assert asked(machine, "ioctl", 0, request | 1 << 32) == REFUSED
    assert asked(machine, "ioctl", 0, 0x5401) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.lists(st.integers(0, 2**64 - 1)))
def test_another_instruction_set_ends_the_process(
    machine: Machine, number: int, architecture: int, arguments: list[int]
) -> None:
    steps = filter_of(machine)
    own = ARCHITECTURES[machine]
    for other in {I386, ARM, architecture} - {own}:
        assert answer(steps, number, other, *arguments) == KILL
    x32 = machine == "x86_64" and number >= 0x40000000
    assert (answer(steps, number, own, *arguments) == KILL) == x32


@pytest.mark.parametrize("machine", MACHINES)
def test_what_programs_need_is_allowed(machine: Machine) -> None:
    numbers = set(NUMBERS[machine].values())
    for number in range(470):
        if number not in numbers:
            assert answer(filter_of(machine), number, ARCHITECTURES[machine]) == ALLOW
    for name in ("seccomp", "prctl", "pidfd_open", "landlock_restrict_self"):
        assert asked(machine, name) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("families", [(), (INTERNET,), (UNIX, INTERNET, INTERNET6)])
def test_every_jump_lands_inside(machine: Machine, families: tuple[int, ...]) -> None:
    steps = filter_of(machine, *families)
    assert len(steps) < 4096
    for here, step in enumerate(steps):
        if step.code & 7 == 5:
            assert here + 1 + max(step.if_true, step.if_false) < len(steps)
    assert steps[-1].code == 6


def confined(work: Callable[[], object]) -> object:
    """What happens in a thread under the filter."""
    said: list[object] = []

    def run() -> None:
        privileges.gain_nothing()
        seccomp.confine_thread(seccomp.packed(seccomp.program(this_machine(), ())))
        try:
            said.append(work())
        except OSError as problem:
            said.append(problem.errno)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return said[0]


def test_this_kernel_agrees() -> None:
    assert confined(lambda: system_call("unshare", 0x10000000)) == errno.EPERM
    assert confined(lambda: system_call("clone3", None, 0)) == errno.ENOSYS
    assert confined(lambda: system_call("io_uring_setup", 1, None)) == errno.EPERM
    assert confined(lambda: system_call("socket", UNIX, 1, 0)) == errno.EACCES
    assert confined(lambda: system_call("prlimit64", os.getppid(), 0, None, None)) == errno.EPERM
    assert confined(lambda: system_call("prlimit64", 0, 0, None, None)) == 0
    assert confined(lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1]) == 0


def test_this_kernel_agrees_about_what_is_made(tmp_path: Path) -> None:
    made = os.O_CREAT | os.O_WRONLY

    def opened(name: str, flags: int, mode: int) -> int:
        os.close(os.open(tmp_path / name, flags, mode))
        return (tmp_path / name).stat().st_mode & 0o7000

    assert confined(lambda: opened("a", made, 0o4755)) == errno.EPERM
    assert confined(lambda: opened("a", made, 0o755)) == 0
    assert confined(lambda: os.mknod(tmp_path / "b", 0o102755)) == errno.EPERM
    assert confined(lambda: os.mknod(tmp_path / "b", 0o100755)) is None
    assert confined(lambda: opened(".", os.O_TMPFILE | os.O_RDWR, 0o4755)) == errno.EPERM
    assert confined(lambda: system_call("openat2", 0, None, None, 24)) == errno.ENOSYS
    # No filter is needed for directories: the kernel takes the bits away.
    Path(tmp_path / "c").mkdir(mode=0o6755)
    assert (tmp_path / "c").stat().st_mode & 0o6000 == tmp_path.stat().st_mode & 0o2000


def test_this_kernel_agrees_about_priorities() -> None:
    same = os.getpriority(os.PRIO_PROCESS, 0)
    assert confined(lambda: os.setpriority(os.PRIO_PROCESS, 0, same)) is None
    assert confined(lambda: os.setpriority(os.PRIO_USER, 0, same)) == errno.EPERM
    assert confined(lambda: system_call("ioprio_set", 3, 0, 0)) == errno.EPERM


def _end_by_the_old_gate() -> None:
    """Make a call by the gate of 32-bit programs, whose numbers mean something else."""
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    entry = ctypes.addressof(ctypes.c_char.from_buffer(page))
    ctypes.CFUNCTYPE(ctypes.c_int)(entry)()


@pytest.mark.skipif(this_machine() != "x86_64", reason="the gate is x86_64's")
def test_a_call_by_the_old_gate_ends_the_process() -> None:
    child = os.fork()
    if not child:
        privileges.gain_nothing()
        seccomp.confine_thread(seccomp.packed(seccomp.program("x86_64", ())))
        _end_by_the_old_gate()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -31
