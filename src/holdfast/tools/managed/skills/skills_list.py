"""`skills_list`: the skills there are."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.skills import SkillBook, SkillList


@builtin(
    read_only=True,
    effects=("skill_read",),
    acp_kind="read",
    interrupt_behavior="cancel",
    parallel_safe=True,
)
def skills_list(skills: SkillBook) -> SkillList:
    """List the skills, each with a preview."""
    return skills.all()
