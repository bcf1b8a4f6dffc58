"""A fleet of two versions: this one, and a newer one that brought the tables up to date.

Whoever has the store open goes on; what only the newer one knows waits for it, and nothing is lost,
left out or run twice.
"""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import msgspec
import pytest
from anyio import to_thread
from engine.cluster.cluster_child import PACE
from engine.cluster.fleets import WORD, Fleet, until
from engine.cluster.test_gone import Child, at_rest, child
from msgspec.structs import replace
from newer_holdfast import newer_holdfast

from holdfast.contract.events import UserMessage
from holdfast.contract.journal import TooNew
from holdfast.contract.versions import Origin
from holdfast.engine.cluster import attending
from holdfast.engine.cluster.dead import Dead
from holdfast.record.codec import Chain, NewerEvent
from holdfast.record.postgres.door import open_postgres
from holdfast.runtime.ids import TimeIds
from holdfast.testing.engine_kit import ToyRunner

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

S = "ses_1"
_PROGRAM = """
import sys
import anyio
from holdfast.contract import event_kinds
from holdfast.contract.events import StatusIdle, UserMessage
from holdfast.record.codec import Chain
from holdfast.record.postgres.door import open_postgres
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

async def main(url, what, session):
    clock = SystemClock()
    store = open_postgres(url, Chain(b"k" * 32), clock, TimeIds(clock))
    if what == "says":
        said = event_kinds.SaidLater(text="only I know")
        await store.journal.append(session, [said, UserMessage(message="go")])
    elif what == "reads":
        print((await store.journal.session(session)).state.of_later)
        print(await store.archive.rebuild(session, repair=False))
    await store.journal.close()

anyio.run(main, *sys.argv[1:])
"""


