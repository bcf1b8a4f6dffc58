"""A call in a line for people, and the files it is about. Text only; nothing is looked at."""

import re
from pathlib import Path

from acp.schema import ToolCallLocation

from holdfast.contract.json_value import JsonObject, JsonValue, decode_json
from holdfast.contract.truncate import cut_text

_MAIN = (
    *("command", "path", "file_path", "pattern", "query", "url", "question", "description"),
    *("prompt", "name", "symbol"),
)
"""Arguments that tell the most of a call, the most telling first."""
_PATHS = ("path", "file_path")
_LINES = ("start_line", "line")
_TITLE = 120
_PATCHED = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: (.+)|\+\+\+ (?:b/)?(?!/dev/null)(.+))$", re.MULTILINE
)


def arguments_in(text: str) -> JsonObject | None:
    """A call's arguments as the model wrote them; None: they are no object."""
    try:
        found = decode_json(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def title_of(tool: str, arguments: JsonObject) -> str:
    """The tool and what tells the most of what it is asked to do."""
    if files := patched_files(arguments):
        told: JsonValue = ", ".join(files)
    elif tool == "question":
        told = _first_question(arguments)
    else:
        name = next((one for one in _MAIN if isinstance(arguments.get(one), str)), None)
        told = None if name is None else arguments[name]
    who = arguments.get("subagent_type")
    whose = f" {who}:" if tool == "task" and isinstance(who, str) else ""
    said = f" {told}" if isinstance(told, str) else ""
    return cut_text(" ".join(f"{tool}{whose}{said}".split()), _TITLE)


def locations_of(arguments: JsonObject, workspace: str | None) -> list[ToolCallLocation]:
    """The files that the arguments name, as whole paths, with the line where there is one."""
    if workspace is None:
        return []
    names = [arguments[one] for one in _PATHS if isinstance(arguments.get(one), str)]
    lines = (arguments.get(one) for one in _LINES)
    number = next((one for one in lines if type(one) is int and one > 0), None)
    found = [(str(one), number) for one in names] + [
        (one, None) for one in patched_files(arguments)
    ]
    return [
        ToolCallLocation(path=whole_path(name, workspace), line=at)
        for name, at in dict.fromkeys(found)
    ]


def whole_path(name: str, workspace: str) -> str:
    """A path as editors want it."""
    return str(Path(workspace, name))


def patched_files(arguments: JsonObject) -> list[str]:
    """The files that a patch names, in its order."""
    patch = arguments.get("patch")
    if not isinstance(patch, str):
        return []
    return list(dict.fromkeys((one[1] or one[2]).strip() for one in _PATCHED.finditer(patch)))


def _first_question(arguments: JsonObject) -> JsonValue:
    match arguments:
        case {"questions": [{"question": str(said)}, *_]}:
            return said
        case _:
            return None
