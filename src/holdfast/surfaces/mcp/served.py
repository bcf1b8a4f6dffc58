"""One session and what clients are told of it. Which client asks is told with every call."""

from collections.abc import Callable
from itertools import count
from secrets import token_hex

import msgspec
from anyio import move_on_after, sleep

from holdfast._version import __version__
from holdfast.app import servers
from holdfast.app.holdfast import Holdfast
from holdfast.contract.call import RawArguments
from holdfast.contract.envelope import Envelope
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.contract.person import Asker
from holdfast.contract.ports import Approver
from holdfast.contract.tool import PERSON_NAMES, Tool
from holdfast.policy.words import NOBODY_TO_ASK
from holdfast.surfaces.mcp.asking import Asking
from holdfast.surfaces.mcp.calls import Asked, Call, Suspended
from holdfast.surfaces.mcp.definitions import definitions
from holdfast.surfaces.mcp.eras import MODERN, SERVER_KEY, Caller, lacks_elicitation
from holdfast.surfaces.mcp.messages import ABSENT, INVALID_PARAMS, Fault, encode
from holdfast.surfaces.mcp.remarks import Remarks
from holdfast.surfaces.mcp.resources import contents, listed
from holdfast.surfaces.mcp.results import result_of
from holdfast.surfaces.mcp.tickets import Ticket

Open = Callable[[Approver, Asker], Holdfast]
"""Makes a session with these for a person; whoever serves it opens and closes it."""

SERVER: JsonObject = {"name": "holdfast", "title": "holdfast", "version": __version__}
CAPABILITIES: JsonObject = {"tools": {"listChanged": True}, "resources": {}}
LOOK_SECONDS = 1.0
"""How often manifests and MCP servers are asked whether their tools are others."""
PATIENCE_SECONDS = 5.0
"""How long a list of tools waits for servers that are being connected."""
_UNASKED = (
    "{tool}: nobody could be asked about a call, as its client shows no forms; holdfast policy"
    " explain {tool} says which rule would allow it, in policy.toml beside your configuration"
)
_TOOLS_FRESH_MS = 60_000
"""How long a list of tools may be kept by who is not told of changes."""


class CallParams(msgspec.Struct, frozen=True):
    """What a call says beside who asks."""

    name: str
    arguments: msgspec.Raw = ABSENT
    responses: msgspec.Raw = msgspec.field(default=ABSENT, name="inputResponses")
    state: str | None = msgspec.field(default=None, name="requestState")


