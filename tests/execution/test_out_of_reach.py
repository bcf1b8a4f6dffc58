"""The filter that keeps a spawner out of the reach of what it starts."""

import errno
import fcntl
import os
import threading

import pytest
from execution.bpf import answer
from hypothesis import given
from hypothesis import strategies as st

from holdfast.execution.kernel.out_of_reach import program, stay_out_of_reach
from holdfast.execution.kernel.privileges import gain_nothing
from holdfast.execution.kernel.seccomp import ALLOW
from holdfast.execution.kernel.system_calls import NUMBERS, Machine

MACHINES: list[Machine] = ["x86_64", "aarch64"]
REFUSED = 0x00050000 | errno.EPERM
UNKNOWN = 0x00050000 | errno.ENOSYS
PIDS = st.integers(1, 2**22)
WORDS = st.integers(0, 2**64 - 1)
NAMED_BY = {
    "kill": {0},
    "tkill": {0},
    "tgkill": {0, 1},
    "rt_sigqueueinfo": {0},
    "rt_tgsigqueueinfo": {0, 1},
    "pidfd_open": {0},
}


@given(
    st.sampled_from(MACHINES),
    st.sets(PIDS, min_size=1, max_size=3),
    st.sampled_from(sorted(NAMED_BY)),
    st.lists(st.one_of(PIDS, WORDS), min_size=3, max_size=3),
    st.data(),
)
def test_a_number_is_refused_wherever_it_names_who_gets_a_signal(
    machine: Machine, numbers: set[int], name: str, words: list[int], data: st.DataObject
) -> None:
    aimed = data.draw(st.integers(0, 2))
    words[aimed] = data.draw(st.sampled_from(sorted(numbers))) | words[aimed] & ~0xFFFFFFFF
    hit = any(words[place] & 0xFFFFFFFF in numbers for place in NAMED_BY[name])
    said = answer(program(machine, numbers), NUMBERS[machine][name], 0, *words)
    assert said == (REFUSED if hit else ALLOW)


@given(st.sampled_from(MACHINES), PIDS, st.integers(0, 20), WORDS)
def test_who_owns_a_file_gets_no_signal_by_it(
    machine: Machine, number: int, order: int, word: int
) -> None:
    steps, numbers = program(machine, {number}), NUMBERS[machine]
    refused = order == 15 or (order == 8 and word & 0xFFFFFFFF == number)
    assert answer(steps, numbers["fcntl"], 0, 3, order, word) == (REFUSED if refused else ALLOW)
    assert answer(steps, numbers["fcntl"], 0, 3, 8, number) == REFUSED
    controls = [answer(steps, numbers["ioctl"], 0, 3, 0x8900 + order, word) for order in range(4)]
    assert controls == [ALLOW, REFUSED, REFUSED, ALLOW]
    assert answer(steps, numbers["pidfd_send_signal"], 0, 3, 9) == UNKNOWN


@given(st.sampled_from(MACHINES), PIDS, st.integers(0, 500))
def test_everything_else_is_let_through(machine: Machine, number: int, call: int) -> None:
    ours = {*NAMED_BY, "pidfd_send_signal", "fcntl", "ioctl"}
    if call not in {NUMBERS[machine][name] for name in ours}:
        assert answer(program(machine, {number}), call, 0, number, number, number) == ALLOW


def test_the_kernel_takes_it() -> None:
    said: list[str] = []

    def confined() -> None:
        gain_nothing()
        stay_out_of_reach({os.getpid(), threading.get_native_id()})
        for attempt in (
            lambda: os.kill(os.getpid(), 0),
            lambda: os.pidfd_open(os.getpid()),
            lambda: fcntl.fcntl(0, fcntl.F_SETOWN, threading.get_native_id()),
        ):
            with pytest.raises(PermissionError):
                attempt()
        os.kill(os.getppid(), 0)
        said.append("through")

    thread = threading.Thread(target=confined)
    thread.start()
    thread.join()
    assert said == ["through"]
