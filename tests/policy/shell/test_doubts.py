"""Texts that are not wholly understood say so, and say about which piece."""

import pytest

from holdfast.policy.shell.analysis import analyse

DOUBTFUL: list[tuple[str, str]] = [
    # does not parse
    ("echo 'unterminated", "does not parse"),
    ('git log "unterminated', "does not parse"),
    ("if", "does not parse"),
    ("{a} b", "cannot be parsed"),
    ("ls ;; rm x", "`;;` is not understood here"),
    ("(ls) rm x", "cannot be parsed"),
    ("ls !(a)", "does not parse"),
    ("echo (a)", "`(a)` stands inside a command"),
    ("cat <<E; rm x\nb\nE\n", "does not parse"),
    # values only the run can tell
    ("rm $x", "`$x` is only known when it runs"),
    ("rm ${x}", "is only known when it runs"),
    ('rm "$x"', "is only known when it runs"),
    ("echo $(id)", "is only known when it runs"),
    ("echo ${x:-$(id)}", "is only known when it runs"),
    ("echo ${x:=`id`}", "backticks"),
    ("echo ${x@P}", "is only known when it runs"),
    ("echo ${!x}", "is only known when it runs"),
    ("echo $((a[$(id)]))", "is only known when it runs"),
    ("echo $[1+1]", "is only known when it runs"),
    ("echo `id`", "backticks"),
    ('echo "`id`"', "backticks"),
    ("echo `a \\`b\\``", "backticks"),
    ("diff <(id) x", "is only known when it runs"),
    ("ls >(id)", "is only known when it runs"),
    ("echo $? $# $$", "`$?`"),
    ('echo $"a"', "is only known when it runs"),
    ("echo $'\\cA'", "an escape that is not followed"),
    ("echo $'\\xff'", "an escape that is not followed"),
    ("echo $'\\0'", "an escape that is not followed"),
    ("echo {a,b}", "stands for several words"),
    ("echo {1..3}", "stands for several words"),
    ("{rm,-rf,x}", "does not parse"),
    ("ls *.py", "write `./*.py`"),
    ("git pus?", "stands for file names"),
    ("git [p]ush", "stands for file names"),
    # the program
    ("$x y", "the program name `$x`"),
    ("$(id) y", "the program name `$(id)`"),
    ("rm$IFS-rf", "the program name"),
    ("/bin/r? x", "the program name"),
    ("~/bin/x", "the program name `~/bin/x`"),
    ("r{m,} x", "the program name"),
    ("\u0433m x", "the program name"),
    ('"" x', 'the program name `""`'),
    ("time { rm x; }", "the program name `{`"),
    ("time ! rm x", "the program name `!`"),
    ("env if", "the keyword `if`"),
    ("! ! ls", "the program name `!`"),
    ("[a]", "is not a test"),
    # the shell's own state
    ("A=b git log", "the assignment `A=b` in front of a command"),
    ("GIT_PAGER=evil git log", "GIT_PAGER=evil"),
    ("a[$(id)]=1 ls", "the assignment"),
    ("PATH=/tmp; ls", "the assignment `PATH=/tmp` changes what follows"),
    ("a=1 b=2", "the assignment"),
    ("export A=$(id)", "changes variables"),
    ("declare -a x=(1 $(id))", "changes variables"),
    ("unset PATH", "changes variables"),
    ("local x", "changes variables"),
    ("readonly x=1", "changes variables"),
    ("typeset -i x", "changes variables"),
    ("'export' A=b", "sets variables"),
    ("read x", "sets variables"),
    ("mapfile -C id x", "sets variables"),
    ("let x=1", "sets variables"),
    ("printf -v x y", "evaluates its argument"),
    ("test -v 'a[$(id)]'", "evaluates its argument"),
    ("[ -v 'a[$(id)]' ]", "can evaluate a subscript"),
    ("[[ -v x ]]", "can evaluate a subscript"),
    ("[[ x -eq 1 ]]", "evaluates names"),
    ("[[ $(id) ]]", "is only known when it runs"),
    ("[[ a<b ]]", "a blank is missing"),
    ("[ a > b ]", "means something else inside `[`"),
    ("wait -p x", "evaluates its argument"),
    ("jobs -x rm x", "evaluates its argument"),
    ("(( x = 1 ))", "evaluates names"),
    ("for ((i=0;i<3;i++)); do ls; done", "counting loop"),
    ("for ((i=$(id);;)); do ls; done", "counting loop"),
    ("((ls); pwd)", "does not parse"),
    ("for PATH in /tmp; do ls; done", "the loop sets `PATH`"),
    ("for i in $(id); do ls; done", "is only known when it runs"),
    ("case $(id) in a) ls;; esac", "is only known when it runs"),
    ("case x in $(id)) ls;; esac", "the pattern"),
    ("f() { rm x; }", "the function `f` is defined"),
    ("function ls { rm x; }", "the function `ls` is defined"),
    ("ls() ( rm x )", "the function `ls`"),
    ("alias ls=rm", "what a word stands for"),
    ("shopt -s expand_aliases", "how the shell finds commands"),
    ("hash -p /bin/rm ls", "how the shell finds commands"),
    ("enable -f x.so x", "how the shell finds commands"),
    ("set -k", "changes the shell"),
    ("set -- a b", "changes the shell"),
    ("source x", "runs a file inside this shell"),
    (". x", "runs a file inside this shell"),
    ("complete -C id x", "can run a command"),
    ("sleep 9 &", "in the background"),
    ("ls & rm x", "in the background"),
    ("(ls &)", "in the background"),
    ("coproc rm x", "in the background"),
    # redirections
    ("ls > $x", "the redirection target `$x`"),
    ("ls > ~/x", "the redirection target `~/x`"),
    ("ls > ./*", "the redirection target"),
    ("ls > $(rm x)", "the redirection target"),
    ("ls >&$x", "the redirection target `$x`"),
    ("ls >&'$(id)'", "is not followed here"),
    ("ls <&x", "is not followed here"),
    ("ls > /dev/tcp/h/80", "a network connection"),
    ("ls {fd}> f", "sets a variable"),
    ("ls && pwd > f x", "stands behind a redirection"),
    ("cat > f $(id)", "is only known when it runs"),
    ("cat <<< $(id)", "is only known when it runs"),
    ("$(< f)", "the program name"),
    ("cat - 2>&1 1>f", "not understood"),
    ("ls \\ ", "is not understood here"),
    ("cd /etc && ls > passwd", "after a change of folder `passwd`"),
    ("cd /etc && ./run", "after a change of folder `./run`"),
    # here-documents
    ("cat <<E\n$x\nE\n", "holds expansions"),
    ("cat <<E\n`id`\nE\n", "holds expansions"),
    ("cat <<E $(id)\nx\nE\n", "is only known when it runs"),
    ("cat <<\\E\nx\nE\n", "unusual delimiter"),
    ("cat <<'E F'\nx\nE F\n", "delimiter"),
    ("cat <<E \\\n x\nb\nE\n", "first line cannot be followed"),
    ("cat <<E\nx\n", "here-document"),
    ("cat <<A <<B\n1\nA\n2\nB\n", "here-document"),
    ("ls | ! pwd", "`!` in the middle"),
    ("<\nls x", "not understood"),
    ("ls " + "| ls " * 300, "more than 256 pipes"),
    ("ls \\\n# x", "may not be a comment"),
    ("ls == # x", "does not parse"),
    ("ls a$ == 2>&1", "a number touches"),
    ("a#b x", "may not be a comment"),
    # characters
    ("ls\u00a0x", "U+00A0"),
    ("ls\u200bx", "U+200B"),
    ("ls \u202e x", "U+202E"),
    ("ls \u3164", "U+3164"),
    ("ls\u3000x", "U+3000"),
    ("ls\rrm x", "U+000D"),
    ("ls \x0b", "U+000B"),
    ("ls \x1b[2J", "U+001B"),
    ("r\\\nm x", "a line end in the middle of a word"),
    ('echo "a\\\nb"', "a line end in the middle of a word"),
    ("ls\x00", "NUL"),
    ("ls \ud800", "not valid Unicode"),
    ("echo " + "a" * 9000, "longer than"),
    ("echo " + "é" * 4100, "longer than"),
    ("( " * 300 + "ls" + " )" * 300, "nested too deeply"),
    ("ls a'b'#c'\n", "does not parse"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "part"), DOUBTFUL, ids=lambda value: ascii(value)[:40])
