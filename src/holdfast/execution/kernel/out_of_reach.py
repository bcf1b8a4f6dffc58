"""Seccomp: processes and threads that the calling thread, and all it starts, can never signal.

A spawner shares the Landlock domain of what it starts, and inside a domain signals pass: so its
own numbers are refused by a filter of their own. It lies over the one that knows the machine's
instruction set. Whose numbers they are is not known here.
"""

import errno
from collections.abc import Collection, Iterable

from holdfast.execution.kernel.seccomp import ALLOW, Instruction, confine_thread, packed
from holdfast.execution.kernel.system_calls import NUMBERS, Machine, this_machine

_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ERROR = 0x00050000
_ARGUMENTS_AT = 16

_NAMED_BY = {
    "kill": (0,),
    "tkill": (0,),
    "tgkill": (0, 1),
    "rt_sigqueueinfo": (0,),
    "rt_tgsigqueueinfo": (0, 1),
    "pidfd_open": (0,),
}
"""Which arguments name who gets a signal: the number of a thread stands for its process, too."""

_SET_OWNER, _SET_OWNER_BY_POINTER = 8, 15
_SET_OWNER_BY_CONTROL = (0x8901, 0x8902)
"""Who owns a file gets a signal, of any kind, when something can be read from it."""


def program(machine: Machine, numbers: Collection[int]) -> list[Instruction]:
    """The filter that keeps these numbers out of reach."""
    steps = [Instruction(_LOAD, 0, 0, 0)]
    for name, block in _blocks(numbers):
        number = NUMBERS[machine][name]
        steps += [Instruction(_JUMP_IF_EQUAL, 0, len(block), number), *block]
    return [*steps, _return(ALLOW)]


def stay_out_of_reach(numbers: Collection[int]) -> None:
    """Put it over the calling thread, which needs no_new_privs; raises OSError."""
    confine_thread(packed(program(this_machine(), numbers)))


def _blocks(numbers: Collection[int]) -> Iterable[tuple[str, list[Instruction]]]:
    for name, arguments in _NAMED_BY.items():
        tests = [step for argument in arguments for step in _refused_if(argument, numbers)]
        yield name, [*tests, _return(ALLOW)]
    # A directory of /proc is a handle, too, and no filter sees which; there is kill beside it.
    yield "pidfd_send_signal", [_refuse(errno.ENOSYS)]
    owners = [*_refused_if(2, numbers), _return(ALLOW)]
    yield (
        "fcntl",
        [
            *_refused_if(1, [_SET_OWNER_BY_POINTER]),
            Instruction(_JUMP_IF_EQUAL, 0, len(owners), _SET_OWNER),
            *owners,
            _return(ALLOW),
        ],
    )
    yield "ioctl", [*_refused_if(1, _SET_OWNER_BY_CONTROL), _return(ALLOW)]


def _refused_if(argument: int, values: Collection[int]) -> list[Instruction]:
    """Goes on behind it when the lower half of an argument is none of the values."""
    steps = [Instruction(_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument)]
    for value in values:
        steps += [Instruction(_JUMP_IF_EQUAL, 0, 1, value), _refuse()]
    return steps


def _return(answer: int) -> Instruction:
    return Instruction(_RETURN, 0, 0, answer)


def _refuse(code: int = errno.EPERM) -> Instruction:
    return _return(_ERROR | code)
