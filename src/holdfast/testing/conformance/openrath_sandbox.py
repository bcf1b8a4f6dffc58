"""The openrath suite's sandbox areas: payloads on the local backend, handles and streams by call.

Each compares every key of `expect`. What is told in words this file does not know is not for this
version.
"""

import base64
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import cast

from holdfast.contract import backend
from holdfast.contract.backend import BackendSandboxSpec, FileEntries, FileEntry
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.execution.backends.binding import SandboxBinding
from holdfast.execution.backends.handle import BackendSandbox
from holdfast.execution.backends.local import LocalBackend, LocalSettings
from holdfast.execution.backends.streams import StreamEvent
from holdfast.testing.conformance.case import Case, NotForUs, differs, part, text

_PREFIX = "BackendTool"
_SETUPS = ("files", "setup", "fs_setup")
_COMMENTS = frozenset({"note", "why"})
_OF_AN_ERROR = frozenset({"raises", "message", "message_contains", "message_startswith"})


def check_backend_local(case: Case) -> Iterator[str]:
    """Run the payloads of a case in a fresh sandbox; what the last gives is compared."""
    given, expect = part(case, "given"), part(case, "expect")
    wanted = given.get("payloads") or [given.get("payload")]
    if not isinstance(wanted, list):
        raise TypeError("payloads must be a list")
    payloads = [_payload(one) for one in wanted]
    with _sandbox(given) as sandbox:
        for path, content in _files(given):
            sandbox.dispatch(backend.BackendToolFilesWrite(path, content))
        given_back: list[object] = [sandbox.dispatch(payload) for payload in payloads]
        for key, value in expect.items():
            if key not in _COMMENTS:
                yield from _compared(key, value, given_back[-1], payloads[-1], sandbox)


def check_call(case: Case) -> Iterator[str]:
    """One call in words, such as `query after exit`; what it raises or gives is compared."""
    given = part(case, "given")
    if not isinstance(given.get("call"), str):
        raise NotForUs
    return judged(case, _act(text(given, "call"), given))


def judged(case: Case, act: Callable[[], object]) -> Iterator[str]:
    """Do what a call stands for, and compare what it raises or gives."""
    expect = part(case, "expect")
    raised: Exception | None = None
    value: object = None
    try:
        value = act()
    except Exception as problem:  # noqa: BLE001 - whatever is raised is what is compared
        raised = problem
    for key, wanted in expect.items():
        if key not in _COMMENTS:
            yield from _compared_call(key, wanted, value, raised)
    if raised is not None and not _OF_AN_ERROR & expect.keys():
        yield f"raised {raised!r}"


def _compared_call(
    key: str, wanted: JsonValue, value: object, raised: Exception | None
) -> Iterator[str]:
    match key:
        case "raises":
            if wanted not in [parent.__name__ for parent in type(raised).__mro__]:
                yield f"raises: expected {wanted!r}, got {raised!r}"
        case "message":
            yield from differs(key, None if raised is None else str(raised), wanted)
        case "message_contains":
            if str(wanted) not in str(raised):
                yield f"{key}: {wanted!r} is not in {str(raised)!r}"
        case "message_startswith":
            if not str(raised).startswith(str(wanted)):
                yield f"{key}: {str(raised)!r} does not start with {wanted!r}"
        case "value":
            yield from differs(key, value, wanted)
        case _:
            yield f"the case expects {key!r}, which this version does not check"


def _sandbox(given: JsonObject) -> BackendSandbox:
    spec = given.get("spec")
    env = spec.get("env") if isinstance(spec, dict) else None
    variables = cast("dict[str, str]", env) if isinstance(env, dict) else None
    return BackendSandbox(LocalBackend(LocalSettings()), BackendSandboxSpec(env=variables))


def _payload(given: JsonValue) -> backend.BackendTool:
    if not isinstance(given, dict) or len(given) != 1:
        raise ValueError(f"not a payload: {given!r}")
    ((name, fields),) = given.items()
    known = getattr(backend, f"{_PREFIX}{name.removeprefix(_PREFIX)}", None)
    if not isinstance(known, type) or not issubclass(known, backend.BackendTool):
        raise NotForUs
    if not isinstance(fields, dict):
        raise ValueError(f"the payload {name} has no fields")
    return known(**dict(map(_field, fields.items())))


def _field(given: tuple[str, JsonValue]) -> tuple[str, object]:
    name, value = given
    for ending in ("_b64", "_of_length", "_str_len", "_len"):
        if name.endswith(ending):
            content = base64.b64decode(str(value)) if ending == "_b64" else "x" * int(str(value))
            return name.removesuffix(ending), content
    if name == "stdin" and isinstance(value, str):
        return name, value.encode()
    return name, value


def _files(given: JsonObject) -> Iterator[tuple[str, str | bytes]]:
    """What is there before: paths and their texts, or a list of objects with path and data."""
    for key in _SETUPS:
        listed = given.get(key, {})
        if isinstance(listed, dict):
            listed = [{"path": path, "data": data} for path, data in listed.items()]
        for one in listed if isinstance(listed, list) else ():
            fields = dict(map(_field, cast("JsonObject", one).items()))
            content = fields.get("data", fields.get("content", ""))
            if isinstance(content, dict):
                content = base64.b64decode(str(cast("JsonObject", content).get("b64", "")))
            yield str(fields["path"]), cast("str | bytes", content)


