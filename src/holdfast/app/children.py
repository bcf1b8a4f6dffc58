"""Making the session of a subagent: what it has from the one above it, and what not."""

import msgspec

from holdfast.app.configuration import Configuration
from holdfast.app.options import Wanted
from holdfast.app.subagents import Above, Child, Subagent
from holdfast.app.who_answers import answered_elsewhere

_INHERITED = frozenset(
    {
        *("surroundings", "approver", "clock", "hooks", "rules", "on_demand"),
        *("subagents", "agents", "runner", "vectors", "embedder"),
    }
)
"""What the session of a subagent has from the one above it."""


def child_session(
    wanted: Wanted, configuration: Configuration, subagent: Subagent, above: Above
) -> Child:
    """The session of a subagent. What may hold credentials, and the person, are not handed on."""
    inherited = {name: value for name, value in wanted.options.items() if name in _INHERITED}
    if inherited.get("approver") == "elsewhere" and not subagent.pauses:
        inherited["approver"] = answered_elsewhere
    if above.paused:
        inherited["session"] = above.child_id
    if subagent.agent is not None:
        inherited["agent"] = subagent.agent
        # What the manifest above says stands above; this one has its own.
        said = (one for one in wanted.options.get("rules", ()) if one.scope != "manifest")
        inherited["rules"] = tuple(said)
    above = msgspec.structs.replace(above, own_tools=subagent.tools is not None)
    inherited_tools = (*wanted.tools, *above.from_elsewhere)
    return wanted.make(
        tools=inherited_tools if subagent.tools is None else subagent.tools,
        profile=subagent.profile or wanted.profile,
        workspace=wanted.workspace,
        configuration=configuration,
        above=above,
        **inherited,
    )
