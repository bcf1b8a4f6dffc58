"""Which tools hints lead to: the steps inside of an answer, and the notes that go with a request.

Whoever is told to call a tool next has to be able to: a step to a tool that is not there is taken
out of an answer. Why it is told so is not known here.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import cast

import msgspec

from holdfast.contract.envelope import Envelope
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json

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


def followable(answer: Envelope, is_there: Callable[[str], bool]) -> Envelope:
    """The answer without the steps to tools that are not there: null, or out of their list."""
    if answer.failure is not None:
        extras = cast("JsonObject", _followable(answer.failure.extras, is_there, 0))
        if extras == answer.failure.extras:
            return answer
        failure = msgspec.structs.replace(answer.failure, extras=extras)
        return msgspec.structs.replace(answer, failure=failure)
    if all(map(is_there, led_to(answer.result_json))):
        return answer
    result = encode_json(_followable(answer.result, is_there, 0))
    return msgspec.structs.replace(answer, result_json=result)


def _followable(value: JsonValue, is_there: Callable[[str], bool], deep: int) -> JsonValue:
    if deep > _DEEPEST:
        return value
    if isinstance(value, dict):
        if _is_step(value) and not is_there(str(value["tool"])):
            return None
        return {name: _followable(one, is_there, deep + 1) for name, one in value.items()}
    if isinstance(value, list):
        kept = (_followable(one, is_there, deep + 1) for one in value)
        return [new for new, one in zip(kept, value, strict=True) if new is not None or one is None]
    return value


def _is_step(value: JsonObject) -> bool:
    return isinstance(value.get("tool"), str) and value.keys() >= _A_STEP


def _steps(value: JsonValue, deep: int) -> Iterator[str]:
    if deep > _DEEPEST:
        return
    if isinstance(value, dict):
        if _is_step(value):
            yield str(value["tool"])
        for one in value.values():
            yield from _steps(one, deep + 1)
    elif isinstance(value, list):
        for one in value:
            yield from _steps(one, deep + 1)
