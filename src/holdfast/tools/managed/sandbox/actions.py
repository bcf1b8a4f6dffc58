"""The actions of the hand: what each takes, what it uses, and whether a person is asked. Pure.

Policy judges a call by what is found here, and the body reads its input by the same functions.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, cast

from holdfast.contract.errors import InvalidArguments
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.managed.sandbox import ActionView, HandAccess
from holdfast.contract.managed.shell import MOST_SECONDS
from holdfast.contract.steps import Step
from holdfast.contract.tool import NamedUse


class Field(NamedTuple):
    """Something an action is given."""

    kind: Literal["word", "text", "whole", "flag"]
    """A word is trimmed, and blank counts as missing; a text is taken as it is."""
    required: bool = False
    usual: JsonValue = None
    most: int = 1_000_000
    empty: bool = False
    """Of a text: it may be empty."""


class Action(NamedTuple):
    """Something the hand can do."""

    description: str
    access: HandAccess
    fields: Mapping[str, Field]
    uses: tuple[str, ...] = ()
    """What it uses of what it names: of its path or of its command."""


_PATH = Field("word", required=True)
_HERE = Field("word", usual=".")
_WORD = Field("word", required=True)
_MOST_MS = round(MOST_SECONDS * 1000)
_TIMEOUT = Field("whole", usual=15_000, most=_MOST_MS)
_SHOWN = Field("whole", usual=12_000, most=40_000)
_COMMAND: Mapping[str, Field] = {
    "command": Field("text", required=True),
    "cwd": Field("word"),
    "timeout_ms": _TIMEOUT,
    "max_output_chars": _SHOWN,
}
_LIMIT = Field("whole", usual=40, most=1_000)
_KIND = Field("word")

ACTIONS: Mapping[str, Action] = MappingProxyType(
    {
        "inspect": Action("What is mounted, and how the shell stands.", "read", {}),
        "list_dir": Action("The entries of a directory.", "read", {"path": _HERE}, ("fs.read",)),
        "read_text": Action(
            "A text file, or lines of it.",
            "read",
            {
                "path": _PATH,
                "start_line": Field("whole"),
                "line_count": Field("whole"),
                "tail_lines": Field("whole"),
                "max_chars": Field("whole", usual=12_000),
            },
            ("fs.read",),
        ),
        "write_text": Action(
            "Create a file, or replace all of one.",
            "write",
            {"path": _PATH, "content": Field("text", required=True, empty=True)},
            ("fs.write",),
        ),
        "append_text": Action(
            "Append to a file, which is made where it is missing.",
            "write",
            {"path": _PATH, "content": Field("text", required=True)},
            ("fs.read", "fs.write"),
        ),
        "replace_text": Action(
            "Replace a text in a file, exactly.",
            "write",
            {
                "path": _PATH,
                "old_text": Field("text", required=True),
                "new_text": Field("text", required=True, empty=True),
                "replace_all": Field("flag", usual=False),
            },
            ("fs.read", "fs.write"),
        ),
        "mkdir": Action(
            "Make a directory, with those above it unless recursive is false.",
            "write",
            {"path": _PATH, "recursive": Field("flag", usual=True)},
            ("fs.write",),
        ),
        "stat": Action("One entry: kind, size, time.", "read", {"path": _PATH}, ("fs.read",)),
        "find_entries": Action(
            "Entries below a directory by a part of their name.",
            "read",
            {"path": _HERE, "name": _WORD, "kind": _KIND, "limit": _LIMIT},
            ("fs.read",),
        ),
        "glob_entries": Action(
            "Entries by a pattern, as glob has it.",
            "read",
            {"path": _HERE, "pattern": _WORD, "kind": _KIND, "limit": _LIMIT},
            ("fs.read",),
        ),
        "grep_text": Action(
            "Lines that match, as grep has it; plain text unless regex.",
            "read",
            {
                "path": _HERE,
                "pattern": Field("text", required=True),
                "regex": Field("flag", usual=False),
                "case_sensitive": Field("flag", usual=True),
                "limit": _LIMIT,
            },
            ("fs.read",),
        ),
        "run_command": Action(
            "One program that only reads, without a shell; see command_policy.",
            "read",
            _COMMAND,
            ("shell.run",),
        ),
        "run_shell": Action("One writable shell command.", "confirmed", _COMMAND, ("shell.run",)),
        "inspect_persistent_shell": Action("How the persistent shell stands.", "read", {}),
        "open_persistent_shell": Action(
            "Open the persistent shell or reuse it.",
            "shell",
            {"cwd": Field("word"), "restart": Field("flag", usual=False)},
        ),
        "exec_persistent_shell": Action(
            "A command in the persistent shell.",
            "confirmed",
            {**_COMMAND, "restart": Field("flag", usual=False)},
            ("shell.run",),
        ),
        "wait_persistent_shell": Action(
            "Wait for its running command.",
            "shell",
            {"timeout_ms": Field("whole", usual=1_000, most=_MOST_MS)},
        ),
        "close_persistent_shell": Action("Close it, and say whether one was open.", "shell", {}),
    }
)

VIEWS = tuple(
    ActionView(
        name=name,
        description=f"{action.description} Input: {', '.join(action.fields) or 'none'}.",
        access=action.access,
    )
    for name, action in ACTIONS.items()
)
_EXAMPLES: tuple[tuple[str, JsonObject, str], ...] = (
    ("list_dir", {"path": "."}, "Lists the workspace."),
    ("grep_text", {"pattern": "TODO", "limit": 20}, "Finds lines in the workspace."),
    ("run_command", {"command": "ls -la"}, "Looks without asking anybody."),
)
EXAMPLES = tuple(
    Step(tool="sandbox_execute", args={"name": name, "input": given}, rationale=why)
    for name, given, why in _EXAMPLES
)


class Given:
    """The input of one action, checked."""

    def __init__(self, action: Action, given: Mapping[str, JsonValue]) -> None:
        """InvalidArguments says which field is wrong."""
        unknown = sorted(given.keys() - action.fields.keys())
        if unknown:
            known = ", ".join(action.fields) or "no input"
            raise _wrong(f"input.{unknown[0]}", f"there is no such input; it takes {known}")
        self._values = {
            name: _checked(name, field, given.get(name)) for name, field in action.fields.items()
        }

    def text(self, name: str) -> str:
        """A text that is there."""
        return cast("str", self._values[name])

    def maybe(self, name: str) -> str | None:
        """A text, where it was given."""
        return cast("str | None", self._values.get(name))

    def whole(self, name: str) -> int:
        """A number that is there."""
        return cast("int", self._values[name])

    def number(self, name: str) -> int | None:
        """A number, where it was given."""
        return cast("int | None", self._values.get(name))

    def flag(self, name: str) -> bool:
        """Yes or no."""
        return self._values.get(name) is True


def _checked(name: str, field: Field, value: JsonValue) -> JsonValue:
    if field.kind == "word" and isinstance(value, str):
        value = value.strip()
    if value is None or (value == "" and not field.empty):
        if field.required:
            raise _wrong(f"input.{name}", f"it requires a non-empty {name}")
        return field.usual
    match field.kind:
        case "word" | "text":
            fits = isinstance(value, str)
        case "flag":
            fits = isinstance(value, bool)
        case "whole":
            fits = type(value) is int and 1 <= value <= field.most
    if not fits:
        wanted = f"a whole number from 1 to {field.most}" if field.kind == "whole" else field.kind
        raise _wrong(f"input.{name}", f"{value!r} does not fit", expected=wanted)
    return value


def _wrong(field: str, why: str, expected: str | None = None) -> InvalidArguments:
    return InvalidArguments(f"{field}: {why}", field=field, expected=expected)


def action_of(arguments: Mapping[str, object]) -> tuple[str, Action, Given]:
    """The action that a call asks for; InvalidArguments."""
    name = named(arguments)
    if not name:
        raise InvalidArguments("sandbox_execute requires a non-empty name", field="name")
    action = ACTIONS.get(name)
    if action is None:
        raise InvalidArguments(
            f"there is no action {name!r}", field="name", expected=", ".join(ACTIONS)
        )
    given = arguments.get("input")
    if given is not None and not isinstance(given, dict):
        raise InvalidArguments("input is an object", field="input")
    return name, action, Given(action, cast("JsonObject", given or {}))


def named(arguments: Mapping[str, object]) -> str:
    """The name of the action."""
    name = arguments.get("name")
    return name.strip() if isinstance(name, str) else ""


def asks_for(arguments: JsonObject) -> bool:
    """Whether a person is asked: by the action's name alone, whatever else is wrong with it."""
    action = ACTIONS.get(named(arguments))
    return action is not None and action.access == "confirmed"


def uses_of(arguments: JsonObject) -> Iterable[NamedUse]:
    """What the action uses; nothing of one that the body refuses."""
    try:
        _, action, given = action_of(arguments)
    except InvalidArguments:
        return ()
    return _each(action, given)


def _each(action: Action, given: Given) -> Iterator[NamedUse]:
    for capability in action.uses:
        if capability == "shell.run":
            directory = given.maybe("cwd")
            yield NamedUse(capability=capability, target=given.text("command"), directory=directory)
        else:
            yield NamedUse(capability=capability, target=given.text("path"))
