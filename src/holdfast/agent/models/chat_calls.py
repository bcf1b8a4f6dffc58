"""The calls of a chat completion, put together of pieces.

Servers number calls, give them ids, or do neither; some give every call the same number. Which call
a piece belongs to is decided here, and nowhere twice for the same piece.
"""

import msgspec

from holdfast.agent.models.assembling import Draft, OpenCall
from holdfast.agent.models.wire import NOTHING, encoded, is_given, small_object, text_in
from holdfast.contract.json_value import JsonObject, JsonValue

_MOST_EXTRA_BYTES = 256 * 1024


class Function(msgspec.Struct):
    """What is to be called, and with what."""

    name: str | None = None
    arguments: msgspec.Raw = NOTHING


class CallPiece(msgspec.Struct):
    """A call, or a piece of one."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None
    extra_content: msgspec.Raw = NOTHING


class ChatCalls:
    """Puts pieces where they belong."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._by_index: dict[int, OpenCall] = {}
        self._by_id: dict[str, OpenCall] = {}
        self._latest: OpenCall | None = None
        self._named_again: set[int] = set()
        """Calls that are complete, and whose name came once more without anything behind it."""
        self._extras: dict[int, JsonObject] = {}

    def add(self, pieces: list[CallPiece]) -> None:
        """The pieces of one event; ModelError."""
        for place, piece in enumerate(pieces):
            self._add(piece, place if len(pieces) > 1 else None)

    def extras(self, places: tuple[int, ...]) -> list[JsonValue]:
        """What the server wants to see again with calls, by where these stand among those that
        count."""
        return [
            {"at": at, "extra_content": self._extras[place]}
            for at, place in enumerate(places)
            if place in self._extras
        ]

    def _add(self, piece: CallPiece, place: int | None) -> None:
        function = piece.function or Function()
        name, arguments = function.name or "", _written(function.arguments)
        call = self._known(piece, place)
        if call is not None and not piece.id and self._is_over(call, name, arguments):
            name = name or call.name
            call = None
        elif call is not None and piece.index is not None and _is_another(call, piece.id, name):
            call = None
        if call is None:
            call = self._begun(piece)
        self._latest = call
        if not call.id and piece.id:
            call.id = piece.id
            self._by_id.setdefault(piece.id, call)
        is_named_now = not call.name and bool(name)
        if is_named_now:
            call.name = name
        if is_named_now or arguments:
            self._draft.write(call, arguments)
        if piece.extra_content is not NOTHING:
            extra = small_object(piece.extra_content, _MOST_EXTRA_BYTES)
            if extra:
                self._extras[call.index] = extra

    def _known(self, piece: CallPiece, place: int | None) -> OpenCall | None:
        """The call that a piece seems to belong to; None: one that was not there."""
        if piece.index is not None:
            return self._by_index.get(piece.index)
        if piece.id:
            return self._by_id.get(piece.id)
        return self._latest if place is None else self._by_index.get(place)

    def _begun(self, piece: CallPiece) -> OpenCall:
        call = self._draft.begin(piece.id or "")
        self._by_index[call.index if piece.index is None else piece.index] = call
        if piece.id:
            self._by_id.setdefault(piece.id, call)
        return call

    def _is_over(self, call: OpenCall, name: str, arguments: str) -> bool:
        """Whether a piece without an id is the beginning of another call than it seems.

        The name again is the same call, unless that is complete and more arguments come.
        """
        if name and call.name and name != call.name:
            return True
        is_named_again = bool(name and call.name) or call.index in self._named_again
        if not is_named_again or not call.is_closed:
            return False
        self._named_again.add(call.index)
        return bool(arguments.strip())


def _is_another(call: OpenCall, given_id: str | None, name: str) -> bool:
    """Whether a piece under the number of a call is another one's: it has its own id and name."""
    return bool(call.id and name and given_id and given_id != call.id)


def _written(raw: msgspec.Raw) -> str:
    """Arguments as text; some servers give the object itself."""
    if not is_given(raw):
        return ""
    said = bytes(raw)
    if said.startswith(b'"'):
        return text_in(raw)
    found = small_object(raw)
    return said.decode("utf-8", "replace") if found is None else encoded(found).decode()
