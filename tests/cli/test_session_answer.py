"""`holdfast sessions questions` and `answer`: shown whole, answered once, by anybody."""

import json
import os
import pwd
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from cli.stored_sessions import ASKED, in_store, made
from command import Answered, Cli, Terminal, start

from holdfast import Answer, Ask, Holdfast, tool
from holdfast.app.holders import this_process
from holdfast.contract import events
from holdfast.contract.rules import Use
from holdfast.record.store import Store

ME = pwd.getpwuid(os.getuid()).pw_name


def held(number: int) -> events.ApprovalAsked:
    use = Use(capability="process.run", kind="command", target="make\x1b[2J test")
    return events.ApprovalAsked(
        approval_id=f"apr_{number}",
        call_id=f"cal_{number}",
        tool="bash",
        arguments_hash="ab",
        reason="No rule\nspeaks of it.",
        uses=(use,),
    )


def asked(number: int, arguments: str) -> events.CallAsked:
    return events.CallAsked(call_id=f"cal_{number}", tool="bash", arguments=arguments)


def said(home: Path, session: str) -> list[events.ApprovalAnswered]:
    async def work(store: Store) -> list[events.ApprovalAnswered]:
        found = [one.payload for one in await store.journal.events(session)]
        return [one for one in found if isinstance(one, events.ApprovalAnswered)]

    return in_store(home, work)


def test_people_see_what_would_run_and_whole(cli: Cli, home: Path) -> None:
    long = '{"command":\n"' + "x" * 5000 + '\x1b[2J"}'
    made(home, "ses_1", [events.SessionCreated(), asked(1, long), held(1)])
    made(home, "ses_2", [events.SessionCreated(), asked(2, ""), held(2)])
    answered = cli("sessions", "questions")
    assert (answered.status, answered.err) == (0, "")
    first, second = answered.out.split("\n\n")
    assert first.startswith("apr_1\n-----\n")
    shown = dict(line.split("  ", 1) for line in first.splitlines()[2:])
    told = {name.strip(): value.strip() for name, value in shown.items()}
    assert told["session"] == "ses_1"
    assert told["tool"] == "bash"
    assert told["arguments"] == '{"command": "' + "x" * 5000 + '\\u001b[2J"}'
    assert told["reason"] == "No rule speaks of it."
    assert told["uses"] == "process.run make\\u001b[2J test"
    assert told["asked"].endswith((" seconds ago", " second ago"))
    assert told["waits"].startswith("nobody now: ")
    assert told["answer"] == "holdfast sessions answer ses_1 apr_1 --allow (or --deny)"
    assert second.startswith("apr_2\n-----\n")
    assert "\narguments  -\n" in second
    assert cli("sessions", "questions", "ses_2").out == second


def test_programs_get_all_of_it(cli: Cli, home: Path) -> None:
    made(home, "ses_1", [events.SessionCreated(), ASKED, held(1)])

    async def leased(store: Store) -> None:
        await store.journal.lease("ses_1", this_process(), 60)

    in_store(home, leased)
    (one,) = json.loads(cli("sessions", "questions", "last", "--json").out)["questions"]
    assert one.pop("asked_at").endswith("Z")
    (use,) = one.pop("uses")
    assert use["target"] == "make\x1b[2J test"
    assert one == {
        "session_id": "ses_1",
        "approval_id": "apr_1",
        "call_id": "cal_1",
        "tool": "bash",
        "arguments": '{"command":"make test"}',
        "arguments_hash": "ab",
        "reason": "No rule\nspeaks of it.",
        "offers": ["once"],
        "wider": [],
        "run_by": this_process(),
    }
    assert f"\nwaits      {this_process()}\n" in cli("sessions", "questions").out


def test_without_a_question_there_is_none(cli: Cli, home: Path) -> None:
    assert cli("sessions", "questions") == (0, "No question is open.\n", "")
    assert json.loads(cli("sessions", "questions", "--json").out) == {
        "questions": [],
        "inquiries": [],
    }
    assert cli("sessions", "questions", "last").status == 2
    assert list(home.iterdir()) == []
    made(home, "ses_1")
    assert cli("sessions", "questions", "ses").out == "No question is open.\n"
    answered = cli("sessions", "answer", "last", "--allow")
    assert (answered.status, answered.out) == (1, "")
    assert answered.err == "holdfast: session ses_1 has no open question (any more)\n"
    answered = cli("sessions", "answer", "last", "apr_9", "--allow")
    assert answered.status == 1
    assert "session ses_1 has no question apr_9; see: " in answered.err


