"""Remembering a command by its beginning: offered for few, seen by whoever agrees, and no more."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.judge_kit import action, judged
from policy.rules_kit import rule
from support import make_judge, make_tool

from holdfast.contract.call import Ask
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Use
from holdfast.contract.tool import ArgumentUse
from holdfast.contract.watchdog import Inspection, Opinion
from holdfast.policy.globs import compile_glob
from holdfast.policy.prefixes import READERS, SUBCOMMANDS, wider_patterns
from holdfast.policy.shell.programs import PROGRAMS
from holdfast.policy.shell.runners import CODE_FLAGS, GIT_RUNS, SHELLS
from holdfast.policy.shell.wrappers import (
    CHANGES_THE_SHELL,
    NOT_FOLLOWED,
    TWO_WORD_WRAPPERS,
    WRAPPERS,
)
from holdfast.policy.uses import uses_of_command

SHELL = msgspec.structs.replace(
    make_tool(name="sh"), uses=(ArgumentUse(argument="command", capability="shell.run"),)
)
WIDER = Answer(allowed=True, by="ada", remember="session", wider=True)


def offered(command: str) -> tuple[str, ...]:
    ask = judged(make_judge(), SHELL, {"command": command})
    assert isinstance(ask, Ask)
    return ask.wider


@pytest.mark.parametrize(
    ("command", "patterns"),
    [
        ("git log -3", ("git log *",)),
        ("git log", ("git log *",)),
        ("ls -la | wc -l", ("ls *", "wc *")),
        ("git diff a; git diff b", ("git diff *",)),
        ("git log -3 > out.txt", ("git log *",)),
        ("git", ()),
        ("git push", ()),
        ("git -C sub log", ()),
        ("git  log", ("git log *",)),
        ("'git' log", ()),
        ("/usr/bin/git log", ()),
        ("rm -r build", ()),
        ("make test", ()),
        ("python3 tool.py", ()),
        ("bash run.sh", ()),
        ("env git log", ()),
        ("sudo ls", ()),
        ("xargs ls", ()),
        ("find . -name x", ()),
        ("git log && python3 tool.py", ()),
        ("git log $x", ()),
        ("ls *.py", ()),
    ],
)
def test_a_beginning_is_offered_only_where_the_rest_cannot_run_anything(
    command: str, patterns: tuple[str, ...]
) -> None:
    assert offered(command) == patterns


def test_no_program_that_runs_others_is_on_the_list() -> None:
    runs = {*PROGRAMS, *CODE_FLAGS, *SHELLS, *WRAPPERS, *TWO_WORD_WRAPPERS}
    runs |= {*NOT_FOLLOWED, *CHANGES_THE_SHELL}
    # These are on the list of programs with a doubt, for single options of theirs.
    assert runs & READERS == {"rg"}
    assert set(SUBCOMMANDS) == {"git"}
    everything = {name for name, runs in GIT_RUNS.items() if runs.fullmatch("anything")}
    assert not everything & SUBCOMMANDS["git"]


WORDS = st.sampled_from(
    ["git", "log", "ls", "-x", "bash", "-c", "'a b'", "env", "python", "sudo", ";", "|", "$x", "*"]
)


@given(st.lists(WORDS, min_size=1, max_size=6).map(" ".join))
def test_what_is_offered_begins_a_command_of_the_text_and_none_without_a_name(text: str) -> None:
    uses = [use for use in uses_of_command(text) if use.kind == "command"]
    patterns = wider_patterns(uses)
    for pattern in patterns:
        beginning = pattern.removesuffix(" *")
        assert any(f"{use.target} ".startswith(f"{beginning} ") for use in uses)
        assert beginning.split()[0] in {*READERS, *SUBCOMMANDS}
    if patterns:
        for use in uses:
            fits = [compile_glob(pattern, "text")(f"{use.target} ") for pattern in patterns]
            assert any(fits)
            assert use.doubt is None


def test_a_use_in_doubt_or_declared_is_never_widened() -> None:
    use = Use(capability="shell.run", kind="command", target="ls -l")
    assert wider_patterns([use]) == ("ls *",)
    assert wider_patterns([use, msgspec.structs.replace(use, doubt="why")]) == ()
    assert wider_patterns([use, msgspec.structs.replace(use, declared=True)]) == ()


@pytest.mark.req("SPEC-REPLY-07")
async def test_the_beginning_is_remembered_only_when_the_answer_says_so() -> None:
    for answer, again in ((WIDER, "allow"), (msgspec.structs.replace(WIDER, wider=False), "ask")):
        judge = make_judge()
        ask = judged(judge, SHELL, {"command": "git log -3"})
        assert isinstance(ask, Ask)
        await judge.answered(ask, answer)
        assert action(judged(judge, SHELL, {"command": "git log -3"})) == "allow"
        assert action(judged(judge, SHELL, {"command": "git log -5"})) == again
        assert action(judged(judge, SHELL, {"command": "git log --output=x"})) == "ask"
        assert action(judged(judge, SHELL, {"command": "git log; make"})) == "ask"


async def test_a_refusal_is_never_widened() -> None:
    judge = make_judge()
    ask = judged(judge, SHELL, {"command": "git log"})
    assert isinstance(ask, Ask)
    await judge.answered(ask, msgspec.structs.replace(WIDER, allowed=False))
    assert [one.pattern for one in judge.session_rules] == ["git log"]


async def test_a_deny_stands_above_a_beginning() -> None:
    judge = make_judge(rule("sh", "git log -5", "deny", "project"))
    ask = judged(judge, SHELL, {"command": "git log -3"})
    assert isinstance(ask, Ask)
    await judge.answered(ask, WIDER)
    assert action(judged(judge, SHELL, {"command": "git log -5"})) == "deny"


def _asks_about_five(inspection: Inspection, /) -> Opinion:
    five = any("-5" in use.target for use in inspection.uses)
    return Opinion("ask", "Five is much.") if five else Opinion()


async def test_a_beginning_does_not_answer_what_the_watchdog_asks() -> None:
    judge = make_judge(hooks=[_asks_about_five])
    ask = judged(judge, SHELL, {"command": "git log -3"})
    assert isinstance(ask, Ask)
    await judge.answered(ask, WIDER)
    asked = judged(judge, SHELL, {"command": "git log -5"})
    assert isinstance(asked, Ask)
    assert (asked.reason, asked.wider) == ("Five is much.", ())
    await judge.answered(asked, WIDER)
    assert action(judged(judge, SHELL, {"command": "git log -5"})) == "allow"


@pytest.mark.parametrize("wider", [True, False])
async def test_an_answer_about_a_command_says_nothing_of_where_it_is_sent(wider: bool) -> None:
    judge = make_judge(rule("shell.run", "*", "ask", "project"), standing={"sh": "code"})
    ask = judged(judge, SHELL, {"command": "echo hi"})
    assert isinstance(ask, Ask)
    await judge.answered(ask, msgspec.structs.replace(WIDER, wider=wider))
    assert action(judged(judge, SHELL, {"command": "echo hi"})) == "allow"
    for command in ("echo hi > .bashrc", "echo hi | echo hi >> .bashrc", "echo hi < .netrc"):
        sent = judged(judge, SHELL, {"command": command})
        assert isinstance(sent, Ask)
        assert [use.kind for use in sent.uses] == ["path"]
    assert action(judged(judge, SHELL, {"command": "echo hi 2> /dev/null"})) == "allow"


async def test_where_it_is_sent_is_shown_and_remembered_with_the_command() -> None:
    judge = make_judge(rule("shell.run", "*", "ask", "project"), standing={"sh": "code"})
    ask = judged(judge, SHELL, {"command": "echo hi > out.txt"})
    assert isinstance(ask, Ask)
    assert [use.target for use in ask.uses] == ["echo hi", "out.txt"]
    assert "fs.write on 'out.txt'" in ask.reason
    await judge.answered(ask, msgspec.structs.replace(WIDER, wider=False))
    assert action(judged(judge, SHELL, {"command": "echo hi > out.txt"})) == "allow"
    assert action(judged(judge, SHELL, {"command": "echo hi > other.txt"})) == "ask"


def test_where_nobody_was_asked_a_redirection_is_the_tools_own_matter() -> None:
    judge = make_judge(rule("shell.run", "echo *", "allow", "project"), standing={"sh": "code"})
    assert action(judged(judge, SHELL, {"command": "echo hi > out.txt"})) == "allow"