def _compared(
    key: str,
    wanted: JsonValue,
    found: object,
    payload: backend.BackendTool,
    sandbox: BackendSandbox,
) -> Iterator[str]:
    match key:
        case "value":
            yield from differs(key, found, wanted)
        case "failure_kind":
            yield from differs(key, getattr(found, "kind", None), wanted)
        case "failure" | "refused":
            yield from differs(key, isinstance(found, backend.ToolExecutionFailure), wanted)
        case "type":
            yield from differs(key, type(found).__name__, wanted)
        case "parents_created":
            parent = str(PurePosixPath(str(getattr(payload, "path", ""))).parent)
            yield from differs(key, _exists(sandbox, parent), wanted)
        case "usable" | "usable_after" | "sandbox_usable":
            after = sandbox.dispatch(backend.BackendToolCommandRun("true"))
            yield from differs(key, isinstance(after, backend.CommandResult), wanted)
        case "names" | "entries":
            yield from _compared_entries(key, wanted, found)
        case _:
            yield from _compared_field(key, wanted, found)


def _exists(sandbox: BackendSandbox, path: str) -> object:
    return sandbox.dispatch(backend.BackendToolFilesExists(path))


def _compared_entries(key: str, wanted: JsonValue, found: object) -> Iterator[str]:
    entries = found.entries if isinstance(found, FileEntries) else ()
    shown: list[JsonValue] = []
    forms = wanted if isinstance(wanted, list) else []
    for number, entry in enumerate(entries):
        form = forms[number] if number < len(forms) else None
        shown.append(_as_form(entry, form))
    yield from differs(key, shown, wanted)


def _as_form(entry: FileEntry, form: JsonValue) -> JsonValue:
    """As much of an entry as the case speaks of; a text stands for its name."""
    if not isinstance(form, dict):
        return entry.name
    return {name: cast("JsonValue", getattr(entry, name, None)) for name in form}


FORMS: dict[str, Callable[[object, JsonValue], bool]] = {
    "_contains": lambda has, wanted: str(wanted) in str(has),
    "_not_contains": lambda has, wanted: str(wanted) not in str(has),
    "_startswith": lambda has, wanted: str(has).startswith(str(wanted)),
    "_endswith": lambda has, wanted: str(has).endswith(str(wanted)),
    "_any": lambda has, wanted: isinstance(wanted, list) and has in wanted,
    "_len": lambda has, wanted: len(str(has)) == wanted,
    "_length": lambda has, wanted: len(str(has)) == wanted,
}


def _compared_field(key: str, wanted: JsonValue, found: object) -> Iterator[str]:
    if key.endswith("_b64"):
        has = getattr(found, key.removesuffix("_b64"), None)
        content = has.encode() if isinstance(has, str) else has
        shown = base64.b64encode(content).decode() if isinstance(content, bytes) else None
        yield from differs(key, shown, wanted)
        return
    for ending, holds in sorted(FORMS.items(), key=lambda form: -len(form[0])):
        name = key.removesuffix(ending)
        if name != key:
            has = _text_of(found, {"failure_kind": "kind"}.get(name, name))
            if not holds(has, wanted):
                yield f"{key}: {wanted!r} does not fit {has!r}"
            return
    if not hasattr(found, key):
        yield f"{key}: expected {wanted!r}, got {found!r}"
        return
    yield from differs(key, _text_of(found, key), wanted)


def _text_of(found: object, name: str) -> object:
    has = getattr(found, name, None)
    return has.decode("utf-8", "replace") if isinstance(has, bytes) else has


def _act(call: str, given: JsonObject) -> Callable[[], object]:
    """What the words of a call stand for."""
    words = set(re.findall(r"[a-z_]+", call.lower()))
    after_close = words & {"after", "closed"} and words & {"exit", "close", "closed", "leaving"}
    if "elapsed_time" in words:
        return lambda: StreamEvent().elapsed_time(StreamEvent())
    if "require_sandbox" in words:
        return _require_sandbox(after_close=bool(after_close))
    if after_close:
        for name in ("acquire", "release", "dispatch"):
            if name in words:
                return lambda name=name: _on_closed_handle(name)
        for name in _STREAM_CALLS:  # `exit` is the last: it is also what the others come after
            if name in words:
                return lambda name=name: _on_closed_stream(name)
    if "wait_event" in words:
        seconds = given.get("timeout", 0.05)
        return lambda: _waited_in_vain(float(str(seconds)) if seconds != 1 else 1)
    raise NotForUs


def _require_sandbox(*, after_close: bool) -> Callable[[], object]:
    binding = SandboxBinding()
    if after_close:
        handle = BackendSandbox(LocalBackend(LocalSettings()))
        binding.bind_sandbox(handle)
        handle.release()
    return binding.require_sandbox


def _on_closed_handle(name: str) -> object:
    handle = BackendSandbox(LocalBackend(LocalSettings()))
    handle.acquire().release()
    if name == "dispatch":
        return handle.dispatch(backend.BackendToolFilesExists("."))
    return handle.acquire() if name == "acquire" else handle.release()


_STREAM_CALLS: dict[str, tuple[object, ...]] = {
    "submit": (backend.BackendToolFilesExists("."),),
    "record_event": (),
    "wait_event": (StreamEvent(),),
    "synchronize": (),
    "query": (),
    "exit": (None, None, None),
}


def _on_closed_stream(name: str) -> object:
    with BackendSandbox(LocalBackend(LocalSettings())) as handle:
        with handle.stream() as stream:
            pass
        method = getattr(stream, "__exit__" if name == "exit" else name)
        return method(*_STREAM_CALLS[name])


def _waited_in_vain(seconds: float) -> object:
    with BackendSandbox(LocalBackend(LocalSettings())) as handle, handle.stream() as stream:
        return stream.wait_event(StreamEvent(), seconds).result()
