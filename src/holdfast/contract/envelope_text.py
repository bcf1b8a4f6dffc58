"""What a text says it is: the answer of a call that succeeded, of one that failed, or neither.

Only the top level decides. For envelope text; never for a flow session's tool_result text, where
``{"ok": false}`` is data. How envelopes are written is for the dialects to know.
"""

from typing import Literal, NamedTuple

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue

Reading = Literal["success", "failure", "neither"]

_LEGACY_PREFIXES = ("[REJECTED]", "[TIMEOUT]")
_CUT_FAILURE = ('"ok":false', '"ok": false')
_CUT_SUCCESS = ('"ok":true', '"ok": true')


class EnvelopeText(NamedTuple):
    """A text that was looked at."""

    reading: Reading
    top: JsonObject | None
    """What it holds; None where it is no JSON object, or was cut."""


def read_envelope_text(text: str) -> EnvelopeText:
    """Look at a text."""
    trimmed = text.strip()
    if trimmed.startswith(_LEGACY_PREFIXES):
        return EnvelopeText("failure", None)
    if not trimmed.startswith("{"):
        return EnvelopeText("neither", None)
    try:
        top: JsonValue = msgspec.json.decode(trimmed.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return EnvelopeText(_read_cut(trimmed), None)
    return (
        EnvelopeText(_judge(top), top) if isinstance(top, dict) else EnvelopeText("neither", None)
    )


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
