"""`skill`: put the instructions of a skill into the conversation."""

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.skills import Skills

_MOST_NAMES = 50


class Loaded(msgspec.Struct, frozen=True):
    """The body of a skill, between marks that name it."""

    content: str


@builtin(
    effects=("skill_read",),
    acp_kind="read",
    interrupt_behavior="cancel",
    parallel_safe=True,
)
def skill(name: str, skills: Skills) -> Loaded:
    """Load the instructions of a skill, by the name it is listed under, and follow them.

    Load it before you begin work that its description speaks of. Example: {"name": "code-review"}

    Args:
        name: The name of the skill, as it is listed.
    """
    body = skills.body(name)
    if body is None:
        names = [one.name for one in skills.all()]
        raise InvalidArguments(
            f"There is no skill {name!r}. {_listed(names)}",
            field="name",
            expected="the name of a skill that is listed",
        )
    return Loaded(f'<skill_content name="{name}">\n{body}\n</skill_content>')


def _listed(names: list[str]) -> str:
    if not names:
        return "No skill is available here: go on without."
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"Available: {', '.join(names[:_MOST_NAMES])}{more}."
