"""The shell of a session, as its own hand is shown it, also by another process."""

import re
from pathlib import Path

import pytest
from agents_at_work import Desk, calls
from app.managed.managed_kit import at_managed_work, shown

from holdfast.contract.managed.artifact_names import ARTIFACTS
from holdfast.runtime.managed.shell_book import SHOWN

pytestmark = pytest.mark.anyio


@pytest.mark.req("BOA-ART-14")
async def test_what_a_command_printed_is_shown_also_where_the_session_is_taken_up_again(
    tmp_path: Path,
) -> None:
    turns = [calls(("bash", '{"command": "ls"}')), "So."]
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "till.txt").touch()
    async with at_managed_work(tmp_path, turns) as desk:
        await desk.told("Look.")
        before = told_of_the_shell(desk)
        assert "till.txt" in before["shell-last-output.json"]
        session = desk.session.id
    async with at_managed_work(tmp_path, ["Fine."], session=session) as desk:
        await desk.told("Again.")
        assert told_of_the_shell(desk) == before


def told_of_the_shell(desk: Desk) -> dict[str, str]:
    """What its files say but for moments: a journal tells those of answers."""
    names = [name for one in SHOWN for name in ARTIFACTS[one]]
    texts = {name: (shown(desk) / name).read_text("utf-8") for name in names}
    return {name: re.sub(r"[0-9]+", "0", text) for name, text in texts.items()}
