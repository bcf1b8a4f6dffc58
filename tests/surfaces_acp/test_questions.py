"""What a tool asks a person: as a form where the editor has forms, else it is refused."""

from datetime import UTC, datetime
from typing import Any

import pytest
from acp_editor import FORMS, Place, Said, editing, last, statuses, turn

from holdfast.contract.person import Choice, Inquiry, PersonQuestion
from holdfast.surfaces.acp.forms import form_of, message_of, replies_in

pytestmark = [pytest.mark.timeout(60), pytest.mark.measured]

ASKS = turn(
    (
        "question",
        {
            "questions": [
                {"question": "Which store?", "header": "Store", "options": [{"label": "SQLite"}]},
                {"question": "What is it called?"},
            ]
        },
    )
)
SKIPPED: Said = {"answers": [[], []], "skipped": True}


@pytest.mark.req("SPEC-ACP-16")
@pytest.mark.parametrize(
    ("answered", "result"),
    [
        (
            {"action": "accept", "content": {"answer_1": "SQLite", "answer_2": "Fred"}},
            {"answers": [["SQLite"], ["Fred"]]},
        ),
        (
            {"action": "accept", "content": {"words_1": "Paper", "answer_2": "Fred"}},
            {"answers": [["Paper"], ["Fred"]]},
        ),
        ({"action": "accept", "content": {"answer_1": "SQLite"}}, SKIPPED),
        ({"action": "decline"}, SKIPPED),
        ({"action": "cancel"}, SKIPPED),
    ],
)
async def test_a_question_is_a_form_and_what_comes_back_is_its_answer(
    place: Place, answered: Said, result: Said
) -> None:
    async with editing(place, place.script(ASKS, {"text": "I see."}), capabilities=FORMS) as desk:
        desk.editor.answered = answered
        session = await desk.begin()
        assert await desk.say(session) == "end_turn"
        told = desk.editor.call("question")
        ((message, form),) = desk.editor.forms
    assert told[-1]["rawOutput"] == result
    assert message == "Store: Which store?\nWhat is it called?"
    assert (form["sessionId"], form["toolCallId"]) == (session, told[0]["toolCallId"])
    fields = form["requestedSchema"]["properties"]
    assert fields["answer_1"]["oneOf"] == [{"const": "SQLite", "title": "SQLite"}]
    assert list(fields) == ["answer_1", "words_1", "answer_2"]
    assert form["requestedSchema"]["required"] == ["answer_2"]


@pytest.mark.req("SPEC-ACP-16")
async def test_without_forms_a_question_is_refused_as_if_nobody_were_there(place: Place) -> None:
    async with editing(place, place.script(ASKS, {"text": "I guess."})) as desk:
        assert await desk.one_turn() == "end_turn"
        told = desk.editor.call("question")
        assert desk.editor.forms == []
    assert statuses(told)[-1] == "failed"
    assert "No user is present to answer questions." in last(told, "rawOutput")["message"]


async def test_an_editor_that_cannot_show_a_form_after_all_is_nobody(place: Place) -> None:
    async with editing(place, place.script(ASKS, {"text": "I guess."}), capabilities=FORMS) as desk:
        desk.editor.answered = {"error": True}
        assert await desk.one_turn() == "end_turn"
        told = desk.editor.call("question")
    assert "No user is present to answer questions." in last(told, "rawOutput")["message"]


def _inquiry(*questions: PersonQuestion) -> Inquiry:
    return Inquiry(
        session_id="s",
        call_id="c",
        tool="question",
        questions=questions,
        asked_at=datetime.now(UTC),
    )


def test_several_answers_are_a_list_and_other_words_stand_beside_them() -> None:
    options = (Choice("Red", "A colour"), Choice("Blue"))
    inquiry = _inquiry(PersonQuestion("Which\x07?", options=options, multi_select=True))
    form: Any = form_of(inquiry).model_dump(by_alias=True, exclude_none=True)
    assert form["properties"]["answer_1"]["items"] == {
        "anyOf": [
            {"const": "Red", "title": "Red", "description": "A colour"},
            {"const": "Blue", "title": "Blue"},
        ]
    }
    assert message_of(inquiry) == "Which\\u0007?"
    given = {"answer_1": ["Red", "Red"], "words_1": " Green "}
    replies = replies_in(inquiry, given, "me")
    assert replies is not None
    assert replies.answers == (("Red", "Green"),)
