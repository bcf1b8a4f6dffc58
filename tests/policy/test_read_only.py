"""A command that surely changes nothing spares a prompt; whenever unsure it does not."""

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.policy.read_only import is_read_only


@pytest.mark.req("SPEC-BASH-17")
@pytest.mark.parametrize(
    "command",
    [
        "ls -la src",
        "pwd",
        "echo hello 'a; b'",
        "cat a.md b.md",
        "head -n 5 a",
        "tail -5 a",
        "wc -l a",
        "grep -rn 'a|b' src",
        "find . -name '*.py' -type f",
        "find",
        "rg TODO src",
        "rg --pretty --hidden TODO",
        "git status",
        "git --no-pager log --oneline --graph -5",
        "git diff HEAD~1 -- src",
        "git show HEAD:a.md",
        "git ls-files -o --exclude-standard",
        "git rev-parse --show-toplevel",
        "git blame a.md",
    ],
)
def test_a_command_that_only_reads_is_known(command: str) -> None:
    assert is_read_only(command)


@pytest.mark.req("SPEC-BASH-17")
@pytest.mark.parametrize(
    "command",
    [
        *(f"find . {action}" for action in ("-exec rm x", "-execdir rm x", "-ok rm", "-okdir rm")),
        *(f"find . {action}" for action in ("-delete", "-fprint x", "-fprint0 x", "-fls x")),
        "find . -fprintf x %p",
        "find . -name x '-exec' rm",
        "rg --pre sh TODO",
        "rg --pre=sh TODO",
        "rg --pr sh TODO",
        "rg TODO --hostname-bin=x",
        "rg --hostname-bin x TODO",
        "rg --host x TODO",
        "rg -z TODO",
        "rg -nz TODO",
        "rg --search-zip TODO",
        "git -c core.pager=x status",
        "git -c core.fsmonitor=x status",
        "git log -c",
        "git log -pc",
        "git --exec-path=. status",
        "git --git-dir=x status",
        "git --git-dir x status",
        "git status --exec-path=.",
        "git rev-parse --git-dir",
        "git show --git-d",
        "git log --upload-pack=x",
        "git log --upl x",
        "git log --receive-pack=x",
    ],
)
def test_an_option_that_acts_is_found_in_every_spelling(command: str) -> None:
    assert not is_read_only(command)


@pytest.mark.req("SPEC-BASH-17")
@pytest.mark.parametrize(
    "command",
    [
        "/bin/ls",
        "./ls",
        "A=1 ls",
        "sudo ls",
        "env",
        "sed -n 1p a",
        "rm a",
        "LS",
        "git",
        "git --no-pager",
        "git --no-pager --no-pager log",
        "git push",
        "git stash",
        "git -C x status",
        "git --paginate log",
        "git --work-tree=/ status",
        "",
        "  ",
    ],
)
def test_another_program_verb_or_place_is_not_known(command: str) -> None:
    assert not is_read_only(command)


@pytest.mark.parametrize(
    "command",
    [
        "git diff --output=x",
        "git log --outp x",
        "git log --ext-diff",
        "git show --textconv x",
        "git log --show-signature",
        "git log '--format=%G?'",
    ],
)
def test_a_reading_verb_that_would_write_or_start_a_program_is_not_known(command: str) -> None:
    assert not is_read_only(command)


@pytest.mark.parametrize(
    "command",
    [
        *("ls; rm x", "ls && rm x", "ls | sh", "ls > x", "cat < x", "ls &", "echo $HOME", "ls *"),
        *("echo `rm x`", 'echo "$(rm x)"', "ls\nrm x", "ls \\\nrm", "echo 'a", "cat ~/x", "(ls)"),
    ],
)
def test_text_that_a_shell_reads_as_more_than_words_is_not_known(command: str) -> None:
    assert not is_read_only(command)


READS = {"ls", "pwd", "echo", "cat", "head", "tail", "wc", "grep", "find", "rg", "git"}
READERS = st.sampled_from(
    [
        *("ls", "cat", "echo", "find", "rg", "git", "status", "log", "-c", "-exec", "--pre=x"),
        *("a", "'a;b'", '"x"', ";", "|", "$x", "`", ">", "*", "&&", "\n", "--", "-z", "'"),
    ]
)


@given(st.one_of(st.lists(READERS, max_size=6).map(" ".join), st.text(max_size=40)))
def test_read_only_means_words_and_nothing_else(command: str) -> None:
    if not is_read_only(command):
        return
    outside = re.sub(r"'[^']*'|\"[^\"$`]*\"", "", command)
    assert not set(outside) & set("|&;<>(){}$`!#*?[]'\"\\\n")
    assert shlex.split(command)[0] in READS
    for more in ("; rm x", "\nrm x", " | sh", " > x", " $(rm x)"):
        assert not is_read_only(command + more)
