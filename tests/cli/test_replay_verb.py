"""`holdfast replay`: the recorded stream again, byte for byte, with nothing run; and --strict."""

import json
import sqlite3
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest
from cli.told import said, session_in
from command import Cli, Terminal, start
from msgspec import Raw
from record.ui_stream import read_stream

from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import journal_key, open_store
from holdfast.contract.events import (
    AgentMessage,
    ApprovalAsked,
    CallAsked,
    CallSettled,
    UserMessage,
)
from holdfast.record.stream import AnyChunk, text_of
from holdfast.surfaces.cli import replay
from holdfast.surfaces.cli.looks import PlainLook
from holdfast.surfaces.cli.retelling import Retelling
from holdfast.surfaces.cli.rich_look import RichLook
from holdfast.testing.fakes import FakeClock, FakeIds

TOOLS = '''
from pathlib import Path
from holdfast import Limits, OutputBound, tool

@tool
def add(a: int, b: int = 1) -> dict[str, int]:
    """Add two numbers. a: e.g. 1. b: e.g. 2."""
    Path(__file__).with_name("ran").touch()
    return {"sum": a + b}

@tool(limits=Limits(output=OutputBound(max_bytes=50)))
def flood(lines: int) -> str:
    """Write lines. lines: e.g. 3."""
    return "line\\n" * lines
'''


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(TOOLS, "utf-8")
    return path


@pytest.fixture
def called(cli: Cli, tools: Path) -> Path:
    """A session with one call, and the file that its body leaves when it runs."""
    assert cli("call", "add", "a=3", "b=4", "--from", str(tools)).status == 0
    ran = tools.with_name("ran")
    ran.unlink()
    return ran


ASKED = CallAsked(call_id="cal_1", tool="run", arguments='{"command": "ls"}')
SETTLED = CallSettled(
    call_id="cal_1", tool="run", envelope=Raw(b'{"ok":true,"result":{"lines":["a","b"]}}')
)
CONVERSATION = (
    UserMessage(message="What is here?"),
    said(type="reasoning-start", id="r"),
    said(type="reasoning-delta", id="r", delta="look first"),
    said(type="reasoning-end", id="r"),
    ASKED,
    SETTLED,
    said(type="text-start", id="t"),
    said(type="text-delta", id="t", delta="Two"),
    said(type="text-delta", id="t", delta=" files."),
    said(type="text-end", id="t"),
    AgentMessage(message="Two files.", summary=""),
)


@pytest.mark.req("SPEC-REC-02", "SPEC-REC-03", "SPEC-REC-15")
def test_the_stream_is_the_same_bytes_each_time_and_nothing_runs(cli: Cli, called: Path) -> None:
    first = cli("replay", "last", "--json")
    assert (first.status, first.err) == (0, "")
    time.sleep(0.01)
    assert cli("replay", "last", "--json").out == first.out
    chunks = [json.loads(line) for line in first.out.splitlines()]
    (message,) = read_stream(chunks)
    (part,) = message.parts
    assert (part["state"], part["input"]) == ("output-available", {"a": "3", "b": "4"})
    assert part["output"]["result"] == {"sum": 7}
    assert isinstance(part["output"]["metadata"]["duration_ms"], int)
    assert not called.exists()


@pytest.mark.req("SPEC-REC-03")
def test_what_was_measured_and_where_it_was_kept_is_told_as_it_was(
    cli: Cli, tools: Path, home: Path
) -> None:
    answered = cli("call", "flood", "lines=90", "--from", str(tools))
    metadata = json.loads(answered.out)["metadata"]
    Path(metadata["output_path"]).unlink()
    database = sqlite3.connect(home / "data" / "holdfast.db")
    (body,) = database.execute("SELECT body FROM events WHERE type = 'call.settled'").fetchone()
    database.close()
    out = cli("replay", "last", "--json").out
    told = next(line for line in out.splitlines() if "tool-output-available" in line)
    assert json.loads(told)["output"]["metadata"] == metadata
    envelope = body.decode().partition('"envelope":')[2][:-1]
    assert f'"output":{envelope}}}' in told


