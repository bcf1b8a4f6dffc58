"""Which tools hints lead to: the steps inside of an answer, and the notes that go with a request.

Whoever is told to call a tool next has to be able to. Why it is told so is not known here.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from holdfast.contract.json_value import JsonValue

_NEXT = re.compile(r" next_tool=([A-Za-z][A-Za-z0-9_]*)(?= |$)")
_A_STEP = frozenset({"tool", "args", "rationale"})
_SIGN = b'"rationale"'
_DEEPEST = 32


def led_to(answer: bytes) -> tuple[str, ...]:
    """The tools that the steps in an answer name, each once, in their order."""
    if _SIGN not in answer:
        return ()
    try:
        value: JsonValue = msgspec.json.decode(answer)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ()
    return tuple(dict.fromkeys(_steps(value, 0)))


def noted(notes: Iterable[str]) -> tuple[str, ...]:
    """The tools that notes name as the next one."""
    return tuple(dict.fromkeys(name for note in notes for name in _NEXT.findall(note)))


def _steps(value: JsonValue, deep: int) -> Iterator[str]:
    if deep > _DEEPEST:
        return
    if isinstance(value, dict):
        name = value.get("tool")
        if isinstance(name, str) and value.keys() >= _A_STEP:
            yield name
        for one in value.values():
            yield from _steps(one, deep + 1)
    elif isinstance(value, list):
        for one in value:
            yield from _steps(one, deep + 1)
