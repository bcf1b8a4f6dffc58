"""The calls of one reply: what ends them, what refuses them, and which of them overlap."""

from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest
from agents_at_work import Desk, at_work, calls

from holdfast import Answer, Replies, tool
from holdfast.contract.chunks import ToolResultChunk
from holdfast.contract.events import CallIntended, CallSettled, ModelRequested

pytestmark = pytest.mark.anyio

RAN: list[str] = []
INSIDE: list[str] = []
OVERLAPS: list[frozenset[str]] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    for one in (RAN, INSIDE, OVERLAPS):
        one.clear()


@tool(parallel_safe=True, resource_key=lambda values: (str(values["path"]),))
async def put(path: str, text: str) -> str:
    """Write a text to a path, and let others go on meanwhile."""
    INSIDE.append(f"{path} {text}")
    OVERLAPS.append(frozenset(INSIDE))
    for _ in range(20):
        await anyio.lowlevel.checkpoint()
    INSIDE.remove(f"{path} {text}")
    RAN.append(f"{path} {text}")
    return text


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy to a place."""
    RAN.append(place)
    return f"deployed to {place}"


@tool
def prepare(place: str) -> str:
    """Prepare a place."""
    RAN.append(f"prepare {place}")
    return "prepared"


def putting(path: str, text: str) -> tuple[str, str]:
    return "put", f'{{"path": "{path}", "text": "{text}"}}'


def at(name: str, place: str) -> tuple[str, str]:
    return name, f'{{"place": "{place}"}}'


DONE = ("complete", '{"summary": "Both files are written as they were asked for."}')
CLARIFY = ("clarify", '{"question": "Which one?", "options": ["This", "That"]}')


async def answers(desk: Desk) -> dict[str, str]:
    """What the calls were answered, by the names that the model gave them."""
    asked = {one.call_id: one for one in await desk.payloads(CallSettled)}
    rows = [row for row in desk.rows() if isinstance(row, ToolResultChunk)] if asked else []
    return {row.tool_call_id: row.content for row in rows}


@pytest.mark.req("OSA-DRV-05")
async def test_writes_to_one_path_come_one_after_the_other_in_the_models_order(
    tmp_path: Path,
) -> None:
    """Those to different paths overlap, so that this is no matter of luck."""
    asked = calls(
        *(putting("a", "1"), putting("b", "2"), putting("a", "3"), putting("c", "4")),
        putting("a", "5"),
    )
    async with at_work(tmp_path, [asked, "done"], tools=[put]) as desk:
        await desk.told("Go.")
        told = await answers(desk)
    assert max(map(len, OVERLAPS)) == 2
    assert all(len({one.split()[0] for one in together}) == len(together) for together in OVERLAPS)
    assert [one for one in RAN if one.startswith("a")] == ["a 1", "a 3", "a 5"]
    assert list(told) == ["c1", "c2", "c3", "c4", "c5"]
    assert [str(number) in told[f"c{number}"] for number in range(1, 6)] == [True] * 5


@pytest.mark.req("OSA-DRV-05")
async def test_two_writes_of_one_file_leave_what_the_model_wrote_last(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    asked = calls(
        ("write", '{"path": "a.txt", "content": "one two"}'),
        ("edit", '{"path": "a.txt", "old_string": "one", "new_string": "three"}'),
        ("edit", '{"path": "a.txt", "old_string": "three two", "new_string": "four"}'),
    )
    options: dict[str, Any] = {"profile": "locked", "workspace": work}
    async with at_work(tmp_path, [asked, "done"], **options) as desk:
        await desk.told("Go.")
        for question in await desk.holdfast.questions():
            await desk.session.answer(question, Answer(allowed=True, by="ada"))
            await desk.told()
        settled = [bytes(one.envelope) for one in await desk.payloads(CallSettled)]
        assert [b'"ok":true' in one for one in settled] == [True] * 3, settled
    assert (work / "a.txt").read_text("utf-8") == "four"


@pytest.mark.req("OSA-DRV-06")
@pytest.mark.parametrize("managed", [False, True])
@pytest.mark.parametrize("last", [DONE, CLARIFY])
async def test_a_turn_that_may_end_runs_serially_and_stops_at_that_call(
    tmp_path: Path, last: tuple[str, str], managed: bool
) -> None:
    async def replying(_inquiry: object) -> Replies:
        RAN.append("asked")
        return Replies(answers=(("This",),), by="ada")

    asked = calls(putting("a", "1"), putting("b", "2"), last, putting("c", "3"))
    options: dict[str, Any] = {"profile": "host", "workspace": tmp_path, "person": replying}
    equipment = {"managed": managed}
    async with at_work(
        tmp_path, [asked, "This one."], tools=[put], equipment=equipment, **options
    ) as desk:
        await desk.told("Go.")
        assert max(map(len, OVERLAPS)) == 1, "calls overlapped although one may end the turn"
        ended = last[0] == "complete"
        assert ["a 1", "b 2", *([] if ended else ["asked"])] == RAN
        said = [bytes(one.envelope).decode() for one in await desk.payloads(CallSettled)]
        assert ['"ok":true' in one for one in said] == [True, True, True, False]
        assert '"kind":"rejected"' in said[3]
        assert f"'{last[0]}' before it in the same reply ended the turn" in said[3]
        assert len(await desk.payloads(ModelRequested)) == (1 if ended else 2)
        assert desk.session.last is not None
        assert desk.session.last.response == (
            "Both files are written as they were asked for." if ended else "This one."
        )


async def test_calls_overlap_where_none_may_end_the_turn(tmp_path: Path) -> None:
    asked = calls(putting("a", "1"), putting("b", "2"))
    async with at_work(tmp_path, [asked, "done"], tools=[put]) as desk:
        await desk.told("Go.")
    assert max(map(len, OVERLAPS)) == 2


@pytest.mark.parametrize("behind", [True, False])
async def test_a_call_that_would_end_the_turn_and_fails_ends_nothing(
    tmp_path: Path, behind: bool
) -> None:
    short = ("complete", '{"summary": "ok"}')
    asked = calls(short, *([putting("a", "1")] if behind else []))
    options: dict[str, Any] = {"profile": "host", "workspace": tmp_path}
    async with at_work(tmp_path, [asked, "done"], tools=[put], **options) as desk:
        await desk.told("Go.")
        assert (["a 1"] if behind else []) == RAN
        assert len(desk.model.requests) == 2


async def test_one_by_one_a_denial_skips_the_rest(tmp_path: Path) -> None:
    """An agent of the managed kind is asked about a call when its turn comes, and not before."""
    four = calls(
        *(at("prepare", "north"), at("deploy", "north"), at("deploy", "south")),
        at("prepare", "south"),
    )
    tools = [deploy, prepare]
    async with at_work(
        tmp_path, [four, "I see."], tools=tools, equipment={"managed": True}
    ) as desk:
        await desk.told("Go.")
        (first,) = await desk.holdfast.questions()
        assert RAN == ["prepare north"]
        await desk.session.answer(first, Answer(allowed=True, by="ada"))
        await desk.told()
        (second,) = await desk.holdfast.questions()
        assert second.call_id != first.call_id
        assert RAN == ["prepare north", "north"]
        await desk.session.answer(second, Answer(allowed=False, by="ada"))
        await desk.told()
        assert RAN == ["prepare north", "north"]
        assert len(await desk.payloads(CallIntended)) == 2
        told = await answers(desk)
        assert list(told) == ["c1", "c2", "c3", "c4"]
        assert "deployed to north" in told["c2"]
        assert '"user_denied"' in told["c3"]
        assert '"rejected"' in told["c4"]
        assert "a person refused one before it" in told["c4"]
