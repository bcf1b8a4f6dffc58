"""Tools for work on source code, outside of the lock: another host may have its own instead."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.code.apply_patch import apply_patch

CODE: tuple[Builtin, ...] = (apply_patch,)
