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
    read,
    write,
    edit,
    glob,
    grep,
    bash,
    todo,
    task,
    question,
    web_search,
    web_fetch,
    skill,
    tool_search,
)
