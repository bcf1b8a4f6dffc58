"""What an agent is told to be, read from where it works whenever a run begins."""

import logging
from pathlib import Path

import pytest
from app.agent_kit import ground_in

from holdfast.agent.directive import INSTRUCTION
from holdfast.app.agents import compiled
from holdfast.app.prompting import LARGEST_INSTRUCTIONS, Prompting
from holdfast.contract.agents import Agent
from holdfast.contract.runtime import SessionFacts


def _told(folder: Path, *, workspace: bool = True, directives: bool = False) -> str:
    """The system prompt of an agent that works in the folder's workspace, or nowhere."""
    agent = Agent(id="worker", instructions="Work.", directives=directives)
    ready = compiled(agent, ground_in(folder))
    facts = SessionFacts(id="ses_1", workspace=str(folder / "ws") if workspace else None)
    return "".join(Prompting(ready, facts, lambda: ())())


def _workspace(folder: Path) -> Path:
    workspace = folder / "ws"
    workspace.mkdir()
    return workspace


def test_the_agents_own_words_come_first_and_where_it_works_is_said(tmp_path: Path) -> None:
    assert _told(tmp_path, workspace=False) == "Work."
    told = _told(tmp_path)
    assert told.startswith("Work.\n")
    assert str(tmp_path / "ws") in told
    assert INSTRUCTION not in told
    assert INSTRUCTION in _told(tmp_path, directives=True)


def test_instructions_of_the_project_are_told_as_they_are_now(tmp_path: Path) -> None:
    instructions = _workspace(tmp_path) / "AGENTS.md"
    instructions.write_text("Use tabs.", "utf-8")
    told = _told(tmp_path)
    assert "Use tabs." in told
    assert _told(tmp_path) == told
    instructions.write_text("Use spaces.", "utf-8")
    assert "Use spaces." in _told(tmp_path)
    assert "Use tabs." not in _told(tmp_path)


def test_a_link_in_place_of_instructions_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("The key is hunter2.", "utf-8")
    (_workspace(tmp_path) / "AGENTS.md").symlink_to(secret)
    (tmp_path / "ws" / "CLAUDE.md").write_text("Use tabs.", "utf-8")
    told = _told(tmp_path)
    assert "hunter2" not in told
    assert "Use tabs." in told


@pytest.mark.parametrize("content", [b"Use \xff tabs.", None], ids=["no text", "a folder"])
def test_what_cannot_be_read_is_left_out_and_stops_nobody(
    tmp_path: Path, content: bytes | None
) -> None:
    place = _workspace(tmp_path) / "AGENTS.md"
    if content is None:
        place.mkdir()
    else:
        place.write_bytes(content)
    (tmp_path / "ws" / "CLAUDE.md").write_text("Use spaces.", "utf-8")
    told = _told(tmp_path)
    assert "AGENTS.md" not in told
    assert "Use spaces." in told


def test_what_is_not_told_as_it_is_people_hear_once_and_the_model_knows_of_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    workspace = _workspace(tmp_path)
    (workspace / "AGENTS.md").write_text("far " * 10_000, "utf-8")
    (workspace / "CLAUDE.md").write_text("near " * 6_000, "utf-8")
    (workspace / "CONTEXT.md").symlink_to(tmp_path)
    ready = compiled(Agent(id="worker", instructions="Work."), ground_in(tmp_path))
    system = Prompting(ready, SessionFacts(id="ses_1", workspace=str(workspace)), lambda: ())
    with caplog.at_level(logging.WARNING, "holdfast"):
        (told,) = system()
        assert system() == (told,)
    assert "[cut here" in told
    said = [one.getMessage() for one in caplog.records]
    assert said == [
        "instructions of the project: AGENTS.md was cut: all project instructions together are"
        " too long",
        "instructions of the project: CONTEXT.md was not read: it is a link",
    ]
    (workspace / "CLAUDE.md").write_text("near " * 6_330, "utf-8")
    with caplog.at_level(logging.WARNING, "holdfast"):
        (less,) = system()
    assert "=== Left out, as all instructions together are too long: AGENTS.md ===" in less
    assert "AGENTS.md was left out" in caplog.records[-1].getMessage()


def test_of_endless_instructions_only_so_much_is_read(tmp_path: Path) -> None:
    place = _workspace(tmp_path) / "AGENTS.md"
    with place.open("wb") as file:
        file.write(b"Use tabs.\n")
        file.truncate(1 << 40)
    assert "Use tabs." in _told(tmp_path)
    assert len(_told(tmp_path)) < LARGEST_INSTRUCTIONS
