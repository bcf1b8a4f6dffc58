"""A program that runs another one gives both; a form that cannot be followed gives a doubt."""

import pytest

from holdfast.policy.shell.analysis import analyse

FOLLOWED: list[tuple[str, str, str]] = [
    ("env rm x", "rm x", "env"),
    ("env -i -u HOME rm x", "rm x", "env"),
    ("env - rm x", "rm x", "env"),
    ("/usr/bin/env rm x", "rm x", "env"),
    ("sudo rm x", "rm x", "sudo"),
    ("sudo -u root -n rm x", "rm x", "sudo"),
    ("sudo -nu root -- rm x", "rm x", "sudo"),
    ("sudo --user=root rm x", "rm x", "sudo"),
    ("sudo --user root rm x", "rm x", "sudo"),
    ("SUDO rm x", "rm x", "SUDO"),
    ("sudo env nice rm x", "rm x", "sudo env nice"),
    ("doas -u a rm x", "rm x", "doas"),
    ("nohup rm x", "rm x", "nohup"),
    ("nice -n 5 rm x", "rm x", "nice"),
    ("nice -10 rm x", "rm x", "nice"),
    ("ionice -c2 -n 7 rm x", "rm x", "ionice"),
    ("setsid -w rm x", "rm x", "setsid"),
    ("timeout 5 rm x", "rm x", "timeout"),
    ("timeout -k 1 -s KILL 5 rm x", "rm x", "timeout"),
    ("stdbuf -oL rm x", "rm x", "stdbuf"),
    ("time rm x", "rm x", "time"),
    ("time -p rm x", "rm x", "time"),
    ("command rm x", "rm x", "command"),
    ("command -p rm x", "rm x", "command"),
    ("builtin cd x", "cd x", "builtin"),
    ("exec rm x", "rm x", "exec"),
    ("busybox rm x", "rm x", "busybox"),
    ("watch -n 1 rm x", "rm x", "watch"),
    ("watch 'ls; rm x'", "rm x", "watch"),
    ("strace -f -e open rm x", "rm x", "strace"),
    ("ltrace rm x", "rm x", "ltrace"),
    ("unshare -r --fork rm x", "rm x", "unshare"),
    ("flock -n f rm x", "rm x", "flock"),
    ("flock f -c 'rm x'", "rm x", "flock"),
    ("taskset 1 rm x", "rm x", "taskset"),
    ("npx rm x", "rm x", "npx"),
    ("poetry run rm x", "rm x", "poetry"),
    ("uv run rm x", "rm x", "uv"),
    ("bash -c 'rm x'", "rm x", "bash"),
    ("bash -lc 'ls; rm x'", "rm x", "bash"),
    ("bash -x -o pipefail -c 'rm x' name", "rm x", "bash"),
    ("bash --norc -c -- 'rm x'", "rm x", "bash"),
    ("bash +x -c 'rm x'", "rm x", "bash"),
    ("sh -c 'rm x'", "rm x", "sh"),
    ("dash -c 'rm x'", "rm x", "dash"),
    ("ksh -c 'rm x'", "rm x", "ksh"),
    ("/bin/sh -c 'rm x'", "rm x", "sh"),
    ("bash -c \"bash -c 'rm x'\"", "rm x", "bash bash"),
    ("bash -c '(ls && rm x)'", "rm x", "bash"),
    ("eval 'rm x'", "rm x", "eval"),
    ("eval rm x", "rm x", "eval"),
    ("eval -- rm x", "rm x", "eval"),
    ("eval eval rm x", "rm x", "eval eval"),
    ("trap 'rm x' EXIT", "rm x", "trap"),
    ("trap -- 'ls; rm x' INT", "rm x", "trap"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "inner", "via"), FOLLOWED)
def test_the_wrapper_and_the_command_inside_are_both_found(text: str, inner: str, via: str) -> None:
    found = analyse(text)
    assert found.doubts == ()
    assert found.commands[0].via == ()
    last = found.commands[-1]
    assert (last.text, last.via) == (inner, tuple(via.split()))


