"""What each managed tool takes and what it refuses, as data: the catalogue as it is documented.

A text that begins with `$` stands for something of the world that `standing.py` makes.
"""

from tools.managed.acting_table import RESOURCES, SANDBOX, SETUP, SHELL
from tools.managed.telling_table import MEMORY, OUTCOMES, PERMISSIONS, RETRIEVAL, SESSIONS, SKILLS
from tools.managed.tool_rows import Row

TABLE: dict[str, Row] = {
    **SESSIONS,
    **OUTCOMES,
    **PERMISSIONS,
    **MEMORY,
    **RETRIEVAL,
    **SKILLS,
    **SHELL,
    **SANDBOX,
    **RESOURCES,
    **SETUP,
}
"""Every tool of the toolset `managed`."""
