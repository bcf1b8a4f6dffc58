"""The locked thirteen: the tools whose names models have learned. Their shapes never widen."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.locked.glob import glob
from holdfast.tools.locked.grep import grep
from holdfast.tools.locked.todo import todo

LOCKED: tuple[Builtin, ...] = (glob, grep, todo)