@pytest.fixture(autouse=True)
def soon_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes first each time is a matter of luck: with many times, it is none."""
    monkeypatch.setattr(attending, "_MOST_NEWER_MILLIS", 500)


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return newer_holdfast(tmp_path_factory.mktemp("newer"))


async def _done_by(newer: Mapping[str, str], fleet: Fleet, what: str, session: str = "") -> str:
    """Have a newer holdfast do something in a process of its own; what it says."""
    argv = [sys.executable, "-c", _PROGRAM, fleet.place.where, what, session]

    def run() -> "subprocess.CompletedProcess[str]":
        return subprocess.run(argv, env={**newer}, capture_output=True, text=True, check=False)

    found = await to_thread.run_sync(run)
    assert found.returncode == 0, found.stderr
    return found.stdout


def _times(workers: Sequence[Child], line: str) -> int:
    return sum(one.said().count(line) for one in workers)


async def _takes_part(fleet: Fleet, worker: Child, name: str) -> None:
    """Until it has run something."""
    number = 0
    with anyio.fail_after(30):
        while not worker.said():
            number += 1
            await fleet.made(f"ses_{name}_{number}", WORD)
            await at_rest(fleet.journal, f"ses_{name}_{number}")


async def test_each_session_is_run_once_by_one_of_them_and_moves_between_them(
    fleet: Fleet, tmp_path: Path, newer: Mapping[str, str]
) -> None:
    names = [f"ses_{number}" for number in range(40)]
    with child(fleet, tmp_path, "older", 0.05) as older:
        await _takes_part(fleet, older, "before")
        with child(fleet, tmp_path, "newer", 0.05, newer) as later:
            await _takes_part(fleet, later, "after")
            both = (older, later)
            for times in (1, 2, 3):
                for name in names:
                    if times == 1:
                        await fleet.made(name, WORD)
                    else:
                        await fleet.journal.append(name, [WORD])
                for name in names:
                    await at_rest(fleet.journal, name, 30)
                await until(lambda: all(_times(both, f"ended {one}") == times for one in names))  # noqa: B023 - it is over before the next
            assert all(_times(both, f"begun {name}") == 3 for name in names)
            assert all(any(f"ended {name}" in one.said() for name in names) for one in both)
            moved = [one for one in names if all(f"ended {one}" in each.said() for each in both)]
            assert moved, "no session moved between them"
    for name in names:
        assert await fleet.store.archive.rebuild(name, repair=False) == ()
    for name in moved:
        assert await _done_by(newer, fleet, "reads", name) == "None\n()\n"


async def test_what_only_a_newer_one_knows_waits_for_it_and_is_left_as_it_is(
    fleet: Fleet, tmp_path: Path, newer: Mapping[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    await fleet.made(S)
    await _done_by(newer, fleet, "says", S)
    with pytest.raises(TooNew, match=r"`of_later`.*update holdfast"):
        await fleet.journal.append(S, [UserMessage(message="would lose what it says")])
    with pytest.raises(NewerEvent, match="update holdfast to read this session"):
        await fleet.journal.events(S)
    runner = ToyRunner(fleet.journal)
    async with fleet.working(runner, PACE) as engine:
        await fleet.made("ses_2", WORD)
        engine.poke("ses_2")
        await _told_by_a_newer_one(fleet, newer)
        await at_rest(fleet.journal, "ses_2")
        await until(lambda: f"session {S} is left to newer workers" in caplog.text)
        assert runner.order == ["ses_2"], "it ran what it does not know"
        with child(fleet, tmp_path, "newer", 0, newer) as later:
            await until(lambda: f"ended {S}" in later.said(), 40)
    assert await Dead(fleet.link).of("one", S) is None
    assert await _done_by(newer, fleet, "reads", S) == "only I know\n()\n"


async def test_what_a_newer_one_says_of_the_dead_is_listed(fleet: Fleet) -> None:
    dead = Dead(fleet.link)
    await fleet.link.have(dead.streams)
    said = {"tenant": "one", "session": S, "why": "nothing came of it", "times": 5, "at": 1}
    more = {"sequence": 2, "due": 0, "kind": "word", "label": "any", "later": [1]}
    subject = f"{fleet.servers.namespace}.dead.one.{S}"
    await fleet.link.tell(subject, msgspec.json.encode({**said, **more}))
    assert [one.session async for one in dead.all()] == [S]


async def _told_by_a_newer_one(fleet: Fleet, newer: Mapping[str, str]) -> None:
    """A hint of it, as a newer worker would say it."""
    from_newer = (
        b'{"session":"' + S.encode() + b'","due":0,"later":7}',
        {"Nats-Msg-Id": f"one:{S}:0:3", "Holdfast-Later": "x"},
    )
    await fleet.link.tell(f"{fleet.servers.namespace}.wake.one.word.any.{S}", *from_newer)


async def test_an_event_that_is_too_new_is_no_run_in_vain(
    fleet: Fleet, tmp_path: Path, newer: Mapping[str, str]
) -> None:
    """The state says nothing new, and whoever runs it reads its events."""

    class Reading(ToyRunner):
        async def works(self, session_id: str) -> None:
            raise NewerEvent("event 1 was written by a newer one")

    await fleet.made(S, WORD)
    runner = Reading(fleet.journal)
    async with fleet.working(runner, replace(PACE, most_in_vain=1)) as engine:
        engine.poke(S)
        await until(lambda: runner.order == [S])
        await fleet.made("ses_2")
        with child(fleet, tmp_path, "newer", 0, newer) as later:
            await until(lambda: f"ended {S}" in later.said(), 40)
    assert await Dead(fleet.link).of("one", S) is None


async def test_an_older_one_goes_on_and_one_that_begins_anew_refuses_and_says_why(
    fleet: Fleet, newer: Mapping[str, str]
) -> None:
    await _done_by(newer, fleet, "opens")
    await fleet.made("ses_open", WORD)
    # Also with what it had not used before.
    kept = await fleet.store.versions.write("s", "notes", b"kept", origin=Origin(source="test"))
    assert (await fleet.store.versions.read("s", kept.id)).content == b"kept"
    ids = TimeIds(fleet.clock)
    with pytest.raises(TooNew, match=r"written by a newer holdfast .* update holdfast"):
        open_postgres(fleet.place.where, Chain(b"k" * 32), fleet.clock, ids)
