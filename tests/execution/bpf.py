"""An interpreter of the few BPF instructions a seccomp filter is made of.

So a filter can be judged without the machine it is for.
"""

import struct
from collections.abc import Sequence

from holdfast.execution.kernel.seccomp import Instruction

_WORD = 0xFFFFFFFF


def answer(steps: Sequence[Instruction], number: int, architecture: int, *arguments: int) -> int:
    """What the filter answers to a system call."""
    six = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    call = struct.pack("<IIQ6Q", number & _WORD, architecture, 0, *six)
    held, here = 0, 0
    while True:
        code, if_true, if_false, value = steps[here]
        here += 1
        match code:
            case 0x20:
                (held,) = struct.unpack_from("<I", call, value)
            case 0x15:
                here += if_true if held == value else if_false
            case 0x35:
                here += if_true if held >= value else if_false
            case 0x45:
                here += if_true if held & value else if_false
            case 0x54:
                held &= value
            case 0x06:
                return value
            case _:
                raise AssertionError(f"no such instruction: {code:#x}")
