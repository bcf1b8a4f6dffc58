"""What outlives a run: notes, their versions, and what was learned."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.memory.learning_list import learning_list
from holdfast.tools.managed.memory.memory_list import memory_list
from holdfast.tools.managed.memory.memory_list_versions import memory_list_versions
from holdfast.tools.managed.memory.memory_promote_note import memory_promote_note
from holdfast.tools.managed.memory.memory_read import memory_read
from holdfast.tools.managed.memory.memory_read_version import memory_read_version
from holdfast.tools.managed.memory.memory_write import memory_write

MEMORY: tuple[Builtin, ...] = (
    *(memory_list, memory_read, memory_write, memory_promote_note),
    *(memory_list_versions, memory_read_version, learning_list),
)
