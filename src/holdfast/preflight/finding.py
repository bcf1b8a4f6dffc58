"""One thing that is wrong with arguments, and how values and places are written in messages.

It does not look for anything; `explain` does.
"""

import msgspec

from holdfast.contract.builders import failure_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue

_MAX_SHOWN = 200
_MAX_WORDS = 2_000


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, and where."""

    message: str
    field: str | None = None
    expected: str | None = None
    received: str | None = None

    def failure(self) -> Failure:
        """As the failure of the call."""
        extras: JsonObject = {} if self.received is None else {"received": self.received}
        return failure_of(
            FailureKind.INVALID_ARGS,
            _cut(self.message, _MAX_WORDS),
            field=None if self.field is None else _cut(self.field, _MAX_WORDS),
            expected=self.expected,
            extras=extras,
        )


def path_text(steps: list[str | int]) -> str:
    """Write a path as ``o.k`` and ``xs[1].k``."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def shown(value: JsonValue) -> str:
    """A value as short JSON text."""
    return _cut(msgspec.json.encode(value).decode(), _MAX_SHOWN)


def _cut(text: str, limit: int) -> str:
    """A model may send a key or value of megabytes; no answer repeats it whole."""
    return text if len(text) <= limit else text[:limit] + "…"
