"""Questions of servers to people, put to the person behind the call that is under way.

Where nobody is there, or nobody knows which call a question belongs to, it is declined at once.
"""

from collections.abc import Callable, Collection
from contextvars import ContextVar
from typing import Any, cast

import mcp_types as types
from anyio import CancelScope
from mcp.client.context import ClientRequestContext

from holdfast.contract.errors import ToolError
from holdfast.contract.json_value import JsonObject, JsonValue, plain
from holdfast.contract.person import Person, PersonQuestion, Replies
from holdfast.sources.mcp.calls import MOST_QUESTIONS, OpenCall
from holdfast.sources.mcp.elicitation import (
    Unfit,
    UnknownForm,
    address_question,
    agreed,
    consent,
    content_of,
    form_fields,
)

CURRENT_CALL: ContextVar[OpenCall | None] = ContextVar("current_call", default=None)
"""Set in the task that does a call, and in what the SDK does on its behalf."""

_DECLINED = types.ElicitResult(action="decline")
_TRIES = 2


class Asking:
    """The server's questions."""

    def __init__(
        self,
        server: str,
        open_calls: Callable[[], Collection[OpenCall]],
        remark: Callable[[str], None],
    ) -> None:
        self._server = server
        self._open_calls = open_calls
        self._remark = remark

    async def __call__(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - the SDK names it
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult | types.ErrorData:
        """Ask the person behind the call; what comes of it."""
        call = self._call()
        if call is None or call.given_up or call.questions >= MOST_QUESTIONS:
            self._remark("it asked a person where nobody could be asked; that was declined")
            return _DECLINED
        call.questions += 1
        with CancelScope() as scope:
            call.questions_open.add(scope)
            async with call.asking:
                go_on = call.hold_deadline()
                try:
                    return await self._asked(call, params)
                except ToolError:  # nobody is there
                    return _DECLINED
                except UnknownForm as problem:
                    self._remark(f"it asked a person with a form that cannot be shown: {problem}")
                    return _DECLINED
                finally:
                    go_on()
        return types.ElicitResult(action="cancel")  # the call was given up meanwhile

    def _call(self) -> OpenCall | None:
        """The call a question belongs to: the one it came with, or the only one there is."""
        known = CURRENT_CALL.get()
        if known is not None:
            return known
        open_calls = [call for call in self._open_calls() if not call.given_up]
        return open_calls[0] if len(open_calls) == 1 else None

    async def _asked(self, call: OpenCall, params: types.ElicitRequestParams) -> types.ElicitResult:
        if isinstance(params, types.ElicitRequestURLParams):
            question = address_question(self._server, params.message, params.url)
            return _DECLINED if question is None else await self._consented(call, question)
        schema = plain(params.requested_schema)
        if isinstance(schema, dict) and not schema.get("properties"):
            return await self._consented(call, consent(self._server, params.message))
        return await self._filled(call, params.message, schema)

    async def _consented(self, call: OpenCall, question: PersonQuestion) -> types.ElicitResult:
        replies = await _ask(call, (question,))
        if replies.skipped or not agreed(replies.answers):
            return _DECLINED
        return types.ElicitResult(action="accept")

    async def _filled(self, call: OpenCall, message: str, schema: JsonValue) -> types.ElicitResult:
        for _ in range(_TRIES):
            fields = form_fields(self._server, message, schema)
            replies = await _ask(call, tuple(field.question for field in fields))
            if replies.skipped:
                return _DECLINED
            try:
                content: JsonObject = content_of(fields, replies.answers)
            except Unfit as problem:
                message = f"{message}\n(That does not fit: {problem}.)"
                continue
            return types.ElicitResult(action="accept", content=cast("Any", content))
        return types.ElicitResult(action="cancel")


async def _ask(call: OpenCall, questions: tuple[PersonQuestion, ...]) -> Replies:
    return await call.runtime.port(Person).ask(questions)
