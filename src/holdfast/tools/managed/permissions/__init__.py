"""What may be called, what will ask, and what would read the same."""

from holdfast.contract.builtin import Builtin

PERMISSIONS: tuple[Builtin, ...] = ()
