"""What every store of carried files must do; each passes the same kit, in a session of its own."""

from holdfast.contract.carried import CarriedStore, piece_name
from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import Journal

_EVERY_BYTE = bytes(range(256)) * 3


async def check_carried(store: CarriedStore, journal: Journal, prefix: str = "kit") -> None:
    """Keeps every piece as it was, for its session alone, until whoever runs it removes it.

    ``journal``: of the same store. ``prefix`` begins the names of sessions that nobody has used.
    """
    one, other = f"{prefix}_one", f"{prefix}_other"
    for name in (one, other):
        await journal.create(name, [SessionCreated()])
    await _check_pieces(store, one, other)
    await _check_removing(store, journal, one, other)


async def _check_pieces(store: CarriedStore, one: str, other: str) -> None:
    empty, every = piece_name(b""), piece_name(_EVERY_BYTE)
    _expect(await store.read(one, [every]) == {}, "there is a piece before any was stored")
    await store.put(one, {})
    await store.put(one, {empty: b"", every: _EVERY_BYTE})
    await store.put(one, {every: _EVERY_BYTE})
    _expect(await store.read(one, []) == {}, "more was read than was asked for")
    found = await store.read(one, [every, empty, piece_name(b"none")])
    _expect(found == {empty: b"", every: _EVERY_BYTE}, "a piece is not what was stored")
    _expect(await store.read(other, [every]) == {}, "another session reads the pieces of one")


async def _check_removing(store: CarriedStore, journal: Journal, one: str, other: str) -> None:
    every, more = piece_name(_EVERY_BYTE), piece_name(b"more")
    await store.put(one, {more: b"more"})
    await store.put(other, {more: b"more"})
    before = await journal.lease(one, "kit", 60)
    await journal.release(before)
    newest = await journal.lease(one, "kit", 60)
    gone = await store.keep_only(one, [], epoch=before.epoch)
    _expect(not gone and len(await store.read(one, [every, more])) == 2, "an older epoch removed")
    _expect(await store.keep_only(one, [more], epoch=newest.epoch), "the newest one did not")
    _expect(await store.read(one, [every, more]) == {more: b"more"}, "the wrong ones were removed")
    _expect(len(await store.read(other, [more])) == 1, "another session lost a piece")
    unknown = await store.keep_only("ses_nobody", [], epoch=newest.epoch)
    _expect(not unknown, "a session that there is not has an epoch")
    await journal.release(newest)


def _expect(holds: object, told: str) -> None:
    if not holds:
        raise AssertionError(told)
