"""An editor as the protocol's SDK makes one, with `holdfast acp` as a real process behind it."""

import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
from acp import PROTOCOL_VERSION, RequestError, spawn_agent_process, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    Implementation,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)
from command import HOLDFAST

ASKS_ABOUT_BASH = """
[[rule]]
permission = "bash"
pattern = "*"
action = "ask"
"""
FORMS = ClientCapabilities(elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities()))

Said = dict[str, Any]
Answers = Callable[[list[PermissionOption]], str | None]
"""The id of an option, or None: the question is cancelled."""


def turn(*calls: tuple[str, Said], **more: Any) -> Said:
    """What the model does when it is asked once."""
    return {**more, "calls": [{"name": name, "arguments": given} for name, given in calls]}


def kind(wanted: str) -> Answers:
    """Whoever answers so."""
    return lambda options: next(one.option_id for one in options if one.kind == wanted)


class Place(msgspec.Struct):
    """Where an agent lives and works."""

    home: Path
    work: Path

    def script(self, *turns: Said, name: str = "script.json") -> str:
        """A model that plays these."""
        path = self.home.parent / name
        path.write_text(json.dumps({"turn": turns}), "utf-8")
        return f"scripted:{path}"

    def rules(self, text: str) -> None:
        """Rules of the person's own."""
        (self.home / "policy.toml").write_text(text, "utf-8")


class Editor:
    """Writes down what it is told, and answers as a test wants it."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Said]] = []
        """Updates, with their sessions."""
        self.asked: list[tuple[ToolCallUpdate, list[PermissionOption]]] = []
        self.forms: list[tuple[str, Said]] = []
        self.answers: Answers = kind("allow_once")
        self.answered: Said = {"action": "decline"}
        self.hold: Callable[[], Awaitable[object]] | None = None
        """Awaited before a question is answered."""
        self._more = anyio.Event()

    async def session_update(self, session_id: str, update: Any, **_more: Any) -> None:
        said = update.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.told.append((session_id, said))
        self._happens()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append((tool_call, options))
        self._happens()
        if self.hold is not None:
            await self.hold()
        chosen = self.answers(options)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        selected = AllowedOutcome(outcome="selected", option_id=chosen)
        return RequestPermissionResponse(outcome=selected)

    async def create_elicitation(self, message: str, mode: Any, **_more: Any) -> Any:
        form = mode.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.forms.append((message, form))
        if "error" in self.answered:
            raise RequestError(-32601, "no such method")
        return self.answered

    def on_connect(self, conn: Any) -> None:
        """Nothing is done with it."""

    def of(self, what: str, session_id: str | None = None) -> list[Said]:
        """The updates of a kind."""
        return [
            said
            for name, said in self.told
            if said["sessionUpdate"] == what and session_id in (None, name)
        ]

    def words(self, session_id: str | None = None) -> str:
        """What the agent said."""
        said = self.of("agent_message_chunk", session_id)
        return "".join(one["content"]["text"] for one in said)

    def thoughts(self) -> str:
        return "".join(one["content"]["text"] for one in self.of("agent_thought_chunk"))

    def calls(self) -> dict[str, list[Said]]:
        """What was told of each call, by its id."""
        found: dict[str, list[Said]] = {}
        for _name, said in self.told:
            if said["sessionUpdate"] in ("tool_call", "tool_call_update"):
                found.setdefault(said["toolCallId"], []).append(said)
        return found

    def call(self, name: str) -> list[Said]:
        """What was told of the one call whose title begins so."""
        (found,) = [one for one in self.calls().values() if last(one, "title").split()[0] == name]
        return found

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something to be told."""
        with anyio.fail_after(15):
            while not holds():
                await self._more.wait()

    def _happens(self) -> None:
        self._more.set()
        self._more = anyio.Event()


class Desk(msgspec.Struct):
    """An editor at work."""

    editor: Editor
    agent: ClientSideConnection
    process: Any
    place: Place
    greeting: Any = None

    async def begin(self, **more: Any) -> str:
        """A session in the workspace."""
        begun = await self.agent.new_session(cwd=str(self.place.work), mcp_servers=[], **more)
        return begun.session_id

    async def say(self, session: str, text: str = "Do it.") -> str:
        """A turn, and why it stopped."""
        ended = await self.agent.prompt(session_id=session, prompt=[text_block(text)])
        return ended.stop_reason

    async def one_turn(self, text: str = "Do it.") -> str:
        """A session with one turn."""
        return await self.say(await self.begin(), text)


@asynccontextmanager
async def editing(
    place: Place,
    model: str,
    *words: str,
    editor: Editor | None = None,
    capabilities: ClientCapabilities | None = None,
) -> AsyncGenerator[Desk]:
    """An editor whose agent has begun."""
    own = editor or Editor()
    client: Any = own  # it has what is asked of it
    environment = {**os.environ, "HOLDFAST_HOME": str(place.home)}
    command = (str(HOLDFAST), "acp", "--model", model, *words)
    async with spawn_agent_process(
        client,
        *command,
        env=environment,
        cwd=place.work,
        transport_kwargs={"shutdown_timeout": 15.0},
        use_unstable_protocol=True,
    ) as (agent, process):
        desk = Desk(own, agent, process, place)
        desk.greeting = await agent.initialize(
            PROTOCOL_VERSION,
            client_capabilities=capabilities or ClientCapabilities(),
            client_info=Implementation(name="probe", title="The probe", version="1"),
        )
        yield desk


def last(told: list[Said], field: str) -> Any:
    """What was told last of a field."""
    return next(one[field] for one in reversed(told) if field in one)


def statuses(told: list[Said]) -> list[str]:
    """How a call went."""
    return [one["status"] for one in told if "status" in one]


def processes_with(marker: str) -> list[int]:
    """Those on whose command line a text stands."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and marker in (folder / "cmdline").read_text(
                "utf-8", "replace"
            ):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


async def gone(marker: str) -> None:
    """Wait until no process has that on its command line."""
    with anyio.fail_after(10):
        while processes_with(marker):  # noqa: ASYNC110 - a process tells nobody that it is gone
            await anyio.sleep(0.05)
