"""The tools that read a session's events again."""

from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from agents_at_work import calls
from outcomes_at_work import agent_of_the_till
from session_stories import Story, call, run, tell
from tool_kit import failure, result
from tools.managed.test_sessions import declared, journal_of, looking

from holdfast import ScriptedModel
from holdfast.contract.events import (
    CallAsked,
    CallSettled,
    EventsProcessed,
    ModelReplied,
    SessionCreated,
    SpanStarted,
    ToolUse,
    UserMessage,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import encode_json
from holdfast.contract.managed_events import ShellChanged

pytestmark = pytest.mark.anyio
OTHER = "ses_other"


def types(found: dict[str, Any]) -> list[str]:
    return [one["type"] for one in found["events"]]


def said(found: dict[str, Any]) -> list[str]:
    return [one["payload"]["message"] for one in found["events"]]


@pytest.mark.req("BOA-SESS-31", "BOA-SESS-32", "BOA-SESS-33")
async def test_stretches_of_events_are_read_again(workspace: Path) -> None:
    async with looking(workspace) as hf:
        properties = declared(hf, "session_get_events").input_schema["properties"]
        assert list(properties) == [
            *("session_id", "after_event_id", "before_event_id", "around_event_id"),
            *("before_limit", "after_limit", "wake_id", "include_processed", "limit", "types"),
        ]
        defaults = {name: one["default"] for name, one in properties.items() if "default" in one}
        assert defaults == {
            "before_limit": 0,
            "after_limit": 0,
            "include_processed": True,
            "limit": 20,
            "types": [],
        }
        journal = await journal_of(hf)
        await journal.create(OTHER, [SessionCreated(agent_id="looker")])
        words = [UserMessage(message=str(number)) for number in range(30)]
        made = await journal.append(OTHER, words)
        first = [event.id for event in made]
        await journal.append(OTHER, [EventsProcessed(event_ids=tuple(first[:28]))])
        await journal.append(OTHER, run("wak_1"), wake_id="wak_1")

        async def asked(**more: Any) -> dict[str, Any]:
            return await result(hf, "session_get_events", session_id=OTHER, **more)

        every = await asked()
        assert (every["session_id"], every["count"], len(every["events"])) == (OTHER, 20, 20)
        assert types(every)[-1] == "span.completed"
        messages = {"types": ["user.message"]}
        assert said(await asked(**messages)) == [str(number) for number in range(10, 30)]
        after = {"after_event_id": first[3], "before_event_id": first[7]}
        assert said(await asked(**after)) == ["4", "5", "6"]
        assert said(await asked(**after, limit=2)) == ["5", "6"]
        assert said(await asked(around_event_id=first[9])) == ["9"]
        around = {"around_event_id": first[9], "before_limit": 2, "after_limit": 1}
        assert said(await asked(**around, **after)) == ["7", "8", "9", "10"]
        assert said(await asked(**messages, include_processed=False)) == ["28", "29"]
        nobody = {"after_event_id": "evt_none", "before_event_id": "evt_none"}
        assert await asked(**nobody) == every
        assert await asked(around_event_id="evt_none") == every
        assert types(await asked(wake_id="wak_1", types=["agent.message"])) == ["agent.message"]
        assert (await asked(before_limit=-5, around_event_id=first[9]))["count"] == 1
        (shown,) = (await asked(around_event_id=first[0]))["events"]
        assert shown["processed_at"] is not None
        assert (shown["id"], shown["type"], shown["wake_id"]) == (first[0], "user.message", None)
        assert shown["created_at"] == made[0].at.isoformat()


@pytest.mark.req("BOA-SESS-34", "BOA-SESS-36")
async def test_a_trace_is_a_whole_wake_in_its_order(workspace: Path) -> None:
    async with looking(workspace) as hf:
        schema = declared(hf, "session_get_trace").input_schema
        assert schema["required"] == ["wake_id"]
        assert list(schema["properties"]) == ["wake_id", "session_id", "types", "limit"]
        journal = await journal_of(hf)
        await tell(journal, OTHER, Story())
        many = [SpanStarted(span_id=f"s{n}", span_kind="tool", name="look") for n in range(1200)]
        wake = (*run("wak_1")[:2], *many, *run("wak_1")[2:])
        written = await journal.append(OTHER, wake, wake_id="wak_1")
        await journal.append(OTHER, run("wak_2"), wake_id="wak_2")
        asked = {"wake_id": "wak_1", "session_id": OTHER}
        envelope = await hf.settle("session_get_trace", asked)
        whole: Any = envelope.result
        assert whole["count"] == len(written)
        assert (whole["session_id"], whole["wake_id"]) == (OTHER, "wak_1")
        trace = await result(hf, "session_get_trace", **asked, limit=5)
        assert [one["id"] for one in trace["events"]] == [one.id for one in written[-5:]]
        narrow = await result(hf, "session_get_trace", **asked, types=["agent.message"])
        assert types(narrow) == ["agent.message"]
        none = await result(hf, "session_get_trace", session_id=OTHER, wake_id="wak_none")
        assert (none["count"], none["events"]) == (0, [])
        refused = await failure(hf, "session_get_trace", wake_id=" ")
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "wake_id")
        assert "session_get_trace requires a non-empty wake_id" in refused.message


