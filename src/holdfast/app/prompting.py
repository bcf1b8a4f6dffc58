"""What an agent is told to be: its own words, the project's, its skills, where it works.

Read anew when a run begins; as long as nothing of it changes, it is the same text.
"""

import errno
import logging
import os
import platform
from collections.abc import Callable
from pathlib import Path

from holdfast.agent.context.instructions import (
    NotRead,
    instruction_places,
    project_instructions,
)
from holdfast.agent.context.prompt import PromptParts, system_prompt
from holdfast.agent.directive import INSTRUCTION
from holdfast.app.locations import project_root
from holdfast.app.session_ports import SessionPorts
from holdfast.contract.agents import CompiledAgent
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.skills import Skill

LARGEST_INSTRUCTIONS = 1 << 20

_log = logging.getLogger("holdfast")


def system_for(
    agent: CompiledAgent, session: SessionFacts, own: SessionPorts
) -> Callable[[], tuple[str, ...]]:
    """What the agent of a session is told to be, whenever a run begins."""

    def memory() -> str:
        return "" if own.managed is None else own.managed.memory.told

    return system_of(agent, session, own.all_skills, memory)


def system_of(
    agent: CompiledAgent,
    session: SessionFacts,
    skills: Callable[[], tuple[Skill, ...]],
    memory: Callable[[], str] = lambda: "",
) -> Callable[[], tuple[str, ...]]:
    """What the agent is told to be, whenever a run begins. ``memory``: what it is told to know."""
    said = agent.agent.instructions.strip()
    manifest = f"{said}\n\n{INSTRUCTION}" if agent.agent.directives else said
    instructions = _instructions(session)
    environment = _environment(session)

    def made(instructed: str, skills: tuple[Skill, ...], known: str) -> tuple[str, ...]:
        parts = PromptParts(
            manifest=manifest,
            instructions=instructed,
            skills=skills,
            environment=environment,
            memory=known,
            managed=agent.profile == "managed",
        )
        text = system_prompt(parts)
        return (text,) if text else ()

    last = ("", (), "", made("", (), ""))

    def system() -> tuple[str, ...]:
        nonlocal last
        now = (instructions(), skills(), memory())
        if now != last[:3]:
            last = (*now, made(*now))
        return last[3]

    return system


def _instructions(session: SessionFacts) -> Callable[[], str]:
    """What the project instructs, whenever it is asked; what of it is not told as it is, people
    hear once in the log."""
    workspace = session.workspace
    if workspace is None:
        return lambda: ""
    places = instruction_places(workspace, str(project_root(Path(workspace))))
    said: set[str] = set()

    def now() -> str:
        found = project_instructions(places, _read)
        for remark in found.remarks:
            if remark not in said:
                said.add(remark)
                _log.warning("instructions of the project: %s", remark)
        return found.text

    return now


def _read(path: str) -> str | NotRead | None:
    """A file of the project; links are not followed, they may lead anywhere."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        return NotRead("it is a link" if problem.errno == errno.ELOOP else str(problem))
    try:
        with os.fdopen(number, "rb") as file:
            return file.read(LARGEST_INSTRUCTIONS).decode()
    except (OSError, UnicodeDecodeError) as problem:
        return NotRead(str(problem))


def _environment(session: SessionFacts) -> dict[str, str]:
    if session.workspace is None:
        return {}
    return {"workspace": session.workspace, "platform": platform.system()}
