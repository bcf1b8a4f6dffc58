"""The system prompt: its parts, in one order. The same parts always give the same bytes.

What changes from step to step has no place here, or no provider could keep it; see `notices`.
"""

from collections.abc import Iterable, Mapping

import msgspec

from holdfast.agent.one_line import one_line
from holdfast.contract.model import ModelTool
from holdfast.contract.skills import Skill

DESCRIBED_SKILLS = 8
"""In the managed profile; those after it stand there by name alone."""
_LONGEST_DESCRIPTION = 300
STANDING = """\
# Where you stand
tool_search finds tools that tell where you stand and lead on: sessions, traces, outcomes,
permissions, memory, retrieval, skills, shell, sandbox, resources, setup. A hint
{tool, args, rationale} is a call that can be made as it stands; what a search tells is confirmed by
reading it again."""
"""In the managed profile."""


class PromptParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a system prompt is made of."""

    manifest: str = ""
    """What the agent is to be, in the words of whoever made it."""
    instructions: str = ""
    """Of the project: `Instructions.text`."""
    skills: tuple[Skill, ...] = ()
    environment: Mapping[str, str] = {}
    """Facts about where it works, by name."""
    memory: str = ""
    """What earlier sessions and people noted for it, bounded by whoever tells it."""
    tools: tuple[ModelTool, ...] = ()
    managed: bool = False
    """The managed profile: its index of skills is short."""


def prompt_sections(parts: PromptParts) -> tuple[tuple[str, str], ...]:
    """The parts by name, in their order, without empty ones."""
    found = (
        ("manifest", parts.manifest.strip()),
        ("project_instructions", parts.instructions.strip()),
        ("standing", STANDING if parts.managed else ""),
        ("skills", skill_index(parts.skills, managed=parts.managed)),
        ("environment", _environment(parts.environment)),
        ("memory", parts.memory.strip()),
        ("tools", _catalogue(parts.tools)),
    )
    return tuple((name, text) for name, text in found if text)


def system_prompt(parts: PromptParts) -> str:
    """All of it."""
    return "\n\n".join(text for _, text in prompt_sections(parts))


def skill_lines(skills: Iterable[Skill], *, managed: bool) -> dict[str, str]:
    """By name: what is told of each skill."""
    ordered = sorted(skills, key=lambda skill: skill.name)
    most = DESCRIBED_SKILLS if managed else len(ordered)
    return {
        skill.name: _line(skill.name, skill.description if place < most else "")
        for place, skill in enumerate(ordered)
    }


def skill_index(skills: Iterable[Skill], *, managed: bool) -> str:
    """Every skill, in a line each; empty without any."""
    lines = list(skill_lines(skills, managed=managed).values())
    if not lines:
        return ""
    if managed and len(lines) > DESCRIBED_SKILLS:
        lines.append("Search those named last with skills_search to see what they are for.")
    return "\n".join(("# Skills", "Load one before you do what it describes.", *lines))


def _environment(facts: Mapping[str, str]) -> str:
    lines = [f"- {one_line(name)}: {one_line(facts[name])}" for name in sorted(facts)]
    return "\n".join(("# Environment", *lines)) if lines else ""


def _catalogue(tools: Iterable[ModelTool]) -> str:
    ordered = sorted(tools, key=lambda tool: tool.name)
    lines = [_line(tool.name, _first_line(tool.description)) for tool in ordered]
    return "\n".join(("# Tools", *lines)) if lines else ""


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def _line(name: str, said: str) -> str:
    told = one_line(said, _LONGEST_DESCRIPTION)
    return f"- {one_line(name)}: {told}" if told else f"- {one_line(name)}"
