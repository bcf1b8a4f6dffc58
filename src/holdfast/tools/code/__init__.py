"""Tools for work on source code, outside of the lock: another host may have its own instead."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.code.plan import plan
from holdfast.tools.code.plan_exit import plan_exit

CODE: tuple[Builtin, ...] = (plan, plan_exit)