def test_server_sent_events_end_with_done(cli: Cli, called: Path) -> None:
    events = cli("replay", "last", "--sse").out.split("\n\n")
    lines = cli("replay", "last", "--json").out.splitlines()
    assert events == [*(f"data: {line}" for line in lines), "data: [DONE]", ""]


def test_people_see_messages_and_cards(cli: Cli, home: Path) -> None:
    session = session_in(home, *CONVERSATION)
    assert cli("replay", session[:6]).out.splitlines() == [
        "You",
        "---",
        "What is here?",
        "",
        "Agent",
        "-----",
        "(look first)",
        "[run] done",
        '  < {"command": "ls"}',
        '  > {"lines": ["a", "b"]}',
        "Two files.",
        "",
    ]


def test_people_see_what_has_no_end_and_what_failed(cli: Cli, home: Path) -> None:
    failed = CallSettled(
        call_id="cal_1",
        tool="run",
        envelope=Raw(
            b'{"ok":false,"kind":"timeout","message":"too \\u001b late","retryable":true}'
        ),
    )
    denied = CallSettled(
        call_id="cal_2",
        tool="rm",
        envelope=Raw(b'{"ok":false,"kind":"rejected","message":"no","retryable":false}'),
    )
    session_in(
        home,
        *(ASKED, failed),
        *(CallAsked(call_id="cal_2", tool="rm", arguments="{no json"), denied),
        CallAsked(call_id="cal_3", tool="wait", arguments="{}"),
        ApprovalAsked(
            approval_id="apr_1", call_id="cal_3", tool="wait", arguments_hash="x", reason="why"
        ),
        said(type="tool-input-start", toolCallId="cal_4", toolName="late"),
        said(type="tool-input-delta", toolCallId="cal_4", inputTextDelta="x\n" * 40),
        said(type="file", url="u", mediaType="m"),
        said(type="text-start", id="t"),
        said(type="text-delta", id="t", delta="I was about"),
        said(type="abort"),
    )
    out = cli("replay", "last").out
    assert "[run] failed" in out
    assert "  > too \\u001b late\n" in out
    assert "[rm] refused\n  < {no json\n  > no\n" in out
    assert "[wait] waiting for approval\n  < {}\n" in out
    assert "[late] being written\n" in out
    assert "  < … 28 more lines\n" in out
    assert '({"mediaType":"m","type":"file","url":"u"})\n' in out
    assert "I was about …\n" in out
    assert out.endswith("(broken off)\n\n")


