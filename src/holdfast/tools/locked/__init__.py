"""The locked thirteen: the tools whose names models have learned. Their shapes never widen."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.locked.bash import bash
from holdfast.tools.locked.todo import todo

LOCKED: tuple[Builtin, ...] = (todo, bash)
