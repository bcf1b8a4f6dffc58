"""The host profile's own tools: the names of the contract seed, over the same abilities."""

from holdfast.contract.builtin import Builtin

HOST: tuple[Builtin, ...] = ()
