"""`skills_search`: skills that fit a query."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.skills import SkillBook, SkillHits
from holdfast.tools.managed.given import needed


@builtin(
    read_only=True,
    effects=("skill_read",),
    acp_kind="search",
    interrupt_behavior="cancel",
    parallel_safe=True,
)
def skills_search(
    query: str, skills: SkillBook, limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 8
) -> SkillHits:
    """Find skills by words of their name, description or source."""
    return skills.search(needed("skills_search", "query", query), limit)
