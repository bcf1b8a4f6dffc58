"""The locked thirteen: the tools whose names models have learned. Their shapes never widen."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.locked.bash import bash
from holdfast.tools.locked.edit import edit
from holdfast.tools.locked.glob import glob
from holdfast.tools.locked.grep import grep
from holdfast.tools.locked.question import question
from holdfast.tools.locked.read import read
from holdfast.tools.locked.skill import skill
from holdfast.tools.locked.task import task
from holdfast.tools.locked.todo import todo
from holdfast.tools.locked.tool_search import tool_search
from holdfast.tools.locked.web_fetch import web_fetch
from holdfast.tools.locked.web_search import web_search
from holdfast.tools.locked.write import write

LOCKED: tuple[Builtin, ...] = (
    todo,
    bash,
    task,
    question,
    skill,
    tool_search,
    web_search,
    web_fetch,
    read,
    write,
    edit,
    glob,
    grep,
)
