"""How much of an output is kept in memory, and how what is missing is named in it."""

HEAD_BYTES = 256 * 1024
TAIL_BYTES = 64 * 1024


def with_gap(head: bytes, tail: bytes, total: int) -> bytes:
    """Beginning and end of an output; what is missing between them is counted."""
    missing = total - len(head) - len(tail)
    if missing == 0:
        return head + tail
    return head + f"\n... [{missing:,} bytes omitted] ...\n".encode() + tail


class ShownOutput:
    """Takes an output in pieces, and keeps its beginning and its end."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def take(self, piece: bytes) -> None:
        """Keep what of it belongs to the beginning or may be the end."""
        self._total += len(piece)
        room = HEAD_BYTES - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]

    def shown(self) -> bytes:
        """What there is of it."""
        return with_gap(bytes(self._head), bytes(self._tail[-TAIL_BYTES:]), self._total)
