"""Tools for work on source code, outside of the lock: another host may have its own instead."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.code.view_image import view_image

CODE: tuple[Builtin, ...] = (view_image,)