class Served:
    """A session that clients use."""

    def __init__(self, make: Open, remarks: Remarks | None = None) -> None:
        """``remarks``: where doubts about the sources of tools are said; None: nowhere."""
        self._asking = Asking()
        self._remarks = remarks
        self.holdfast = make(self._asking.approve, self._asking.inquire)
        self.suspended = Suspended()
        # No other caller, a subagent's model least of all, can name one of these calls.
        self._name = token_hex(8)
        self._keys = count(1)
        self._tools: dict[str, Tool] = {}
        self._lists: dict[bool, bytes] = {}
        self._listeners: dict[object, Callable[[], None]] = {}

    @property
    def tools(self) -> dict[str, Tool]:
        """What can be called, by name."""
        if not self._tools:
            self._tools = {tool.name: tool for tool in self.holdfast.tools}
        return self._tools

    def look(self) -> None:
        """Have the tools as their sources have them now, and say so if they are others."""
        if self.holdfast.take_changes():
            self.tools_changed()

    async def watch(self) -> None:
        """Look now and then, for as long as the session is open."""
        try:
            while self.holdfast.has_changing_tools:
                if self._remarks is not None:
                    self._remarks.take(self, self.holdfast.remarks_on_sources)
                await sleep(LOOK_SECONDS)
                self.look()
        finally:
            if self._remarks is not None:
                self._remarks.forget(self)

    def tools_changed(self) -> None:
        """Say so to every client that listens; what they are told next is told anew."""
        self._tools, self._lists = {}, {}
        for listener in list(self._listeners.values()):
            listener()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have it called when the tools change; returns what ends that."""
        mark = object()
        self._listeners[mark] = listener
        return lambda: self._listeners.pop(mark, None) and None

    def stop(self) -> None:
        """No call is wanted any more."""
        self._asking.stop_all()

    def tool_list(self, caller: Caller) -> bytes:
        """All tools: what is found on demand elsewhere, clients put off themselves."""
        self.look()
        found = self._lists.get(caller.modern)
        if found is not None:
            return found
        told: JsonObject = {"tools": [*definitions(self.tools.values(), modern=caller.modern)]}
        if self.awaits_servers:
            return completed(told, caller, fresh_ms=0)
        found = self._lists[caller.modern] = completed(told, caller, fresh_ms=_TOOLS_FRESH_MS)
        return found

    @property
    def awaits_servers(self) -> bool:
        """Whether some tools are not known yet."""
        return any(one.status == "connecting" for one in self.holdfast.servers)

    async def whole_tool_list(self, caller: Caller) -> bytes:
        """All tools, also of servers that are there soon; others are told of when they come."""
        with move_on_after(PATIENCE_SECONDS):
            await self.holdfast.servers_settled()
        return self.tool_list(caller)

    async def resource_list(self, caller: Caller) -> bytes:
        """The files of the session."""
        return completed({"resources": [*await listed(self.holdfast)]}, caller, fresh_ms=0)

    async def resource(self, address: str, caller: Caller) -> bytes | Fault:
        """What one of them holds."""
        found = await contents(self.holdfast, address, modern=caller.modern)
        if isinstance(found, Fault):
            return found
        return completed({"contents": [found]}, caller, fresh_ms=0)

    def begin(self, params: CallParams, ticket: Ticket, asked: Asked) -> Call | Fault | None:
        """A new call to be settled; None: the request goes on with one that was asked for before.

        A fault: it is no call at all.
        """
        if params.name not in self.tools and not servers.is_away(
            params.name, self.holdfast.servers
        ):
            return Fault(INVALID_PARAMS, f"Unknown tool: {params.name[:200]}")
        if bytes(params.arguments)[:1] not in (b"{", b"n", b""):
            return Fault(INVALID_PARAMS, "Invalid params: arguments have to be an object")
        caller = ticket.caller
        if caller.modern and not caller.elicits and params.name in PERSON_NAMES:
            return lacks_elicitation()
        named = b""
        if caller.modern and (caller.elicits or params.state is not None):
            named = _named(params)
        if caller.modern and params.state is not None:
            return self.suspended.take_up(params.state, ticket, named, _said(params))
        brought = _said(params)
        if not isinstance(brought, dict):
            return Fault(INVALID_PARAMS, "Invalid params: inputResponses has to be an object")
        call = Call(f"mcp-{self._name}-{next(self._keys)}", ticket, named, asked, self.suspended)
        call.brought = brought
        return call

    async def settle(self, call: Call, params: CallParams) -> None:
        """Take a call to its answer. What is cancelled has none."""
        tool = self.tools.get(params.name)  # as the client knows it; it may change meanwhile
        self._asking.begin(call)
        try:
            envelope = await self.holdfast.settle(
                params.name,
                _arguments(params),
                model_call_id=call.key,
                abort=call.abort,
                progress=call.progress if call.wants_progress else None,
            )
        finally:
            self._asking.end(call)
        if self._remarks is not None and _was_unasked(envelope):
            self._remarks.once(_UNASKED.format(tool=params.name[:200]))
        structured = tool is not None and tool.output_schema is not None
        modern = call.caller.modern
        wire = await result_of(envelope, self.holdfast, structured=structured, modern=modern)
        call.finish(completed(wire, call.caller))


def _was_unasked(envelope: Envelope) -> bool:
    return envelope.failure is not None and envelope.failure.message == NOBODY_TO_ASK


def discovered(caller: Caller) -> bytes:
    """What a modern client finds."""
    told: JsonObject = {"supportedVersions": [*MODERN], "capabilities": CAPABILITIES}
    return completed(told, caller, fresh_ms=3_600_000)


def welcome(caller: Caller) -> bytes:
    """What a legacy client is greeted with."""
    server = {name: SERVER[name] for name in ("name", "version")}
    if caller.version in ("2025-11-25", "2025-06-18"):
        server = SERVER
    return encode(
        {"protocolVersion": caller.version, "capabilities": CAPABILITIES, "serverInfo": server}
    )


def completed(told: JsonObject, caller: Caller, *, fresh_ms: int | None = None) -> bytes:
    """A result as the client's era has it. ``fresh_ms``: how long it may be kept."""
    if not caller.modern:
        return encode(told)
    meta = told.get("_meta")
    told["_meta"] = {**(meta if isinstance(meta, dict) else {}), SERVER_KEY: SERVER}
    told["resultType"] = "complete"
    if fresh_ms is not None:
        told["ttlMs"], told["cacheScope"] = fresh_ms, "private"
    return encode(told)


def _arguments(params: CallParams) -> RawArguments:
    text = bytes(params.arguments)
    return None if text in (b"", b"null") else text


def _named(params: CallParams) -> bytes:
    """What exactly is called, as text: as values of Python 1, 1.0 and true are equal."""
    return encode_json([params.name, _value(params.arguments)])


def _said(params: CallParams) -> JsonValue:
    return {} if params.responses is ABSENT else _value(params.responses)


def _value(text: msgspec.Raw) -> JsonValue:
    try:
        return None if text is ABSENT else msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