def test_a_terminal_gets_panels(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    out = Terminal()
    session_in(home, *CONVERSATION)
    shown = Retelling(RichLook(out))
    plain = Retelling(PlainLook(Terminal()))

    async def main() -> None:
        clock = FakeClock()
        around = Surroundings(data_home=home / "data", state_home=home / "state")
        store = open_store(Settings(), around, clock, FakeIds())
        events = await store.journal.events("ses_told")
        await store.journal.close()
        for teller in (shown, plain):
            await replay.tell(events, 1, 0.0, teller.show)

    anyio.run(main)
    assert "╭─ run ─" in out.getvalue()
    assert "done ─╯" in out.getvalue()


@pytest.mark.parametrize("words", [(), ("--strict",)])
def test_looking_makes_nothing(cli: Cli, home: Path, words: tuple[str, ...]) -> None:
    answered = cli("replay", "last", *words)
    assert (answered.status, answered.out) == (2, "")
    assert "there is no session yet; " in answered.err
    assert list(home.iterdir()) == []


def test_it_can_begin_at_an_event(cli: Cli, home: Path) -> None:
    session_in(home, *CONVERSATION)
    whole = cli("replay", "last", "--json").out.splitlines()
    assert cli("replay", "last", "--json", "--start", "1").out.splitlines() == whole
    later = cli("replay", "last", "--json", "--start", "8").out.splitlines()
    assert read_stream(map(json.loads, later))[0].parts[-1]["text"] == "Two files."
    assert json.loads(later[0])["type"] == "start"
    assert "What is here?" not in "".join(later)
    message = whole.index(later[0])
    assert whole[message + 1 : message + 4] == later[1:4]  # it is told from its beginning
    database = sqlite3.connect(home / "data" / "holdfast.db")
    (event_id,) = database.execute("SELECT id FROM session_events WHERE sequence = 8").fetchone()
    database.close()
    assert cli("replay", "last", "--json", "--start", event_id).out.splitlines() == later
    missing = cli("replay", "last", "--start", "99")
    assert missing.status == 2
    assert (
        "--start 99: the session has no such event; give an id, or a number from 1" in missing.err
    )


def test_it_can_be_told_with_its_pauses(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def note(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(replay, "anyio", SimpleNamespace(run=anyio.run, sleep=note))
    session_in(home, *CONVERSATION)  # 1.1 seconds
    at_once = cli("replay", "last", "--json", "--speed", "0").out
    for speed, waited in ((0, 0), (2, 0.55), (100, 0.011)):
        pauses.clear()
        assert cli("replay", "last", "--json", "--speed", str(speed)).out == at_once
        assert sum(pauses) == pytest.approx(waited)


@pytest.mark.parametrize(
    ("words", "said_then"),
    [
        (("nosuch",), "there is no session nosuch; see: holdfast sessions"),
        (("last", "--json", "--sse"), "give one of them"),
        (("last", "--speed", "fast"), "it is no speed"),
        (("last", "--speed", "-1"), "it is no speed"),
        (("last", "--speed", "inf"), "it is no speed"),
        (("last", "--strict", "--sse"), "leave --sse, --speed and --start out"),
        (("last", "--from", "x.py"), "are for --strict"),
        (("last", "--set", "x"), "there is no value"),
        ((), "the following arguments are required: SESSION"),
    ],
)
def test_what_cannot_be_understood_is_told(
    cli: Cli, called: Path, words: tuple[str, ...], said_then: str
) -> None:
    answered = cli("replay", *words)
    assert answered.status == 2
    assert said_then in answered.err


def test_without_any_session_that_is_told(cli: Cli) -> None:
    answered = cli("replay", "last")
    assert (answered.status, answered.out) == (2, "")
    assert "there is no session yet" in answered.err


def test_a_damaged_journal_is_told(cli: Cli, home: Path) -> None:
    (home / "data").mkdir()
    journal_key(home / "state")
    (home / "data" / "holdfast.db").write_bytes(b"no database" * 100)
    answered = cli("replay", "last")
    assert answered.status == 1
    assert "is damaged" in answered.err


# Nothing happens.


def test_an_attempt_inside_of_a_replay_is_refused(
    cli: Cli, called: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted where every chunk passes by."""
    mark = tmp_path / "started"

    def planted(chunk: AnyChunk) -> str:
        subprocess.run(["touch", str(mark)], check=True)
        return text_of(chunk)

    monkeypatch.setattr(replay, "text_of", planted)
    answered = cli("replay", "last", "--json")
    assert answered.status == 1
    assert "a replay starts no process: subprocess.Popen was refused" in answered.err
    assert not mark.exists()


def test_plain_replay_loads_no_tool(cli: Cli, called: Path, home: Path, tools: Path) -> None:
    (home / "config.toml").write_text(f'[tools]\nfiles = ["{tools}"]\n', "utf-8")
    tools.write_text(
        "from pathlib import Path\nPath(__file__).with_name('loaded').touch()\n", "utf-8"
    )
    assert cli("replay", "last", "--json").status == 0
    assert not tools.with_name("loaded").exists()
    cli("tools")
    assert tools.with_name("loaded").exists()


def test_a_tool_file_that_starts_a_process_cannot_be_loaded_strictly(
    cli: Cli, called: Path, tools: Path
) -> None:
    tools.write_text(f"import os\nos.system('touch {called}')\n{TOOLS}", "utf-8")
    answered = cli("replay", "last", "--strict", "--from", str(tools))
    assert answered.status == 2
    assert "starts no process: os.system was refused" in answered.err
    assert not called.exists()


# Strictly.


def test_strictly_nothing_diverges_and_no_body_runs(cli: Cli, called: Path, tools: Path) -> None:
    answered = cli("replay", "last", "--strict", "--from", str(tools))
    assert (answered.status, answered.err) == (0, "")
    assert answered.out == "The same would be written down now (events: 5, calls: 1).\n"
    document = json.loads(cli("replay", "last", "--strict", "--json", "--from", str(tools)).out)
    assert document["divergence"] is None
    assert (document["events"], document["calls"], document["left_out"]) == (5, 1, [])
    assert not called.exists()


def test_strictly_a_tool_that_is_gone_is_the_first_divergence(cli: Cli, called: Path) -> None:
    answered = cli("replay", "last", "--strict")
    assert answered.status == 1
    lines = dict(line.split(maxsplit=1) for line in answered.out.splitlines()[2:])
    assert answered.out.startswith("Event 3 would be another one\n")
    assert lines["event"].startswith("evt_")
    assert (lines["kind"], lines["field"]) == ("call.intended", "$.type")
    assert (lines["before"], lines["after"]) == ("call.intended", "call.settled")
    assert lines["says"] == "There is no tool named 'add'."
    document = json.loads(cli("replay", "last", "--strict", "--json").out)
    assert document["divergence"]["sequence"] == 3


def test_strictly_a_rule_that_denies_now_is_named(
    cli: Cli, called: Path, tools: Path, home: Path
) -> None:
    (home / "policy.toml").write_text(
        '[[rule]]\npermission = "add"\npattern = "*"\naction = "deny"\n', "utf-8"
    )
    answered = cli("replay", "last", "--strict", "--from", str(tools))
    assert answered.status == 1
    assert "call.refused" in answered.out


def test_strictly_a_secret_that_is_known_now_is_named_and_not_shown(
    cli: Cli, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("call", "add", "a=hunter22", "--from", str(tools))
    monkeypatch.setenv("MY_TOKEN", "hunter22")
    answered = cli("replay", "last", "--strict", "--from", str(tools))
    assert answered.status == 1
    assert "hunter22" not in answered.out
    assert "$.arguments" in answered.out
    assert "known to be secret now" in answered.out
    monkeypatch.setenv("MY_TOKEN", "something else")
    assert cli("replay", "last", "--strict", "--from", str(tools)).status == 0


def test_strictly_what_could_not_be_asked_or_driven_is_remarked(
    cli: Cli, called: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = 'watchdog.commands=[["/bin/true"]]'
    answered = cli("replay", "last", "--strict", "--from", str(tools), "--set", program)
    assert answered.status == 0
    assert "the programs of the watchdog were not asked" in answered.err
    monkeypatch.setattr("holdfast.runtime.recorded.LONGEST_ARGUMENTS", 3)
    answered = cli("replay", "last", "--strict", "--from", str(tools))
    assert "left out: 1 call with arguments too long to be kept" in answered.err


def test_strictly_a_workspace_that_is_gone_is_told(cli: Cli, called: Path, tmp_path: Path) -> None:
    answered = cli("replay", "last", "--strict", "--workspace", str(tmp_path / "nowhere"))
    assert answered.status == 2
    assert "there is no such directory" in answered.err


def test_as_a_process_it_is_the_same(cli: Cli, called: Path, home: Path) -> None:
    for words in (("--json",), ("--sse",), ()):
        answered = start("replay", "last", *words, home=home)
        assert (answered.status, answered.err) == (0, "")
        assert answered.out == cli("replay", "last", *words).out
