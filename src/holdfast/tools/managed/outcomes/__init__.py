"""What a session is to achieve, how far it came, and whether that may be shared."""

from holdfast.contract.builtin import Builtin

OUTCOMES: tuple[Builtin, ...] = ()
