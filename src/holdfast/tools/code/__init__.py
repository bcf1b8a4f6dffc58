"""Tools for work on source code, outside of the lock: another host may have its own instead."""

from holdfast.contract.builtin import Builtin

CODE: tuple[Builtin, ...] = ()
