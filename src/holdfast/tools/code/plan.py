"""`plan`: keep a plan as a file of the session; nothing of the project is touched."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.plan_shelf import PlanShelf


class Planned(msgspec.Struct, frozen=True):
    """The plan is kept."""

    path: str
    bytes: int


@builtin(
    read_only=False,
    effects=("session_write",),
    acp_kind="think",
    interrupt_behavior="block",
)
def plan(plan: Annotated[str, msgspec.Meta(min_length=1)], shelf: PlanShelf) -> Planned:
    """Keep the plan for the work, as Markdown, in a file of this session; every call a new one.

    Write it before asking with plan_exit whether it may be carried out. The file can be read with
    the path in the answer. Example: {"plan": "# Plan\\n1. Reproduce the bug\\n2. Fix it"}

    Args:
        plan: The whole plan, as Markdown.
    """
    return Planned(path=shelf.keep(plan), bytes=len(plan.encode("utf-8", "replace")))
