"""The plans of a session, as files in its own folder: read without asking, gone with it."""

from holdfast.contract.errors import Unavailable
from holdfast.contract.ports import SidecarStore
from holdfast.contract.runtime import Runtime


class CallPlans:
    """The shelf as one call meets it."""

    def __init__(self, sidecars: SidecarStore, call: Runtime) -> None:
        self._sidecars = sidecars
        self._call = call

    def keep(self, plan: str, /) -> str:
        """The file it lies in from now on; Unavailable when it cannot be kept."""
        content = plan.encode("utf-8", "replace")
        name = f"plan-{self._call.call_id}.md"
        stored = self._sidecars.keep(self._call.session.id, name, content)
        if stored is None or stored.stored_bytes < len(content):
            raise Unavailable(
                "The plan cannot be kept: the session's folder cannot be written, or is full."
                " Make it shorter, or tell the user what you plan in your next message."
            )
        return stored.path
