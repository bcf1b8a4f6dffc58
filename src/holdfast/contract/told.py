"""What a tool returns that has more to say than its result: remarks, what is kept or cut apart."""

from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


class KeptOutput(msgspec.Struct, frozen=True, kw_only=True):
    """Output that went to a file while it came, so that memory never held all of it."""

    path: str | None
    """Where it can be read; None: it could not be kept."""
    head: bytes
    """Its beginning, byte for byte as the file begins."""
    tail: bytes
    """Its end, as far as it is not in the head."""
    total: int
    dropped: int = 0
    """Bytes that are neither in the file nor in head and tail."""

    @property
    def complete(self) -> bool:
        """Whether head and tail are all there was."""
        return len(self.head) + len(self.tail) == self.total


class Told(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A result, and what the answer says beside it."""

    result: T
    warnings: tuple[str, ...] = ()
    output: KeptOutput | None = None
    """The text of the result's bounded fields, where a file holds it already."""


class ShownInPart(msgspec.Struct, frozen=True):
    """A value of which whoever asked was shown only a part, by whoever bound it."""

    value: object
