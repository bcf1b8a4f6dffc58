"""Sessions as models: the client of OpenAI drives them, streams them, and goes on in them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import openai
import pytest
from agents_at_work import calls
from openai.types.chat import ChatCompletionMessageParam
from served_home import TOKEN, Served, served

from holdfast import tool
from holdfast.contract.model import ModelError, ModelReply, ModelRequest

pytestmark = pytest.mark.anyio


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy."""
    return f"deployed to {place}"


@asynccontextmanager
async def client_of(home: Served) -> AsyncGenerator[openai.AsyncOpenAI]:
    """The client as everybody uses it."""
    async with openai.AsyncOpenAI(
        api_key=TOKEN, base_url=f"{home.address}/v1", max_retries=0, timeout=10.0
    ) as client:
        yield client


def said(*texts: str) -> list[ChatCompletionMessageParam]:
    """A conversation: the user and the assistant in turns."""
    found: list[ChatCompletionMessageParam] = []
    for number, text in enumerate(texts):
        if number % 2:
            found.append({"role": "assistant", "content": text})
        else:
            found.append({"role": "user", "content": text})
    return found


async def test_a_client_of_openai_asks_a_session_and_its_tools_run(tmp_path: Path) -> None:
    turns = [calls(("bash", '{"command": "echo 42"}'), text="I look."), "It is 42."]
    async with served(tmp_path, turns) as home, client_of(home) as client:
        names = [one.id async for one in client.models.list()]
        assert names[0] == "default"
        assert (await client.models.retrieve("default")).id == "default"
        answer = await client.chat.completions.create(model="default", messages=said("What is it?"))
        (choice,) = answer.choices
        assert choice.message.content == "I look.\n\nIt is 42."
        assert choice.finish_reason == "stop"
        extra: Any = answer.model_extra
        session = extra["holdfast"]["session"]
        (call,) = (await home.get(f"/sessions/{session}/calls"))["calls"]
        assert call["envelope"]["result"]["stdout"] == "42\n"


async def test_words_are_streamed_and_come_to_the_same(tmp_path: Path) -> None:
    turns = [calls(("bash", '{"command": "true"}'), text="I look."), "It is **42**."]
    async with served(tmp_path, turns) as home, client_of(home) as client:
        stream = await client.chat.completions.create(
            model="default",
            messages=said("What is it?"),
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [one async for one in stream]
        text = "".join(one.choices[0].delta.content or "" for one in chunks if one.choices)
        assert text == "I look.\n\nIt is **42**."
        ends = [one.choices[0].finish_reason for one in chunks if one.choices]
        assert ends[-1] == "stop"
        assert set(ends[:-1]) == {None}
        assert chunks[-1].usage is not None


async def test_a_conversation_that_is_sent_again_goes_on_in_its_session(tmp_path: Path) -> None:
    async with served(tmp_path, ["Hello.", "Ada.", "New."]) as home, client_of(home) as client:
        first = await client.chat.completions.create(
            model="default", messages=said("I am Ada. Say hello.")
        )
        told = first.choices[0].message.content or ""
        talk = said("I am Ada. Say hello.", told, "Who am I?")
        second = await client.chat.completions.create(model="default", messages=talk)
        assert second.choices[0].message.content == "Ada."
        (row,) = (await home.get("/sessions"))["sessions"]
        assert row["turns"] == 2
        assert home.model.requests[-1].rows[-1].content == "Who am I?"

        other = said("I am Bob.", "Hi Bob.", "Who am I?")
        await client.chat.completions.create(model="default", messages=other)
        assert len((await home.get("/sessions"))["sessions"]) == 2
        words = str(home.model.requests[-1].rows[-1].content)
        assert "user: I am Bob.\nassistant: Hi Bob." in words
        assert words.endswith("[now]\n\nWho am I?")


async def test_a_session_can_be_named(tmp_path: Path) -> None:
    async with served(tmp_path, ["One.", "Two.", "Three."]) as home, client_of(home) as client:
        session = await home.begun("Go.")
        await home.at_rest(session)
        answer = await client.chat.completions.create(
            model="default", messages=said("More."), extra_headers={"x-holdfast-session": session}
        )
        assert answer.choices[0].message.content == "Two."
        answer = await client.chat.completions.create(
            model="default", messages=said("More."), metadata={"session": session}
        )
        assert answer.choices[0].message.content == "Three."
        assert len((await home.get("/sessions"))["sessions"]) == 1


async def test_what_the_client_asks_for_stands_before_the_words(tmp_path: Path) -> None:
    async with served(tmp_path, ["Oui."]) as home, client_of(home) as client:
        messages: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": "Answer in French."},
            {"role": "user", "content": [{"type": "text", "text": "Yes?"}]},
        ]
        await client.chat.completions.create(model="default", messages=messages)
        words = home.model.requests[-1].rows[-1].content
        assert words == "[what the application asks for]\nAnswer in French.\n\n[now]\n\nYes?"


