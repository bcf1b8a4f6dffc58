"""What an editor may ask for: the methods of the protocol, each as a few steps.

What cannot be done is an error with words that a person can act on; no traceback leaves.
"""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from acp import PROTOCOL_VERSION, RequestError
from acp.agent.connection import AgentSideConnection
from acp.schema import (
    AgentCapabilities,
    ClientCapabilities,
    CloseSessionResponse,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionListCapabilities,
    SessionModeState,
    SessionResumeCapabilities,
    SetSessionModeResponse,
)

from holdfast._version import __version__
from holdfast.app.configuration import load_configuration
from holdfast.app.problems import ConfigurationError, MissingProgramError, ToolFileError
from holdfast.contract.journal import JournalError, UnknownSession
from holdfast.contract.tool import ToolDefinitionError
from holdfast.contract.truncate import cut_text
from holdfast.surfaces.acp.ends import TurnFailed
from holdfast.surfaces.acp.listing import BadCursor, sessions_listed
from holdfast.surfaces.acp.modes import modes_of
from holdfast.surfaces.acp.prompts import Block, prompt_of
from holdfast.surfaces.acp.servers import Offer
from holdfast.surfaces.acp.session import Busy
from holdfast.surfaces.acp.sessions import Held, Sessions

_INVALID_PARAMS = -32602
_INTERNAL = -32603
_INVALID_REQUEST = -32600
_UNKNOWN = -32002
_BUSY = "A turn of this session is under way; {0} once it has ended, or cancel it first."
_NO_MODE = "There is no mode {0!r}; known: {1}."
_NO_FOLDER = "cwd {0!r} is no folder here; give the whole path of the folder to work in."
_SHOWN = 200
_NOTHING = "The message is empty; write what is to be done."


class EditorAgent:
    """Answers one client."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def on_connect(self, conn: AgentSideConnection) -> None:
        """This is the connection that everything goes over."""
        self._sessions.connect(conn)

    async def initialize(
        self,
        protocol_version: int,  # noqa: ARG002 - there is only one that both can mean
        client_capabilities: ClientCapabilities | None = None,
        client_info: Implementation | None = None,
        **_more: object,
    ) -> InitializeResponse:
        """Say who we are, and hear who asks."""
        client = self._sessions.client
        client.capabilities, client.info = client_capabilities, client_info
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(embedded_context=True),
                mcp_capabilities=McpCapabilities(http=find_spec("mcp") is not None),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                ),
            ),
            agent_info=Implementation(name="holdfast", title="holdfast", version=__version__),
            auth_methods=[],
        )

    async def new_session(
        self, cwd: str, mcp_servers: list[Offer] | None = None, **_more: object
    ) -> NewSessionResponse:
        """Begin a session in a folder."""
        with _worded():
            held = await self._sessions.begin(_folder(cwd), mcp_servers or [])
        return NewSessionResponse(session_id=held.session.id, modes=_modes(held))

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: list[Offer] | None = None, **_more: object
    ) -> LoadSessionResponse:
        """Go on with a session, and tell all of it again."""
        with _worded():
            given = (session_id, _folder(cwd), mcp_servers or [])
            held = await self._sessions.take_up(*given, tells_again=True)
        return LoadSessionResponse(modes=_modes(held))

    async def resume_session(
        self, cwd: str, session_id: str, mcp_servers: list[Offer] | None = None, **_more: object
    ) -> ResumeSessionResponse:
        """Go on with a session, and tell nothing again."""
        with _worded():
            held = await self._sessions.take_up(session_id, _folder(cwd), mcp_servers or [])
        return ResumeSessionResponse(modes=_modes(held))

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_more: object
    ) -> ListSessionsResponse:
        """The sessions that can be gone on with."""
        with _worded():
            folder = None if cwd is None else _whole(cwd)
            return await sessions_listed(load_configuration(folder).settings, folder, cursor)

    async def close_session(self, session_id: str, **_more: object) -> CloseSessionResponse:
        """Stop what runs in a session, and let go of it."""
        with _worded():
            await self._sessions.close(session_id)
        return CloseSessionResponse()

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_more: object
    ) -> SetSessionModeResponse:
        """Another profile from the next turn on."""
        with _worded("change the mode"):
            await self._sessions.change_mode(session_id, mode_id, _check_mode)
        return SetSessionModeResponse()

    async def prompt(self, session_id: str, prompt: list[Block], **_more: object) -> PromptResponse:
        """A person said something: work until the agent rests."""
        with _worded("say it"):
            session = (await self._sessions.at_hand(session_id)).session
            said = prompt_of(prompt)
            if not said.text.strip():
                raise ConfigurationError(_NOTHING)
            end = await session.prompt(said.text, said.remark)
        return PromptResponse(stop_reason=end.reason)

    async def cancel(self, session_id: str, **_more: object) -> None:
        """Stop the turn under way; where there is none, nobody waits to hear so."""
        with suppress(UnknownSession):
            await (await self._sessions.at_hand(session_id)).session.stop()


def _modes(held: Held) -> SessionModeState:
    configuration = held.options.get("configuration") or load_configuration(held.cwd)
    return modes_of(configuration.settings, held.work.agent, held.profile)


def _check_mode(held: Held, mode: str) -> None:
    known = [one.id for one in _modes(held).available_modes]
    if mode not in known:
        raise ConfigurationError(_NO_MODE.format(mode, ", ".join(known)))


def _folder(cwd: str) -> str:
    whole = _whole(cwd)
    if Path(cwd).is_absolute() and Path(whole).is_dir():
        return whole
    raise ConfigurationError(_NO_FOLDER.format(cwd))


def _whole(cwd: str) -> str:
    """A path as sessions have it, whatever is there."""
    try:
        Path(cwd).exists()
        return str(Path(cwd).resolve())
    except (OSError, ValueError):  # too long for a path, or no text that a path can have
        raise ConfigurationError(_NO_FOLDER.format(cut_text(cwd, _SHOWN))) from None


@contextmanager
def _worded(what: str = "open it") -> Generator[None]:
    """Errors as a client shows them. ``what``: to do later."""
    try:
        yield
    except Busy:
        raise RequestError(_INVALID_REQUEST, _BUSY.format(what)) from None
    except UnknownSession as problem:
        raise RequestError(_UNKNOWN, str(problem)) from None
    except MissingProgramError as problem:
        raise RequestError(_INTERNAL, f"{problem}; {problem.step}") from None
    except (ConfigurationError, ToolFileError, ToolDefinitionError, BadCursor) as problem:
        raise RequestError(_INVALID_PARAMS, str(problem)) from None
    except (JournalError, TurnFailed) as problem:
        raise RequestError(_INTERNAL, str(problem)) from None
