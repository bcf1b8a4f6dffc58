"""What a person wants to see of the answer of a managed tool: what a command printed, or the few
words that tell the most. Other answers are what they are.

It knows the shapes of answers, and no tool.
"""

from holdfast.contract.json_value import JsonValue, encode_json

_SHORT = 160
"""A value whose JSON is no longer is shown as it is."""
_LONGEST = 120
_OF_A_COMMAND = ("exit_code", "timed_out", "stdout", "stderr")
_NAMES = ("summary", "title", "status", "name", "session_id")
"""What of an object inside of an answer stands for it, the most telling first."""
_ASIDE = frozenset({"artifact_path", "artifact_paths", "agent_id"})


def is_failed_action(result: JsonValue) -> bool:
    """Whether an action of the hand says that it did not work."""
    match result:
        case {"ok": False, "name": str(), "text": str()}:
            return True
        case _:
            return False


def shown_result(result: JsonValue) -> JsonValue:
    """The part of an answer that is shown, or a line about it."""
    match result:
        case {"ok": bool(), "name": str(), "output": {"exit_code": _} as output}:
            return _of_a_command(output)
        case {"ok": bool(), "name": str(), "text": str(text)}:
            return text
        case {"persistent_shell": _, "result": {"exit_code": _} as output}:
            return _of_a_command(output)
        case dict() if _is_nested(result) and len(encode_json(result)) > _SHORT:
            return _in_brief(result)
        case _:
            return result


def _of_a_command(output: dict[str, JsonValue]) -> JsonValue:
    return {name: output[name] for name in _OF_A_COMMAND if name in output}


def _is_nested(result: dict[str, JsonValue]) -> bool:
    return any(isinstance(one, dict | list) for one in result.values())


def _in_brief(result: dict[str, JsonValue]) -> str:
    """Each member in a few words, by their names; what says nothing is left out."""
    told = {name: _stands_for(one) for name, one in result.items() if name not in _ASIDE}
    return ", ".join(f"{name}: {one}" for name, one in sorted(told.items()) if one)


def _stands_for(value: JsonValue) -> str:
    match value:
        case None:
            return ""
        case list():
            return str(len(value) or "")
        case dict():
            known = (_stands_for(value[name]) for name in _NAMES if name in value)
            return next(filter(None, known), "")
        case str():
            line = " ".join(value.split())
            return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
