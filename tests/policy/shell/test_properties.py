"""What holds for every text there is."""

import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shell_texts import soups, statements, texts

from holdfast.policy.shell.analysis import analyse, canonical_pattern
from holdfast.policy.shell.characters import LONGEST_TEXT
from holdfast.policy.shell.words import read_word

anything = st.one_of(texts, st.text(), st.text(alphabet="ab \n;&|<>(){}[]$`'\"\\#*!=~-"))


@given(anything)
def test_analysis_never_raises_and_is_the_same_each_time(text: str) -> None:
    first = analyse(text)
    assert first == analyse(text)
    for command in first.commands:
        assert command.argv
        assert command.canonical


@given(anything)
def test_a_command_added_at_the_end_is_found_or_there_is_a_doubt(text: str) -> None:
    found = analyse(f"{text}; rm x")
    programs = {command.argv[0] for command in found.commands}
    assert "rm" in programs or found.doubts or "#" in text


@given(anything)
def test_a_command_added_on_a_line_of_its_own_is_found_or_there_is_a_doubt(text: str) -> None:
    found = analyse(f"{text}\nrm x")
    assert "rm" in {command.argv[0] for command in found.commands} or found.doubts


@given(anything)
def test_a_pattern_always_has_a_spelling(text: str) -> None:
    assert isinstance(canonical_pattern(text), str)


def _argv(program: str, rest: list[str]) -> list[str]:
    return [program, *rest]


_argvs = st.builds(
    _argv,
    st.sampled_from(("ls", "cat", "grep", "echo", "wc")),
    st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=6), max_size=4),
)
_joints = st.sampled_from(("; ", " && ", " || ", " | ", "\n", ";", "&&", "|"))


@given(st.lists(_argvs, min_size=1, max_size=4), st.data())
def test_quoted_commands_in_a_list_are_found_word_for_word(
    argvs: list[list[str]], data: st.DataObject
) -> None:
    text = shlex.join(argvs[0])
    for argv in argvs[1:]:
        text += data.draw(_joints) + shlex.join(argv)
    shape = data.draw(st.sampled_from(("{}", "( {} )", "{{ {}; }}", "if {}; then ls; fi")))
    found = analyse(shape.format(text))
    assert found.doubts == ()
    expected = argvs + ([["ls"]] if shape.startswith("if") else [])
    assert [list(command.argv) for command in found.commands] == expected


@given(st.lists(_argvs, min_size=1, max_size=3))
def test_a_quoted_shell_text_is_taken_apart_like_any_other(argvs: list[list[str]]) -> None:
    inner = "; ".join(shlex.join(argv) for argv in argvs)
    found = analyse(shlex.join(["bash", "-c", inner]))
    assert found.doubts == ()
    assert [list(command.argv) for command in found.commands[1:]] == argvs


@given(st.one_of(statements, soups))
def test_a_text_without_doubts_has_none_when_it_is_grouped(text: str) -> None:
    alone = analyse(text)
    grouped = analyse(f"{{ {text}\n}}")
    if not alone.doubts and alone.commands and not grouped.doubts:
        assert [c.argv for c in grouped.commands] == [c.argv for c in alone.commands]


@pytest.mark.parametrize(
    "piece",
    ["<<A ", "(", "$(", "`", "a;", "env ", "bash -c '", '"$(', "{", "((", "[[ ", "if ", "a|", "\\"],
)
def test_hostile_texts_take_bounded_time(piece: str) -> None:
    text = (piece * LONGEST_TEXT)[:LONGEST_TEXT]
    start = time.perf_counter()
    analyse(text)
    assert time.perf_counter() - start < 2


def test_a_word_that_would_start_a_comment_is_no_word() -> None:
    assert read_word("#x").doubt == "`#x` starts a comment"
