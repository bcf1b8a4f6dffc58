"""The hand of a session as one tool, and what it is made of."""

from holdfast.contract.builtin import Builtin

SANDBOX: tuple[Builtin, ...] = ()
