"""What a run tells, as lines that programs read."""

import json
from pathlib import Path

import pytest
from agents_at_work import at_work, calls
from hypothesis import given
from hypothesis import strategies as st

from holdfast import Runtime, tool
from holdfast.agent.place import Live, Sign
from holdfast.app.telling import UnreadableLine, told_in, told_json
from holdfast.contract.events import Event
from holdfast.contract.model import CallDelta, ReasoningDelta, TextDelta
from holdfast.contract.runtime import Progress
from holdfast.record.export import event_line

pytestmark = pytest.mark.anyio
TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
SIGNS = st.builds(
    Progress,
    message=st.none() | TEXT,
    done=NUMBERS,
    total=NUMBERS,
    partial=st.none() | st.lists(TEXT) | st.dictionaries(TEXT, st.booleans()),
)
LIVE = st.one_of(
    st.builds(TextDelta, TEXT),
    st.builds(ReasoningDelta, TEXT),
    st.builds(CallDelta, index=st.integers(0, 99), id=TEXT, name=TEXT, arguments=TEXT),
    st.builds(Sign, call_id=TEXT, progress=SIGNS),
)


@tool
async def work(rt: Runtime) -> str:
    """Work."""
    rt.progress(Progress(message="half", done=1.0, total=2.0))
    return "worked"


async def test_everything_that_a_run_tells_is_a_line_and_comes_back(tmp_path: Path) -> None:
    async with at_work(
        tmp_path, [calls(("work", "{}"), text="Now."), "Done."], tools=[work]
    ) as desk:
        told = [one async for one in desk.session.run("go")]
    lines = [told_json(one) for one in told]
    for one, line in zip(told, lines, strict=True):
        assert b"\n" not in line
        back = told_in(line, desk.session.id)
        assert told_json(back) == line
        assert back == one if not isinstance(one, Event) else back.id == one.id  # type: ignore[union-attr] - it is one
    kinds = [json.loads(line)["type"] for line in lines]
    assert {"user.message", "live.text", "live.call", "live.progress", "call.settled"} <= {*kinds}
    events = [one for one in told if isinstance(one, Event)]
    assert [line for line in lines if not line.startswith(b'{"type":"live.')] == [
        event_line(one) for one in events
    ]


def test_the_form_of_what_is_told_live_is_this() -> None:
    sign = Sign(call_id="cal_1", progress=Progress(message="half", done=1.0, total=2.0))
    assert [
        told_json(one).decode()
        for one in (
            TextDelta("a"),
            ReasoningDelta("b"),
            CallDelta(index=0, id="c", name="n", arguments="{"),
            sign,
            Sign(call_id="cal_2", progress=Progress(partial=[1])),
        )
    ] == [
        '{"type":"live.text","text":"a"}',
        '{"type":"live.reasoning","text":"b"}',
        '{"type":"live.call","index":0,"id":"c","name":"n","arguments":"{"}',
        '{"type":"live.progress","call_id":"cal_1","message":"half","done":1.0,"total":2.0}',
        '{"type":"live.progress","call_id":"cal_2","partial":[1]}',
    ]


@given(LIVE)
def test_whatever_is_told_live_comes_back(live: Live) -> None:
    assert told_in(told_json(live), "ses_1") == live


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"type":""}',
        b'{"type":"live.unheard_of"}',
        b'{"type":"live.text"}',
        b'{"type":"unheard.of","id":"e","sequence":1,"version":1,"created_at":"2026-01-01T00:00:00Z"}',
        b'{"type":"user.message"}',
        b"[" * 100_000,
    ],
)
def test_a_line_that_nobody_told_is_said_to_be_none(line: bytes) -> None:
    with pytest.raises(UnreadableLine):
        told_in(line, "ses_1")
