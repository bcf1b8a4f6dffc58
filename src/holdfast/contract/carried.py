"""Files of workspaces as a port: pieces of a session, known by what is in them.

A piece is stored under its SHA-256, once for each session; which pieces are wanted is said by the
list that the journal names. Nobody finds a piece of another session. Values and a protocol; stores
are in `record`.
"""

import hashlib
from collections.abc import Collection, Mapping
from typing import Protocol

PIECE_BYTES = 4 * 1024 * 1024
"""What a piece of a file holds at most; a list of files is one piece, however long."""


class CarriedStore(Protocol):
    """Keeps pieces. Those that were stored stay, whatever the store's durability promises.

    Where the store cannot be reached, all raise JournalUnavailable.
    """

    async def put(self, session_id: str, pieces: Mapping[str, bytes], /) -> None:
        """Store them, all or none; one that is there is left as it is."""
        ...

    async def read(self, session_id: str, names: Collection[str], /) -> Mapping[str, bytes]:
        """Those of them that there are."""
        ...

    async def keep_only(self, session_id: str, names: Collection[str], /, *, epoch: int) -> bool:
        """Remove all other pieces of the session, while this epoch is the newest one; whether it
        is. Whoever was overtaken removes nothing that another one has stored."""
        ...


def piece_name(content: bytes) -> str:
    """What a piece is known by."""
    return hashlib.sha256(content).hexdigest()
