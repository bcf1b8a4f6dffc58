"""The person at an editor: whether a call may run, and what a tool wants to know from them.

An answer holds for this call or for the session, never longer: editors know nothing wider. What is
not quite a yes is a no. How a turn is stopped is its own business.
"""

from collections.abc import Mapping
from functools import partial
from typing import Protocol

import msgspec
from acp import RequestError
from acp.agent.connection import AgentSideConnection
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    ClientCapabilities,
    ElicitationFormSessionMode,
    Implementation,
    PermissionOption,
    PermissionOptionKind,
    ToolCallUpdate,
)
from anyio import sleep_forever, to_thread
from pydantic import ValidationError

from holdfast.app.shown_asks import looking_without_secrets, without_secrets
from holdfast.contract.call import Ask
from holdfast.contract.errors import PolicyDenied
from holdfast.contract.person import Inquiry, Replies
from holdfast.contract.ports import Answer
from holdfast.envelope.redact import Redactor
from holdfast.policy.words import NO_ANSWERS
from holdfast.surfaces.acp.calls import Card, Content
from holdfast.surfaces.acp.diffs import file_as_it_is, wanted_changes
from holdfast.surfaces.acp.forms import form_of, message_of, replies_in
from holdfast.surfaces.acp.texts import content

_NAMES: Mapping[PermissionOptionKind, str] = {
    "allow_once": "Allow",
    "allow_always": "Always allow in this session",
    "reject_once": "Reject",
    "reject_always": "Always reject in this session",
}
"""Every kind of answer that the protocol knows."""
_LASTING = frozenset[PermissionOptionKind]({"allow_always", "reject_always"})


class Client(msgspec.Struct):
    """Who started us, as far as they said."""

    capabilities: ClientCapabilities | None = None
    info: Implementation | None = None

    @property
    def asks_in_forms(self) -> bool:
        """Whether a person there can be asked in forms."""
        told = None if self.capabilities is None else self.capabilities.elicitation
        return told is not None and told.form is not None

    @property
    def somebody(self) -> str:
        """Who answers, for the record."""
        name = "an editor" if self.info is None else self.info.title or self.info.name
        return f"somebody at {name} (ACP)"


class Turns(Protocol):
    """The session that asks, as it runs."""

    @property
    def id(self) -> str:
        """What the editor knows it by."""
        ...

    @property
    def workspace(self) -> str | None:
        """Where its files are."""
        ...

    @property
    def redactor(self) -> Redactor:
        """Takes known secrets out of what is shown."""
        ...

    async def card(self, ask: Ask) -> Card:
        """The card of the call in question, once the editor was told of it."""
        ...

    async def shown(self, call_id: str) -> Card:
        """The same, of a call of its own."""
        ...

    async def stop(self) -> None:
        """The person wants the turn to end."""
        ...


class AskedThere:
    """Asks whoever is at the editor."""

    def __init__(self, connection: AgentSideConnection, client: Client, turns: Turns) -> None:
        self._connection = connection
        self._client = client
        self._turns = turns

    async def approve(self, ask: Ask, /) -> Answer | None:
        """Whether a call may run; None: nobody is there who could say."""
        options = options_for(ask)
        card = await self._turns.card(ask)
        call = await self._call(ask, card)
        kinds: dict[str, PermissionOptionKind] = {one.option_id: one.kind for one in options}
        request = partial(
            self._connection.request_permission, session_id=self._turns.id, tool_call=call
        )
        try:
            said = await request(options=options)
        except ConnectionError:
            return await self._is_stopped()  # nobody is there any more: the run is being ended
        except RequestError:
            return None
        except ValidationError:
            return self._answer(None)
        if not isinstance(said.outcome, AllowedOutcome):
            await self._turns.stop()
            return await self._is_stopped()
        return self._answer(kinds.get(said.outcome.option_id))

    async def inquire(self, inquiry: Inquiry, /) -> Replies | None:
        """What a tool wants to know; None: they would not answer. PolicyDenied."""
        card = await self._turns.shown(inquiry.call_id)
        mode = ElicitationFormSessionMode(
            session_id=self._turns.id, tool_call_id=card.id, requested_schema=form_of(inquiry)
        )
        try:
            said = await self._connection.create_elicitation(message_of(inquiry), mode)
        except ConnectionError:
            return await self._is_stopped()
        except RequestError:
            raise PolicyDenied(NO_ANSWERS) from None
        except ValidationError:
            return None
        if not isinstance(said, AcceptElicitationResponse):
            return None
        given = {} if said.content is None else {**said.content}
        plain = {name: getattr(one, "root", one) for name, one in given.items()}
        return replies_in(inquiry, plain, self._client.somebody)

    async def _call(self, unsaid: Ask, card: Card) -> ToolCallUpdate:
        ask = without_secrets(unsaid, self._turns.redactor)
        prepared = ask.prepared
        arguments = prepared.arguments
        before = looking_without_secrets(file_as_it_is, self._turns.redactor)
        wanted = (prepared.tool.name, arguments, self._turns.workspace, before)
        card.diffs = await to_thread.run_sync(wanted_changes, *wanted)
        shown: list[Content] = [content(" ".join(ask.reason.split())), *card.diffs]
        return ToolCallUpdate(
            tool_call_id=card.id,
            status="pending",
            kind=card.kind,
            title=card.title,
            raw_input=arguments,
            content=shown,
        )

    def _answer(self, kind: PermissionOptionKind | None) -> Answer:
        return Answer(
            allowed=kind in ("allow_once", "allow_always"),
            by=self._client.somebody,
            remember="session" if kind in _LASTING else "once",
        )

    async def _is_stopped(self) -> None:
        """Wait until whoever runs the call gives it up: nothing was answered."""
        await sleep_forever()


def options_for(ask: Ask) -> list[PermissionOption]:
    """What may be answered: of the four kinds those that would do what they say."""
    return [
        PermissionOption(option_id=kind, name=name, kind=kind)
        for kind, name in _NAMES.items()
        if kind not in _LASTING or "session" in ask.offers
    ]
