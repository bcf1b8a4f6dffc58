"""Sessions of the same agent: listed, read again, handed work, run."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.sessions.session_delegate import session_delegate
from holdfast.tools.managed.sessions.session_describe_context import session_describe_context
from holdfast.tools.managed.sessions.session_get_events import session_get_events
from holdfast.tools.managed.sessions.session_get_snapshot import session_get_snapshot
from holdfast.tools.managed.sessions.session_get_trace import session_get_trace
from holdfast.tools.managed.sessions.session_list import session_list
from holdfast.tools.managed.sessions.session_list_children import session_list_children
from holdfast.tools.managed.sessions.session_list_traces import session_list_traces
from holdfast.tools.managed.sessions.session_run_child import session_run_child

SESSIONS: tuple[Builtin, ...] = (
    session_list,
    session_list_children,
    session_get_snapshot,
    session_describe_context,
    session_get_events,
    session_get_trace,
    session_list_traces,
    session_delegate,
    session_run_child,
)