def test_the_first_answer_counts_and_says_who_gave_it(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOUSE_TOKEN", "s3cr3t-of-the-house")
    monkeypatch.setenv("USER", "somebody else")
    made(home, "ses_1", [events.SessionCreated(), ASKED, held(1)])
    note = ("--note", "for s3cr3t-of-the-house")
    answered = cli("sessions", "answer", "ses", "apr_1", "--allow", *note)
    assert (answered.status, answered.err) == (0, "")
    assert answered.out.startswith("apr_1 is allowed. Nobody runs the session now: the call runs ")
    assert "the call runs with Holdfast(session='ses_1') and resume() in" in answered.out
    (told,) = said(home, "ses_1")
    assert (told.allowed, told.by, told.note) == (True, ME, "for ***REDACTED***")
    again = cli("sessions", "answer", "ses", "apr_1", "--deny", "--json")
    assert (again.status, json.loads(again.out)) == (
        1,
        {"error": "already recorded an answer to approval apr_1"},
    )
    assert cli("sessions", "answer", "ses", "--deny").status == 1
    assert said(home, "ses_1") == [told]


@pytest.mark.parametrize("named", [(), ("apr",)])
def test_what_may_run_is_named_in_full_or_shown_and_agreed_to(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, named: tuple[str, ...]
) -> None:
    """Between looking at a question and answering it another one may have taken its place."""
    made(home, "ses_1", [events.SessionCreated(), ASKED, held(1)])
    unasked = cli("sessions", "answer", "last", *named, "--allow")
    assert unasked.status == 1
    assert "said in full: holdfast sessions answer ses_1 apr_1 --allow" in unasked.err
    for typed, status in (("n\n", 1), ("y\n", 0)):
        monkeypatch.setattr(sys, "stdin", Terminal(typed))
        answered = cli("sessions", "answer", "last", *named, "--allow")
        assert answered.status == status
        assert f"{ASKED.tool} {ASKED.arguments}\nMay it run? [y/N] " in answered.err
    assert [(one.approval_id, one.allowed) for one in said(home, "ses_1")] == [("apr_1", True)]


def test_workers_of_a_cluster_go_on_with_what_was_answered(cli: Cli, home: Path) -> None:
    made(home, "ses_1", [events.SessionCreated(agent_id="kit"), ASKED, held(1)])
    fleet = ("--set", "engine.kind=cluster")
    assert "a worker of the cluster goes on with it" in cli("sessions", "questions", *fleet).out
    answered = cli("sessions", "answer", "ses_1", "apr_1", "--allow", *fleet)
    assert answered.out == (
        "apr_1 is allowed. A worker of the cluster goes on with the session: the call runs there.\n"
    )


def test_which_one_is_meant_has_to_be_clear(cli: Cli, home: Path) -> None:
    two = [asked(11, "{}"), held(11), asked(12, "{}"), held(12)]
    made(home, "ses_1", [events.SessionCreated(), *two])
    for words in ((), ("apr_1",)):
        answered = cli("sessions", "answer", "last", *words, "--deny")
        assert answered.status == 2
        assert "2 questions that fit; write which: apr_11, apr_12" in answered.err
    told = json.loads(cli("sessions", "answer", "last", "apr_12", "--deny", "--json").out)
    assert told.pop("next") == (
        "Nobody runs the session now: the call gets its refusal with Holdfast(session='ses_1') and"
        " resume() in a program."
    )
    assert told == {
        "session_id": "ses_1",
        "approval_id": "apr_12",
        "allowed": False,
        "by": ME,
        "run_by": None,
        "heard": False,
    }
    allowed = cli("sessions", "answer", "last", "apr_11", "--allow")
    assert allowed.out.startswith("apr_11 is allowed.")
    assert [(one.approval_id, one.allowed) for one in said(home, "ses_1")] == [
        ("apr_12", False),
        ("apr_11", True),
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("answer",), "which? write: holdfast sessions answer ID [APPROVAL | CALL]"),
        (("answer", "last"), "give --allow or --deny, one of them"),
        (("answer", "last", "--allow", "--deny"), "give --allow or --deny, one of them"),
        (("answer", "last", "a", "b", "--deny"), "and not also 'b'"),
        (("questions", "last", "b"), "takes one ID, and not also 'b'"),
        (("questions", "--note", "x"), "--note is for interrupt and answer, not for questions"),
    ],
)
def test_what_is_not_understood_is_told(cli: Cli, words: tuple[str, ...], told: str) -> None:
    answered = cli("sessions", *words)
    assert answered.status == 2
    assert told in answered.err


@tool(permission_policy="always_ask")
def launch(name: str) -> str:
    """Launch something."""
    return f"{name} is on its way"


async def _nobody_yet(_ask: Ask) -> Answer | None:
    await anyio.sleep_forever()


@pytest.mark.anyio
async def test_a_call_that_waits_in_another_process_goes_on(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    results: list[Any] = []

    async def run(*words: str) -> Answered:
        return await anyio.to_thread.run_sync(lambda: start("sessions", *words, home=home))

    async with Holdfast(tools=[launch], approver=_nobody_yet) as hf:

        async def call() -> None:
            results.append((await hf.settle("launch", {"name": "rocket"})).result)

        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                group.start_soon(call)
                while not await hf.questions():  # noqa: ASYNC110 - until it is written down
                    await anyio.sleep(0.01)
                (one,) = json.loads((await run("questions", "--json")).out)["questions"]
                assert json.loads(one["arguments"]) == {"name": "rocket"}
                answered = await run("answer", "last", one["approval_id"], "--allow")
                assert answered.status == 0, answered.err
                assert "runs the session: the call runs there within half a second" in answered.out
    assert results == [{"text": "rocket is on its way"}]
