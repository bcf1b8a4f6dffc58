"""`holdfast sessions`: listed, shown, searched; the words it does not take."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from cli.stored_sessions import ASKED, TALK, answered, in_store, made
from command import Cli
from msgspec import Raw

from holdfast.app.holders import this_process
from holdfast.app.store import journal_key
from holdfast.contract import events
from holdfast.record.store import Store

RUN = 'bash {"command":"make test"}'
HELD = events.ApprovalAsked(
    approval_id="apr_1", call_id="cal_1", tool="bash", arguments_hash="ab", reason="why"
)


def ids(cli: Cli, *words: str) -> list[str]:
    answered = cli("sessions", *words, "--json")
    assert (answered.status, answered.err) == (0, "")
    return [one["id"] for one in json.loads(answered.out)["sessions"]]


@pytest.mark.parametrize(
    ("words", "out"),
    [
        ((), "There is no session yet.\n"),
        (("list", "--json"), '{\n  "sessions": []\n}\n'),
        (("search", "x"), "There is no session yet.\n"),
        (("search", "x", "--json"), ""),
    ],
)
def test_without_a_store_there_is_no_session_and_none_is_made(
    cli: Cli, home: Path, words: tuple[str, ...], out: str
) -> None:
    answered = cli("sessions", *words)
    assert answered == (0, out, "")
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        *(("show", "last"), ("events", "x"), ("export", "x"), ("rebuild", "x")),
        *(("delete", "x", "--yes"), ("search", "w", "--session", "x")),
    ],
)
def test_one_that_is_wanted_is_not_there(cli: Cli, home: Path, words: tuple[str, ...]) -> None:
    answered = cli("sessions", *words)
    assert answered.status == 2
    assert answered.err.startswith("holdfast: there is no session yet; ")
    assert json.loads(cli("sessions", *words, "--json").out)["error"] in answered.err
    assert list(home.iterdir()) == []


def test_people_see_a_table_the_last_active_first(cli: Cli, home: Path) -> None:
    made(home, "ses_1")
    made(home, "ses_2", [events.SessionCreated(), ASKED, HELD])
    answered = cli("sessions")
    assert (answered.status, answered.err) == (0, "")
    heading, second, first = (line.split("  ") for line in answered.out.splitlines())
    assert [cell.strip() for cell in heading if cell.strip()] == [
        *("SESSION", "AGENT", "STATUS", "LAST ACTIVE (UTC)", "EVENTS", "OPEN CALLS", "TITLE"),
    ]
    told = [cell.strip() for cell in first if cell.strip()]
    assert [*told[:3], *told[4:]] == ["ses_1", "coder", "retrying", "5", "0", "Fix the flaky test"]
    told = [cell.strip() for cell in second if cell.strip()]
    assert [*told[:3], *told[4:]] == ["ses_2", "-", "waiting_on_approval", "3", "1", RUN]
    assert cli("session", "list").out == answered.out


def test_sessions_without_a_title_are_told_apart_by_where_and_what(cli: Cli, home: Path) -> None:
    place = events.SessionCreated(workspace="/srv/shop")
    made(home, "ses_1", [place, ASKED])
    made(home, "ses_2", [place])
    made(home, "ses_3", [events.SessionCreated()])
    made(home, "ses_4", [place, events.UserMessage(message="Hello"), ASKED])
    made(home, "ses_5", [place, *[events.UserInterrupt()] * 20, ASKED])
    rows = cli("sessions").out.splitlines()[1:]
    titles = {row.split()[0]: row.split("  ")[-1].strip() for row in rows}
    assert titles == {
        "ses_1": f"shop: {RUN}",
        "ses_2": "shop",
        "ses_3": "-",
        "ses_4": "Hello",
        "ses_5": "shop",  # no more than its beginning is looked at
    }
    assert all(
        one["title"] != "shop" for one in json.loads(cli("sessions", "--json").out)["sessions"]
    )


def test_one_whose_events_cannot_be_read_is_listed_all_the_same(cli: Cli, home: Path) -> None:
    made(home, "ses_1", [events.SessionCreated(workspace="/ws"), ASKED])
    database = sqlite3.connect(home / "data" / "holdfast.db")
    database.execute("UPDATE events SET body = 'x'")
    database.commit()
    database.close()
    answered = cli("sessions")
    assert answered.status == 0
    assert answered.out.splitlines()[1].endswith("  ws")


@pytest.mark.parametrize(
    "words",
    [
        *(("list",), ("show", "x"), ("events", "x"), ("trace", "x"), ("search", "x")),
        *(("questions",), ("answer", "x", "--deny"), ("export", "x")),
        *(("delete", "x", "--yes"), ("rebuild", "x")),
    ],
)
@pytest.mark.parametrize(
    ("kind", "said"), [("none", "store.kind is none"), ("postgres", "store.url is missing")]
)
def test_a_configuration_without_a_store_is_no_failure_but_a_wrong_one(
    cli: Cli, home: Path, words: tuple[str, ...], kind: str, said: str
) -> None:
    made(home, "ses_1")
    answered = cli("sessions", *words, "--set", f"store.kind={kind}")
    assert (answered.status, answered.out) == (2, "")
    assert said in answered.err


def test_settings_and_a_project_can_be_named(cli: Cli, home: Path, tmp_path: Path) -> None:
    made(home, "ses_1")
    assert cli("sessions", "--workspace", str(tmp_path)).out == cli("sessions").out
    answered = cli("sessions", "show", "last", "--workspace", str(tmp_path / "gone"))
    assert (answered.status, "there is no such directory" in answered.err) == (2, True)


def test_which_are_listed_can_be_chosen(cli: Cli, home: Path) -> None:
    made(home, "ses_1")
    made(home, "ses_2", [events.SessionCreated(parent_id="ses_1")])
    made(home, "ses_3", [events.SessionCreated(), events.SessionClosed(reason="done")])
    assert ids(cli) == ["ses_3", "ses_2", "ses_1"]
    assert ids(cli, "--agent", "coder") == ["ses_1"]
    assert ids(cli, "list", "--parent", "ses_1") == ["ses_2"]
    assert ids(cli, "--status", "retrying") == ["ses_1"]
    assert ids(cli, "--status", "idle") == ["ses_3", "ses_2"]
    assert ids(cli, "--status", "terminated") == ["ses_3"]
    assert cli("sessions", "--status", "error").out == "No session fits.\n"


def test_how_many_are_left_out_is_told(cli: Cli, home: Path) -> None:
    for number in range(3):
        made(home, f"ses_{number}")
    answered = cli("sessions", "--limit", "1", "--json")
    assert [one["id"] for one in json.loads(answered.out)["sessions"]] == ["ses_2"]
    assert answered.err == "holdfast: 2 more; give --limit 3 to see all\n"


def test_one_is_shown_with_its_conversation(cli: Cli, home: Path) -> None:
    made(home, "ses_1")
    answered = cli("sessions", "show", "ses")
    assert (answered.status, answered.err) == (0, "")
    head, user, agent = answered.out.split("\n\n")
    fields = dict(line.split("  ", 1) for line in head.splitlines()[2:])
    shown = {name: value.strip() for name, value in fields.items()}
    assert head.startswith("ses_1\n-----\n")
    assert (shown["title"], shown["agent"]) == ("Fix the flaky test", "coder")
    assert (shown["profile"], shown["workspace"], shown["status"]) == ("code", "-", "retrying")
    assert (shown["events"], shown["turns"], shown["usage"]) == ("5", "0", "-")
    assert shown["run by"] == "nobody"
    assert "open questions" not in shown
    assert user.splitlines()[0].startswith("user, 20")
    assert user.splitlines()[1:] == ["  Fix the flaky test", "  please"]
    assert agent.splitlines()[0].startswith("assistant, 20")
    card, *text = agent.splitlines()[1:]
    assert card == '  > bash {"command":"make test"}  [failed, 0.0 s]: the tests took too long'
    assert text == [*(f"  line {n}" for n in range(8)), "  … 4 more lines; see all with --full"]
    whole = cli("sessions", "show", "last", "--full").out
    assert whole.endswith("  line 10\n  line 11\n")


def result_shown(cli: Cli, *words: str) -> list[str]:
    card, *result = cli("sessions", "show", "last", *words).out.split("\n\n")[1].splitlines()[1:]
    assert card.startswith("  > bash {}  [done, ")
    return result


@pytest.mark.parametrize(
    ("result", "folded", "full"),
    [
        (b"3", ["3"], ["3"]),
        (b"null", ["null"], ["null"]),
        (b'""', ['""'], ['""']),
        (b'"one\\ntwo"', ["one", "two"], ["one", "two"]),
        (b'{"sum":4}', ['{"sum":4}'], ["{", '  "sum": 4', "}"]),
        (
            b'"1\\n2\\n3\\n4\\n5\\n6"',
            ["1", "2", "3", "4", "… 2 more lines; see all with --full"],
            ["1", "2", "3", "4", "5", "6"],
        ),
        (b'"%s"' % (b"x" * 300), ["x" * 199 + "…"], ["x" * 300]),
    ],
)
def test_what_a_call_brought_is_shown_below_it(
    cli: Cli, home: Path, result: bytes, folded: list[str], full: list[str]
) -> None:
    made(home, "ses_1", [events.SessionCreated(), *answered(result)])
    assert result_shown(cli) == [f"    {line}" for line in folded]
    assert result_shown(cli, "--full") == [f"    {line}" for line in full]


def test_what_a_call_was_given_and_why_it_failed_is_shown_whole(cli: Cli, home: Path) -> None:
    long = "x" * 300
    asked = events.CallAsked(call_id="c", tool="x", arguments=f'{{"a":"{long}"}}')
    envelope = Raw(f'{{"ok":false,"message":"{long}"}}'.encode())
    settled = events.CallSettled(call_id="c", tool="x", envelope=envelope)
    made(home, "ses_1", [events.SessionCreated(), asked, settled])
    assert long not in cli("sessions", "show", "last").out
    assert cli("sessions", "show", "last", "--full").out.count(long) == 2


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ([], "[unfinished]"),
        ([HELD], "[waiting for approval]"),
        (
            [
                HELD,
                events.ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=True, by="a"),
            ],
            "[unfinished]",
        ),
    ],
)
def test_how_far_a_call_came_is_said_in_words(
    cli: Cli, home: Path, more: list[events.Payload], shown: str
) -> None:
    made(home, "ses_1", [events.SessionCreated(), ASKED, *more])
    assert f'> bash {{"command":"make test"}}  {shown}\n' in cli("sessions", "show", "last").out


def test_who_runs_it_and_what_it_waits_for_is_shown(cli: Cli, home: Path) -> None:
    use: dict[str, Any] = {"request_id": "req_1", "tool_name": "deploy", "input": None}
    waits = [events.ToolUse(**use, ownership="m", permission_policy="p")]
    usage = events.ModelReplied(request_id="m", reply=None, usage={"input": 1234})
    child = events.SessionCreated(parent_id="ses_0")
    made(home, "ses_1", [child, ASKED, HELD, *waits, events.CustomToolUse(**use), usage])

    async def leased(store: Store) -> None:
        await store.journal.lease("ses_1", this_process(), 60)

    in_store(home, leased)
    shown = cli("sessions", "show", "ses_1").out
    assert f"  {this_process()}\n" in shown
    assert "cal_1 (waiting)\n" in shown
    assert "may cal_1 run? (apr_1); may deploy run? (req_1); what did deploy give? (req_1)" in shown
    assert "input 1,234\n" in shown
    assert "ses_0\n" in shown


@pytest.mark.parametrize(
    ("holder", "seconds", "said"), [("", 60, "gone"), ("elsewhere/1-1", -1, "late")]
)
def test_a_holder_that_does_nothing_any_more_is_told(
    cli: Cli, home: Path, holder: str, seconds: int, said: str
) -> None:
    made(home, "ses_1")
    gone = holder or f"{this_process().rpartition('/')[0]}/1-99999999999"

    async def leased(store: Store) -> None:
        await store.journal.lease("ses_1", gone, seconds)

    in_store(home, leased)
    assert f"{gone} ({said})\n" in cli("sessions", "show", "ses_1").out


def test_programs_get_everything_as_one_document(cli: Cli, home: Path) -> None:
    made(home, "ses_1")
    told = json.loads(cli("sessions", "show", "last", "--json").out)
    assert (told["id"], told["status"], told["reported"]) == ("ses_1", "rescheduling", "retrying")
    assert (told["open_calls"], told["lease"], told["usage"]) == (0, None, {"turns": 0})
    assert [one["role"] for one in told["messages"]] == ["user", "assistant"]
    call = told["messages"][1]["parts"][0]
    assert (call["tool_state"], call["tool_call_id"]) == ("output-error", "cal_1")
    assert call["data"]["input"] == {"command": "make test"}


def test_nothing_steers_the_terminal(cli: Cli, home: Path) -> None:
    said = events.UserMessage(message="\x1b[31mred")
    asked = events.CallAsked(call_id="c", tool="x", arguments="\x1b")
    made(home, "ses_1", [events.SessionCreated(agent_id="\x1b"), said, asked])
    for words in ((), ("show", "last"), ("show", "last", "--full"), ("events", "last")):
        answered = cli("sessions", *words)
        assert answered.status == 0
        assert "\x1b" not in answered.out
    assert "\x1b" not in cli("sessions", "search", "red").out


def test_words_are_found(cli: Cli, home: Path) -> None:
    made(home, "ses_1")
    made(home, "ses_2", TALK[:2])
    answered = cli("sessions", "search", "flaky", "test")
    assert (answered.status, answered.err) == (0, "")
    assert sorted(line.split()[:2] for line in answered.out.splitlines()[1:]) == [
        ["ses_1", "2"],
        ["ses_2", "2"],
    ]
    assert "Fix the [flaky] [test] please" in answered.out
    lines = cli("sessions", "search", "flaky", "--session", "ses_2", "--json").out.splitlines()
    (found,) = map(json.loads, lines)
    assert (found["session_id"], found["sequence"], found["type"]) == ("ses_2", 2, "user.message")
    assert found["at"].endswith("Z")
    assert len(cli("sessions", "search", "flaky", "--limit", "1").out.splitlines()) == 2
    assert cli("sessions", "search", "nowhere").out == "Nothing holds all these words.\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show",), "which? write: holdfast sessions show ID"),
        (("import",), "which? write: holdfast sessions import PATH"),
        (("list", "x"), "sessions list takes no 'x'; see holdfast sessions --help"),
        (("show", "a", "b"), "sessions show takes one ID, and not also 'b'"),
        (("show", "a", "--follow"), "--follow is for events and watch, not for show"),
        (("events", "ses_1", "--limit", "0"), "--limit 0: give a number from 1 to 999999999"),
        (
            ("delete", "a", "--limit", "2"),
            "--limit is for list and events and search, not for dele",
        ),
        (("list", "--type", "x"), "--type is for events, not for list"),
        (("--status", "asleep"), "invalid choice: 'asleep'"),
        (
            ("dream",),
            "sessions does not know 'dream'; known: answer, commands, compact, delete",
        ),
        (("shwo",), "sessions does not know 'shwo'; did you mean 'show'?"),
        (("search", ""), "'' holds no word to search for; give letters or numbers"),
        (("search", '"', "-"), "holds no word to search for"),
        (("show", "ses_9"), "there is no session ses_9; see: holdfast sessions"),
        (("show", "ses_"), "several sessions begin with ses_: ses_1, ses_2"),
    ],
)
def test_what_is_not_understood_is_told_with_the_next_step(
    cli: Cli, home: Path, words: tuple[str, ...], said: str
) -> None:
    made(home, "ses_1")
    made(home, "ses_2")
    answered = cli("sessions", *words)
    assert (answered.status, answered.out) == (2, "")
    assert said in answered.err


def test_a_store_that_cannot_be_read_is_told(cli: Cli, home: Path) -> None:
    (home / "data").mkdir()
    journal_key(home / "state")
    (home / "data" / "holdfast.db").write_bytes(b"no database at all, but long enough" * 50)
    answered = cli("sessions", "--json")
    assert answered.status == 1
    assert "it is damaged" in answered.err
    assert "it is damaged" in json.loads(answered.out)["error"]
