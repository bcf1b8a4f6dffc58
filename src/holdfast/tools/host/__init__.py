"""The host profile's own tools: the names of the contract seed, over the same abilities."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.host.file_read import file_read
from holdfast.tools.host.sandbox_read_file import sandbox_read_file
from holdfast.tools.host.sandbox_write_file import sandbox_write_file

HOST: tuple[Builtin, ...] = (file_read, sandbox_read_file, sandbox_write_file)
