"""Pins: the definition a tool had when it was first used. Another one is quarantined.

A pin also says what its server was, so that another program or address under the same name counts
as a change. Who keeps pins is not known here.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from holdfast.contract.json_value import JsonObject, encode_json
from holdfast.sources.mcp.definitions import Definition, changed_fields, difference, digest
from holdfast.sources.mcp.identity import in_words, is_same


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """One tool as it was accepted."""

    server: str
    tool: str
    identity: JsonObject
    """What the server was."""
    definition: Definition
    sha256: str
    """Of the definition."""
    at: datetime


def fingerprint(definition: Definition, identity: JsonObject) -> str:
    """Stands for exactly this definition of exactly this server."""
    return hashlib.sha256(encode_json([digest(definition), identity])).hexdigest()


class PinStore(Protocol):
    """Keeps pins, apart from sessions and from the workspace. Blocking."""

    def load(self) -> tuple[Pin, ...]:
        """All there are. OSError or ValueError: they cannot be read."""
        ...

    def first(self, pins: Sequence[Pin], /) -> tuple[Pin, ...]:
        """Keep those whose tool has none yet; gives what is kept for each of them. OSError."""
        ...

    def accept(self, server: str, pins: Sequence[Pin], /, *, all_others_go: bool) -> None:
        """Keep these in the place of older ones; whether other pins of the server go. OSError."""
        ...


class Quarantined(msgspec.Struct, frozen=True, kw_only=True):
    """A tool whose definition is not the one that was pinned."""

    tool: str
    summary: str
    """In one line, also for a model: nothing of the server's command or address."""
    diff: str
    """From the pinned definition to the one there is now."""
    of_server: str = ""
    """What of that is about its server, which all of its tools have in common; empty: nothing."""
    of_tool: str = ""
    """What of that is about the tool itself; empty: nothing."""


PinsOfServer = Mapping[str, Pin]
"""By the tool's own name."""


def pin_of(server: str, identity: JsonObject, definition: Definition, at: datetime) -> Pin:
    """The definition as it is now."""
    return Pin(
        server=server,
        tool=definition.name,
        identity=identity,
        definition=definition,
        sha256=digest(definition),
        at=at,
    )


def quarantine(
    definition: Definition, identity: JsonObject, pins: PinsOfServer
) -> Quarantined | None:
    """Why a tool may not be used; None: it may.

    A tool without a pin is new. It counts as changed where any other pin says that the server was
    another one.
    """
    own = pins.get(definition.name)
    if own is None:
        elsewhere = next(
            (one for one in pins.values() if not is_same(one.identity, identity)), None
        )
        return None if elsewhere is None else _other_server(definition, identity, elsewhere)
    if not is_same(own.identity, identity):
        return _other_server(definition, identity, own)
    if own.sha256 == digest(definition):
        return None
    fields = ", ".join(changed_fields(own.definition, definition)) or "its form"
    diff = difference(own.definition, definition, definition.name)
    return Quarantined(
        tool=definition.name,
        summary=f"its definition changed: {fields}",
        diff=diff,
        of_tool=diff,
    )


def _other_server(definition: Definition, identity: JsonObject, pin: Pin) -> Quarantined:
    same = pin.tool == definition.name
    old = {"definition": pin.definition if same else None, "server": pin.identity}
    new = {"definition": definition, "server": identity}
    looks_same = in_words(pin.identity) == in_words(identity)
    return Quarantined(
        tool=definition.name,
        summary="its server is started or reached in another way"
        if looks_same
        else "its server is another one",
        diff=difference(old, new, definition.name),
        of_server=difference({"server": pin.identity}, {"server": identity}, pin.server),
        of_tool=difference(old["definition"], definition, definition.name),
    )
