"""What a person is shown and what counts as a yes: nothing but exactly that."""

from datetime import UTC, datetime
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import make_tool

from holdfast.contract.call import Ask, Prepared, ToolCall
from holdfast.contract.json_value import JsonObject
from holdfast.contract.person import Choice, Inquiry, PersonQuestion, misfit
from holdfast.contract.rules import Remember, Use
from holdfast.surfaces.mcp.forms import (
    DENY,
    ONCE,
    SESSION,
    Elicited,
    approval_answer,
    approval_form,
    elicited,
    form_name,
    inquiry_form,
    inquiry_replies,
)

VALUES: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.lists(st.text(max_size=5))
)


def _ask(arguments: JsonObject | None = None, offers: tuple[Remember, ...] = ("once",)) -> Ask:
    given: JsonObject = {"path": "a.txt"} if arguments is None else arguments
    call = ToolCall(id="cal_1", tool="probe", arguments=None, session_id="ses_1")
    prepared = Prepared(call=call, tool=make_tool(), values=given, checked=given)
    use = Use(capability="fs.write", kind="path", target="a.txt")
    return Ask(prepared=prepared, reason="It\nwrites.", uses=(use,), offers=offers)


def _inquiry(*questions: PersonQuestion) -> Inquiry:
    return Inquiry(
        session_id="ses_1",
        call_id="cal_1",
        tool="ask",
        questions=questions,
        asked_at=datetime.now(UTC),
    )


def test_a_person_sees_what_is_in_question() -> None:
    form: Any = approval_form(_ask({"path": "a\u001b[2Jb"}, ("once", "session")))
    assert "May probe run? It writes." in form["message"]
    assert "In question: fs.write a.txt" in form["message"]
    assert "\u001b" not in form["message"]
    assert form["requestedSchema"]["properties"]["decision"]["enum"] == [ONCE, SESSION, DENY]
    assert form["requestedSchema"]["required"] == ["decision"]


def test_a_tool_that_names_nothing_it_uses_has_no_empty_line() -> None:
    use = Use(capability=None, kind="name", target="")
    form: Any = approval_form(msgspec.structs.replace(_ask(), uses=(use,)))
    assert "In question" not in form["message"]


def test_what_is_too_long_to_show_is_counted() -> None:
    form: Any = approval_form(_ask({"path": "x" * 30_000}))
    assert len(form["message"]) < 21_000
    assert "characters more" in form["message"]
    assert SESSION not in form["requestedSchema"]["properties"]["decision"]["enum"]


@given(
    st.sampled_from(["accept", "decline", "cancel"]),
    st.dictionaries(
        st.sampled_from(["decision", "note", "more"]),
        VALUES | st.sampled_from([ONCE, SESSION, DENY, ONCE.upper(), f"{ONCE} "]),
    ),
    st.sampled_from([("once",), ("once", "session")]),
)
def test_only_a_choice_that_was_offered_is_a_yes(
    action: str, content: JsonObject, offers: tuple[Remember, ...]
) -> None:
    answer = approval_answer(_ask(offers=offers), Elicited(action, content), "somebody")
    offered = {ONCE: "once", SESSION: "session"}
    chosen = content.get("decision")
    meant = offered.get(chosen) if isinstance(chosen, str) else None
    is_yes = action == "accept" and meant is not None and meant in offers
    assert answer.allowed == is_yes
    assert answer.remember == (meant if is_yes else "once")


@given(VALUES | st.dictionaries(st.sampled_from(["action", "content"]), VALUES))
def test_only_a_result_of_an_elicitation_is_one(result: Any) -> None:
    found = elicited(result)
    action = cast("dict[str, Any]", result).get("action") if isinstance(result, dict) else None
    assert (found is not None) == (action in ("accept", "decline", "cancel"))


QUESTIONS = st.builds(
    PersonQuestion,
    st.text(min_size=1, max_size=9),
    st.none() | st.text(max_size=9),
    st.lists(st.builds(Choice, st.text(min_size=1, max_size=5)), max_size=3).map(tuple),
    st.booleans(),
)


@given(
    st.lists(QUESTIONS, min_size=1, max_size=3).map(tuple),
    st.dictionaries(
        st.sampled_from(["answer_1", "words_1", "answer_2", "words_2", "answer_3"]), VALUES
    ),
)
def test_replies_fit_the_questions_or_there_are_none(
    questions: tuple[PersonQuestion, ...], content: JsonObject
) -> None:
    replies = inquiry_replies(_inquiry(*questions), Elicited("accept", content), "somebody")
    if replies is not None:
        several = [one.multi_select for one in questions]
        assert misfit(several, replies.answers, was_skipped=False) is None
    assert inquiry_replies(_inquiry(*questions), Elicited("decline", content), "x") is None


@given(st.lists(QUESTIONS, min_size=1, max_size=3).map(tuple))
def test_a_form_is_flat(questions: tuple[PersonQuestion, ...]) -> None:
    form: Any = inquiry_form(_inquiry(*questions))
    for field in form["requestedSchema"]["properties"].values():
        assert field["type"] in ("string", "array")
        assert field["title"].isprintable()


@pytest.mark.parametrize(
    ("header", "name"),
    [("User name", "user_name"), (None, "question"), ("ü?!", "question"), ("x" * 99, "x" * 60)],
)
def test_a_form_is_called_after_what_it_is_about(header: str | None, name: str) -> None:
    assert form_name(_inquiry(PersonQuestion("Who?", header))) == name
