"""What outlives a run: notes, their versions, and what was learned."""

from holdfast.contract.builtin import Builtin

MEMORY: tuple[Builtin, ...] = ()
