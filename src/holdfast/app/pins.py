"""The pins of MCP tools, one file for all projects of a person.

Like grants and trust they are a person's decisions: kept with holdfast's own state, owner-only,
and changed under a lock.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from holdfast.app.state_file import locked, read_bytes, replace
from holdfast.sources.mcp.pins import Pin

_decode = msgspec.json.Decoder(tuple[Pin, ...]).decode
_encode = msgspec.json.Encoder(order="sorted").encode


class PinFile:
    """Keeps pins. Blocking."""

    def __init__(self, state_home: Path) -> None:
        self.path = state_home / "mcp-pins.json"

    def load(self) -> tuple[Pin, ...]:
        """All there are; a file that cannot be read is an error, not an empty one."""
        content = read_bytes(self.path)
        try:
            return () if content is None else _decode(content)
        except msgspec.MsgspecError as problem:
            raise ValueError(
                f"{self.path}: it cannot be read ({problem}); remove it to accept every MCP tool"
                " anew at its next call"
            ) from None

    def first(self, pins: Sequence[Pin], /) -> tuple[Pin, ...]:
        """Keep those whose tool has none yet; gives what is kept for each of them."""
        with locked(self.path):
            known = _by_tool(self.load())
            added = {key: pin for key, pin in _by_tool(pins).items() if key not in known}
            if added:
                self._write({**known, **added}.values())
            kept = {**added, **known}
            return tuple(kept[pin.server, pin.tool] for pin in pins)

    def accept(self, server: str, pins: Sequence[Pin], /, *, all_others_go: bool) -> None:
        """Keep these in the place of older ones; whether other pins of the server go."""
        with locked(self.path):
            known = _by_tool(self.load())
            if all_others_go:
                known = {key: pin for key, pin in known.items() if pin.server != server}
            self._write({**known, **_by_tool(pins)}.values())

    def _write(self, pins: Iterable[Pin]) -> None:
        replace(self.path, _encode(sorted(pins, key=lambda pin: (pin.server, pin.tool))))


def _by_tool(pins: Iterable[Pin]) -> dict[tuple[str, str], Pin]:
    return {(pin.server, pin.tool): pin for pin in pins}