def test_what_cannot_be_taken_apart_is_named(text: str, part: str) -> None:
    doubts = analyse(text).doubts
    assert any(part in doubt for doubt in doubts), doubts


HIDDEN = [
    "echo $(rm x)", 'echo "$(rm x)"', "echo `rm x`", "cat <(rm x)", "echo ${y:-$(rm x)}",
    "A=$(rm x)", "A=$(rm x) ls", "export A=$(rm x)", "ls > $(rm x)", "cat <<< $(rm x)",
    "cat <<E\n$(rm x)\nE\n", "cat <<E $(rm x)\nb\nE\n", "for i in $(rm x); do ls; done",
    "case $(rm x) in a) ls;; esac", "case x in $(rm x)) ls;; esac", "[ $(rm x) ]",
    "[[ a == $(rm x) ]]", "(( a[$(rm x)] ))", "for ((i=$(rm x);;)); do ls; done",
    "f() { rm x; }", "function f { rm x; }", "rm x &", "coproc rm x", "time rm x", "! rm x",
    "echo $(( $(rm x) ))", "if ls; then rm x; fi", "(rm x", "a[$(rm x)]=1", "ls >&$(rm x)",
    "echo (rm x)", "unset $(rm x)", "cat > f $(rm x)",
]  # fmt: skip


@pytest.mark.parametrize("text", HIDDEN)
def test_a_command_in_a_doubtful_place_is_still_found(text: str) -> None:
    assert ("rm", "x") in {command.argv for command in analyse(text).commands}


def test_a_background_command_is_marked() -> None:
    assert analyse("sleep 1 & ls").background
    assert analyse("bash -c 'sleep 1 &'").background
    assert not analyse("ls 2>&1 && pwd").background


def test_a_doubt_is_said_once_and_shows_a_short_printable_piece() -> None:
    doubts = analyse(f"echo $x $x '\x01{'y' * 100}'$z").doubts
    assert len(doubts) == len(set(doubts))
    assert all(doubt.isprintable() and len(doubt) < 160 for doubt in doubts)
