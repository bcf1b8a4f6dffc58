"""Files that all sessions of an agent share: worked on in copies, then promoted."""

from holdfast.contract.builtin import Builtin

RESOURCES: tuple[Builtin, ...] = ()
