"""The upkeep port on any store: what weighs how much is asked alike, what is removed is not."""

from collections.abc import Mapping
from typing import Protocol

from anyio import to_thread

from holdfast.contract.upkeep import Swept, Weight
from holdfast.record import sql
from holdfast.record.journal import Reader


class Broom(Protocol):
    """How a store removes what nobody refers to. Blocking; JournalUnavailable."""

    def sweep(self, *, dry: bool) -> Swept:
        """Remove it; ``dry``: only say what."""
        ...

    def compact(self) -> int:
        """Give back what is free; how many bytes that was."""
        ...


class StoreUpkeep:
    """Shares the store of a journal, which closes it."""

    def __init__(self, reader: Reader, broom: Broom) -> None:
        self._reader = reader
        self._broom = broom

    async def weights(self) -> Mapping[str, Weight]:
        """What each session takes up, by its id."""
        return await to_thread.run_sync(self._weights)

    async def sweep(self, *, dry: bool) -> Swept:
        """Remove what nobody refers to; ``dry``: only say what."""
        return await to_thread.run_sync(lambda: self._broom.sweep(dry=dry))

    async def compact(self) -> int:
        """Give back what is free to whoever keeps the store; how many bytes it is smaller by."""
        return await to_thread.run_sync(self._broom.compact)

    def _weights(self) -> dict[str, Weight]:
        totals: dict[str, int] = {}
        for statement in (sql.EVENT_BYTES, sql.PART_BYTES, sql.CARRIED_BYTES):
            for session_id, size in self._reader.rows(statement, ()):
                totals[session_id] = totals.get(session_id, 0) + int(size or 0)
        waiting = {row[0] for row in self._reader.rows(sql.WAITING, ())}
        return {
            session_id: Weight(bytes=size, waits=session_id in waiting)
            for session_id, size in totals.items()
        }
