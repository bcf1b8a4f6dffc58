"""Success or failure, told from text alone. Only the top level decides.

For envelope text; never for a flow session's tool_result text, where ``{"ok": false}`` is data.
"""

from typing import Literal

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue

Reading = Literal["success", "failure", "neither"]

_LEGACY_PREFIXES = ("[REJECTED]", "[TIMEOUT]")
_CUT_FAILURE = ('"ok":false', '"ok": false')
_CUT_SUCCESS = ('"ok":true', '"ok": true')


def is_error(text: str) -> bool:
    """Whether the text is a failure envelope, or one of the legacy forms of one."""
    return _read(text)[0] == "failure"


def is_success(text: str) -> bool:
    """Whether the text is a success envelope."""
    return _read(text)[0] == "success"


def success_payload(text: str) -> JsonValue:
    """The result of a readable success, None otherwise."""
    reading, top = _read(text)
    return top.get("result") if reading == "success" and top is not None else None


def failure_message(text: str) -> str:
    """The message of a failure; anything else comes back as it was given."""
    reading, top = _read(text)
    if reading == "failure" and top is not None:
        for key in ("message", "reason"):
            found = top.get(key)
            if isinstance(found, str):
                return found
    return text


def failure_kind(text: str) -> str | None:
    """The kind a failure names, whether or not it is one of ours."""
    reading, top = _read(text)
    kind = top.get("kind") if reading == "failure" and top is not None else None
    return kind if isinstance(kind, str) else None


def _read(text: str) -> tuple[Reading, JsonObject | None]:
    trimmed = text.strip()
    if trimmed.startswith(_LEGACY_PREFIXES):
        return "failure", None
    if not trimmed.startswith("{"):
        return "neither", None
    try:
        top: JsonValue = msgspec.json.decode(trimmed.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return _read_cut(trimmed), None
    return (_judge(top), top) if isinstance(top, dict) else ("neither", None)


def _judge(top: JsonObject) -> Reading:
    ok = top.get("ok")
    if ok is True:
        return "success"
    if ok is False or ("error" in top and "retryable" in top):
        return "failure"
    return "neither"


def _read_cut(text: str) -> Reading:
    """Text that does not parse is judged by its first readable verdict."""
    failure = _first(text, _CUT_FAILURE)
    success = _first(text, _CUT_SUCCESS)
    if failure == success:
        return "neither"
    return "failure" if failure < success else "success"


def _first(text: str, needles: tuple[str, str]) -> int:
    found = [place for needle in needles if (place := text.find(needle)) >= 0]
    return min(found, default=len(text))
