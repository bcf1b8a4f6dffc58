"""Recorded calls settled once more: the same is found the same, and each change is named."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from app.replay_kit import (
    RAN,
    TOOLS,
    Call,
    around,
    crash,
    denying,
    diverged,
    record,
    recorded,
    strictly,
    wipe,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import Abort, Agent, Answer, Holdfast, ManifestRule, Visibility, tool
from holdfast.app.agent_settings import AgentSettings, RuleSettings
from holdfast.app.configuration import Configuration
from holdfast.app.replaying import Now, replay_strictly
from holdfast.app.settings import ProfileSettings, Settings
from holdfast.app.store import journal_key
from holdfast.contract.call import Ask
from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import JournalError
from holdfast.record.codec import Chain
from holdfast.runtime.replaying import Replayed
from holdfast.sources.intake import to_tool
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeApprover

pytestmark = pytest.mark.anyio


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


CALLS: Sequence[Call] = (
    ("add", '{"a": "3", "b": 4}'),
    ("add", {"a": 1}),
    ("add", None),
    ("add", '{"a": 1'),
    ("add", '{"a": 1'),
    ("nothing", "{}"),
    ("crash", {}),
    ("crash", {"text": "x" * 9000}),
    ("flood", {"lines": 2}),
    ("flood", {"lines": 500}),
    ("slow", {"seconds": 0}),
    ("slow", {"seconds": 5}),
    ("picture", {}),
)


@pytest.mark.req("SPEC-REC-02", "SPEC-REC-03")
async def test_nothing_diverges_where_nothing_changed_and_no_body_runs(home: Path) -> None:
    session = await record(home, CALLS)
    first = await strictly(home, session)
    assert (first.calls, first.left_out, first.divergence) == (len(CALLS), (), None)
    assert await strictly(home, session) == first


@pytest.mark.parametrize(
    "answer",
    [
        Answer(allowed=True, by="ada"),
        Answer(allowed=False, by="ada", note="not that one"),
        None,
    ],
    ids=["yes", "no", "nobody"],
)
async def test_a_person_answers_what_they_answered(home: Path, answer: Answer | None) -> None:
    session = await record(home, [("wipe", {"path": "x"})], approver=FakeApprover([answer]))
    assert (await strictly(home, session)).divergence is None


async def test_without_anybody_to_ask_it_is_refused_again(home: Path) -> None:
    session = await record(home, [("wipe", {"path": "x"}), ("add", {"a": 1})])
    assert (await strictly(home, session)).divergence is None


async def test_a_call_that_was_interrupted_at_its_question_diverges_in_nothing(home: Path) -> None:
    abort = Abort()

    async def approver(_ask: Ask, /) -> Answer | None:
        abort.set()
        return None

    async with Holdfast(
        tools=TOOLS, settings=Settings(), surroundings=around(home), approver=approver
    ) as hf:
        await hf.settle("wipe", {"path": "x"}, abort=abort)
        session = hf.session_id
    assert (await strictly(home, session)).divergence is None


async def test_a_question_that_is_still_open_diverges_in_nothing(home: Path) -> None:
    session = await record(
        home, [("wipe", {"path": "x"})], approver=FakeApprover([Answer(allowed=True, by="a")])
    )
    events = [one for one in await recorded(home, session) if one.sequence <= 3]
    assert [one.type for one in events] == ["session.created", "call.asked", "approval.asked"]
    now = Now(
        tools=[to_tool(one) for one in TOOLS],
        configuration=Configuration(settings=Settings()),
        surroundings=around(home),
        chain=Chain(journal_key(home / "state")),
    )
    assert (await replay_strictly(events, now)).divergence is None
    asked_no_more = [to_tool(one) for one in TOOLS if one is not wipe]
    found = await replay_strictly(
        events,
        Now(
            tools=asked_no_more,
            configuration=now.configuration,
            surroundings=now.surroundings,
            chain=now.chain,
        ),
    )
    assert found.divergence is not None
    assert (found.divergence.sequence, found.divergence.field) == (3, "$.type")


@tool(name="add")
def add_with_texts(a: str, b: int = 1) -> dict[str, int]:
    """Add. a: e.g. 'one'. b: e.g. 2."""
    RAN.append("other")
    return {"sum": b}


@tool(name="add")
def add_with_more(a: int, b: int, c: int) -> dict[str, int]:
    """Add. a: e.g. 1. b: e.g. 2. c: e.g. 3."""
    RAN.append("other")
    return {"sum": c}


async def test_a_changed_schema_that_repairs_otherwise_is_named(home: Path) -> None:
    session = await record(home, [("add", '{"a": "3"}')])
    found = await diverged(home, session, tools=[add_with_texts])
    assert (found.sequence, found.kind, found.field) == (3, "call.intended", "$.arguments_hash")


async def test_a_changed_schema_that_refuses_is_named_with_its_words(home: Path) -> None:
    session = await record(home, [("add", {"a": 1})])
    found = await diverged(home, session, tools=[add_with_more])
    assert (found.sequence, found.kind) == (3, "call.intended")
    assert (found.field, found.before, found.after) == ("$.type", "call.intended", "call.settled")
    assert found.says == "Missing required property: b"


async def test_a_tool_that_is_gone_is_named(home: Path) -> None:
    session = await record(home, [("add", {"a": 1})])
    found = await diverged(home, session, tools=[crash])
    assert found.says == "There is no tool named 'add'."
    hidden = Settings(profile={"bare": ProfileSettings()})
    assert (await strictly(home, session, now=hidden)).divergence is None


async def test_a_rule_that_denies_now_is_named(home: Path) -> None:
    session = await record(home, [("crash", {}), ("add", {"a": 1})])
    found = await diverged(home, session, now=denying("add"))
    assert (found.sequence, found.field) == (6, "$.type")
    assert (found.before, found.after) == ("call.intended", "call.refused")
    assert found.says is not None
    assert "not any more" in found.says


async def test_a_rule_that_allows_now_what_was_refused_is_named(home: Path) -> None:
    session = await record(home, [("add", {"a": 1})], settings=denying("add"))
    found = await diverged(home, session)
    assert (found.before, found.after) == ("call.refused", "call.intended")


def edit(home: Path, kind: str, old: str, new: str) -> None:
    connection = sqlite3.connect(home / "holdfast.db")
    changed = connection.execute(
        "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), ?, ?) AS BLOB) WHERE type = ?",
        (old, new, kind),
    )
    assert changed.rowcount
    connection.commit()
    connection.close()


async def test_an_edited_answer_is_named_by_its_hash(home: Path) -> None:
    session = await record(home, [("add", {"a": 1})])
    edit(home, "call.settled", '"sum":2', '"sum":3')
    found = await diverged(home, session)
    assert (found.sequence, found.kind, found.field) == (4, "call.settled", "$.hash")


async def test_an_edited_refusal_is_named_by_its_field(home: Path) -> None:
    session = await record(home, [("add", {"nonsense": 1})])
    edit(home, "call.settled", "Missing required", "Gladly accepted")
    found = await diverged(home, session)
    assert (found.sequence, found.field) == (3, "$.envelope.message")
    assert found.before == "Gladly accepted property: a"


async def test_an_answer_that_is_no_envelope_any_more_is_named(home: Path) -> None:
    session = await record(home, [("add", {"a": 1})])
    edit(home, "call.settled", '"ok":true', '"ok":"maybe"')
    found = await diverged(home, session)
    assert (found.sequence, found.field, found.before) == (4, "$.envelope.ok", "maybe")


async def test_a_secret_that_is_known_by_now_is_named(home: Path) -> None:
    session = await record(home, [("crash", {"text": "the password is hunter22"})])
    found = await diverged(home, session, secrets=["hunter22"])
    assert (found.sequence, found.field) == (2, "$.arguments")
    assert isinstance(found.after, str)
    assert "hunter22" not in found.after
    assert (await strictly(home, session, secrets=["other-one"])).divergence is None


async def test_a_secret_that_was_taken_out_then_is_no_difference(home: Path) -> None:
    calls = [("crash", {"text": "the password is hunter22"})]
    session = await record(home, calls, surroundings=around(home, "hunter22"))
    assert (await strictly(home, session, secrets=["hunter22"])).divergence is None
    assert (await strictly(home, session)).divergence is None


async def test_a_remark_of_the_session_that_is_gone_is_named(home: Path) -> None:
    unconfined = Settings()
    unconfined = type(unconfined)(sandbox=type(unconfined.sandbox)(confinement="unconfined"))
    session = await record(home, [("add", {"a": 1})], settings=unconfined)
    assert (await strictly(home, session, now=unconfined)).divergence is None
    found = await diverged(home, session)
    assert found.field == "$.envelope.warnings"


async def test_what_a_person_said_for_the_project_is_neither_kept_again_nor_held_against_it(
    home: Path, tmp_path: Path
) -> None:
    asking = Settings(
        profile={"bare": ProfileSettings(rules=(RuleSettings(permission="save", pattern="**"),))}
    )
    answer = Answer(allowed=True, by="ada", remember="project")
    session = await record(
        home,
        [("save", {"path": "x"}), ("save", {"path": "x"}), ("save", {"path": "y"})],
        settings=asking,
        workspace=tmp_path,
        approver=FakeApprover([answer, Answer(allowed=False, by="ada")]),
    )
    kept = {path: path.read_bytes() for path in (home / "state" / "grants").iterdir()}
    assert kept
    assert (await strictly(home, session, now=asking)).divergence is None
    assert {path: path.read_bytes() for path in (home / "state" / "grants").iterdir()} == kept
    later = await record(
        home,
        [("save", {"path": "x"})],
        settings=asking,
        workspace=tmp_path,
        approver=FakeApprover(),
    )
    assert (await strictly(home, later, now=asking)).divergence is None


async def test_arguments_that_were_too_long_to_keep_are_left_out(home: Path) -> None:
    session = await record(home, [("crash", {"text": "x" * (1 << 20)}), ("add", {"a": 1})])
    found = await strictly(home, session)
    assert (found.calls, len(found.left_out), found.divergence) == (1, 1, None)


async def test_a_recording_without_its_beginning_is_told(home: Path) -> None:
    journal = FakeJournal()
    events = await journal.create("ses_1", [UserMessage(message="hi")])
    await journal.close()
    now = Now(
        tools=(),
        configuration=Configuration(settings=Settings()),
        surroundings=around(home),
        chain=Chain(bytes(32)),
    )
    for told in ((), events):
        with pytest.raises(JournalError, match="does not begin"):
            await replay_strictly(told, now)


async def test_a_session_without_calls_diverges_in_nothing(home: Path) -> None:
    journal = FakeJournal()
    events = await journal.create("ses_1", [SessionCreated(), UserMessage(message="hi")])
    await journal.close()
    now = Now(
        tools=(),
        configuration=Configuration(settings=Settings()),
        surroundings=around(home),
        chain=Chain(bytes(32)),
    )
    assert await replay_strictly(events, now) == Replayed(calls=0)


ANSWERS = st.sampled_from(
    [None, Answer(allowed=True, by="ada"), Answer(allowed=False, by="bob", remember="session")]
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from([*CALLS, ("wipe", {"path": "x"})]), ANSWERS), max_size=6))
def test_whatever_was_recorded_is_the_same_again(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[Call, Answer | None]]
) -> None:
    home = tmp_path_factory.mktemp("home")

    async def main() -> None:
        calls = [call for call, _ in drawn if call[0] != "slow"]
        approver = FakeApprover([answer for _, answer in drawn])
        session = await record(home, [*calls, ("add", {"a": 1})], approver=approver)
        assert (await strictly(home, session)).divergence is None

    anyio.run(main)


async def test_a_session_under_an_agent_is_held_against_the_agent_of_now(
    home: Path, tmp_path: Path
) -> None:
    lib = tmp_path / "lib"
    workspace = tmp_path / "ws"
    for place in (lib, workspace):
        place.mkdir()
    deny = ManifestRule(permission="save", pattern="b.txt", action="deny")
    then = Agent(id="coder", roots=(str(lib),), rules=(deny,), tools=Visibility(deny=("wipe",)))
    calls = [
        ("save", {"path": f"{lib}/a.txt"}),
        ("save", {"path": f"{lib}/b.txt"}),
        ("wipe", {"path": "x"}),
    ]
    session = await record(home, calls, agent=then, workspace=workspace)
    assert (await strictly(home, session, agents=[then])).divergence is None
    table = AgentSettings(
        roots=(str(lib),),
        rules=(RuleSettings(permission="save", pattern="b.txt", action="deny"),),
        tools=Visibility(deny=("wipe",)),
    )
    again = await strictly(home, session, now=Settings(agent={"coder": table}))
    assert again.divergence is None, "a table that says the same is the same"
    for now in ((), [Agent(id="coder")], [Agent(id="other", roots=(str(lib),))]):
        assert (await strictly(home, session, agents=now)).divergence is not None
