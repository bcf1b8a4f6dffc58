"""What every store of versions must do; each passes the same kit, in spaces of its own."""

from collections.abc import Awaitable
from typing import TypeVar

from anyio import create_task_group

from holdfast.contract.versions import (
    PREVIEW_LENGTH,
    Expected,
    Kept,
    Origin,
    PreconditionFailed,
    UnknownVersion,
    UnusableName,
    Version,
    VersionedStore,
    VersionError,
    content_hash,
)

_Error = TypeVar("_Error", bound=VersionError)
_WRITERS = 20
_ORIGIN = Origin(source="kit", session_id="ses_kit", wake_id="wak_kit")
_EVERY_BYTE = bytes(range(256)) * 3


async def check_versions(store: VersionedStore, prefix: str = "kit") -> None:
    """Keeps every content as it was, in order, and lets one of many win, as the port says.

    ``prefix`` begins the names of spaces that nobody has used.
    """
    await _check_history(store, f"{prefix}_history")
    await _check_contents(store, f"{prefix}_contents")
    await _check_append(store, f"{prefix}_append")
    await _check_expectations(store, f"{prefix}_expectations")
    await _check_restore(store, f"{prefix}_restore")
    await _check_spaces(store, f"{prefix}_spaces")
    await _check_names(store, f"{prefix}_names")
    await _check_rivals(store, f"{prefix}_rivals")
    await _check_appenders(store, f"{prefix}_appenders")


async def check_size(store: VersionedStore, most_bytes: int, space: str = "kit_size") -> None:
    """A store that keeps ``most_bytes`` of a content keeps them, and not one more."""
    await store.write(space, "full", b"x" * most_bytes, origin=_ORIGIN)
    for attempt in (
        store.write(space, "more", b"x" * (most_bytes + 1), origin=_ORIGIN),
        store.write(space, "full", b"x", origin=_ORIGIN, mode="append"),
    ):
        problem = await _refused(attempt, VersionError)
        _expect(str(most_bytes) in str(problem), f"the limit is not named: {problem}")
    _expect(await store.history(space, "more") == (), "what was too large left something")
    _expect(len(await store.history(space, "full")) == 1, "what became too large was kept")


async def _check_history(store: VersionedStore, space: str) -> None:
    _expect(await store.newest(space, "notes") is None, "there is something before any write")
    _expect(await store.history(space, "notes") == (), "there is a history before any write")
    written = [
        await store.write(space, "notes", f"text {number}".encode(), origin=_ORIGIN)
        for number in range(12)
    ]
    _expect([one.number for one in written] == list(range(1, 13)), "numbers have gaps")
    _expect(len({one.id for one in written}) == 12, "an id was given twice")
    previous = [one.previous_id for one in written]
    _expect(previous == [None, *(one.id for one in written[:-1])], "a version follows another")
    newest_first = tuple(reversed(written))
    _expect(await store.history(space, "notes") == newest_first[:10], "not the newest ten")
    _expect(await store.history(space, "notes", limit=99) == newest_first, "the history differs")
    _expect(await store.history(space, "notes", limit=3) == newest_first[:3], "limit is ignored")
    _expect(await store.history(space, "notes", limit=-1) == (), "a negative limit finds some")
    _expect(await store.history(space, "notes", limit=10**30) == newest_first, "a limit is bad")
    newest = await store.newest(space, "notes")
    _expect(newest == Kept(written[-1], b"text 11"), f"newest is {newest}")
    first = written[0]
    _expect(await store.read(space, first.id) == Kept(first, b"text 0"), "the first one changed")
    kept = (first.space, first.target, first.mode, first.origin, first.restored_from)
    _expect(kept == (space, "notes", "replace", _ORIGIN, None), f"it says {kept}")
    _expect(first.at.utcoffset() is not None, "its time has no zone")


