"""The openrath suite: result text, argument parsing, the tool table, the shell guard.

The areas of the sandbox plane are in `openrath_sandbox`, that of sessions in `openrath_session`,
loops in `openrath_loop`.
"""

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import cast

import msgspec

from holdfast.contract import backend
from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.envelope.dialects.flow_text import serialize
from holdfast.preflight.parse import parse_flow_arguments
from holdfast.runtime.flow_table import build_table, table_schemas
from holdfast.testing.conformance.case import Case, Check, NotForUs, differs, part, text, texts
from holdfast.testing.conformance.openrath_loop import check_loop, is_loop
from holdfast.testing.conformance.openrath_sandbox import check_backend_local, check_call
from holdfast.testing.conformance.openrath_session import check_session
from holdfast.tools.flow import FLOW_BUILTINS
from holdfast.tools.flow.shell import guarded


def check(case: Case) -> Iterator[str]:
    """Judge one case. Flows described in words are for hand-written tests."""
    area = _AREAS.get(text(case, "area"))
    if area is None or "flow" in part(case, "given"):
        raise NotForUs
    return check_loop(case) if is_loop(case) else area(case)


def _serialize(case: Case) -> Iterator[str]:
    written = serialize(_returned(part(part(case, "given"), "tool_returns")))
    expect = part(case, "expect")
    if "text" in expect:
        yield from differs("text", written, expect["text"])
    if "length" in expect:
        yield from differs("length", len(written), expect["length"])
    ending = expect.get("endswith")
    if isinstance(ending, str) and not written.endswith(ending):
        yield f"does not end with {ending!r}"
    for needle in texts(expect, "contains"):
        if needle not in written:
            yield f"does not contain {needle!r}"
    for needle in texts(expect, "not_contains"):
        if needle in written:
            yield f"contains {needle!r}"
    yield from _as_json(written, expect)


def _as_json(written: str, expect: JsonObject) -> Iterator[str]:
    try:
        value: JsonValue = msgspec.json.decode(written)
        valid = True
    except ValueError:
        value, valid = None, False
    if "valid_json" in expect:
        yield from differs("valid_json", valid, expect["valid_json"])
    if "json" in expect:
        yield from differs("json", value, expect["json"])
    lengths = expect.get("json_path_len")
    for path, length in lengths.items() if isinstance(lengths, dict) else ():
        here: JsonValue = value
        for step in path.split("."):
            here = here.get(step) if isinstance(here, dict) else None
        size = len(here) if isinstance(here, (str, list, dict)) else None
        yield from differs(f"length of {path}", size, length)


def _returned(given: JsonObject) -> object:
    """The Python value a case stands for."""
    if "type" in given:
        return _backend_result(given)
    ((form, value),) = given.items()
    make = _VALUES.get(form)
    if make is None:
        raise NotForUs
    return make(value)


_VALUES: dict[str, Callable[[JsonValue], object]] = {
    "json": lambda value: value,
    "bool": lambda value: value,
    "none": lambda _value: None,
    "py_none": lambda _value: None,
    "str_of_length": lambda value: "x" * _count(value),
    "py_tuple": lambda value: tuple(value) if isinstance(value, list) else value,
    "py_set": lambda value: set(map(str, value)) if isinstance(value, list) else value,
    "py_float": lambda value: float(str(value)),
    "py_bytes_b64": lambda value: base64.b64decode(str(value)),
    "dict_with_key_tuple": lambda _value: {(1, 2): 3},
}


def _backend_result(given: JsonObject) -> object:
    known = getattr(backend, text(given, "type"), None)
    if not isinstance(known, type) or not issubclass(known, backend.ToolResult):
        return type(text(given, "type"), (backend.ToolResult,), {}, frozen=True)()
    if known is backend.FileEntries:
        return backend.FileEntries(_numbered_entries(_count(given.get("count"))))
    fields = {name: value for name, value in _fields(given) if name in known.__struct_fields__}
    return known(**fields)


