"""The modes of a session: the profiles there are. An agent with a profile of its own has that one.

What a profile holds is not known here.
"""

from collections.abc import Mapping
from types import MappingProxyType

from acp.schema import SessionMode, SessionModeState

from holdfast.app.agent_settings import DEFAULT_AGENT
from holdfast.app.profiles import PROFILES
from holdfast.app.settings import Settings

_MEANS: Mapping[str, str] = MappingProxyType(
    {
        "bare": "No built-in tools but questions to you.",
        "locked": "Files, search, commands, the web, subagents, skills.",
        "code": "The same, and patches, a language server, overviews of repositories.",
        "host": "The same as locked, and tools of a host: artifacts, charts, background processes.",
        "managed": "An agent that knows where it stands; commands from a list.",
        "readonly": "Reads and searches; changes nothing.",
    }
)
_OWN = "A profile of your configuration."


def profile_of(settings: Settings, agent: str | None, wanted: str) -> str:
    """The profile that a session has: its agent's, or else the one that is asked for."""
    table = settings.agent.get(agent or DEFAULT_AGENT)
    return (None if table is None else table.profile) or wanted


def modes_of(settings: Settings, agent: str | None, current: str) -> SessionModeState:
    """What can be chosen, and what is chosen now."""
    table = settings.agent.get(agent or DEFAULT_AGENT)
    own = None if table is None else table.profile
    names = [own] if own is not None else list(dict.fromkeys([*PROFILES, *settings.profile]))
    modes = [SessionMode(id=one, name=one, description=_MEANS.get(one, _OWN)) for one in names]
    return SessionModeState(available_modes=modes, current_mode_id=current)
