"""The locked thirteen: the tools whose names models have learned. Their shapes never widen."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.locked.edit import edit
from holdfast.tools.locked.read import read
from holdfast.tools.locked.todo import todo
from holdfast.tools.locked.write import write

LOCKED: tuple[Builtin, ...] = (read, write, edit, todo)
