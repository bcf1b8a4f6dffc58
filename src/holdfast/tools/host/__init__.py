"""The host profile's own tools: the names of the contract seed, over the same abilities."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.host.clarify import clarify
from holdfast.tools.host.complete import complete

HOST: tuple[Builtin, ...] = (clarify, complete)
