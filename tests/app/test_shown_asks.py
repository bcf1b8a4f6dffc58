"""A question as it may be shown: without known secrets, whatever part of it holds one."""

import msgspec
from support import make_call, make_tool

from holdfast.app.changed_texts import ChangedText
from holdfast.app.shown_asks import looking_without_secrets, without_secrets
from holdfast.contract.call import Ask, Prepared
from holdfast.contract.json_value import JsonObject
from holdfast.contract.rules import Use
from holdfast.envelope.redact import Redactor

SECRET = "hunter2-hunter2"


def _ask() -> Ask:
    arguments: JsonObject = {"command": f"curl -H {SECRET}", "list": [{SECRET: 1}]}
    prepared = Prepared(call=make_call(), tool=make_tool(), checked=arguments, values={})
    use = Use(
        capability="shell.run",
        kind="command",
        target=f"curl {SECRET}",
        spellings=(SECRET,),
        within=f"a; curl {SECRET}",
        doubt=f"who knows {SECRET}",
    )
    plain = Use(capability="shell.run", kind="command", target="ls")
    return Ask(
        prepared=prepared, reason=f"asks {SECRET}", uses=(use, plain), wider=(f"curl {SECRET} *",)
    )


def test_no_part_of_a_question_shows_a_secret_and_the_call_stays_as_it_is() -> None:
    ask = _ask()
    shown = without_secrets(ask, Redactor([SECRET]))
    told = str([shown.prepared.arguments, shown.prepared.values, shown.reason, shown.uses])
    assert SECRET not in told + str(shown.wider)
    assert shown.prepared.arguments["command"] == "curl -H ***REDACTED***"
    assert shown.uses[1] == ask.uses[1]
    assert ask == _ask()
    assert without_secrets(ask, Redactor()) is ask


def test_files_are_looked_at_without_secrets() -> None:
    files = {"a": f"key = {SECRET}\n"}
    redactor = Redactor()
    look = looking_without_secrets(files.get, redactor)
    assert (look("a"), look("b")) == (files["a"], None)
    redactor.learn([SECRET])  # as when a server was connected meanwhile
    assert (look("a"), look("b")) == ("key = ***REDACTED***\n", None)


def test_texts_that_were_changed_are_shown_without_secrets() -> None:
    text = ChangedText(path="/a", before=None, after=SECRET)
    assert text.shown(Redactor()) is text
    shown = text.shown(Redactor([SECRET]))
    assert shown == msgspec.structs.replace(text, after="***REDACTED***")
