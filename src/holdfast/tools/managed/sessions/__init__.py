"""Sessions of the same agent: listed, read again, handed work, run."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.sessions.session_delegate import session_delegate
from holdfast.tools.managed.sessions.session_run_child import session_run_child

SESSIONS: tuple[Builtin, ...] = (session_delegate, session_run_child)
