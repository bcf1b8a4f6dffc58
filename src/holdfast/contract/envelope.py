"""The one answer: every call, of every tool, ends in exactly one Envelope.

An envelope's result is kept as the JSON text it was encoded to. That makes the value immutable and
byte-stable, and the text is written once: size check, redaction and wire form all read it.
It does not know any wire form; those are dialects, in the envelope room.
"""

import msgspec

from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonValue, decode_json, encode_json

RESERVED_KEYS = frozenset(
    {"ok", "kind", "message", "field", "expected", "tool", "retryable", "metadata", "warnings"}
)
"""Names that belong to the envelope itself; extras can never overwrite them."""

NULL = b"null"


class Repair(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One change preflight made to the arguments before the tool saw them."""

    repair: str
    """Which repair, for example ``integer_from_text``."""
    field: str
    """Where, as a path; empty for the arguments as a whole."""
    was: str | None = None
    """The key as it was sent, for a corrected key."""


class Metadata(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the runtime measured. Left out of the wire form when nothing was recorded."""

    duration_ms: int | None = None
    truncated: bool = False
    output_path: str | None = None
    """Where the whole output can be read."""
    tail: str | None = None
    """The end of output whose beginning is ``head``."""
    output_bytes: int | None = None
    """How large the whole output was."""
    dropped_bytes: int | None = None
    """How much of it was kept nowhere."""
    repairs: tuple[Repair, ...] = ()
    repair_count: int | None = None
    """How many repairs there were, when not all are named."""


NO_METADATA = Metadata()


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a call: a success with a result, or a failure."""

    result_json: bytes = NULL
    """The result as compact JSON with sorted keys; ``null`` for a failure."""
    failure: Failure | None = None
    tool: str | None = None
    call_id: str | None = None
    warnings: tuple[str, ...] = ()
    metadata: Metadata = NO_METADATA

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.failure is None

    @property
    def result(self) -> JsonValue:
        """The payload, decoded afresh: changing it does not change the envelope."""
        return decode_json(self.result_json)


def envelope_of(
    result: object, *, tool: str | None = None, warnings: tuple[str, ...] = ()
) -> Envelope:
    """Build the success that carries this value."""
    return Envelope(result_json=encode_json(result), tool=tool, warnings=warnings)
