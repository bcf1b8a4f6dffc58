"""Following a session: live where somebody tells it, by the journal where nobody does."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import msgspec
import pytest
from agents_at_work import at_work, home_of
from anyio.streams.buffered import BufferedByteReceiveStream
from app.control.held import PATIENCE, Windows, running
from interrupts import until

from holdfast.app.control import client, following, places, wire
from holdfast.app.control.client import NoSocket, Owner, RefusedRequest, Unreachable, owner_of, poke
from holdfast.app.control.following import Followed, Following, Lost, Missed
from holdfast.app.holders import new_holder
from holdfast.contract.events import Event, SessionClosed, UserMessage
from holdfast.contract.model import TextDelta
from holdfast.execution.local_streams import LocalStream

pytestmark = pytest.mark.anyio
Answering = Callable[[BufferedByteReceiveStream, LocalStream], Awaitable[None]]


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "LOOK_SECONDS", 0.01)


def sequences(seen: list[Followed]) -> list[int]:
    return [one.sequence for one in seen if isinstance(one, Event)]


async def seen_in(windows: Windows, seen: list[Followed], *, stays: bool = False) -> Following:
    follows = Following(windows.session, await windows.journal(), home_of(windows.root))
    async with aclosing(follows(stays=stays)) as told:
        async for one in told:
            seen.append(one)  # noqa: PERF401 - it is looked at meanwhile
    return follows


async def until_live(windows: Windows, seen: list[Followed]) -> None:
    """Have the model say something until that is seen."""
    while not any(isinstance(one, TextDelta) for one in seen):
        windows.model.says("word ")
        await anyio.sleep(0.01)


async def test_what_is_told_live_and_what_is_written_come_together(tmp_path: Path) -> None:
    seen: list[Followed] = []
    async with running(tmp_path) as windows, anyio.create_task_group() as group:
        group.start_soon(seen_in, windows, seen)
        await until_live(windows, seen)
        windows.model.goes.set()
    assert sequences(seen) == list(range(1, sequences(seen)[-1] + 1))
    assert isinstance(seen[-1], Event)
    assert seen[-1].type == "span.completed"


async def test_a_session_that_rests_is_read_from_the_journal(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["done"]) as desk:
        await desk.told("go")
        windows = Windows(desk, tmp_path)
        seen: list[Followed] = []
        with anyio.fail_after(PATIENCE):
            await seen_in(windows, seen)
        assert sequences(seen) == [one.sequence for one in await desk.events()]


async def test_whoever_stays_sees_the_next_run_too(tmp_path: Path) -> None:
    seen: list[Followed] = []
    async with at_work(tmp_path, ["one", "two"]) as desk, anyio.create_task_group() as group:
        await desk.told("go")
        group.start_soon(partial(seen_in, Windows(desk, tmp_path), seen, stays=True))
        await desk.told("go on")
        count = len(await desk.events())
        with anyio.fail_after(PATIENCE):
            await until(lambda: len(sequences(seen)) == count)
        group.cancel_scope.cancel()
    kinds = [one.type for one in seen if isinstance(one, Event)]
    assert kinds.count("span.completed") == 2


async def test_the_end_of_a_session_is_the_end_for_whoever_stays(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["one"]) as desk:
        await desk.told("go")
        journal = await Windows(desk, tmp_path).journal()
        await journal.append(desk.session.id, [SessionClosed(reason="closed")])
        seen: list[Followed] = []
        with anyio.fail_after(PATIENCE):
            await seen_in(Windows(desk, tmp_path), seen, stays=True)
    assert isinstance(seen[-1], Event)
    assert seen[-1].type == "session.closed"


async def test_an_event_too_large_for_the_wire_is_read_in_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Followed] = []
    async with running(tmp_path) as windows:
        await windows.desk.session.send("x" * 5000)
        monkeypatch.setattr(wire, "MOST_LINE_BYTES", 4000)
        async with anyio.create_task_group() as group:
            group.start_soon(seen_in, windows, seen)
            await until_live(windows, seen)
            windows.model.goes.set()
    assert sequences(seen) == list(range(1, sequences(seen)[-1] + 1))
    large = [one for one in seen if isinstance(one, Event) and one.type == "user.message"]
    assert [len(msgspec.json.encode(one.payload)) > 5000 for one in large] == [False, True]


@asynccontextmanager
async def another(root: Path, answer: Answering) -> AsyncGenerator[str]:
    """Somebody of this user who listens, and is no holdfast of ours; gives the holder's name."""
    folder = places.made_folder(home_of(root))
    listener = await folder.listen(places.new_name())

    async def take(stream: LocalStream) -> None:
        async with stream:
            with anyio.move_on_after(PATIENCE):
                await answer(BufferedByteReceiveStream(stream), stream)

    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, take)
        yield new_holder()
        group.cancel_scope.cancel()
    folder.close()


def saying(*replies: wire.Reply | bytes) -> Answering:
    """Answers each line with the next one; then it leaves."""

    async def answer(read: BufferedByteReceiveStream, stream: LocalStream) -> None:
        for reply in replies:
            await read.receive_until(b"\n", 10_000)
            await stream.send(reply if isinstance(reply, bytes) else wire.line_of(reply))

    return answer


