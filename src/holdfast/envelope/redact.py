"""Known secrets leave nothing: replaced before anything is stored or shown.

It is told the secrets; it does not look for them. A match is found in the encoded text, whatever
escaping put there, and taken out of the decoded value, so the text stays valid JSON.
"""

from collections.abc import Iterable

import msgspec

from holdfast.contract.envelope import Envelope, Metadata
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonValue, decode_json, encode_json, text_of

REDACTED = "***REDACTED***"
SHORTEST_SECRET = 6
"""A shorter value would be found everywhere and hide nothing."""


class Redactor:
    """Takes known secrets out of text and values."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms: set[str] = set()
        for secret in secrets:
            if len(secret) >= SHORTEST_SECRET:
                forms |= {secret, _escaped(secret)}
        # Longest first: a secret that contains another must not be torn apart by it.
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        self._encoded = [_escaped(form).encode("utf-8", "replace") for form in self._forms]
        self.active = bool(self._forms)

    def text(self, text: str) -> str:
        """The text without secrets."""
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return text

    def content(self, content: bytes) -> bytes:
        """The bytes without secrets."""
        for form in self._forms:
            content = content.replace(form.encode("utf-8", "replace"), REDACTED.encode())
        return content

    def json(self, encoded: bytes) -> bytes:
        """The JSON text without secrets, still JSON."""
        if not any(form in encoded for form in self._encoded):
            return encoded
        return encode_json(self._value(decode_json(encoded)))

    def envelope(self, envelope: Envelope) -> Envelope:
        """The envelope without secrets."""
        if not self.active:
            return envelope
        return msgspec.structs.replace(
            envelope,
            result_json=self.json(envelope.result_json),
            failure=None if envelope.failure is None else self.failure(envelope.failure),
            warnings=tuple(self.text(warning) for warning in envelope.warnings),
            metadata=msgspec.convert(self._value(msgspec.to_builtins(envelope.metadata)), Metadata),
        )

    def failure(self, failure: Failure) -> Failure:
        """The failure without secrets."""
        return msgspec.convert(self._value(msgspec.to_builtins(failure)), Failure)

    def _value(self, value: JsonValue) -> JsonValue:
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(key): self._value(item) for key, item in value.items()}
            case list():
                return [self._value(item) for item in value]
            case None | bool():
                return value
            case _:
                shown = text_of(value)
                return REDACTED if any(form in shown for form in self._forms) else value


def _escaped(text: str) -> str:
    return encode_json(text).decode()[1:-1]
