"""Known secrets leave nothing: replaced before anything is stored or shown.

It is told the secrets; it does not look for them. A match is found in the encoded text, also as
JSON inside text writes it, and taken out of the decoded value, so the text stays valid JSON.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import cast

import msgspec

from holdfast.contract.envelope import NO_METADATA, Envelope, Metadata, Repair
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import (
    JsonObject,
    JsonValue,
    clean_text,
    decode_json,
    encode_json,
    text_of,
)
from holdfast.contract.truncate import CUT_MARK
from holdfast.envelope.stream_redaction import StreamRedaction

REDACTED = "***REDACTED***"
SHORTEST_SECRET = 6
"""A shorter value would be found everywhere and hide nothing."""
_UNREADABLE = object()


class Redactor:
    """Takes known secrets out of text and values."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: list[str] = []
        self.learn(secrets)

    def learn(self, secrets: Iterable[str], /) -> None:
        """Know more secrets from here on."""
        forms = {*self._forms}
        for secret in secrets:
            if len(secret) >= SHORTEST_SECRET:
                forms |= _forms(secret)
        # Longest first: a secret that contains another must not be torn apart by it.
        found = sorted(forms, key=lambda form: (-len(form), form))
        # Other threads redact meanwhile: each list is whole when it is there to be seen.
        self._encoded = [(form, _escaped(form).encode()) for form in found]
        self._forms = found
        self.active = bool(found)

    def text(self, text: str) -> str:
        """The text without secrets, nor the beginning of one where the text was cut."""
        spots = sorted(spot for form in self._forms for spot in _found(form, text))
        shown, done = "", 0
        for start, end in spots:
            if start >= done:
                shown += text[done:start] + REDACTED
            done = max(done, end)
        return self._without_cut_secret(shown + text[done:])

    def _without_cut_secret(self, text: str) -> str:
        """Take away a secret's beginning that stands at the end, before the mark of a cut."""
        if not text.endswith(CUT_MARK):
            return text
        core = text.removesuffix(CUT_MARK)
        for form in self._forms:
            for length in range(min(len(form), len(core)), SHORTEST_SECRET - 1, -1):
                if core.endswith(form[:length]):
                    return core[: len(core) - length] + REDACTED + CUT_MARK
        return text

    def content(self, content: bytes) -> bytes:
        """The bytes without secrets."""
        for form in self._forms:
            content = content.replace(form.encode(), REDACTED.encode())
        return content

    def stream(self) -> StreamRedaction:
        """Takes secrets out of one stream of bytes that comes in pieces."""
        return StreamRedaction([form.encode() for form in self._forms], REDACTED.encode())

    def json(self, encoded: bytes) -> bytes:
        """The JSON text without secrets, still JSON."""
        if not any(form in encoded for _, form in self._encoded):
            return encoded
        return encode_json(self._value(decode_json(encoded)))

    def written(self, text: str) -> str:
        """A text that may be JSON, as somebody else wrote it: what it says holds no secret either.

        It stays as it was written, unless it says a secret in another spelling.
        """
        clear = self.text(text)
        if "\\" not in text:
            return clear
        said = _read(text)
        if said is _UNREADABLE:
            return clear
        without = _each_text(cast("JsonValue", said), self.written)
        # Taken out of the text, a secret may take half of an escape along.
        return clear if without in (said, _read(clear)) else encode_json(without).decode()

    def envelope(self, envelope: Envelope) -> Envelope:
        """The envelope without secrets."""
        if not self.active or self._is_clear(envelope):
            return envelope
        return msgspec.structs.replace(
            envelope,
            result_json=self.json(envelope.result_json),
            failure=None if envelope.failure is None else self.failure(envelope.failure),
            tool=self._optional(envelope.tool),
            warnings=tuple(self.text(warning) for warning in envelope.warnings),
            metadata=self._metadata(envelope.metadata),
        )

    def _is_clear(self, envelope: Envelope) -> bool:
        """Whether a plain success holds no secret: most do not, and need no copy."""
        metadata = envelope.metadata
        if envelope.failure is not None or envelope.warnings or metadata.repairs:
            return False
        if metadata.tail is not None or metadata.output_path is not None:
            return False
        name = envelope.tool or ""
        return not any(
            encoded in envelope.result_json or form in name for form, encoded in self._encoded
        )

    def failure(self, failure: Failure) -> Failure:
        """The failure without secrets. Its kind is one of ours and stays."""
        return msgspec.structs.replace(
            failure,
            message=self.text(failure.message),
            field=self._optional(failure.field),
            expected=self._optional(failure.expected),
            extras=self._object(failure.extras),
        )

    def _metadata(self, metadata: Metadata) -> Metadata:
        if metadata == NO_METADATA:
            return metadata
        return msgspec.structs.replace(
            metadata,
            output_path=self._optional(metadata.output_path),
            tail=self._optional(metadata.tail),
            repairs=tuple(
                Repair(done.repair, self.text(done.field), self._optional(done.was))
                for done in metadata.repairs
            ),
        )

    def _optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def _object(self, value: JsonObject) -> JsonObject:
        return {self.text(key): self._value(item) for key, item in value.items()}

    def _value(self, value: JsonValue) -> JsonValue:
        match value:
            case str():
                return self.text(value)
            case dict():
                return self._object(value)
            case list():
                return [self._value(item) for item in value]
            case None | bool():
                return value
            case _:
                shown = text_of(value)
                return REDACTED if any(form in shown for form in self._forms) else value


def _read(text: str) -> object:
    """What a text says as JSON; _UNREADABLE: it is none."""
    try:
        return decode_json(text.encode())
    except (ValueError, RecursionError):
        return _UNREADABLE


def _each_text(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """The value with all its texts changed, names too."""
    match value:
        case str():
            return change(value)
        case dict():
            return {change(key): _each_text(item, change) for key, item in value.items()}
        case list():
            return [_each_text(item, change) for item in value]
        case _:
            return value


def _found(form: str, text: str) -> Iterator[tuple[int, int]]:
    """Every place of the form, overlapping ones too."""
    start = text.find(form)
    while start >= 0:
        yield start, start + len(form)
        start = text.find(form, start + 1)


def _forms(secret: str) -> set[str]:
    """The secret as it is, and as JSON writes it, and as JSON inside JSON does."""
    plain_form = clean_text(secret)
    stripped = plain_form.strip()
    plains = {plain_form, stripped} if len(stripped) >= SHORTEST_SECRET else {plain_form}
    inside = {write(form) for form in plains for write in _WRITERS}
    deeper = {write(form) for form in inside for write in _WRITERS}
    return plains | inside | deeper


def _escaped(text: str) -> str:
    return encode_json(text).decode()[1:-1]


def _ascii(text: str) -> str:
    return json.dumps(text)[1:-1]


def _slashed(text: str) -> str:
    """As PHP and some browsers write JSON."""
    return _ascii(text).replace("/", "\\/")


def _for_the_web(text: str) -> str:
    """As Go writes JSON."""
    return "".join(f"\\u{ord(mark):04x}" if mark in "<>&" else mark for mark in _escaped(text))


_WRITERS = (_escaped, _ascii, _slashed, _for_the_web)