WELCOME = wire.Welcome(version=1, process="it")
RUNS = wire.Running(id=2, sessions=(wire.RunningSession(session_id="ses_1", status="running"),))


@pytest.mark.parametrize(
    ("replies", "problem"),
    [
        ((), "has ended, or closed"),
        ((b"garbage\n",), "does not speak like"),
        ((wire.Done(id=1),), "it answers Done to Hello"),
        ((wire.Refused(problem="version", message="version 2 is spoken here"),), "version 2"),
        ((WELCOME, wire.Running(id=2, sessions=())), "does not run there any more"),
    ],
    ids=["leaves", "garbage", "another answer", "version", "other sessions"],
)
async def test_somebody_who_does_not_speak_like_this_is_unreachable(
    tmp_path: Path, replies: tuple[wire.Reply, ...], problem: str
) -> None:
    async with another(tmp_path, saying(*replies)) as holder:
        with pytest.raises(Unreachable, match=problem):
            async with owner_of("ses_1", holder, home_of(tmp_path)):
                raise AssertionError


async def test_somebody_else_who_listens_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(_uid: int) -> bool:
        return False

    monkeypatch.setattr(client, "may_be_reached", never)
    async with another(tmp_path, saying(WELCOME)) as holder:
        with pytest.raises(Unreachable, match="somebody else"):
            async with owner_of("ses_1", holder, home_of(tmp_path)):
                raise AssertionError


async def test_nobody_is_reachable_where_nobody_listens(tmp_path: Path) -> None:
    with pytest.raises(NoSocket, match="has no socket"):
        async with owner_of("ses_1", new_holder(), home_of(tmp_path)):
            raise AssertionError


async def watched(owner: Owner) -> list[wire.Reply]:
    async with aclosing(owner.watch("ses_1")) as told:
        return [one async for one in told]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (b'{"kind":"done","id":3}\nx\n', Unreachable),
        (
            b'{"kind":"done","id":3}\n{"kind":"refused","problem":"unavailable","message":"no"}\n',
            RefusedRequest,
        ),
        (b'{"kind":"done","id":3}\n{"kind":"here"}\n', Unreachable),
    ],
    ids=["garbage", "refused", "leaves"],
)
async def test_a_watch_that_breaks_off_says_why(
    tmp_path: Path, reply: bytes, problem: type[Exception]
) -> None:
    async with (
        another(tmp_path, saying(WELCOME, RUNS, reply)) as holder,
        owner_of("ses_1", holder, home_of(tmp_path)) as owner,
    ):
        with pytest.raises(problem):
            await watched(owner)


async def test_one_who_says_nothing_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENCE_SECONDS", 0.05)

    async def silent(read: BufferedByteReceiveStream, stream: LocalStream) -> None:
        await saying(WELCOME, RUNS, wire.Done(id=3))(read, stream)
        await anyio.sleep_forever()

    async with (
        another(tmp_path, silent) as holder,
        owner_of("ses_1", holder, home_of(tmp_path)) as owner,
    ):
        with pytest.raises(Unreachable, match="in time"):
            await watched(owner)


def told(line: bytes) -> bytes:
    return b'{"kind":"done","id":3}\n{"kind":"missed","count":3}\n' + line + b"\n"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"kind":"told","told":{"type":"live.unheard_of"}}', "unheard_of"),
        (b'{"kind":"sessions","id":9,"sessions":[]}', "tells Running of a watch"),
        (
            b'{"kind":"told","told":{"type":"user.message","message":"x","id":"evt_9","sequence":9,'
            b'"version":1,"created_at":"2026-01-01T00:00:00Z"}}',
            "leaves events out",
        ),
    ],
    ids=["unreadable", "another answer", "a gap"],
)
async def test_one_who_tells_nonsense_is_left_for_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes, why: str
) -> None:
    async with running(tmp_path) as windows:
        journal = await windows.journal()
        runs = wire.Running(
            id=2,
            sessions=(wire.RunningSession(session_id=windows.session, status="running"),),
        )
        seen: list[Followed] = []
        async with another(tmp_path, saying(WELCOME, runs, told(line))):
            follows = Following(windows.session, journal, home_of(tmp_path))
            async with aclosing(follows()) as found:
                async for one in found:
                    seen.append(one)
                    if isinstance(one, Lost):
                        windows.model.goes.set()
        assert seen[0] == Missed(3)
        lost = [one for one in seen if isinstance(one, Lost)]
        assert len(lost) == 1
        assert why in lost[0].why
        assert sequences(seen) == list(range(1, sequences(seen)[-1] + 1))


async def test_a_poke_is_heard_by_whoever_runs_the_session_and_by_nobody_else(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as windows:
        journal = await windows.journal()
        assert await poke(windows.session, journal, home_of(tmp_path))
        await journal.create("ses_other", [UserMessage(message="hi")])
        assert not await poke("ses_other", journal, home_of(tmp_path))
