"""Tools for work on source code, outside of the lock: another host may have its own instead."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.code.repo_clone import repo_clone

CODE: tuple[Builtin, ...] = (repo_clone,)