@pytest.mark.req("BOA-SESS-35")
async def test_a_trace_has_the_spans_of_the_wake_and_of_its_tools(workspace: Path) -> None:
    turns = [calls(("session_get_snapshot", "{}")), "Seen."]
    async with looking(workspace, model=ScriptedModel(turns)) as hf:
        child = await result(hf, "session_delegate", message="Look.")
        session = child["child_session"]["session_id"]
        ran = await result(hf, "session_run_child", session_id=session)
        wake = ran["child_session"]["last_wake_id"]
        listed = await result(hf, "session_list_traces", session_id=session)
        wake = wake or listed["traces"][0]["wake_id"]
        trace = await result(hf, "session_get_trace", session_id=session, wake_id=wake)
        spans = [
            (one["type"], one["payload"]["span_kind"], one["payload"]["name"])
            for one in trace["events"]
            if one["type"].startswith("span.")
        ]
        assert spans == [
            ("span.started", "wake", "session_run"),
            ("span.started", "tool", "session_get_snapshot"),
            ("span.completed", "tool", "session_get_snapshot"),
            ("span.completed", "wake", "session_run"),
        ]
        assert {one["wake_id"] for one in trace["events"]} == {wake}
        times = [one["created_at"] for one in trace["events"]]
        assert times == sorted(times)


@pytest.mark.req("BOA-SESS-43")
async def test_wakes_are_listed_the_newest_first(workspace: Path) -> None:
    async with looking(workspace) as hf:
        properties = declared(hf, "session_list_traces").input_schema["properties"]
        assert (list(properties), properties["limit"]["default"]) == (["session_id", "limit"], 8)
        assert (await result(hf, "session_list_traces"))["traces"] == []
        journal = await journal_of(hf)
        await tell(journal, OTHER, Story())
        many = [SpanStarted(span_id=f"s{n}", span_kind="tool", name="look") for n in range(250)]
        for number in range(10):
            more = many if number == 9 else []
            payloads = (*run(f"wak_{number}", f"Run {number}.")[:-1], *more)
            end = run(f"wak_{number}", f"Run {number}.")[-1]
            await journal.append(OTHER, [*payloads, end], wake_id=f"wak_{number}")
        found = await result(hf, "session_list_traces", session_id=OTHER)
        names = [one["wake_id"] for one in found["traces"]]
        assert names == [f"wak_{number}" for number in range(9, 1, -1)]
        second = found["traces"][1]
        assert second["event_count"] == len(run("wak_8"))
        assert second["event_types"] == list(
            dict.fromkeys(str(one.__struct_config__.tag) for one in run("wak_8"))
        )
        assert second["latest_summary"] == "Run 8. It rests."
        assert second["started_at"] <= second["updated_at"]
        some = await result(hf, "session_list_traces", session_id=OTHER, limit=2)
        assert some["traces"] == found["traces"][:2]


async def test_what_is_long_is_cut_and_answers_are_shown_as_they_are(workspace: Path) -> None:
    async with looking(workspace) as hf:
        journal = await journal_of(hf)
        await tell(journal, OTHER, Story())
        await journal.append(OTHER, [UserMessage(message="x" * 5000), *call("look", "found")])
        found = await result(hf, "session_get_events", session_id=OTHER, limit=4)
        message, asked, _, settled = found["events"]
        assert len(message["payload"]["message"]) == 2000
        assert asked["payload"]["arguments"] == '{"path":"src"}'
        assert settled["payload"]["envelope"]["result"] == {"text": "found"}
        assert "type" not in settled["payload"]


