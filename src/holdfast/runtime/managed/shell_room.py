"""How much later commands can begin with: a program that is given more is not even started. Pure.

Which variables may go on is not known here.
"""

from collections.abc import Mapping

LONGEST_VALUE = 32_768
"""Bytes. The system gives a program none of four times as many."""
MOST_TOGETHER = 262_144
"""Bytes of all variables of a session, with their names."""


def has_room(variables: Mapping[str, str]) -> bool:
    """Whether programs can be given all of these."""
    return len(fitting(variables)) == len(variables)


def fitting(variables: Mapping[str, str]) -> dict[str, str]:
    """Those that can be written down and programs be given; where all are too much, the
    shortest."""
    found: dict[str, str] = {}
    left = MOST_TOGETHER
    texts = [(name, value) for name, value in variables.items() if is_text(value)]
    for name, value in sorted(texts, key=lambda one: (_size(one[1]), one[0])):
        left -= len(name) + _size(value)
        if left < 0 or _size(value) > LONGEST_VALUE:
            break
        found[name] = value
    return found


def is_text(value: str) -> bool:
    """Whether it can be written down: what a shell holds may be any bytes."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _size(value: str) -> int:
    return len(value.encode())
