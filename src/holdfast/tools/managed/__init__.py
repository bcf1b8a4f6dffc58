"""The managed profile's own tools: an agent that knows where it stands."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.memory import MEMORY
from holdfast.tools.managed.outcomes import OUTCOMES
from holdfast.tools.managed.permissions import PERMISSIONS
from holdfast.tools.managed.resources import RESOURCES
from holdfast.tools.managed.retrieval import RETRIEVAL
from holdfast.tools.managed.sandbox import SANDBOX
from holdfast.tools.managed.sessions import SESSIONS
from holdfast.tools.managed.setup import SETUP
from holdfast.tools.managed.shell import SHELL
from holdfast.tools.managed.skills import SKILLS

MANAGED: tuple[Builtin, ...] = (
    *SESSIONS,
    *OUTCOMES,
    *PERMISSIONS,
    *MEMORY,
    *RETRIEVAL,
    *SKILLS,
    *SHELL,
    *SANDBOX,
    *RESOURCES,
    *SETUP,
)