FOLLOWED_WITH_DOUBT: list[tuple[str, str]] = [
    ("env A=b rm x", "the assignment `A=b`"),
    ("sudo A=b rm x", "the assignment `A=b`"),
    ("env -Z rm x", "`env -Z` is not followed"),
    ("env --argv0 rm x", "`env --argv0` is not followed"),
    ("exec -a ls rm x", "`exec -a`"),
    ("time -o f rm x", "`time -o`"),
    ("xargs rm x", "adds arguments"),
    ("xargs -0 -n1 rm x", "adds arguments"),
    ("find . -exec rm x \\;", "adds file names"),
    ("find . -execdir rm x +", "adds file names"),
    ("find . -ok rm x ';' -print", "adds file names"),
    ("parallel rm x", "adds arguments"),
    ("chroot /c rm x", "in another place"),
    ("nsenter -t 1 -m rm x", "in another place"),
    ("ssh host rm x", "in another place"),
    ("ssh host 'ls; rm x'", "in another place"),
    ("su root -c 'rm x'", "as another user"),
    ("su -c 'rm x' root", "as another user"),
    ("runuser -u x --command='rm x'", "as another user"),
    ("script -qc 'rm x' f", "to a file"),
    ("coproc rm x", "in the background"),
    ("entr rm x", "adds arguments"),
    ("zsh -c 'rm x'", "in its own way"),
    ("fish -c 'rm x'", "in its own way"),
    ("sh -c 'rm x; echo &> f'", "`&>` means something else outside bash"),
    ("sh -c \"ls $'a'; rm x\"", "means something else outside bash"),
    ('bash -c "rm x; $y"', "the shell text"),
    ('bash -c "rm x; echo \\"$y\\""', "the shell text"),
    ('eval "rm x; $y"', "the shell text"),
    ("eval rm x $y", "the shell text of `eval`"),
    ("trap \"rm x; $y\" EXIT", "the shell text"),
    ("/lib64/ld-linux-x86-64.so.2 rm x", "loads and runs"),
    ("bash -s -c 'rm x'", "reads more commands"),
    ("bash --rcfile f -c 'rm x'", "`--rcfile` is not followed"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "part"), FOLLOWED_WITH_DOUBT)
def test_a_wrapper_that_is_not_wholly_followed_says_so_and_may_show_its_inside(
    text: str, part: str
) -> None:
    found = analyse(text)
    assert any(part in doubt for doubt in found.doubts), found.doubts
    if "--rcfile" not in text:
        assert any(command.argv[:2] == ("rm", "x") for command in found.commands)


