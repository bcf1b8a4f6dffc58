"""Whatever a command does to its shell: its own report is right, and the next command works."""

import asyncio
from pathlib import Path

import pytest
from execution.processes.ground import each
from execution.processes.session import Session, session
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from holdfast.contract.shell import CommandLimits, CommandReport, Confinement

HOSTILE = {
    # what: (text, exit code, stdout)
    "exit": ("echo a; exit 3; echo b", 3, "a\n"),
    "exit_in_a_function": ("f() { exit 4; }; f", 4, ""),
    "exec": ("exec printf replaced", 0, "replaced"),
    "exec_missing": ("exec /nowhere/at/all", 127, ""),
    "open_quote": ("echo 'unclosed", 2, ""),
    "open_double_quote": ('echo "unclosed', 2, ""),
    "open_substitution": ("echo a\nx=$(", 2, "a\n"),
    "open_process_substitution": ("cat <(", 2, ""),
    "open_brace": ("f() {", 2, ""),
    "open_here_document": ("cat <<END\nin it", 0, "in it\n"),
    "open_here_document_in_substitution": ("x=$(cat <<END", 2, ""),
    "stray_words": ("fi; done; }", 2, ""),
    "errexit": ("set -e; false; echo never", 1, ""),
    "errexit_kept": ("set -e; echo kept", 0, "kept\n"),
    "nounset": ("set -u; echo $nothing; echo never", 1, ""),
    "noexec": ("echo a; set -n; echo never", 0, "a\n"),
    "trace": ("set -x; echo traced", 0, "traced\n"),
    "restricted": ("set -r; echo r", 0, "r\n"),
    "one_command": ("set -t; echo t", 0, "t\n"),
    "posix": ("set -o posix; echo p", 0, "p\n"),
    "break": ("break; echo on", 0, "on\n"),
    "continue": ("continue 5; echo on", 0, "on\n"),
    "return": ("return 4; echo on", 0, "on\n"),
    "failing_expansion": (": ${x:?gone}; echo never", 1, ""),
    "functions": (
        "for n in eval builtin printf export unset exit test cd set trap exec readonly; do"
        ' eval "$n() { :; }"; done 2>/dev/null; false',
        1,
        "",
    ),
    "eval_function": ("eval() { :; }", 0, ""),
    "builtin_function": ("builtin() { :; }; unset() { :; }; set() { :; }", 0, ""),
    "aliases": (
        "shopt -s expand_aliases; alias eval=: builtin=: export=: unset=: exit=: printf=:; echo x",
        0,
        "x\n",
    ),
    "disabled_builtins": ("enable -n printf export; echo x", None, "x\n"),
    "closed_output": ("exec 1>&- 2>&-; echo lost; true", 0, ""),
    "moved_output": ("exec >/dev/null 2>&1; echo lost; true", 0, ""),
    "closed_ours": ("exec 3>&- 4>&- 5<&- 6<&-; echo x", 0, "x\n"),
    "closed_saved": ("exec 10>&- 11>&- 12>&- 13>&-; echo x; true", 0, "x\n"),
    "closed_all": ('for n in {3..60}; do eval "exec $n>&-"; done; echo x; true', 0, "x\n"),
    "written_to_ours": (
        "for n in {12..40}; do echo garbage >&$n; done 2>/dev/null; echo x >>runs; wc -l <runs",
        0,
        "1\n",
    ),
    "another_answer": (
        "for n in {12..40}; do printf 'x\\0-\\0/\\0000\\0000\\0' >&$n; done 2>/dev/null;"
        " echo x; (exit 9)",
        9,
        "x\n",
    ),
    "input_from_a_file": ("exec 0</etc/hostname; true", 0, ""),
    "debug_trap": ("trap 'echo d' DEBUG; true", 0, "d\n"),
    "debug_trap_that_skips": ("shopt -s extdebug; trap false DEBUG; echo x", None, ""),
    "exit_trap": ("trap 'echo bye' EXIT; exit 5", 5, "bye\n"),
    "exit_trap_kept": ("trap 'echo bye' EXIT; true", 0, ""),
    "child_trap": ("trap 'echo child' CHLD; /bin/true", 0, "child\n"),
    "ignored_signals": ("trap '' TERM HUP INT; echo x", 0, "x\n"),
    "killed": ("kill -9 $$", 137, ""),
    "terminated": ("kill $$; echo never", 143, ""),
    "readonly_ours": ("readonly _o _g POSIXLY_CORRECT; echo x", None, "x\n"),
    "overwritten_ours": ("_a=: _5=: _0=:; echo x", None, ""),
    "few_descriptors": ("ulimit -n 6; echo x", None, "x\n"),
    "small_files": ("ulimit -f 0; echo x", 0, "x\n"),
    "separators": ("IFS=-/0123456789; echo x", 0, "x\n"),
    "locale": ("LC_ALL=C.UTF-8; LANG=; export LC_ALL; echo x", 0, "x\n"),
    "no_path": ("PATH=; export PATH; echo x", 0, "x\n"),
    "no_environment": ("for n in $(compgen -e); do unset $n; done 2>/dev/null; true", 0, ""),
    "lying_directory": ("PWD=/elsewhere; echo x", 0, "x\n"),
    "no_directory_stack": ("unset DIRSTACK PWD; echo x", 0, "x\n"),
    "job_control": ("set -m; sleep 0.01 & wait; echo x", 0, "x\n"),
    "coprocess": ("coproc cat; echo x", 0, "x\n"),
    "background": ("sleep 0.2 & echo x", 0, "x\n"),
    "background_that_prints": ("(sleep 0.05; echo late; echo late >&2) & echo x", 0, None),
    "endless_background": ("(while :; do echo y; sleep 0.01; done) & echo x", 0, None),
    "binary": ("printf '\\0\\377\\1'", 0, "\0\ufffd\x01"),
    "comment": ("# nothing", 0, ""),
    "empty": ("", 0, ""),
    "only_newlines": ("\n\n\n", 0, ""),
    "backslash": ("echo x \\", 0, None),
    "carriage_return": ("echo x\r", 0, "x\r\n"),
    "control_bytes": ("echo \x01\x7f\x1b", 0, "\x01\x7f\x1b\n"),
    "not_utf8": ("echo \udcff", 0, "\ufffd\n"),
    "history": ("set -o history; echo x; !!", 127, "x\n"),
    "status": ("(exit 200)", 200, ""),
}


