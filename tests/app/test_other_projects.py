"""What is opened for other projects: kept while somebody uses it, and closed after a while."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from holdfast.app import other_projects
from holdfast.app.other_projects import IDLE_SECONDS, MOST_UNUSED, OtherProjects
from holdfast.app.problems import ConfigurationError
from holdfast.contract.journal import JournalError
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio


class Projects:
    """Writes down what is open."""

    def __init__(self, folder: Path) -> None:
        self.open: list[str] = []
        self.opened: list[str] = []
        self.clock = FakeClock()
        self.closed = anyio.Event()
        self.breaks = False
        self._folder = folder
        self.others = OtherProjects(self._made, self.clock)

    def folder(self, name: str) -> str:
        place = self._folder / name
        place.mkdir(exist_ok=True)
        return str(place)

    async def use(self, name: str) -> None:
        async with self.others.at(self.folder(name)) as there:
            assert there == name
            assert name in self.open

    @asynccontextmanager
    async def _made(self, place: Path) -> AsyncGenerator[str]:
        self.open.append(place.name)
        self.opened.append(place.name)
        yield place.name
        self.open.remove(place.name)
        self.closed.set()
        if self.breaks:
            raise JournalError("the disk is full")


async def test_one_that_nobody_used_for_a_while_is_closed(tmp_path: Path) -> None:
    projects = Projects(tmp_path)
    await projects.use("a")
    projects.clock.advance(IDLE_SECONDS)
    await projects.use("b")
    await projects.use("a")  # not longer than that: it is the same one
    projects.clock.advance(IDLE_SECONDS + 1)
    await projects.use("c")
    assert projects.open == ["c"]
    assert projects.opened == ["a", "b", "c"]
    await projects.use("a")
    assert projects.opened == ["a", "b", "c", "a"]
    await projects.others.close()
    assert projects.open == []


async def test_one_that_somebody_uses_stays_open_however_long(tmp_path: Path) -> None:
    projects = Projects(tmp_path)
    async with projects.others.of("ses_1", projects.folder("a")) as there:
        async with projects.others.at(projects.folder("a")):
            projects.clock.advance(IDLE_SECONDS + 1)
        projects.clock.advance(IDLE_SECONDS + 1)
        await projects.use("b")
        assert (there, projects.open) == ("a", ["a", "b"])
    projects.clock.advance(IDLE_SECONDS + 1)
    await projects.use("c")
    assert projects.open == ["c"]


async def test_only_so_many_stay_open_and_those_that_were_used_last(tmp_path: Path) -> None:
    projects = Projects(tmp_path)
    names = [f"p{number}" for number in range(MOST_UNUSED + 2)]
    for name in names:
        projects.clock.advance(1)
        await projects.use(name)
    projects.clock.advance(1)
    await projects.use(names[1])  # it was the one unused for the longest time that is still open
    await projects.use("more")
    assert sorted(projects.open) == sorted([names[1], *names[-MOST_UNUSED + 1 :], "more"])
    assert projects.opened == [*names, "more"]


async def test_they_are_closed_while_nobody_asks_for_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_projects, "_TIDY_SECONDS", 0.001)
    projects = Projects(tmp_path)
    await projects.use("a")
    async with anyio.create_task_group() as group:
        group.start_soon(projects.others.tidied)
        projects.clock.advance(IDLE_SECONDS + 1)
        with anyio.fail_after(10):
            await projects.closed.wait()
        assert projects.open == []
        group.cancel_scope.cancel()


async def test_one_that_cannot_be_closed_in_order_is_told_and_forgotten(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    projects = Projects(tmp_path)
    projects.breaks = True
    await projects.use("a")
    with caplog.at_level(logging.WARNING):
        await projects.others.close()
    assert "could not be closed in order: the disk is full" in caplog.text
    await projects.use("a")
    assert projects.opened == ["a", "a"]


async def test_nothing_is_opened_where_nobody_does_or_there_is_no_directory(
    tmp_path: Path,
) -> None:
    nobody = OtherProjects(None, FakeClock())
    async with nobody.at(str(tmp_path)) as there, nobody.of("ses_1", str(tmp_path)) as same:
        assert there is same is None
    projects = Projects(tmp_path)
    async with projects.others.of("ses_1", None) as there:
        assert there is None
    with pytest.raises(ConfigurationError, match="is no directory any more"):
        async with projects.others.of("ses_1", str(tmp_path / "none")):
            pass
    with pytest.raises(ConfigurationError, match="is no directory; make it"):
        async with projects.others.at(str(tmp_path / "none")):
            pass


async def test_another_folder_in_its_place_is_opened_anew_once_nobody_uses_it(
    tmp_path: Path,
) -> None:
    projects = Projects(tmp_path)
    async with projects.others.at(projects.folder("a")):
        (tmp_path / "a").rename(tmp_path / "before")
        await projects.use("a")
        assert projects.opened == ["a"]
    await projects.use("a")
    assert (projects.opened, projects.open) == (["a", "a"], ["a"])
