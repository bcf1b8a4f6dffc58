"""Where a search begins and what it lists, while links and refusals appear under it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.contract.errors import PolicyDenied
from holdfast.contract.gates import Access, PathGate, PathLeave, Refusal
from holdfast.contract.search import FoundEntry, FoundPaths, LeftOut, PathQuery
from holdfast.execution.processes.views import View
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.search.paths import find_paths
from holdfast.execution.search.places import place_of

pytestmark = pytest.mark.anyio


async def no_warden() -> Warden:
    raise AssertionError("nothing is started for this")


def not_all(_path: str) -> bool:
    return False


def view(workspace: Path, gate: PathGate) -> View:
    return View(gate, not_all, str(workspace), no_warden)


def gate_that(meanwhile: Callable[[Path], None]) -> PathGate:
    """Admits where a path leads; something happens between that and its use."""

    def gate(_access: Access, path: str, /) -> PathLeave:
        leads_to = Path(path).resolve()
        meanwhile(leads_to)
        return PathLeave(path=str(leads_to))

    return gate


async def test_a_link_that_appears_is_judged_again(tmp_path: Path) -> None:
    real, asked = tmp_path / "real", tmp_path / "asked"
    real.mkdir()
    asked.mkdir()

    def swap(leads_to: Path) -> None:
        if leads_to == asked:
            asked.rmdir()
            asked.symlink_to(real)

    place = place_of(view(tmp_path, gate_that(swap)), str(asked), directory=True)
    assert (place.directory, place.prefix) == (str(real), "real/")


async def test_links_that_appear_again_and_again_are_a_refusal(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    asked.symlink_to("/etc")

    def gate(_access: Access, _path: str, /) -> PathLeave:
        return PathLeave(path=str(asked))

    with pytest.raises(PolicyDenied, match="links appear in it"):
        place_of(view(tmp_path, gate), str(asked), directory=True)


async def listed(workspace: Path, gate: PathGate) -> FoundPaths:
    for name in ("a", "b"):
        (workspace / name).mkdir()
        (workspace / name / "x").touch()
    return await find_paths(view(workspace, gate), PathQuery(pattern="*/x"), skips=False)


async def test_a_directory_out_of_reach_is_counted_as_refused(tmp_path: Path) -> None:
    def gate(_access: Access, path: str, /) -> PathLeave | Refusal:
        if path.endswith("/b"):
            return Refusal(reason="no", target=path)
        return PathLeave(path=str(tmp_path / path))

    found = await listed(tmp_path, gate)
    assert found.entries == [FoundEntry("a/x", "file")]
    assert found.left_out == LeftOut(refused=1)


async def test_a_directory_that_goes_meanwhile_is_counted_as_unreadable(tmp_path: Path) -> None:
    def take_away(leads_to: Path) -> None:
        if leads_to.name == "b" and leads_to.exists():
            (leads_to / "x").unlink()
            leads_to.rmdir()

    def gate(access: Access, path: str, /) -> PathLeave | Refusal:
        return gate_that(take_away)(access, str(tmp_path / path))

    found = await listed(tmp_path, gate)
    assert found.entries == [FoundEntry("a/x", "file")]
    assert found.left_out == LeftOut(unreadable=1)
