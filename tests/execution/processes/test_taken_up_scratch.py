"""A session whose program was killed has places for sandboxes again, beside what was left there."""

from pathlib import Path

import pytest

from holdfast.contract.errors import Unavailable
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes.claims import SCRATCH
from holdfast.execution.processes.sandbox_maker import SandboxMaker, Shared
from holdfast.execution.processes.scratch import make_scratch
from holdfast.execution.spool import Spool


def no_spool(name: str) -> Spool:
    raise AssertionError(f"{name} keeps no output")


def maker_in(folder: Path) -> SandboxMaker:
    facts = SessionFacts(id="one", workspace=str(folder))
    return SandboxMaker(Shared(facts, {}, no_spool, None, None), folder / "session")


def test_what_a_killed_program_left_is_in_nobodys_way(tmp_path: Path) -> None:
    left = tmp_path / "session" / SCRATCH
    for number in range(2):
        make_scratch(left / str(number), None)
    maker = maker_in(tmp_path)
    made = [maker.made(SandboxPolicy(), None).parts.scratch.temporary for _ in range(2)]
    assert made == [str(left / "2" / "tmp"), str(left / "3" / "tmp")]
    maker.remove()
    assert not left.exists()


def test_two_programs_in_one_session_have_places_of_their_own(tmp_path: Path) -> None:
    one, other = maker_in(tmp_path), maker_in(tmp_path)
    places = [maker.made(SandboxPolicy(), None).parts.scratch.root for maker in (one, other, one)]
    assert len(set(places)) == 3
    one.remove()
    assert Path(places[1]).is_dir()
    other.remove()


def test_where_no_place_can_be_made_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "session").mkdir()
    (tmp_path / "session" / SCRATCH).touch()
    maker = maker_in(tmp_path)
    with pytest.raises(Unavailable, match="There is no place for a sandbox's files"):
        maker.made(SandboxPolicy(), None)
    maker.remove()
