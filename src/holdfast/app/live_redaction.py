"""What a model says, as it comes, without known secrets: also one that comes in several pieces.

What may be the beginning of a secret is held back until it is known not to be one, or until the
reply is whole. What is told, and to whom, is not known here.
"""

from collections.abc import Callable

import msgspec

from holdfast.agent.place import Live, Sign
from holdfast.contract.json_value import clean_text
from holdfast.contract.model import CallDelta, ModelDelta, ReasoningDelta, TextDelta
from holdfast.envelope.redact import Redactor
from holdfast.envelope.stream_redaction import StreamRedaction


class LiveRedaction:
    """Stands between a model and whoever is told what it says. One for each session."""

    def __init__(self, redactor: Redactor, told: Callable[[Live], None]) -> None:
        self._redactor = redactor
        self._told = told
        self._streams: dict[object, tuple[StreamRedaction, ModelDelta]] = {}
        """By stream: what reads it, and the last piece, whose form the rest has."""

    def __call__(self, live: Live) -> None:
        """One more. Signs of life come without secrets already, and from any thread."""
        if isinstance(live, Sign) or not self._redactor.active:
            self._told(live)
            return
        key, text = _stream_of(live)
        known = self._streams.get(key)
        stream = self._redactor.stream() if known is None else known[0]
        self._streams[key] = stream, live
        self._tell(live, stream.feed(clean_text(text).encode()), first=known is None)

    def whole(self) -> None:
        """The reply is whole, or will never be: nothing is held back any more."""
        streams, self._streams = self._streams, {}
        for stream, last in streams.values():
            self._tell(last, stream.rest())

    def _tell(self, piece: ModelDelta, shown: bytes, *, first: bool = False) -> None:
        text = shown.decode()
        if isinstance(piece, CallDelta):
            if text or first:  # its name is news
                clean = self._redactor.text
                name, call_id = clean(piece.name), clean(piece.id)
                self._told(msgspec.structs.replace(piece, arguments=text, name=name, id=call_id))
        elif text:
            self._told(TextDelta(text) if isinstance(piece, TextDelta) else ReasoningDelta(text))


def _stream_of(piece: ModelDelta) -> tuple[object, str]:
    if isinstance(piece, CallDelta):
        return piece.index, piece.arguments
    return type(piece), piece.text