async def _check_contents(store: VersionedStore, space: str) -> None:
    text = "ü€😀" * PREVIEW_LENGTH
    for content in (b"", b"\0", b"\xff\xfe", _EVERY_BYTE, text.encode(), b"\r\n \n", b"\0"):
        version = await store.write(space, "any", content, origin=Origin(source="kit"))
        _expect(version.content_hash == content_hash(content), f"{content!r} has a wrong hash")
        _expect(version.size_bytes == len(content), f"{content!r} has a wrong size")
        _expect(await store.newest(space, "any") == Kept(version, content), f"{content!r} changed")
        _expect(len(version.preview) <= PREVIEW_LENGTH, f"{content!r} is shown at length")
    version = await store.write(space, "any", text.encode(), origin=_ORIGIN)
    _expect(version.preview == text[:PREVIEW_LENGTH], f"its preview is {version.preview!r}")


async def _check_append(store: VersionedStore, space: str) -> None:
    first = await store.write(space, "log", b"one", origin=_ORIGIN, mode="append")
    second = await store.write(space, "log", b"two\n", origin=_ORIGIN, mode="append")
    await store.write(space, "log", b"three", origin=_ORIGIN, mode="append")
    newest = await store.newest(space, "log")
    _expect(newest is not None and newest.content == b"one\ntwo\nthree", f"it holds {newest}")
    _expect(first.mode == second.mode == "append", "the mode is lost")
    _expect((await store.read(space, second.id)).content == b"one\ntwo\n", "a version changed")


async def _check_expectations(store: VersionedStore, space: str) -> None:
    none_yet = Expected(version_id=None, content_hash=None)
    wrong = Expected(version_id="ver_other")
    problem = await _refused(_put(store, space, b"0", wrong), PreconditionFailed)
    _expect("expected ver_other but latest is none" in str(problem), f"it says {problem}")
    first = await _put(store, space, b"1", none_yet)
    problem = await _refused(_put(store, space, b"x", none_yet), PreconditionFailed)
    _expect((problem.expected, problem.found) == (None, first.id), f"it says {problem}")
    second = await _put(store, space, b"2", Expected(version_id=first.id))
    problem = await _refused(
        _put(store, space, b"x", Expected(version_id=first.id)), PreconditionFailed
    )
    _expect(problem.what == "version", f"the {problem.what} was named")
    _expect(first.id in str(problem) and second.id in str(problem), f"it says {problem}")
    stale = Expected(content_hash=first.content_hash)
    problem = await _refused(_put(store, space, b"x", stale), PreconditionFailed)
    _expect(problem.what == "content", f"the {problem.what} was named")
    named = (problem.expected, problem.found)
    _expect(named == (first.content_hash, second.content_hash), f"it names {named}")
    both_wrong = Expected(version_id=first.id, content_hash=first.content_hash)
    problem = await _refused(_put(store, space, b"x", both_wrong), PreconditionFailed)
    _expect(problem.what == "version", "the content was looked at before the version")
    right = Expected(version_id=second.id, content_hash=second.content_hash)
    third = await _put(store, space, b"3", right)
    _expect(await store.history(space, "it") == (third, second, first), "a refusal left something")


async def _check_restore(store: VersionedStore, space: str) -> None:
    old = await store.write(space, "file", _EVERY_BYTE, origin=_ORIGIN)
    new = await store.write(space, "file", b"worse", origin=_ORIGIN)
    stale = Expected(version_id=old.id)
    await _refused(store.restore(space, old.id, origin=_ORIGIN, expected=stale), PreconditionFailed)
    person = Origin(source="person")
    back = await store.restore(space, old.id, origin=person, expected=Expected(version_id=new.id))
    _expect(await store.newest(space, "file") == Kept(back, _EVERY_BYTE), "it is not back")
    _expect(back.restored_from == old.id and back.number == 3, f"it says {back}")
    _expect(back.origin == person and back.previous_id == new.id, f"it says {back}")
    await _refused(store.restore(space, "ver_none", origin=_ORIGIN), UnknownVersion)
    _expect((await store.history(space, "file"))[0] == back, "a refusal left something")


