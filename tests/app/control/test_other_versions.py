"""Windows of two versions: each learns all of what is written, and nobody waits in vain."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from app.control.owners import PATIENCE, Place
from newer_holdfast import newer_holdfast

from holdfast.app.control.client import Unreachable
from holdfast.app.control.following import Followed, Following, Lost
from holdfast.contract.events import Event

pytestmark = [pytest.mark.anyio, pytest.mark.measured, pytest.mark.timeout(60)]
TURNS = [{"pieces": ["Hel", "lo"], "before": "go"}]


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return newer_holdfast(tmp_path_factory.mktemp("newer"))


async def _until_it_rests(told: AsyncGenerator[Followed], place: Place) -> list[Followed]:
    """What is seen of it; its model goes on once nobody tells live what happens."""
    seen: list[Followed] = []
    async for one in told:
        seen.append(one)
        if isinstance(one, Lost):
            place.release("go")
        if isinstance(one, Event) and one.type == "session.status_idle":
            break
    return seen


async def test_who_follows_a_newer_process_sees_every_event_once(
    tmp_path: Path, newer: Mapping[str, str]
) -> None:
    """It says what this window does not know: so the window goes on in the journal."""
    place = Place(tmp_path, tree=newer)
    with place.running(TURNS) as running:
        with pytest.raises(Unreachable, match="does not speak like this holdfast"):
            async with running.watched() as told:
                await anext(told)
        async with place.journal() as journal:
            following = Following(running.session_id, journal, place.around)
            with anyio.fail_after(PATIENCE):
                async with aclosing(following()) as told:
                    seen = await _until_it_rests(told, place)
            written = await journal.events(running.session_id)
    assert any(isinstance(one, Lost) for one in seen)
    events = [one.sequence for one in seen if isinstance(one, Event)]
    assert events == [one.sequence for one in written[: len(events)]]


async def test_a_newer_window_sees_what_happens_here(
    tmp_path: Path, newer: Mapping[str, str]
) -> None:
    place = Place(tmp_path)
    with place.running(TURNS) as running:
        async with running.owner():
            pass  # it listens
        with place.cli("watch", running.session_id, "--json", tree=newer) as window:
            assert window.stdout is not None
            first = await to_thread.run_sync(window.stdout.readline)
            place.release("go")
            out, err = await to_thread.run_sync(lambda: window.communicate(timeout=PATIENCE))
    assert window.returncode == 0, err
    told = [json.loads(line) for line in (first + out).splitlines()]
    sequences = [one["sequence"] for one in told if "sequence" in one]
    assert sequences == sorted(set(sequences))
    assert any(one["type"] == "session.status_idle" for one in told)
