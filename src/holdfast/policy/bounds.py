"""What rules say of a path or a host that a call comes upon without naming it.

A walk finds files, a redirect leads to another host: nobody was asked about those, and while a call
runs nobody can be. A deny counts there as it does for what is named. What a rule asks about is left
alone, unless a person agreed to this very call; of hosts, to this very host. Processes are of no
call: for them it is enough that a person agreed to the host in any.
"""

from collections.abc import Sequence

from holdfast.contract.call import Prepared
from holdfast.contract.rules import Use
from holdfast.contract.tool import Tool
from holdfast.policy.rules import Weighed
from holdfast.policy.scales import Scales
from holdfast.policy.words import come_upon

_MOST_CALLS = 4096
"""As many are remembered at most; no more than a few run at a time."""


class Bounds:
    """The rules of a session, for what its calls come upon."""

    def __init__(self, scales: Scales) -> None:
        self.scales = scales
        """The rules that count now."""
        self._agreed: dict[str, tuple[Use, ...]] = {}

    def agree(self, prepared: Prepared, uses: Sequence[Use]) -> None:
        """A person agreed to a call, and was shown these uses of it."""
        if len(self._agreed) >= _MOST_CALLS:
            del self._agreed[next(iter(self._agreed))]
        self._agreed[prepared.call.id] = tuple(uses)

    def narrow(self, tool: Tool, capability: str) -> bool:
        """Whether any rule may speak against what a call of this tool comes upon."""
        return self.scales.narrow(tool, capability)

    def against(self, tool: Tool, call_id: str | None, use: Use) -> str | None:
        """What speaks against it, in words; None: nothing does.

        ``call_id``: without one it is about processes, which may serve several calls.
        """
        spoken = self.scales.spoken_against(tool, use)
        if spoken is None or self._is_agreed(call_id, spoken):
            return None
        return come_upon(spoken)

    def _is_agreed(self, call_id: str | None, spoken: Weighed) -> bool:
        if spoken.action == "deny":
            return False
        if spoken.use.kind != "host":
            return call_id in self._agreed
        calls = self._agreed if call_id is None else {call_id} & self._agreed.keys()
        agreed = (use for call in calls for use in self._agreed[call])
        return any(one.kind == "host" and one.target == spoken.use.target for one in agreed)
