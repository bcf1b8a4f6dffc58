"""Bodies whose argument text itself counts get it as it was sent, unless something was changed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import make_call

from holdfast.contract.call import Prepared, RawArguments
from holdfast.contract.json_value import JsonObject, decode_json
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.tool import Body, Tool
from holdfast.preflight.plan import Plan

OPEN: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
CLOSED: JsonObject = {**OPEN, "additionalProperties": False}
CAREFUL: JsonObject = {**CLOSED, "minProperties": 0}


def plan(schema: JsonObject, *, verbatim: bool = True) -> Plan:
    def decode(arguments: JsonObject) -> dict[str, object]:
        return {"object": arguments}

    def read(text: str | bytes) -> dict[str, object]:
        return {"text": text}

    body = Body(
        style="inline", invoke=lambda _v, _r: None, decode=decode, read=read, verbatim=verbatim
    )
    return Plan(
        Tool(
            name="t",
            description=None,
            requires=NOTHING_REQUIRED,
            body=body,
            input_schema=schema,
        )
    )


def given_to_the_body(schema: JsonObject, sent: RawArguments, *, verbatim: bool = True) -> object:
    prepared = plan(schema, verbatim=verbatim).prepare(make_call(arguments=sent))
    assert isinstance(prepared, Prepared), prepared
    return prepared.values


@pytest.mark.parametrize("schema", [{}, OPEN, CLOSED, CAREFUL])
@pytest.mark.parametrize("sent", ['{"n":  1}', ' {"n":1 }\n', b'{"n": 1}', "{}"])
def test_text_that_needs_no_repair_is_given_as_it_was_sent(
    schema: JsonObject, sent: str | bytes
) -> None:
    assert given_to_the_body(schema, sent) == {"text": sent}


@pytest.mark.parametrize("schema", [{}, OPEN, CLOSED, CAREFUL])
@pytest.mark.parametrize("sent", [" ", "\n\t", b" ", ""])
def test_blank_text_is_a_call_without_arguments(schema: JsonObject, sent: str | bytes) -> None:
    assert given_to_the_body(schema, sent) == {"text": sent}


@pytest.mark.parametrize("schema", [OPEN, CLOSED, CAREFUL])
def test_what_was_repaired_is_given_as_an_object(schema: JsonObject) -> None:
    assert given_to_the_body(schema, '{"n": "1"}') == {"object": {"n": 1}}
    assert given_to_the_body(schema, '"{\\"n\\": 1}"') == {"object": {"n": 1}}
    assert given_to_the_body(schema, {"n": 1}) == {"object": {"n": 1}}
    assert given_to_the_body(schema, None) == {"object": {}}


def test_other_bodies_are_not_asked_about_text_they_cannot_read_in_one_pass() -> None:
    assert given_to_the_body(OPEN, '{"n": 1}', verbatim=False) == {"object": {"n": 1}}
    blank = plan(OPEN, verbatim=False).prepare(make_call(arguments="  "))
    assert not isinstance(blank, Prepared)


@given(st.dictionaries(st.sampled_from("nab"), st.integers() | st.text(max_size=3), max_size=3))
def test_what_is_given_always_means_what_the_checks_saw(sent: dict[str, object]) -> None:
    for schema in (OPEN, CAREFUL):
        text = "{" + ", ".join(f" {json.dumps(k)}:  {json.dumps(v)}" for k, v in sent.items()) + "}"
        prepared = plan(schema).prepare(make_call(arguments=text))
        if isinstance(prepared, Prepared) and "text" in prepared.values:
            assert not prepared.repairs
            assert prepared.checked is None or decode_json(text) == prepared.checked