async def test_no_value_of_a_variable_is_ever_shown(workspace: Path) -> None:
    secret = "hunter2-hunter2"
    sets = {"key": "TOKEN", "value": secret}
    async with looking(workspace) as hf:
        journal = await journal_of(hf)
        await tell(journal, OTHER, Story())
        used = ToolUse(
            tool_name="shell_set_env",
            ownership="managed",
            permission_policy="always_allow",
            input={**sets},
        )
        odd = msgspec.structs.replace(used, input=[secret])
        arguments = msgspec.json.encode(sets).decode()
        asked = CallAsked(call_id="cal_1", tool="shell_set_env", arguments=arguments)
        broken = CallAsked(call_id="cal_2", tool="shell_set_env", arguments=f"{{{secret}")
        changed = ShellChanged(set_env=(("TOKEN", secret),), unset_env=("OLD",))
        await journal.append(OTHER, [used, asked, broken, changed])
        found = await result(hf, "session_get_events", session_id=OTHER, limit=4)
        assert secret not in str(found)
        first, second, third, last = [one["payload"] for one in found["events"]]
        assert first["input"] == second["arguments"] == {"key": "TOKEN", "value": "(not shown)"}
        assert third["arguments"] == "(not shown)"
        assert (last["set_env"], last["unset_env"]) == (["TOKEN"], ["OLD"])
        await journal.append(OTHER, [odd])
        again = await result(hf, "session_get_events", session_id=OTHER, limit=1)
        assert again["events"][0]["payload"]["input"] == "(not shown)"


async def test_what_another_one_settled_is_kept_whole(workspace: Path) -> None:
    async with looking(workspace) as hf:
        found = await result(hf, "session_get_snapshot")
        events = await (await journal_of(hf)).events(hf.session_id)
        (settled,) = [one.payload for one in events if isinstance(one.payload, CallSettled)]
        shown = await result(hf, "session_get_events", types=["call.settled"])
        (event,) = shown["events"]
        assert event["payload"]["call_id"] == settled.call_id
        assert event["payload"]["envelope"]["result"]["session_id"] == found["session_id"]


@pytest.mark.parametrize(
    "arguments",
    [
        '{"key": "TILL", "value": "zebra-till-123"}',
        '{"arguments": {"key": "TILL", "value": "zebra-till-123"}}',
        '{"key": "TILL", "Value": "zebra-till-123"}',
    ],
)
async def test_what_an_agent_sets_a_variable_to_is_told_and_found_nowhere(
    tmp_path: Path, arguments: str
) -> None:
    turns = [calls(("shell_set_env", arguments), text="I set it."), "Done."]
    async with agent_of_the_till(tmp_path, turns) as desk:
        await desk.told("Go.")
        hf = desk.holdfast
        wake = next(one.wake_id for one in await desk.events() if one.wake_id)
        every = {"include_current": True, "query": "zebra till"}
        told = [
            await hf.settle("session_get_events", {"limit": 200}),
            await hf.settle("session_get_trace", {"wake_id": wake}),
            await hf.settle("session_search_traces", every),
            await hf.settle("session_search_context", every),
            await hf.settle("session_list_traces", {}),
        ]
        for one in told:
            assert one.ok, one.failure
            assert "zebra" not in encode_json(one.result).decode().replace('"zebra till"', "")
        shown = [one for one in cast("Any", told[0].result)["events"] if "calls" in str(one)]
        assert any("shell_set_env" in str(one) and "(not shown)" in str(one) for one in shown)


async def test_a_reply_in_a_form_of_anothers_is_shown_as_it_is(workspace: Path) -> None:
    replies: list[Any] = ["said", {"calls": "none"}, {"calls": ["x", {"name": "look"}]}]
    async with looking(workspace) as hf:
        said = [ModelReplied(request_id="m", reply=one) for one in replies]
        await (await journal_of(hf)).append(hf.session_id, said)
        told = await result(hf, "session_get_events", types=["model.replied"])
        assert [one["payload"]["reply"] for one in told["events"]] == replies


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("session_list", {"active_minutes": 10**12}),
        ("session_list", {"active_minutes": 10**30}),
        ("session_list", {"limit": 10**30}),
        ("session_list_children", {"active_minutes": 10**12}),
        ("session_get_trace", {"wake_id": "wak_1", "limit": 10**30}),
        ("session_get_events", {"limit": 10**12}),
        ("session_get_events", {"before_limit": 10**30}),
        ("session_get_events", {"after_limit": 10**12}),
    ],
)
async def test_absurd_numbers_are_refused(
    workspace: Path, tool: str, arguments: dict[str, Any]
) -> None:
    async with looking(workspace) as hf:
        assert (await failure(hf, tool, **arguments)).kind == FailureKind.INVALID_ARGS
