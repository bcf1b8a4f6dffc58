"""What a provider's refusal means: from a status, or from words inside of a reply.

Text only. Whatever a provider says is a stranger's: it is cut, it is one line, and the key that was
sent is not in it.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

import msgspec

from holdfast.contract.json_value import JsonValue
from holdfast.contract.model import ModelError, ModelTrouble

MOST_ERROR_BYTES = 16 * 1024
"""So much of a refusal is read."""
_MOST_TOLD = 500
_MOST_WAIT = 86_400.0

_BY_STATUS: dict[int, ModelTrouble] = {
    401: "authentication",
    403: "authentication",
    408: "timeout",
    413: "context_length",
    429: "rate_limited",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
_TOO_LONG = (
    "context length",
    "context_length",
    "context size",
    "context_size",
    "context window",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "request_too_large",
)
"""What providers say when a request does not fit."""
_SPENT = ("insufficient_quota", "billing", "credit balance")
"""What they say when waiting does not help."""
_BY_WORD: tuple[tuple[str, ModelTrouble], ...] = (
    ("overloaded", "overloaded"),
    ("rate_limit", "rate_limited"),
    ("authentication", "authentication"),
    ("permission", "authentication"),
    ("timeout", "timeout"),
    ("invalid", "bad_request"),
    ("not_found", "bad_request"),
    ("content_filter", "bad_request"),
)
"""Kinds of errors inside of a reply, by a part of their names."""
_STEPS: dict[ModelTrouble, str] = {
    "authentication": "check the key and what it may be used for",
    "context_length": "send less, or choose a model with a larger window",
    "bad_request": "check model, base_url and extra of its configuration",
}


_NO_KEY = (
    "no key is sent there, unless one of its headers holds it; name its variable with key_variable"
)


def refusal(status: int, body: bytes, headers: Mapping[str, str], secret: str) -> ModelError:
    """The error for a status that is none of success."""
    said, kind = _words(body)
    told = tidy(said, secret)
    trouble = _of_status(status, f"{kind} {said}".lower())
    step = _STEPS.get(trouble)
    if trouble == "authentication" and not secret:
        step = _NO_KEY
    text = f"the model's provider answered {status}{f': {told}' if told else ''}"
    return ModelError(
        trouble,
        f"{text}; {step}" if step else text,
        status=status,
        retry_after=_seconds(headers.get("Retry-After"), headers.get("Date")),
    )


def moved(status: int, secret: str, target: str | None) -> ModelError:
    """The error for a redirect: a key goes to nobody who was not named."""
    where = tidy(target or "somewhere else", secret)
    return ModelError(
        "bad_request",
        f"the model's provider answered {status} and points to {where}; nothing is sent there:"
        " correct base_url",
        status=status,
    )


def told_inside(error: JsonValue, secret: str) -> ModelError:
    """The error that a provider puts into a reply that had begun well."""
    said, kind, code = _parts(error)
    status = code if code is not None and 400 <= code < 600 else None
    words = f"{kind} {said}".lower()
    if status is not None:
        trouble = _of_status(status, words)
    elif any(word in words for word in _TOO_LONG):
        trouble = "context_length"
    elif any(word in words for word in _SPENT):
        trouble = "bad_request"
    else:
        trouble = _of_kind(kind.lower())
    told = tidy(said or kind, secret) or "without a reason"
    return ModelError(trouble, f"the model's provider broke off: {told}", status=status)


def malformed(what: str) -> ModelError:
    """The error for a reply that is none."""
    return ModelError("malformed", f"the model's provider {what}; check base_url")


def tidy(said: str, secret: str) -> str:
    """A stranger's words on one line, cut, and without the key."""
    visible = "".join(one for one in said if one.isprintable() or one.isspace())
    shown = " ".join(visible.split())
    if secret:  # only now: what nobody sees may have stood inside of it
        shown = shown.replace(secret, "***")
    return shown if len(shown) <= _MOST_TOLD else f"{shown[:_MOST_TOLD]}…"


def _of_kind(kind: str) -> ModelTrouble:
    for word, trouble in _BY_WORD:
        if word in kind:
            return trouble
    return "server_error"


def _of_status(status: int, words: str) -> ModelTrouble:
    if status < 500 and any(word in words for word in _TOO_LONG):
        return "context_length"
    if status in {402, 429} and any(word in words for word in _SPENT):
        return "bad_request"
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    return "server_error" if status >= 500 else "bad_request"


def _words(body: bytes) -> tuple[str, str]:
    """What an answer says, and what it calls that."""
    text = body.decode("utf-8", "replace").strip()
    try:
        found: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return ("a page that is no JSON", "") if text.startswith("<") else (text, "")
    outer = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    said, kind, _ = _parts(outer.get("error", outer))
    return said or text, kind


def _parts(error: Any) -> tuple[str, str, int | None]:  # noqa: ANN401 - whatever a stranger sent
    """Message, kind and number of an error object, however it is put."""
    if isinstance(error, str):
        return error, "", None
    if not isinstance(error, dict):
        return "", "", None
    fields = cast("dict[str, Any]", error)
    said, code = fields.get("message") or fields.get("detail"), fields.get("code")
    written = str(code) if isinstance(code, int | str) else ""
    number = int(written) if len(written) == 3 and written.isdecimal() else None
    kind = f"{fields.get('type') or ''} {'' if code is None else code}".strip()
    return said if isinstance(said, str) else "", kind, number


def _seconds(retry_after: str | None, date: str | None) -> float | None:
    """How long to wait, said in seconds or as a moment by the provider's own clock."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        until, now = _moment(retry_after), _moment(date or "")
        if until is None or now is None:
            return None
        seconds = (until - now).total_seconds()
    return min(max(seconds, 0.0), _MOST_WAIT) if not math.isnan(seconds) else None


def _moment(written: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(written)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