async def _check_spaces(store: VersionedStore, space: str) -> None:
    other = f"{space}_other"
    await store.write(space, "b", b"old", origin=_ORIGIN)
    b = await store.write(space, "b", b"new", origin=_ORIGIN)
    a = await store.write(space, "a", b"same", origin=_ORIGIN)
    umlaut = await store.write(space, "ä", b"same", origin=_ORIGIN)
    capital = await store.write(space, "B", b"same", origin=_ORIGIN)
    theirs = await store.write(other, "b", b"theirs", origin=_ORIGIN)
    _expect(theirs.number == 1, "spaces share their numbers")
    _expect(await store.targets(space) == (capital, a, b, umlaut), "targets differ")
    _expect(await store.targets(f"{space}_empty") == (), "an unused space has targets")
    await _refused(store.read(space, theirs.id), UnknownVersion)
    await _refused(store.restore(space, theirs.id, origin=_ORIGIN), UnknownVersion)
    _expect(await store.history(other, "b") == (theirs,), "spaces share a history")


async def _check_names(store: VersionedStore, space: str) -> None:
    await store.write(space, "ü" * 512, b"x", origin=_ORIGIN)
    for name in ("", "a\0b", "\ud800", "ü" * 513):
        await _refused(store.write(space, name, b"x", origin=_ORIGIN), UnusableName)
        await _refused(store.write(name, "it", b"x", origin=_ORIGIN), UnusableName)
        await _refused(store.write(space, "it", b"x", origin=Origin(source=name)), UnusableName)
        await _refused(store.newest(space, name), UnusableName)
        await _refused(store.read(space, name), UnusableName)
        await _refused(store.history(space, name), UnusableName)
        await _refused(store.targets(name), UnusableName)
    _expect(len(await store.targets(space)) == 1, "a bad name left something")


async def _check_rivals(store: VersionedStore, space: str) -> None:
    """Of many who expect the same, one wins."""
    first = await store.write(space, "prize", b"nobody's", origin=_ORIGIN)
    won: list[str] = []
    lost: list[PreconditionFailed] = []

    async def reach(number: int) -> None:
        content = f"rival {number}".encode()
        expected = Expected(version_id=first.id)
        try:
            mine = await store.write(space, "prize", content, origin=_ORIGIN, expected=expected)
        except PreconditionFailed as problem:
            lost.append(problem)
        else:
            won.append(mine.id)

    async with create_task_group() as rivals:
        for number in range(_WRITERS):
            rivals.start_soon(reach, number)
    history = [one.id for one in await store.history(space, "prize", limit=99)]
    _expect(history == [*won, first.id], f"{len(won)} have won")
    _expect(len(lost) == _WRITERS - 1, f"{len(lost)} have lost")
    _expect(all(one.found == won[0] for one in lost), "a loser saw somebody else win")


async def _check_appenders(store: VersionedStore, space: str) -> None:
    """Who expects nothing loses nothing."""

    async def add(number: int) -> None:
        await store.write(space, "list", f"{number}".encode(), origin=_ORIGIN, mode="append")

    async with create_task_group() as appenders:
        for number in range(_WRITERS):
            appenders.start_soon(add, number)
    newest = await store.newest(space, "list")
    lines = [] if newest is None else newest.content.decode().split("\n")
    _expect(sorted(lines, key=int) == [str(n) for n in range(_WRITERS)], f"it holds {lines}")


async def _put(store: VersionedStore, space: str, content: bytes, expected: Expected) -> Version:
    return await store.write(space, "it", content, origin=_ORIGIN, expected=expected)


async def _refused(attempt: Awaitable[object], kind: type[_Error]) -> _Error:
    try:
        await attempt
    except kind as problem:
        return problem
    raise AssertionError(f"it should have been refused with {kind.__name__}")


def _expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - a condition is what it takes
    if not holds:
        raise AssertionError(otherwise)
