"""The managed profile's own tools: an agent that knows where it stands."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.session_delegate import session_delegate
from holdfast.tools.managed.session_run_child import session_run_child

MANAGED: tuple[Builtin, ...] = (session_delegate, session_run_child)