async def test_a_session_that_waits_for_a_person_goes_on_once_it_is_answered(
    tmp_path: Path,
) -> None:
    turns = [calls(("deploy", '{"place": "north"}')), "It is there."]
    async with served(tmp_path, turns, tools=[deploy]) as home, client_of(home) as client:

        async def allow() -> None:
            with anyio.fail_after(8):
                while True:
                    found = (await home.get("/approvals"))["approvals"]
                    if found:
                        break
                    await anyio.sleep(0.02)
            name, session = found[0]["approval_id"], found[0]["session_id"]
            await home.post(f"/approvals/{name}", session_id=session, allow=True)

        async with anyio.create_task_group() as group:
            group.start_soon(allow)
            answer = await client.chat.completions.create(model="default", messages=said("Deploy."))
            assert answer.choices[0].message.content == "It is there."
            extra: Any = answer.model_extra
            assert extra["holdfast"]["waits"] is False


@pytest.mark.parametrize("stream", [True, False])
async def test_whoever_does_not_wait_for_a_person_is_told_that_the_session_does(
    tmp_path: Path, stream: bool
) -> None:
    turns = [calls(("deploy", '{"place": "north"}')), "It is there."]
    async with served(tmp_path, turns, tools=[deploy]) as home, client_of(home) as client:
        headers = {"x-holdfast-wait": "0"}
        if stream:
            told = await client.chat.completions.create(
                model="default", messages=said("Deploy."), stream=True, extra_headers=headers
            )
            text = "".join([one.choices[0].delta.content or "" async for one in told])
        else:
            answer = await client.chat.completions.create(
                model="default", messages=said("Deploy."), extra_headers=headers
            )
            text = answer.choices[0].message.content or ""
        assert "This session waits for a person" in text
        (approval,) = (await home.get("/approvals"))["approvals"]
        assert approval["session_id"] in text


async def test_a_client_that_hangs_up_stops_the_run(tmp_path: Path) -> None:
    turns = [calls(("bash", '{"command": "sleep 60"}'), text="Sleeping."), "Never."]
    async with served(tmp_path, turns) as home, client_of(home) as client:
        stream = await client.chat.completions.create(
            model="default", messages=said("Sleep."), stream=True
        )
        async for chunk in stream:
            if chunk.choices[0].delta.content == "Sleeping.":
                break
        (row,) = (await home.get("/sessions"))["sessions"]
        await home.command(row["id"])
        await stream.close()
        await home.until(row["id"], lambda row: row["reported"] == "idle")
        (stopped,) = await home.events(row["id"], "user.interrupt")
        assert stopped.get("note") is None  # it would be what to do instead


@pytest.mark.parametrize(
    ("more", "status", "words"),
    [
        ({"model": "nobody"}, 404, "there is no model 'nobody'"),
        ({"messages": []}, 400, "send 1 to"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, 400, "the last message"),
        ({"messages": [{"role": "user", "content": " "}]}, 400, "the last message"),
        ({"messages": [{"role": "nurse", "content": "x"}]}, 400, "cannot be read"),
        ({"n": 2}, 400, "one answer"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, 400, "its own tools"),
        ({"extra_headers": {"x-holdfast-session": "ses_none"}}, 404, "no session ses_none"),
        ({"extra_headers": {"x-holdfast-wait": "long"}}, 400, "a number of seconds"),
    ],
)
async def test_what_cannot_be_done_is_refused_in_the_words_of_the_form(
    tmp_path: Path, more: dict[str, Any], status: int, words: str
) -> None:
    async with served(tmp_path) as home, client_of(home) as client:
        asked: dict[str, Any] = {"model": "default", "messages": said("Hi."), **more}
        with pytest.raises(openai.APIStatusError) as raised:
            await client.chat.completions.create(**asked)
        assert raised.value.status_code == status
        assert words in raised.value.message
        assert (await home.get("/sessions"))["sessions"] == []


async def test_a_picture_is_refused_with_words(tmp_path: Path) -> None:
    async with served(tmp_path) as home, client_of(home) as client:
        picture: Any = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
        with pytest.raises(openai.BadRequestError, match="only text is taken"):
            await client.chat.completions.create(
                model="default", messages=[{"role": "user", "content": [picture]}]
            )


async def test_a_model_that_fails_is_told_as_that(tmp_path: Path) -> None:
    def fails(_request: ModelRequest) -> ModelReply:
        raise ModelError("authentication", "who are you?")

    async with served(tmp_path, [fails, fails]) as home, client_of(home) as client:
        with pytest.raises(openai.InternalServerError, match=r"who are you\?") as raised:
            await client.chat.completions.create(model="default", messages=said("Hi."))
        assert raised.value.status_code == 502
        stream = await client.chat.completions.create(
            model="default", messages=said("Hello."), stream=True
        )
        with pytest.raises(openai.APIError, match=r"who are you\?"):
            _ = [one async for one in stream]
