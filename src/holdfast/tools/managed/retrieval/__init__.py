"""Finding what was known before, across the sessions of an agent."""

from holdfast.contract.builtin import Builtin

RETRIEVAL: tuple[Builtin, ...] = ()
