"""What is known well enough is no doubt; one step beyond it is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.requirements import ShellRunRequirement, Wildcard
from holdfast.policy.shell.analysis import admits, analyse
from holdfast.policy.shell.tame import HARMLESS_ASSIGNMENT
from holdfast.policy.shell.words import read_word, written_out

MESSAGE = "git commit -m \"$(cat <<'EOF'\n{}EOF\n)\""

KNOWN: list[tuple[str, list[list[str]]]] = [
    # numbers, for programs that show or compare them
    ("echo $?", [["echo", "$?"]]),
    ('echo "it said $?" $# $$', [["echo", "it said $?", "$#", "$$"]]),
    ("exit $?", [["exit", "$?"]]),
    ("[ $? -eq 0 ]", [["[", "$?", "-eq", "0", "]"]]),
    ('[[ "$?" -ne 0 ]]', [["[[", "$?", "-ne", "0", "]]"]]),
    ("test $# -gt 1", [["test", "$#", "-gt", "1"]]),
    # patterns, for programs that only read
    ("wc -l *.py", [["wc", "-l", "*.py"]]),
    ("ls *", [["ls", "*"]]),
    ("grep -rn x src --include=*.py", [["grep", "-rn", "x", "src", "--include=*.py"]]),
    ("cat a*b ?c", [["cat", "a*b", "?c"]]),
    # braces with plain words
    ("mkdir -p a/{b,c}", [["mkdir", "-p", "a/b", "a/c"]]),
    ("cp a.txt{,.bak}", [["cp", "a.txt", "a.txt.bak"]]),
    ("rm {-rf,x}", [["rm", "-rf", "x"]]),
    ("ls {,a}", [["ls", "a"]]),
    ("ls {a..b,c}", [["ls", "a..b", "c"]]),
    # a quoted here-document by way of cat
    (MESSAGE.format("Why\n\nIt's $x `y` \"z\" (a)\n"), [
        ["git", "commit", "-m", "Why\n\nIt's $x `y` \"z\" (a)"], ["cat"],
    ]),
    (MESSAGE.format("one\n\n\n"), [["git", "commit", "-m", "one"], ["cat"]]),
    (MESSAGE.format(""), [["git", "commit", "-m", ""], ["cat"]]),
    ("bash -c \"$(cat <<'E'\nrm x\nE\n)\"", [["bash", "-c", "rm x"], ["rm", "x"], ["cat"]]),
    ("eval \"$(cat <<'E'\nrm x\nE\n)\"", [["eval", "rm x"], ["rm", "x"], ["cat"]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), KNOWN)
def test_what_is_known_well_enough_is_no_doubt(text: str, expected: list[list[str]]) -> None:
    found = analyse(text)
    assert found.doubts == ()
    assert [list(command.argv) for command in found.commands] == expected


IN_DOUBT: list[tuple[str, str]] = [
    ("kill $?", "`$?` is only known"),
    ("rm x$?", "`x$?` is only known"),
    ("$? x", "the program name `$?`"),
    ("ls > f$?", "the redirection target"),
    ("echo $!", "`$!` is only known"),
    ("echo $?$x", "is only known"),
    ('echo "$?$(rm x)"', "is only known"),
    ('rm "$\\\\$?"', "is only known"),
    ("[[ a$? -eq 0 ]]", "evaluates names"),
    ("[[ '$?' -eq 0 ]]", "evaluates names"),
    ("sudo echo $?", "`$?` is only known"),
    ("bash -c $?", "is not literal"),
    ("rm *", "one of which could be an option"),
    ("sort *", "one of which could be an option"),
    ("uniq *", "one of which could be an option"),
    ("diff *", "one of which could be an option"),
    ("sudo cat *", "one of which could be an option"),
    ("/tmp/cat *", "one of which could be an option"),
    ("git pus?", "stands for file names"),
    ("[ * ]", "stands for file names"),
    ("cat *$x", "is only known"),
    ("cat *$?", "is only known"),
    ("echo *$?", "is only known"),
    ("for i in *; do ls; done", "stands for file names"),
    ("{rm,-rf} x", "does not parse"),
    ("r{m,} x", "the program name"),
    ("rm {a,$x}", "stands for several words"),
    ("rm {a,b}{c,d}", "stands for several words"),
    ("rm {a,{b,c}}", "stands for several words"),
    ("rm {1..9}", "stands for several words"),
    ("rm {a,*}", "stands for"),
    ("rm {a,'b c'}", "stands for several words"),
    ("ls > {a,b}", "the redirection target"),
    ("cat <<< {a,b}", "stands for several words"),
    ("[ {a,b} ]", "does not parse"),
    # the document must be one, and all there is
    ("git commit -m \"$(cat <<EOF\nx\nEOF\n)\"", "is only known"),
    ("git commit -m $(cat <<'EOF'\nx\nEOF\n)", "is only known"),
    ("git commit -m \"$(cat <<'EOF'\nx\nEOF\nrm x\n)\"", "is only known"),
    ("git commit -m \"$(cat <<'EOF'\nx\nEOF\nrm x\nEOF\n)\"", "is only known"),
    ("git commit -m \"$(cat <<'EOF' | rm x\nx\nEOF\n)\"", "is only known"),
    ("git commit -m \"$(cat /etc/passwd <<'EOF'\nx\nEOF\n)\"", "is only known"),
    ("git commit -m \"$(tee f <<'EOF'\nx\nEOF\n)\"", "is only known"),
    ("git commit -m \"$(cat <<'EOF'\nx\nEOF)\"", "is only known"),
    ("git commit -m \"$(cat <<'EOF'\nx\nEOF\n)$x\"", "is only known"),
    ("git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\"$x", "is only known"),
    ("git commit -m \"$(cat <<'EOF'\nEOF \nEOF\n)\"", "does not end at its delimiter"),
    ("\"$(cat <<'EOF'\nrm\nEOF\n)\" x", "the program name"),
    ("ls > \"$(cat <<'EOF'\nf\nEOF\n)\"", "the redirection target"),
    ("git \"$(cat <<'EOF'\n-c\nEOF\n)\" alias.x='!rm' x", "can run other programs"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "part"), IN_DOUBT)
def test_one_step_beyond_it_is_a_doubt(text: str, part: str) -> None:
    doubts = analyse(text).doubts
    assert any(part in doubt for doubt in doubts), doubts


HARMLESS = [
    "LC_ALL=C", "LANG=de_DE.UTF-8", "LC_COLLATE=POSIX", "LANG=C.utf8", "TZ=UTC", "TZ=Europe/Berlin",
    "CI=1", "CI=", "NO_COLOR=1", "FORCE_COLOR=true", "TERM=xterm-256color", "COLUMNS=80",
    "PYTHONUNBUFFERED=1", "CI=1 TERM=dumb",
]  # fmt: skip


@pytest.mark.parametrize("assignment", HARMLESS)
def test_a_harmless_variable_is_no_doubt_but_no_list_of_commands_covers_it(
    assignment: str,
) -> None:
    for text in (f"{assignment} make", f"env {assignment} make"):
        found = analyse(text)
        assert (found.doubts, found.assigns) == ((), True)
        assert found.commands[-1].text == "make"
        assert not admits([ShellRunRequirement("make"), ShellRunRequirement("env")], found)
    assert not analyse("make").assigns


STEERING = [
    "PATH=/tmp", "LD_PRELOAD=x", "BASH_ENV=x", "ENV=x", "IFS=x", "PS4=x", "PROMPT_COMMAND=x",
    "GIT_PAGER=x", "GIT_TERMINAL_PROMPT=0", "PYTHONPATH=.", "PYTHONSTARTUP=x", "NODE_OPTIONS=x",
    "NODE_ENV=test", "DEBUG=1", "PERL5OPT=x", "RUBYOPT=x", "EDITOR=x", "PAGER=x", "VISUAL=x",
    "MAKEFLAGS=x", "SHELL=x", "HOME=/tmp", "LANGUAGE=../x", "LANG=/tmp/x", "LANG=de_DE",
    "LC_ALL=ja_JP.SJIS", "LC_ALL=../x.UTF-8", "TZ=/etc/x", "TZ=:x", "TZ=a/../b", "TERM=a/b",
    "TERM=..", "CI=$(id)", "CI=$x", "CI=`id`", "CI=a/b", "CI=;", "CI+=1", "CI[0]=1", "CI=(1)",
    "CI=~", "CI=*", "LC_=C", "lc_all=C", "TERMINFO=x", "LOCPATH=x", "TZDIR=x", "LINES=x",
]  # fmt: skip


@pytest.mark.parametrize("assignment", STEERING)
def test_any_other_variable_is_a_doubt(assignment: str) -> None:
    assert analyse(f"{assignment} make").doubts
    assert analyse(f"CI=1 {assignment} make").doubts


def test_a_harmless_variable_that_is_set_for_good_is_a_doubt() -> None:
    assert analyse("LANG=C; ls").doubts
    assert analyse("export LANG=C").doubts


def test_behind_the_program_it_is_an_argument() -> None:
    found = analyse("make CI=1")
    assert found.commands[0].argv == ("make", "CI=1")
    assert not found.assigns


@given(st.from_regex(HARMLESS_ASSIGNMENT, fullmatch=True))
def test_no_harmless_assignment_leads_to_a_place_or_needs_quotes(assignment: str) -> None:
    name, _, value = assignment.partition("=")
    assert not {"..", "$", "`", ";", " ", "\n", "~", "*"} & {*value, value[:2], value[-2:]}
    assert not value.startswith("/")
    assert name.isascii()
    assert analyse(f"{assignment} ls").doubts == ()


def test_a_number_or_a_pattern_does_not_fit_listed_arguments() -> None:
    entry = [ShellRunRequirement("echo", (Wildcard(True),)), ShellRunRequirement("ls", ("*",))]
    assert admits(entry, analyse("echo 1"))
    assert not admits(entry, analyse("echo $?"))
    assert not admits(entry, analyse("ls *"))
    assert admits(entry, analyse("ls '*'"))


def test_what_find_puts_in_does_not_fit_listed_arguments() -> None:
    find = ShellRunRequirement("find")
    text = analyse("find . -exec cat {} +")
    assert admits([find, ShellRunRequirement("cat")], text)
    assert not admits([find, ShellRunRequirement("cat", (Wildcard(True),))], text)


_plain = st.text("ab-./=", max_size=3)


@given(_plain, st.lists(_plain, min_size=2, max_size=4), _plain)
def test_braces_are_written_out_item_by_item(before: str, items: list[str], after: str) -> None:
    source = f"{before}{{{','.join(items)}}}{after}"
    words = written_out(source)
    assert words is not None
    assert [word.literal for word in words] == [
        whole for item in items if (whole := before + item + after)
    ]
    assert read_word(source).doubt is not None


_lines = st.lists(st.text(st.characters(exclude_characters="\n\0", codec="utf-8"), max_size=8))


@given(_lines)
def test_a_document_is_its_lines_up_to_the_first_that_ends_it(lines: list[str]) -> None:
    body = "".join(f"{line}\n" for line in lines)
    word = read_word(f"\"$(cat <<'E'\n{body}E\n)\"")
    if "E" in lines:
        assert word.shape is None
        assert word.doubt is not None
    else:
        assert (word.shape, word.literal) == ("document", body.rstrip("\n"))
