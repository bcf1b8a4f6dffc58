"""The shell of a session: where it stands, what it ran, and what it runs now."""

from holdfast.contract.builtin import Builtin

SHELL: tuple[Builtin, ...] = ()