def _fields(given: JsonObject) -> Iterator[tuple[str, object]]:
    for key, value in given.items():
        if key.endswith("_b64"):
            yield key.removesuffix("_b64"), base64.b64decode(str(value))
        elif key.endswith("_str_len"):
            yield key.removesuffix("_str_len"), "x" * _count(value)
        elif key.endswith("_str"):
            yield key.removesuffix("_str"), value
        elif key.endswith("_len"):
            filler = "x" * _count(value)
            command = given.get("type") == "CommandResult"
            yield key.removesuffix("_len"), filler.encode() if command else filler
        else:
            yield key, value


def _numbered_entries(count: int) -> tuple[backend.FileEntry, ...]:
    names = [f"f{number:04d}" for number in range(count)]
    return tuple(backend.FileEntry(name=n, path=f"/w/{n}", is_dir=False) for n in names)


def _count(value: JsonValue) -> int:
    if not isinstance(value, int):
        raise ValueError(f"not a count: {value!r}")
    return value


def _parse_arguments(case: Case) -> Iterator[str]:
    raw = part(case, "given").get("raw")
    parsed, had_error = parse_flow_arguments(raw if isinstance(raw, str) else None)
    expect = part(case, "expect")
    yield from differs("parsed", parsed, expect.get("parsed"))
    yield from differs("had_error", had_error, expect.get("had_error"))


class _Named(FlowToolCall):
    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"type": "object", "properties": {}, "additionalProperties": False}

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        return {"session": str(session), "arguments": len(arguments)}


def _table(case: Case) -> Iterator[str]:
    given, expect = part(case, "given"), part(case, "expect")
    try:
        table = build_table(FLOW_BUILTINS, map(_Named, texts(given, "user_tools")))
    except ValueError as problem:
        yield from _raised(problem, expect)
        return
    order: list[JsonValue] = [_function_name(schema) for schema in table_schemas(table)]
    if "schema_order" in expect:
        yield from differs("schema_order", order, expect["schema_order"])
    if "builtin_names" in expect:
        names: list[JsonValue] = [*sorted(FLOW_BUILTINS)]
        yield from differs("builtin_names", names, expect["builtin_names"])
    missing = set(texts(expect, "seed_minimum")) - set(FLOW_BUILTINS)
    if missing:
        yield f"built-ins are missing: {sorted(missing)}"
    if "raises" in expect:
        yield f"expected {expect['raises']!r}, but nothing was raised"


def _function_name(schema: dict[str, object]) -> str:
    function = schema["function"]
    return str(cast("dict[str, object]", function)["name"])


def _raised(problem: Exception, expect: JsonObject) -> Iterator[str]:
    wanted = expect.get("raises")
    lineage = [parent.__name__ for parent in type(problem).__mro__]
    if not isinstance(wanted, str) or wanted not in lineage:
        yield f"raised {type(problem).__name__}: {problem}"
    if "message" in expect:
        yield from differs("message", str(problem), expect["message"])


def _shell_guard(case: Case) -> Iterator[str]:
    given, expect = part(case, "given"), part(case, "expect")
    length = given.get("cmd_of_length", given.get("str_of_length"))
    command = "x" * _count(length) if length is not None else text(given, "cmd")
    try:
        guarded(command)
    except ValueError as problem:
        yield from _raised(problem, expect)
        return
    if "raises" in expect:
        yield f"expected {expect['raises']!r}, but nothing was raised"


_AREAS: dict[str, Check] = {
    "serialize": _serialize,
    "parse_arguments": _parse_arguments,
    "table": _table,
    "shell_guard": _shell_guard,
    "backend_local": check_backend_local,
    "loop": check_loop,
    "sandbox": check_call,
    "session": check_session,
    "stream": check_call,
}

COMPARES_EVERY_KEY = frozenset({"backend_local", "loop", "sandbox", "session", "stream"})
"""Areas that leave no key of `expect` unlooked at."""
