"""Answers that were given for something else, too late, twice, or by somebody who meddles."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import cast

import anyio
import msgspec
import pytest
from battery.kit import Law, Person, World, ask, made, open_world, refused, tools_for
from support import make_call, make_tool

from holdfast import Answer, Ask, Holdfast
from holdfast.app.settings import ProfileSettings, Settings, Surroundings
from holdfast.contract.call import Prepared
from holdfast.contract.json_value import JsonObject
from holdfast.contract.ports import Approver
from holdfast.policy.approval import ApprovalError, ApprovalLedger
from holdfast.runtime.approvals import ApprovalDesk
from holdfast.testing.fakes import FakeClock, FakeIds

YES = Answer(allowed=True, by="ada")
ASKING = Law(manifest=(ask("*", "**"),))


def call(tool: str = "put", arguments: JsonObject | None = None, *, call_id: str = "cal_1",
         session: str = "ses_1") -> Prepared:  # fmt: skip
    given = arguments or {"path": "out/a", "paths": ["x"]}
    made_call = msgspec.structs.replace(make_call(tool, given, session=session), id=call_id)
    return Prepared(call=made_call, tool=make_tool(name=tool), values=given, checked=given)


OTHERS: tuple[tuple[str, Prepared], ...] = (
    ("arguments", call(arguments={"path": "out/b", "paths": ["x"]})),
    ("one-more", call(arguments={"path": "out/a", "paths": ["x"], "text": ""})),
    ("one-less", call(arguments={"path": "out/a"})),
    ("nested", call(arguments={"path": "out/a", "paths": ["x", "y"]})),
    ("type", call(arguments={"path": "out/a", "paths": "x"})),
    ("case", call(arguments={"path": "out/A", "paths": ["x"]})),
    ("form", call(arguments={"path": "out/\u0061\u0301", "paths": ["x"]})),
    ("call", call(call_id="cal_2")),
    ("session", call(session="ses_2")),
    ("tool", call("put_all")),
)


@pytest.mark.parametrize("other", [one[1] for one in OTHERS], ids=[one[0] for one in OTHERS])
def test_an_answer_for_another_call(other: Prepared) -> None:
    ledger, now = ApprovalLedger(), FakeClock().now()
    ledger.request(Ask(prepared=call(), reason="?"), "apr_1", now)
    ledger.answer("apr_1", "put", YES, now)
    assert ledger.use("apr_1", other, now) is None
    assert ledger.use("apr_1", call(), now) is None, "an answer that was tried out is used up"


def test_an_answer_used_twice() -> None:
    ledger, now = ApprovalLedger(), FakeClock().now()
    ledger.request(Ask(prepared=call(), reason="?"), "apr_1", now)
    ledger.answer("apr_1", "put", YES, now)
    assert ledger.use("apr_1", call(), now) == YES
    assert ledger.use("apr_1", call(), now) is None


@pytest.mark.parametrize(
    ("request_id", "tool"),
    [("apr_1", "put"), ("apr_2", "put"), ("apr_3", "put_all"), ("", ""), ("apr_1", "sh")],
)
def test_an_answer_given_twice_or_to_no_question(request_id: str, tool: str) -> None:
    ledger, now = ApprovalLedger(), FakeClock().now()
    ledger.request(Ask(prepared=call(), reason="?"), "apr_1", now)
    ledger.answer("apr_1", "put", Answer(allowed=False, by="ada"), now)
    with pytest.raises(ApprovalError):
        ledger.answer(request_id, tool, YES, now)
    assert ledger.use("apr_1", call(), now) == Answer(allowed=False, by="ada")


@pytest.mark.parametrize("late", [timedelta(minutes=10, seconds=1), timedelta(days=400)], ids=str)
def test_an_answer_that_comes_to_be_used_too_late(late: timedelta) -> None:
    ledger, now = ApprovalLedger(), FakeClock().now()
    ledger.request(Ask(prepared=call(), reason="?"), "apr_1", now)
    ledger.answer("apr_1", "put", YES, now)
    assert ledger.use("apr_1", call(), now + late) is None


def test_an_answer_to_a_question_that_was_withdrawn() -> None:
    ledger, now = ApprovalLedger(), FakeClock().now()
    ledger.request(Ask(prepared=call(), reason="?"), "apr_1", now)
    ledger.answer("apr_1", "put", YES, now)
    ledger.withdraw("apr_1")
    assert ledger.use("apr_1", call(), now) is None
    with pytest.raises(ApprovalError):
        ledger.answer("apr_1", "put", YES, now)


def opened(folder: Path, approver: Approver) -> tuple[Holdfast, list[tuple[str, object]]]:
    ran: list[tuple[str, object]] = []
    hf = Holdfast(
        tools=tools_for(ran, [{"cmd": "*"}]),
        workspace=folder,
        settings=Settings(profile={"bare": ProfileSettings(rules=tuple(ASKING.manifest))}),
        surroundings=Surroundings(data_home=folder / "data"),
        approver=approver,
    )
    return hf, ran


async def test_a_yes_to_one_of_two_questions_releases_only_that_one(tmp_path: Path) -> None:
    desk = ApprovalDesk(FakeClock(), FakeIds())
    hf, ran = opened(tmp_path, desk)
    async with hf, anyio.create_task_group() as group:
        group.start_soon(hf.settle, "put", {"path": "out/bad"})
        group.start_soon(hf.settle, "put", {"path": "out/good"})
        await anyio.wait_all_tasks_blocked()
        good = next(one for one in desk.pending if one.input == {"path": "out/good"})
        bad = next(one for one in desk.pending if one is not good)
        desk.answer(good, YES)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(ApprovalError):
            desk.answer(good, YES)
        assert [one.id for one in desk.pending] == [bad.id]
        assert ran == [("put", "out/good")]
        desk.answer(bad, Answer(allowed=False, by="ada"))
    assert ran == [("put", "out/good")]


def _rewrites(ask_: Ask) -> None:
    cast("dict[str, object]", ask_.prepared.arguments)["path"] = "/etc/passwd"


def _rewrites_values(ask_: Ask) -> None:
    cast("dict[str, object]", ask_.prepared.values)["path"] = "/etc/passwd"


def _empties(ask_: Ask) -> None:
    cast("dict[str, object]", ask_.prepared.arguments).clear()


@pytest.mark.parametrize("meddle", [_rewrites, _rewrites_values, _empties])
@pytest.mark.parametrize(
    "sent", [{"path": "out/a"}, '{"path": "out/a"}', '{"properties": {"path": "out/a"}}']
)
async def test_an_approver_that_changes_the_arguments_changes_nothing(
    tmp_path: Path, meddle: Callable[[Ask], None], sent: str | dict[str, object]
) -> None:
    async def approver(question: Ask) -> Answer:
        meddle(question)
        return YES

    hf, ran = opened(tmp_path, approver)
    async with hf:
        await hf.settle("put", sent)
    assert ran == [("put", "out/a")]


async def test_an_approver_that_changes_a_list_changes_nothing(tmp_path: Path) -> None:
    async def approver(question: Ask) -> Answer:
        paths = question.prepared.arguments["paths"]
        assert isinstance(paths, list)
        paths.append("/etc/passwd")
        return YES

    hf, ran = opened(tmp_path, approver)
    async with hf:
        await hf.settle("put_all", {"paths": ["out/a"]})
    assert ran == [("put_all", ["out/a"])]


@pytest.mark.parametrize("name", ["put", "put_all"])
async def test_a_caller_that_changes_the_arguments_after_the_question(
    tmp_path: Path, name: str
) -> None:
    path: dict[str, object] = {"path": "out/a"}
    listed = ["out/a"]
    paths: dict[str, object] = {"paths": listed}

    async def approver(_question: Ask) -> Answer:
        path["path"] = "/etc/passwd"
        listed.append("/etc/passwd")
        paths["paths"] = ["/etc/passwd"]
        return YES

    hf, ran = opened(tmp_path, approver)
    async with hf:
        await hf.settle(name, path if name == "put" else paths)
    assert ran == [(name, "out/a" if name == "put" else ["out/a"])]


@pytest.mark.parametrize(
    "answer",
    [
        True, "yes", 1, {"allowed": True, "by": "ada"}, b"yes", ("allow",),
        Answer(allowed=cast("bool", "no"), by="ada"), Answer(allowed=cast("bool", 1), by="ada"),
    ],
    ids=str,
)  # fmt: skip
async def test_what_is_no_answer_allows_nothing(tmp_path: Path, answer: object) -> None:
    async def approver(_question: Ask) -> Answer:
        return cast("Answer", answer)

    hf, ran = opened(tmp_path, approver)
    async with hf:
        assert not (await hf.settle("put", {"path": "out/a"})).ok
    assert ran == []


async def test_an_approver_that_fails_allows_nothing(tmp_path: Path) -> None:
    async def approver(_question: Ask) -> Answer:
        raise RuntimeError("the window was closed")

    hf, ran = opened(tmp_path, approver)
    async with hf:
        assert not (await hf.settle("put", {"path": "out/a"})).ok
    assert ran == []


@pytest.fixture
def once(tmp_path: Path) -> World:
    return open_world(tmp_path, ASKING, Person(YES))


async def test_a_yes_for_once_holds_once(once: World) -> None:
    assert (await made(once, "put", {"path": "out/a"})).ok
    await refused(once, "put", {"path": "out/a"})


async def test_a_yes_for_one_holds_for_no_other(once: World) -> None:
    assert (await made(once, "put", {"path": "out/a"})).ok
    await refused(once, "put", {"path": "out/b"})
    await refused(once, "put_all", {"paths": ["out/a"]})
    await refused(once, "sh", {"command": "echo > out/a"})


async def test_a_no_that_is_remembered_is_not_asked_away(tmp_path: Path) -> None:
    no = Answer(allowed=False, by="ada", remember="session")
    world = open_world(tmp_path, ASKING, Person(no, YES))
    for _ in range(2):
        assert not (await made(world, "put", {"path": "out/a"})).ok
    assert world.ran == []
    assert len(world.person.asked) == 1


async def test_a_capability_out_of_reach_is_no_question(tmp_path: Path) -> None:
    world = open_world(tmp_path, ASKING, Person(YES, YES))
    for path in ("../outside/loot", "out/away/x", "out/.git/config"):
        assert not (await made(world, "put", {"path": path})).ok
    assert world.person.asked == []
    assert world.ran == []
