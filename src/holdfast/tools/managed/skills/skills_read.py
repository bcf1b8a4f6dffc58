"""`skills_read`: the whole body of a skill."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.skills import LONGEST_BODY, MOST_CHARS, SkillBody, SkillBook
from holdfast.tools.managed.given import needed


@builtin(
    read_only=True,
    effects=("skill_read",),
    acp_kind="read",
    interrupt_behavior="cancel",
    parallel_safe=True,
)
def skills_read(
    name: str,
    skills: SkillBook,
    max_chars: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_BODY)] = MOST_CHARS,
) -> SkillBody:
    """Read the instructions of a skill, by its exact name, before the work it describes."""
    return skills.read(needed("skills_read", "name", name), max_chars)
