"""The locked thirteen: the tools whose names models have learned. Their shapes never widen."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.locked.bash import bash
from holdfast.tools.locked.question import question
from holdfast.tools.locked.skill import skill
from holdfast.tools.locked.task import task
from holdfast.tools.locked.todo import todo
from holdfast.tools.locked.tool_search import tool_search

LOCKED: tuple[Builtin, ...] = (
    todo,
    bash,
    task,
    question,
    skill,
    tool_search,
)
