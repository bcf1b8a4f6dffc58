"""What a session may do, and what becomes of a call before it is made."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.permissions.permissions_check import permissions_check
from holdfast.tools.managed.permissions.permissions_describe import permissions_describe

PERMISSIONS: tuple[Builtin, ...] = (permissions_describe, permissions_check)
