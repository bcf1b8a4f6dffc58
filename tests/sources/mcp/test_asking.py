"""Questions of servers to the person behind a call."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from sources.mcp.mcp_kit import connected, ports, raw, served, settled
from sources.mcp.sdk_http import http_server

from holdfast.contract.errors import PolicyDenied
from holdfast.contract.failure import FailureKind
from holdfast.contract.person import Answers, PersonQuestion, Replies, skipped
from holdfast.runtime.abort import Abort
from holdfast.sources.mcp.elicitation import LEAVE_OUT
from holdfast.sources.mcp.servers import McpServers
from holdfast.sources.mcp.setup import Era, ServerSetup

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

Questions = Sequence[PersonQuestion]
FILLED: Answers = (("Ada",), ("36",), ("Yes",), ("Red",), (LEAVE_OUT,))


class Somebody:
    """A person who has their answers ready."""

    def __init__(self, *answers: Answers | None, seconds: float = 0) -> None:
        self._answers = list(answers)
        self._seconds = seconds
        self.asked: list[tuple[PersonQuestion, ...]] = []

    async def ask(
        self, questions: Sequence[PersonQuestion], /, *, lasting: bool = False
    ) -> Replies:
        assert not lasting
        self.asked.append(tuple(questions))
        await anyio.sleep(self._seconds)
        given = self._answers.pop(0)
        return skipped(len(questions), "ada") if given is None else Replies(answers=given, by="ada")


class Nobody:
    """Headless."""

    async def ask(
        self, questions: Sequence[PersonQuestion], /, *, lasting: bool = False
    ) -> Replies:
        raise PolicyDenied("nobody is there")


async def reply(servers: McpServers, tool: str, person: object) -> dict[str, Any]:
    answer = await settled(servers, f"raw_{tool}", {}, person=person)
    assert answer.failure is None, answer.failure
    return json.loads(cast("dict[str, str]", answer.result)["text"])


async def test_a_form_is_asked_field_by_field_and_its_answers_have_their_types(
    workspace: Path,
) -> None:
    ada = Somebody(FILLED)
    async with served(workspace, raw(workspace)) as servers:
        said = await reply(servers, "form", ada)
    assert said["action"] == "accept"
    assert said["content"] == {"name": "Ada", "age": 36, "sure": True, "color": "r"}
    (questions,) = ada.asked
    assert all(
        one.question.startswith("The MCP server raw asks: Who are you?") for one in questions
    )
    assert [choice.label for choice in questions[3].options] == ["Red"]
    assert [choice.label for choice in questions[4].options] == [LEAVE_OUT]


async def test_an_answer_that_does_not_fit_is_asked_for_once_more(workspace: Path) -> None:
    wrong: Answers = (("Ada",), ("old",), *FILLED[2:])
    async with served(workspace, raw(workspace)) as servers:
        ada = Somebody(wrong, FILLED)
        assert (await reply(servers, "form", ada))["action"] == "accept"
        assert "age is a whole number" in ada.asked[1][0].question
        assert (await reply(servers, "form", Somebody(wrong, wrong)))["action"] == "cancel"


async def test_who_would_not_answer_or_is_not_there_declines(workspace: Path) -> None:
    async with served(workspace, raw(workspace)) as servers:
        assert (await reply(servers, "form", Somebody(None)))["action"] == "decline"
        assert (await reply(servers, "form", Nobody()))["action"] == "decline"
        assert (await reply(servers, "form", None))["action"] == "decline"
        assert (await reply(servers, "nested", Somebody()))["action"] == "decline"
        assert (await reply(servers, "confirm", Somebody((("Yes",),))))["action"] == "accept"
        assert (await reply(servers, "confirm", Somebody((("maybe",),))))["action"] == "decline"
        assert "cannot be shown" in "\n".join(servers.states()[0].remarks)


async def test_an_address_is_shown_and_never_opened(workspace: Path) -> None:
    async with served(workspace, raw(workspace)) as servers:
        ada = Somebody((("Yes",),))
        assert await reply(servers, "url", ada) == {"action": "accept"}
        assert "https://example.com/pay" in ada.asked[0][0].question
        assert "(host: example.com)" in ada.asked[0][0].question
        assert (await reply(servers, "url", Somebody((("No",),))))["action"] == "decline"


async def test_time_stands_still_while_a_person_thinks(workspace: Path) -> None:
    async with served(workspace, raw(workspace, seconds=1.0)) as servers:
        said = await reply(servers, "form", Somebody(FILLED, seconds=1.5))
        assert said["action"] == "accept"


async def test_questions_of_one_call_are_bounded_and_come_one_at_a_time(workspace: Path) -> None:
    ada = Somebody(*[FILLED] * 20)
    async with served(workspace, raw(workspace)) as servers:
        await reply(servers, "many", ada)
        await reply(servers, "form", Somebody(FILLED))
    assert len(ada.asked) <= 10


async def test_nobody_is_asked_where_the_call_is_not_known(workspace: Path) -> None:
    ada, ben = Somebody(FILLED), Somebody(FILLED)
    async with served(workspace, raw(workspace, seconds=2.0)) as servers:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(settled, servers, "raw_never")
            await anyio.sleep(0.1)
            assert (await reply(servers, "form", ben))["action"] == "decline"
            tasks.cancel_scope.cancel()
        assert (await reply(servers, "form", ada))["action"] == "accept"
    assert (len(ada.asked), len(ben.asked)) == (1, 0)


async def test_a_question_ends_with_its_call(workspace: Path) -> None:
    abort = Abort()
    ada = Somebody(FILLED, seconds=3600)
    async with served(workspace, raw(workspace)) as servers:
        async with anyio.create_task_group() as tasks:

            async def give_up() -> None:
                while not ada.asked:  # noqa: ASYNC110 - a process asks
                    await anyio.sleep(0.01)
                abort.set()

            tasks.start_soon(give_up)
            answer = await settled(servers, "raw_form", {}, person=ada, abort=abort)
            assert answer.failure is not None
            assert answer.failure.kind == FailureKind.EXECUTION_ERROR
        assert (await reply(servers, "form", Somebody(FILLED)))["action"] == "accept"


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_a_server_at_an_address_asks_in_both_eras(tmp_path: Path, era: Era) -> None:
    async with (
        http_server() as url,
        connected(ports(tmp_path), ServerSetup(name="web", url=url, era=era)) as servers,
    ):
        ada = Somebody((("Ada",), ("36",)))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(settled, servers, "web_never", {"text": "beside"})
            await anyio.sleep(0.1)
            answer = await settled(servers, "web_ask", {}, person=ada)
            tasks.cancel_scope.cancel()
            assert answer.failure is None, answer.failure
            assert len(ada.asked) == 1
            assert '"name":"Ada","age":36' in str(answer.result)
