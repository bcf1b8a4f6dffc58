"""The system prompt: one order, and the same bytes for the same parts."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.context.prompt import (
    PromptParts,
    prompt_sections,
    skill_index,
    skill_lines,
    system_prompt,
)
from holdfast.contract.model import ModelTool
from holdfast.contract.skills import Skill


def _skill(name: str, description: str = "does it") -> Skill:
    return Skill(name=name, description=description, origin=f"/skills/{name}/SKILL.md")


def _tool(name: str, description: str | None = "Does it.\n\nMore.") -> ModelTool:
    return ModelTool(name=name, description=description, schema={})


PARTS = PromptParts(
    manifest="You are a carpenter.\n",
    instructions="=== Project instructions: AGENTS.md ===\nMeasure twice.",
    skills=(_skill("planing"), _skill("gluing", "holds\nwood")),
    environment={"os": "linux", "cwd": "/bench"},
    tools=(_tool("saw"), _tool("glue", None)),
)


@pytest.mark.req("SPEC-PROMPT-01")
def test_manifest_instructions_skills_environment_and_tools_stand_in_this_order() -> None:
    assert system_prompt(PARTS) == (
        "You are a carpenter.\n\n"
        "=== Project instructions: AGENTS.md ===\nMeasure twice.\n\n"
        "# Skills\nLoad one before you do what it describes.\n"
        "- gluing: holds wood\n- planing: does it\n\n"
        "# Environment\n- cwd: /bench\n- os: linux\n\n"
        "# Tools\n- glue\n- saw: Does it."
    )
    names = [name for name, _ in prompt_sections(PARTS)]
    assert names == ["manifest", "project_instructions", "skills", "environment", "tools"]


def test_parts_that_are_not_there_leave_nothing_behind() -> None:
    assert system_prompt(PromptParts()) == ""
    assert system_prompt(PromptParts(manifest="Be.", environment={"a": "b"})) == (
        "Be.\n\n# Environment\n- a: b"
    )


@given(st.randoms(use_true_random=False))
def test_the_order_in_which_things_were_found_does_not_matter(dice: random.Random) -> None:
    skills, tools, facts = list(PARTS.skills), list(PARTS.tools), list(PARTS.environment.items())
    for listed in (skills, tools, facts):
        dice.shuffle(listed)
    shuffled = PromptParts(
        manifest=PARTS.manifest,
        instructions=PARTS.instructions,
        skills=tuple(skills),
        tools=tuple(tools),
        environment=dict(facts),
    )
    assert system_prompt(shuffled).encode() == system_prompt(PARTS).encode()


@pytest.mark.req("BOA-SKL-07")
def test_in_the_managed_profile_skills_after_the_eighth_stand_there_by_name_alone() -> None:
    skills = [_skill(f"skill-{number:02}") for number in range(12)]
    index = skill_index(skills, managed=True)
    lines = [line for line in index.splitlines() if line.startswith("- ")]
    assert lines[:8] == [f"- skill-{number:02}: does it" for number in range(8)]
    assert lines[8:] == [f"- skill-{number:02}" for number in range(8, 12)]
    assert "skills_search" in index
    assert "skills_search" not in skill_index(skills[:8], managed=True)
    everywhere = skill_index(skills, managed=False)
    assert everywhere.count(": does it") == 12
    assert "skills_search" not in everywhere
    assert "skill-11" in system_prompt(PromptParts(skills=tuple(skills), managed=True))


@given(
    st.lists(
        st.builds(_skill, st.text(min_size=1, max_size=9), st.text(max_size=400)),
        max_size=12,
        unique_by=lambda skill: skill.name,
    ),
    st.booleans(),
)
def test_every_skill_has_a_line_and_no_more_than_one(skills: list[Skill], managed: bool) -> None:
    lines = skill_lines(skills, managed=managed)
    assert list(lines) == sorted(skill.name for skill in skills)
    for line in lines.values():
        assert line.splitlines() == [line]
        assert line.startswith("- ") or line == "-"
    assert (skill_index(skills, managed=managed) == "") is (not skills)
