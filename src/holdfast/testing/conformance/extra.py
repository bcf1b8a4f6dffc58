"""The extra suite: builders, raised errors, truncation, classification, loop state, programs,
paths."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import cast

from holdfast.agent.classify import classify
from holdfast.contract import builders, errors
from holdfast.contract.envelope import Envelope
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json
from holdfast.contract.results import FileText
from holdfast.contract.truncate import truncate_for_model
from holdfast.envelope.dialects import ok
from holdfast.envelope.from_error import failure_from
from holdfast.execution.shell_warnings import shell_warnings
from holdfast.policy import path_guard
from holdfast.testing.conformance import programs, task_state
from holdfast.testing.conformance.case import Case, Check, NotForUs, differs, part, text, texts


def check(case: Case) -> Iterator[str]:
    """Judge one case."""
    suite = _SUITES.get(text(case, "suite"))
    if suite is None:
        raise NotForUs
    return suite(case)


def _envelope_build(case: Case) -> Iterator[str]:
    ((maker, given),) = part(case, "call").items()
    if not isinstance(given, dict):
        raise ValueError("the call's arguments are not an object")
    top = decode_json(ok.render(_BUILD[maker](given)))
    if not isinstance(top, dict):
        raise ValueError("the envelope is not an object")
    for key, wanted in part(case, "expect").items():
        yield from differs(key, top.get(key), wanted)
    for key in texts(case, "absent"):
        if key in top:
            yield f"{key} should be absent, is {top[key]!r}"


def _failure(given: JsonObject) -> Envelope:
    extras = given.get("metadata", given.get("extras"))
    retryable = given.get("retryable")
    return builders.failure(
        text(given, "kind"),
        text(given, "message"),
        tool=_optional(given, "tool"),
        field=_optional(given, "field"),
        expected=_optional(given, "expected"),
        retryable=retryable if isinstance(retryable, bool) else None,
        extras=cast("Mapping[str, object]", extras) if isinstance(extras, dict) else None,
    )


def _success(given: JsonObject) -> Envelope:
    tool, warnings = _optional(given, "tool"), texts(given, "warnings")
    written = given.get("text")
    if isinstance(written, str):
        return builders.text(written, tool=tool, warnings=warnings)
    return builders.success(given.get("result"), tool=tool, warnings=warnings)


def _listing(given: JsonObject) -> Envelope:
    return builders.listing(
        text(given, "path"),
        _entries(given),
        truncated=given.get("truncated") is True,
        tool=_optional(given, "tool"),
        warnings=texts(given, "warnings"),
    )


def _search(given: JsonObject) -> Envelope:
    return builders.search(
        text(given, "query"),
        _entries(given),
        truncated=given.get("truncated") is True,
        tool=_optional(given, "tool"),
        warnings=texts(given, "warnings"),
    )


def _file(given: JsonObject) -> Envelope:
    known = {key: value for key, value in given.items() if key in FileText.__struct_fields__}
    return builders.file(FileText(**known), tool=_optional(given, "tool"))  # pyright: ignore[reportArgumentType] - the case decides the fields


def _entries(given: JsonObject) -> list[Mapping[str, str]]:
    entries = given.get("entries")
    if not isinstance(entries, list):
        raise ValueError("no entries")
    return cast("list[Mapping[str, str]]", entries)


def _optional(given: JsonObject, key: str) -> str | None:
    value = given.get(key)
    return value if isinstance(value, str) else None


_BUILD: dict[str, Callable[[JsonObject], Envelope]] = {
    "failure": _failure,
    "success": _success,
    "listing": _listing,
    "search": _search,
    "file": _file,
}


def _from_error(case: Case) -> Iterator[str]:
    failure = failure_from(_raised(text(case, "raised")), tool="case")
    facts: JsonObject = {
        "kind": failure.kind.value,
        "field": failure.field,
        "expected": failure.expected,
        "retryable": failure.retryable,
        "message": failure.message,
    }
    for key, wanted in part(case, "expect").items():
        yield from differs(key, facts.get(key), wanted)


def _raised(name: str) -> BaseException:
    """The error of that name; a name without a class of its own stands for any other error."""
    known = getattr(errors, "".join(word.title() for word in name.split("_")), None)
    if isinstance(known, type) and issubclass(known, errors.ToolError):
        return known("it went wrong")
    return RuntimeError("it went wrong")


_MARKER = re.compile(r"\n\.\.\. \[TRUNCATED: (\d+) of (\d+) chars omitted\] \.\.\.\n")


def _truncate(case: Case) -> Iterator[str]:
    length, cap = case.get("length"), case.get("max_chars")
    if not isinstance(length, int) or not isinstance(cap, int):
        raise ValueError("length and max_chars must be integers")
    found = truncate_for_model("x" * length, cap)
    marker = _MARKER.search(found)
    facts: dict[str, JsonValue] = {"head_chars": None, "tail_chars": None, "omitted": None}
    if marker is not None:
        facts = {
            "head_chars": marker.start(),
            "tail_chars": len(found) - marker.end(),
            "omitted": int(marker.group(1)),
        }
    for key, wanted in part(case, "expect").items():
        yield from differs(key, facts.get(key), wanted)


def _classify(case: Case) -> Iterator[str]:
    yield from differs("class", classify(text(case, "input")), case.get("expect"))


def _path_guard(case: Case) -> Iterator[str]:
    home, path, expect = text(case, "home"), text(case, "path"), part(case, "expect")
    roots = {"home": home}
    if "shared_root" in case:
        roots["shared_root"] = text(case, "shared_root")
    guarded = path_guard.guard_path(path, **roots)
    refused = isinstance(guarded, path_guard.PathRefusal)
    answer = path_guard.require_path({"path": path}, **roots)
    envelope: JsonObject | None = None
    if isinstance(answer, Envelope) and answer.failure is not None:
        failure = answer.failure
        envelope = {"kind": failure.kind.value, "field": failure.field, "message": failure.message}
    facts: JsonObject = {
        "ok": not refused,
        "resolved": None if refused else _collapsed(guarded),
        "reason": guarded.reason if refused else None,
        "envelope": envelope,
    }
    for key, wanted in expect.items():
        found = facts.get(key)
        if key == "resolved" and isinstance(wanted, str):
            yield from differs(key, found, _collapsed(wanted))
        elif isinstance(found, dict) and isinstance(wanted, dict):
            for detail, value in wanted.items():
                yield from differs(f"{key}.{detail}", found.get(detail), value)
        else:
            yield from differs(key, found, wanted)


def _collapsed(path: str) -> str:
    """The path without empty and dot segments, which name nothing of their own."""
    return "/".join(["", *(segment for segment in path.split("/") if segment not in {"", "."})])


def _shell_warnings(case: Case) -> Iterator[str]:
    exit_code = case.get("exit_code")
    if not isinstance(exit_code, int):
        raise ValueError("the case has no number 'exit_code'")
    printed = text(case, "stdout"), text(case, "stderr")
    found = shell_warnings(text(case, "command"), exit_code, *printed)
    yield from differs("kinds", [one.kind for one in found], case.get("expect_kinds"))


_SUITES: dict[str, Check] = {
    "shell_warnings": _shell_warnings,
    "runner_env": programs.environment,
    "audit_redact": programs.redaction,
    "envelope_build": _envelope_build,
    "from_error": _from_error,
    "truncate": _truncate,
    "classify": _classify,
    "task_state": task_state.check,
    "runner_content": programs.content,
    "path_guard": _path_guard,
}
