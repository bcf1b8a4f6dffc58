"""`holdfast sessions trace`: what took how long, inside of what."""

import json
import re
from pathlib import Path

import pytest
from cli.stored_sessions import in_store, made
from command import Cli, Terminal
from msgspec import Raw

from holdfast.contract import events
from holdfast.contract.events import Payload
from holdfast.record.store import Store

LATE = events.CallSettled(call_id="cal_3", tool="late", envelope=Raw(b'{"ok":true,"result":1}'))


def _call(name: str, tool: str, *ends: Payload) -> list[Payload]:
    asked = events.CallAsked(call_id=name, tool=tool, arguments="{}")
    allowed = events.CallIntended(
        call_id=name, tool=tool, arguments_hash="h", grounds="the rule\n bash *"
    )
    return [asked, allowed, *ends]


def _settled(name: str, envelope: bytes) -> Payload:
    return events.CallSettled(call_id=name, tool="bash", envelope=Raw(envelope))


def _span(name: str, result: events.SpanResult | None, parent: str | None = None) -> Payload:
    kind: events.SpanKind = "wake" if name.startswith("wak") else "tool"
    if result is None:
        return events.SpanStarted(
            span_id=name, span_kind=kind, name="session_run", parent_span_id=parent
        )
    return events.SpanCompleted(
        span_id=name, span_kind=kind, name="session_run", parent_span_id=parent, result=result
    )


def traced(home: Path) -> None:
    """Two wakes, a call outside of them, and one that was settled after its wake."""
    truncated = b'{"metadata":{"duration_ms":7,"truncated":true},"ok":true,"result":1}'
    failed = b'{"kind":"timeout","message":"it took too long","ok":false}'
    wakes: list[tuple[str | None, list[Payload]]] = [
        (
            "wak_1",
            [
                _span("wak_1", None),
                *_call("cal_1", "bash", _settled("cal_1", truncated)),
                _span("spn_1", None, "cal_1"),
                _span("wak_1", "success"),
            ],
        ),
        (None, _call("cal_2", "web\x1b[31m", _settled("cal_2", failed))),
        ("wak_2", _call("cal_3", "late")),
        (None, [LATE]),
        ("wak_3", [events.UserMessage(message="hello")]),
    ]

    async def work(store: Store) -> None:
        await store.journal.create("ses_1", [events.SessionCreated()])
        for wake, payloads in wakes:
            for payload in payloads:
                await store.journal.append("ses_1", [payload], wake_id=wake)

    in_store(home, work)


def words(shown: str) -> list[str]:
    """With one moment and one duration for all."""
    moments = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "WHEN", shown)
    return re.sub(r"\d+\.\d{3} s", "N s", moments).splitlines()


def test_spans_are_told_wake_by_wake_inside_of_each_other(cli: Cli, home: Path) -> None:
    traced(home)
    answered = cli("sessions", "trace", "last")
    assert (answered.status, answered.err) == (0, "")
    assert words(answered.out) == [
        "outside of a wake  WHEN",
        "  web\\u001b[31m  error, N s: it took too long",
        "    allow: the rule bash *",
        "wake wak_1  WHEN  success, N s",
        "  bash  success, N s, truncated",
        "    allow: the rule bash *",
        "    session_run  has no end",
        "wake wak_2  WHEN",
        "  late  success, N s",
        "    allow: the rule bash *",
        "wake wak_3",
    ]


def test_a_program_gets_every_span_with_its_duration(cli: Cli, home: Path) -> None:
    traced(home)
    told = json.loads(cli("sessions", "trace", "ses_1", "--json").out)
    assert told["session"] == "ses_1"
    assert [one["wake_id"] for one in told["wakes"]] == [None, "wak_1", "wak_2", "wak_3"]
    wake, call, allowed, open_ended = told["wakes"][1]["spans"]
    assert (wake["id"], wake["kind"], wake["result"]) == ("wak_1", "wake", "success")
    assert wake["duration_ms"] > call["duration_ms"] > 0
    assert (call["parent_id"], call["attributes"]["truncated"]) == ("wak_1", True)
    assert (allowed["parent_id"], allowed["attributes"]["action"]) == ("cal_1", "allow")
    assert (open_ended["ended_at"], open_ended["duration_ms"]) == (None, None)
    assert wake["started_at"].endswith("Z")


def test_one_wake_alone_can_be_had(cli: Cli, home: Path) -> None:
    traced(home)
    assert words(cli("sessions", "trace", "last", "--wake", "wak_2").out)[0] == "wake wak_2  WHEN"
    told = json.loads(cli("sessions", "trace", "last", "--wake", "wak_3", "--json").out)
    assert told["wakes"] == [{"wake_id": "wak_3", "spans": []}]
    refused = cli("sessions", "trace", "last", "--wake", "wak_9")
    assert refused.status == 2
    assert "has no such wake; it has wak_1, wak_2, wak_3" in refused.err


def test_where_nothing_took_time_that_is_said(cli: Cli, home: Path) -> None:
    made(home, "ses_1", [events.SessionCreated()])
    assert cli("sessions", "trace", "last").out == "Nothing took time yet.\n"
    assert json.loads(cli("sessions", "trace", "last", "--json").out)["wakes"] == []
    assert "it has none" in cli("sessions", "trace", "last", "--wake", "wak_1").err
    assert cli("sessions", "trace", "ses_9").status == 2


def test_an_answer_that_cannot_be_read_is_told_as_such(cli: Cli, home: Path) -> None:
    odd = b'{"ok":true,"metadata":[]}'
    made(home, "ses_1", [events.SessionCreated(), *_call("cal_1", "bash", _settled("cal_1", odd))])
    assert "error, 0.000 s: the answer cannot be read" in cli("sessions", "trace", "last").out


@pytest.mark.parametrize("term", ["xterm-256color"])
def test_at_a_terminal_what_failed_stands_out(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, term: str
) -> None:
    traced(home)
    monkeypatch.setenv("TERM", term)
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    cli("sessions", "trace", "last")
    shown = terminal.getvalue()
    assert "\x1b[31m" in shown
    assert "web\\u001b[31m" in shown
