"""What an agent is told to be: its own words, the project's, its skills, where it works.

Read anew when a run begins; as long as nothing of it changes, it is the same text.
"""

import errno
import logging
import os
import platform
from collections.abc import Callable
from pathlib import Path

from holdfast.agent.context.budget import PromptNames
from holdfast.agent.context.instructions import (
    Instructions,
    NotRead,
    instruction_places,
    project_instructions,
)
from holdfast.agent.context.prompt import (
    PromptParts,
    prompt_sections,
    skill_lines,
    system_prompt,
)
from holdfast.agent.directive import INSTRUCTION
from holdfast.app.locations import project_root
from holdfast.app.session_ports import SessionPorts
from holdfast.contract.agents import CompiledAgent
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.skills import Skill

LARGEST_INSTRUCTIONS = 1 << 20

_log = logging.getLogger("holdfast")


_NO_INSTRUCTIONS = Instructions(text="", files=())


def system_for(agent: CompiledAgent, session: SessionFacts, own: SessionPorts) -> "Prompting":
    """What the agent of a session is told to be, whenever a run begins."""

    def memory() -> str:
        return "" if own.managed is None else own.managed.memory.told

    return Prompting(agent, session, own.all_skills, memory)


class Prompting:
    """The system prompt of one session's agent, as it is whenever a run begins."""

    def __init__(
        self,
        agent: CompiledAgent,
        session: SessionFacts,
        skills: Callable[[], tuple[Skill, ...]],
        memory: Callable[[], str] = lambda: "",
    ) -> None:
        """``memory``: what it is told to know."""
        self._said = said = agent.agent.instructions.strip()
        self._directives = agent.agent.directives
        self._manifest = f"{said}\n\n{INSTRUCTION}" if self._directives else said
        self._managed = agent.profile == "managed"
        self._instructions = _instructions(session)
        self._environment = _environment(session)
        self._skills = skills
        self._memory = memory
        self._instructed = _NO_INSTRUCTIONS
        self._parts = self._made_of((), "")
        self._system = _system(self._parts)

    def __call__(self) -> tuple[str, ...]:
        """What the agent is told to be; as long as nothing of it changes, the same text."""
        instructed, known, memory = self._instructions(), self._skills(), self._memory()
        told = (self._instructed.text, self._parts.skills, self._parts.memory)
        if (instructed.text, known, memory) != told:
            self._instructed = instructed
            self._parts = self._made_of(known, memory)
            self._system = _system(self._parts)
        return self._system

    def names(self) -> PromptNames:
        """What it was made of when it was made last."""
        parts = self._parts
        files = self._instructed.files
        return PromptNames(
            sections=prompt_sections(parts),
            bootstrap_files={file.path: file.text for file in files if file.text},
            skills=skill_lines(parts.skills, managed=parts.managed),
        )

    def sections(self) -> tuple[tuple[str, str], ...]:
        """What it is made of, by name, with no path of the session's own."""
        said = PromptParts(
            manifest=self._said,
            instructions=self._instructions().text,
            skills=self._skills(),
            managed=self._managed,
        )
        anywhere = {
            name: "{workspace}" if name == "workspace" else fact
            for name, fact in self._environment.items()
        }
        place = PromptParts(environment=anywhere)
        appendix = INSTRUCTION if self._directives else ""
        return (
            ("bootstrap", system_prompt(said)),
            ("runtime_environment", system_prompt(place)),
            ("harness_appendix", appendix),
        )

    def files(self) -> tuple[tuple[str, str], ...]:
        """The files of the project that are told with it: names and texts."""
        return tuple((one.path, one.text) for one in self._instructions().files if one.text)

    def _made_of(self, skills: tuple[Skill, ...], memory: str) -> PromptParts:
        return PromptParts(
            manifest=self._manifest,
            instructions=self._instructed.text,
            skills=skills,
            environment=self._environment,
            memory=memory,
            managed=self._managed,
        )


def _system(parts: PromptParts) -> tuple[str, ...]:
    text = system_prompt(parts)
    return (text,) if text else ()


def _instructions(session: SessionFacts) -> Callable[[], Instructions]:
    """What the project instructs, whenever it is asked; what of it is not told as it is, people
    hear once in the log."""
    workspace = session.workspace
    if workspace is None:
        return lambda: _NO_INSTRUCTIONS
    places = instruction_places(workspace, str(project_root(Path(workspace))))
    said: set[str] = set()

    def now() -> Instructions:
        found = project_instructions(places, _read)
        for remark in found.remarks:
            if remark not in said:
                said.add(remark)
                _log.warning("instructions of the project: %s", remark)
        return found

    return now


def _read(path: str) -> str | NotRead | None:
    """A file of the project; links are not followed, they may lead anywhere."""
    if not os.access(path, os.F_OK, follow_symlinks=False):
        return None  # as most: to be told by an error takes three times as long
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
