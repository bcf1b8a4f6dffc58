"""What a session stands on, and whether another one stood on the same."""

from holdfast.contract.builtin import Builtin

SETUP: tuple[Builtin, ...] = ()
