"""Instructions that lie in files: listed, found, read."""

from holdfast.contract.builtin import Builtin

SKILLS: tuple[Builtin, ...] = ()
