"""What stands behind the tools of `tools/managed/memory`, put together for one session."""

from pathlib import Path

from holdfast.app.managed.basis import Basis
from holdfast.contract.managed.memory import Learnings, Memory
from holdfast.contract.mounts import of_kind
from holdfast.contract.runtime import Ports
from holdfast.execution.files.shared_file import SharedFile
from holdfast.execution.sidecars import folder_name
from holdfast.runtime.managed.learned import LearnedBook
from holdfast.runtime.managed.memory_book import MemoryBook
from holdfast.runtime.managed.memory_files import MemoryFiles
from holdfast.runtime.managed.note_versions import NoteVersions
from holdfast.runtime.managed.workspace_memory import MEMORY_FILE, WorkspaceMemory

_AGENTS, _SESSIONS, _SUBSTRATE = "agents", "sessions", "substrate"


def memory_of(basis: Basis) -> MemoryBook:
    """The memory of the session and of its agent."""
    ground = basis.ground
    notes = NoteVersions(ground)
    shared = WorkspaceMemory(ground, notes, LearnedBook(ground), _memory_file(basis))
    files = MemoryFiles(basis.parts.surroundings.data_home / _SESSIONS, ground.clean)
    return MemoryBook(ground, basis.gate, basis.shell, notes, shared, files)


def ports_of(basis: Basis) -> Ports:
    """By port, what each call is handed."""
    learned = LearnedBook(basis.ground)
    return {Memory: lambda _call: basis.memory, Learnings: lambda _call: learned}


def _memory_file(basis: Basis) -> SharedFile:
    """MEMORY.md of the agent: in its substrate, wherever that lies."""
    substrate = of_kind(basis.ground.mounts, "agent_substrate")
    if substrate is not None:
        return SharedFile(Path(substrate.mount_path), (), MEMORY_FILE)
    folders = (_AGENTS, folder_name(basis.ground.agent_id), _SUBSTRATE)
    return SharedFile(basis.parts.surroundings.data_home, folders, MEMORY_FILE)
