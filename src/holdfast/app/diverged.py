"""A divergence without what is secret: the recording may hold what only now is known to be."""

import msgspec

from holdfast.contract.json_value import JsonValue, encode_json
from holdfast.envelope.redact import REDACTED, Redactor
from holdfast.record.divergence import Divergence

_SECRET = "(something that is known to be secret now)"


def without_secrets(found: Divergence | None, redactor: Redactor) -> Divergence | None:
    """The recording may hold what only now is known to be secret."""
    if found is None or not redactor.active:
        return found
    before = _hidden(found.before, redactor)
    after = _hidden(found.after, redactor)
    if before == after:
        before = _SECRET if before == REDACTED else f"{_SECRET}: {_told(before)}"
    return msgspec.structs.replace(found, before=before, after=after)


def _hidden(
    value: JsonValue | msgspec.UnsetType, redactor: Redactor
) -> JsonValue | msgspec.UnsetType:
    if isinstance(value, msgspec.UnsetType):
        return value
    return msgspec.json.decode(redactor.json(msgspec.json.encode(value)))


def _told(value: JsonValue | msgspec.UnsetType) -> str:
    if isinstance(value, msgspec.UnsetType):
        return "(nothing)"
    return value if isinstance(value, str) and value else encode_json(value).decode()
