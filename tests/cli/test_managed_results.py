"""What is shown of answers of managed tools, to whoever runs an agent and whoever watches it."""

import io
from datetime import UTC, datetime

import msgspec
import pytest

from holdfast.contract.events import CallSettled, Event, Payload
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.surfaces.cli.call_cards import card_of, result_lines
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.watched import Watched

RAN: JsonObject = {
    "artifacts": [],
    "name": "run_shell",
    "ok": True,
    "output": {"command": "x", "exit_code": 3, "stdout": "a\nb\n", "stderr": "", "cwd": "/w"},
    "text": "Exit 3 after 13 ms.",
}
DEFINED: JsonObject = {
    "active_outcome": {"detail": None, "title": "Green", "success_criteria": ["x"]},
    "artifact_paths": ["/w/outcome.json"],
    "event_id": "evt_1",
    "warnings": ["w" * 200],
    "is_known": True,
    "next": None,
}


def _event(payload: Payload) -> Event:
    return Event(
        session_id="ses_1",
        sequence=1,
        id="evt_1",
        at=datetime(2026, 1, 1, tzinfo=UTC),
        wake_id=None,
        payload=payload,
        previous=b"",
        hash=b"",
    )


@pytest.mark.parametrize(
    ("result", "lines", "watched"),
    [
        (RAN, ["exit code 3", "a", "b"], "! shell: exit code 3: a b"),
        (
            {"persistent_shell": None, "result": RAN["output"]},
            ["exit code 3", "a", "b"],
            "! shell: exit code 3: a b",
        ),
        (
            {**RAN, "output": {"exit_code": 1, "stdout": "", "stderr": ""}},
            ["exit code 1"],
            "! shell: exit code 1",
        ),
        (
            {**RAN, "output": {"exit_code": 0, "stdout": "", "stderr": ""}},
            ["exit code 0"],
            "+ shell: exit code 0",
        ),
        (
            {"ok": False, "name": "read_text", "output": None, "text": "There is no a."},
            ["failed", "There is no a."],
            "! shell: failed: There is no a.",
        ),
        (
            DEFINED,
            ["done", "active_outcome: Green, event_id: evt_1, is_known: yes, warnings: 1"],
            "+ shell: active_outcome: Green, event_id: evt_1, is_known: yes, warnings: 1",
        ),
        (
            {"grade": {"summary": "s" * 200, "status": "x"}, "n": 3},
            ["done", f"grade: {'s' * 120}…, n: 3"],
            f"+ shell: grade: {'s' * 84}",
        ),
        ({"a": [4, 6]}, ["done", '{"a": [4, 6]}'], '+ shell: {"a":[4,6]}'),
    ],
    ids=["ran", "waited", "false", "true", "action", "defined", "long", "short"],
)
def test_an_answer_of_a_managed_tool_tells_what_a_person_wants_to_know(
    result: JsonValue, lines: list[str], watched: str
) -> None:
    envelope: JsonObject = {"ok": True, "result": result}
    shown = [line.text for line in result_lines(card_of("shell_run", "{}"), envelope)]
    assert shown == lines
    stage = io.StringIO()
    screen = Screen(stage, io.StringIO())
    settled = CallSettled(
        call_id="cal_1", tool="shell", envelope=msgspec.Raw(encode_json(envelope))
    )
    Watched("ses_1", screen, full=False).show(_event(settled))
    assert stage.getvalue().strip().startswith(watched)
    stage.truncate(0)
    Watched("ses_1", screen, full=True).show(_event(settled))
    assert encode_json(result).decode() in stage.getvalue()