async def assert_alive(here: Session) -> None:
    after = (await here.shell.run("echo alive; echo too >&2")).report
    assert (after.exit_code, after.killed_by) == (0, None)
    assert (after.stdout.text(), after.stderr.text()) == ("alive\n", "too\n")


def said(report: CommandReport) -> str:
    return report.stdout.text()


@pytest.mark.measured
@pytest.mark.req("BOA-PSH-06")
@each("landlock", "namespaces")
async def test_what_a_command_does_to_its_shell_breaks_nothing(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        for what, (text, code, printed) in HOSTILE.items():
            report = (await here.shell.run(text)).report
            if code is not None:
                assert (what, report.exit_code) == (what, code), report
            if printed is not None:
                assert (what, said(report)) == (what, printed), report
            assert report.killed_by is None, what
            await assert_alive(here)


WORDS = st.sampled_from(
    [text for text, _, _ in HOSTILE.values()]
    + ["$(", "`", '"', "'", "<<E", "((", "[[", "{", "}", "|", "&", ";", "\\", "#", "case x in"]
    + ["true", "false", "for i in 1 2; do", "done", "if", "then", "fi", "cd /", "export A=b"]
)
TEXTS = st.one_of(
    st.lists(WORDS, min_size=1, max_size=5).flatmap(
        lambda words: st.sampled_from([" ", "\n", ";", "&&"]).map(lambda by: by.join(words))
    ),
    st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=60),
)


@pytest.mark.measured
@pytest.mark.req("BOA-PSH-06")
@pytest.mark.parametrize("kind", ["unconfined"])
def test_no_text_breaks_the_framing(
    tmp_path_factory: pytest.TempPathFactory, kind: Confinement
) -> None:
    async def check() -> None:
        async with session(tmp_path_factory.mktemp("hostile"), kind) as here:
            await asyncio.to_thread(search, asyncio.get_running_loop(), here)

    def search(loop: asyncio.AbstractEventLoop, here: Session) -> None:
        @given(TEXTS)
        @settings(
            max_examples=120,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=[HealthCheck.too_slow],
        )
        def one(text: str) -> None:
            asyncio.run_coroutine_threadsafe(run(here, text), loop).result()

        one()

    async def run(here: Session, text: str) -> None:
        limits = CommandLimits(wall=3.0, grace=0.0)
        report = (await here.shell.run(text, limits=limits)).report
        assert report.killed_by in (None, "timeout")
        await assert_alive(here)

    asyncio.run(check())
