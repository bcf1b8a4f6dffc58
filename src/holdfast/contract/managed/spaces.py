"""Where versions of what an agent or one of its sessions keeps are found: names of spaces and
targets. Values only.
"""

from typing import Literal

MemoryTarget = Literal[
    "checkpoint",
    "shell_state",
    "session_state",
    "working_buffer",
    "workspace_memory",
    "workspace_memory_notes",
]
"""What can be read as memory."""
VersionedTarget = Literal["session_state", "working_buffer", "workspace_memory_notes"]
"""What of it the model writes; each write is a version."""


def session_space(session_id: str) -> str:
    """What one session keeps for itself: session_state and working_buffer."""
    return f"memory/session/{session_id}"


def agent_space(agent_id: str) -> str:
    """What all sessions of an agent share: workspace_memory_notes."""
    return f"memory/agent/{agent_id}"


def substrate_space(agent_id: str) -> str:
    """Files of an agent's substrate; a target is a path from its root, with slashes."""
    return f"substrate/{agent_id}"
