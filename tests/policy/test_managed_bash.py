"""Ten programs, no shell, and which of their words may be paths."""

import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.policy.managed_bash import PROGRAMS, ManagedCommand, NotManaged, managed_command


def _operands(command: str) -> tuple[str, ...]:
    judged = managed_command(command)
    assert isinstance(judged, ManagedCommand), judged
    return judged.operands


def _reason(command: str) -> str:
    judged = managed_command(command)
    assert isinstance(judged, NotManaged), judged
    return judged.reason


@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_each_of_the_ten_programs_runs(program: str) -> None:
    assert managed_command(program) == ManagedCommand(words=(program,), operands=())


def test_the_programs_are_ten_and_no_other_runs() -> None:
    assert sorted(PROGRAMS) == sorted(
        ["pwd", "env", "ls", "cat", "head", "tail", "wc", "basename", "dirname", "realpath"]
    )
    for program in ("rm", "sed", "find", "grep", "rg", "git", "sh", "bash", "sudo", "tee", "LS"):
        assert _reason(f"{program} a") == (
            "This bash runs only pwd, env, ls, cat, head, tail, wc, basename, dirname, realpath;"
            f" not {program}."
        )


@pytest.mark.parametrize("command", ["pwd -P", "pwd x", "env -i", "env A=1 rm x", "env cat a"])
def test_pwd_and_env_take_no_arguments(command: str) -> None:
    assert _reason(command) == f"Here {command.split()[0]} takes no arguments."


def test_what_only_a_shell_can_run_is_refused() -> None:
    for command in ("", "cat a | tee b", "cat $HOME", "ls *.md", "/bin/cat a", "A=1 cat a"):
        assert _reason(command).startswith("This bash runs one plain command:")


@pytest.mark.parametrize(
    ("command", "operands"),
    [
        ("head -n 2 f", ("f",)),
        ("head -n2 f", ("f",)),
        ("head -qn 2 f", ("f",)),
        ("head -n -5 f", ("f",)),
        ("head -5 f", ("f",)),
        ("head -c 10 f g", ("f", "g")),
        ("head f -n 2", ("f",)),
        ("head -n", ()),
        ("tail -n +5 f", ("f",)),
        ("cat -n f", ("f",)),
        ("cat -- f", ("f",)),
        ("cat f -- g", ("f", "g")),
        ("cat --number f", ("f",)),
        ("ls -la --all --color d", ("d",)),
        ("wc -l f", ("f",)),
        ("wc --lines f", ("f",)),
        ("basename -s .md a.md", ("a.md",)),
        ("basename --multiple a b", ("a", "b")),
        ("dirname --zero a/b", ("a/b",)),
        ("realpath --strip a", ("a",)),
        ("tail --quiet f", ("f",)),
    ],
)
def test_only_operands_are_taken_for_paths(command: str, operands: tuple[str, ...]) -> None:
    assert _operands(command) == operands


@pytest.mark.parametrize(
    "command",
    [
        "wc --files0-from=list.txt",
        "wc --files0-from list.txt",  # the value may also be the next word
        "wc --files0 list.txt",
        "wc --f=list.txt",
        "ls --color=auto",
        "ls --ignore x",
        "head --lines=5 f",
        "head --lines 5 f",
        "tail --pid=1 f",
        "tail --follow",
        "tail --fol f",
        "tail --retry f",
        "realpath --relative-to=/ a",
        "basename --suffix=.md a.md",
        "cat f --unknown",
    ],
)
def test_a_long_option_that_has_or_may_have_a_value_is_refused(command: str) -> None:
    assert "long options are taken by their whole name and only without a value" in _reason(command)


@pytest.mark.parametrize(
    "command", ["tail -f a", "tail -F a", "tail -n5f a", "tail -5f a", "ls -w 80"]
)
def test_a_letter_that_never_ends_or_may_hide_a_path_is_refused(command: str) -> None:
    assert _reason(command).startswith(f"Here {command.split()[0]} does not take -")


@pytest.mark.parametrize("command", ["cat -", "cat a -", "cat -- -x", "cat ''", "tail -n 5 -"])
def test_an_operand_that_cannot_be_a_path_is_refused(command: str) -> None:
    assert _reason(command).endswith(": it is not a path.")


WORDS = st.sampled_from(["-", "--", "-n", "5", "a", "--lines", "--x=y", "-f", "-la", "''", "b/c"])


@given(st.sampled_from(PROGRAMS), st.lists(WORDS, max_size=6))
@example("head", ["-n", "''"])  # an empty word that is no operand
def test_every_operand_is_one_of_the_words_and_could_be_a_path(
    program: str, written: list[str]
) -> None:
    words = shlex.split(" ".join(written))
    judged = managed_command(" ".join([program, *written]))
    if isinstance(judged, ManagedCommand):
        assert judged.words == (program, *words)
        assert set(judged.operands) <= set(words)
        assert not any(operand.startswith("-") or not operand for operand in judged.operands)