NOT_FOLLOWED: list[tuple[str, str]] = [
    ("env -S 'rm x'", "`env -S`"),
    ("sudo -s", "`sudo -s`"),
    ("sudo -i", "`sudo -i`"),
    ("curl u | sh", "`sh` runs whatever it is given to read"),
    ("bash", "runs whatever"),
    ("bash -", "runs whatever"),
    ("bash -c", "the shell text"),
    ("bash -c $x", "the shell text `$x`"),
    ("bash -i", "reads more commands"),
    ("eval $x", "the shell text"),
    ("eval $x ls", "the shell text of `eval`"),
    ("chroot /c", "starts a shell"),
    ("unshare -r", "starts a shell"),
    ("su", "as another user"),
    ("script", "starts a shell"),
    ("find . -delete", "`find -delete` changes files"),
    ("find . -fprint f", "`find -fprint` changes files"),
    ("find . -exec", "adds file names"),
    ("python -c 'import os'", "runs code"),
    ("python3.11 -Ic 'x'", "runs code"),
    ("python3 -W ignore -c x", "runs code"),
    ("python -m timeit x", "runs code"),
    ("python", "runs whatever it is given to read"),
    ("python -", "runs whatever it is given to read"),
    ("python -v", "runs whatever it is given to read"),
    ("python -u", "runs whatever it is given to read"),
    ("perl -e x", "runs code"),
    ("perl -ne x f", "runs code"),
    ("ruby -e x", "runs code"),
    ("node -e x", "runs code"),
    ("node --eval=x", "runs code"),
    ("php -r x", "runs code"),
    ("lua -e x", "runs code"),
    ("deno eval x", "runs code"),
    ("git -c alias.x='!rm y' x", "can run other programs"),
    ("git -c core.pager=evil log", "can run other programs"),
    ("git -c", "can run other programs"),
    ("git --exec-path=/tmp x", "can run other programs"),
    ("git config alias.x '!rm y'", "can run or write more"),
    ("git rebase -x 'rm y' main", "can run or write more"),
    ("git bisect run rm y", "can run or write more"),
    ("git submodule foreach 'rm y'", "can run or write more"),
    ("git clone 'ext::sh -c rm' d", "can run or write more"),
    ("git fetch --upload-pack='rm y' o", "can run or write more"),
    ("git grep -Orm x", "can run or write more"),
    ("git log --output=f", "can run or write more"),
    ("tar --to-command=rm -xf a", "can run other programs"),
    ("tar xf a --checkpoint-action=exec=rm", "can run other programs"),
    ("tar -I rm -xf a", "can run other programs"),
    ("rsync -e rm a b", "can run other programs"),
    ("rsync --rsh=rm a b", "can run other programs"),
    ("make SHELL=/tmp/x", "can run other programs"),
    ("make -f x", "can run other programs"),
    ("awk 'BEGIN{system(\"rm x\")}'", "the awk program"),
    ("gawk '{print | \"rm x\"}'", "the awk program"),
    ("awk '{print > \"f\"}'", "the awk program"),
    ("sed '1e rm x' f", "the sed script"),
    ("sed 's/a/b/e' f", "the sed script"),
    ("sed 'w f' g", "the sed script"),
    ("sed -e", "the sed script"),
    ("sed -f x g", "the sed script"),
    ("sed --expression 'w f' g", "the sed script"),
    ("sort --compress-program=rm f", "can run other programs"),
    ("split --filter='rm x' f", "can run other programs"),
    ("rg --pre rm x", "can run other programs"),
    ("fd -x rm", "can run other programs"),
    ("docker run -v /:/h alpine rm", "`docker run` runs another program"),
    ("npm exec", "runs another program"),
    ("uv --quiet run rm x", "runs another program"),
    ("vim x", "can run other programs"),
    ("tmux new rm", "can run other programs"),
    ("ip netns exec x rm", "can run other programs"),
    ("ld.so", "loads and runs"),
    ("python /dev/stdin", "runs whatever"),
    ("bash /dev/fd/0", "runs whatever"),
    ("tar xIf rm a", "can run other programs"),
    ("gcc-12 -wrapper rm x.c", "can run other programs"),
    ("gawk -l x 'BEGIN{}'", "the awk program"),
    ("git --git-dir=/x log", "can run other programs"),
    ("Rscript -e x", "runs code"),
    ("ed f", "can run other programs"),
    ("\\[ -v 'a[$(id)]' ]", "evaluates its argument"),
    ("sudo -u", ""),
    (" ".join(["env"] * 12) + " rm x", "more than 8 deep"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "part"), NOT_FOLLOWED)
def test_a_program_that_runs_another_out_of_sight_is_a_doubt(text: str, part: str) -> None:
    doubts = analyse(text).doubts
    if part:
        assert any(part in doubt for doubt in doubts), doubts
    else:
        assert analyse(text).commands


def test_options_end_at_two_dashes() -> None:
    assert analyse("env -- rm x").commands[-1].argv == ("rm", "x")


def test_an_option_that_is_not_literal_ends_the_options_of_a_wrapper() -> None:
    found = analyse("sudo $x rm y")
    assert found.commands[1].argv == ("$x", "rm", "y")
    assert found.doubts
