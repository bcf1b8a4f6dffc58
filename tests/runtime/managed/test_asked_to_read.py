"""The call that reads what a person's words ask for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonObject
from holdfast.runtime.managed.asked_to_read import asked_to_read


@pytest.mark.parametrize(
    ("words", "tool", "args"),
    [
        ("Please read notes.md and tell me.", "read", {"path": "/w/notes.md"}),
        ("What is in src/main.py?", "read", {"path": "/w/src/main.py"}),
        ("Open (docs/a.md), then go on.", "read", {"path": "/w/docs/a.md"}),
        ("Look at /etc/hosts.conf.", "read", {"path": "/etc/hosts.conf"}),
        ("Run `cat a.md` for me", "read", {"path": "/w/a.md"}),
        ("Run cat a.md.", "read", {"path": "/w/a.md"}),
        ("run tail -n 3 a.md", "read", {"path": "/w/a.md", "tail_lines": 3}),
        ("What was the last output?", "shell_read_last_output", {}),
        ("and what did it print", "shell_read_last_output", {}),
    ],
)
def test_words_that_ask_to_read_lead_to_the_call_that_does(
    words: str, tool: str, args: JsonObject
) -> None:
    step = asked_to_read(words, "/w")
    assert step is not None
    assert (step.tool, step.args) == (tool, args)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Write a.md.",
        "Read my mind.",
        "Run `make all`.",
        "Run `rm -rf a.md`.",
        "Read ../../secret.txt",
        "Thread the needle a.md",
        "I am ready. Version 1.2 is out.",
    ],
)
def test_other_words_lead_nowhere(words: str) -> None:
    assert asked_to_read(words, "/w") is None


def test_only_the_beginning_of_a_long_message_is_looked_at() -> None:
    assert asked_to_read("x " * 3_000 + "read a.md", "/w") is None


@given(st.text(max_size=500) | st.text(alphabet="read `cat/.a\n'\"", max_size=200))
def test_any_words_give_a_call_that_only_reads_or_none(words: str) -> None:
    step = asked_to_read(words, "/w")
    assert step is None or step.tool in {"read", "glob", "grep", "bash", "shell_read_last_output"}
