"""The host profile's own tools: the names of the contract seed, over the same abilities."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.host.sandbox_search_files import sandbox_search_files

HOST: tuple[Builtin, ...] = (sandbox_search_files,)
