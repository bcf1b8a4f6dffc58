"""The call that only reads and asks what a shell command asks: exactly that one, or none."""

import pytest

from holdfast.contract.json_value import JsonObject
from holdfast.policy.read_only import Alternatives, Suggestion, alternatives


def _preferred(command: str, cwd: str = "/workspace") -> Suggestion | None:
    return alternatives(command, cwd).preferred


def _read(**args: object) -> Suggestion:
    path = {"path": "/workspace/a.md"}
    return Suggestion("read", {**path, **args})  # pyright: ignore[reportArgumentType] - plain values


@pytest.mark.req("BOA-CLS-01", "BOA-CLS-03", "BOA-CLS-04", "BOA-CLS-05")
@pytest.mark.parametrize(
    ("command", "offer"),
    [
        ("cat a.md", _read()),
        ("head a.md", _read(line_count=10)),
        ("tail a.md", _read(tail_lines=10)),
        ("head -n 3 a.md", _read(line_count=3)),
        ("tail -n 25 a.md", _read(tail_lines=25)),
    ],
)
def test_showing_a_file_is_a_read(command: str, offer: Suggestion) -> None:
    assert _preferred(command) == offer


@pytest.mark.req("BOA-CLS-06")
@pytest.mark.parametrize(
    ("program", "offer"),
    [
        ("'10,20p'", _read(start_line=10, line_count=11)),
        ("5,5p", _read(start_line=5, line_count=1)),
        ("'1,2p'", _read(start_line=1, line_count=2)),
        ("'20,10p'", None),
        ("'0,5p'", None),
        ("'05,9p'", None),
        ("5p", None),
        ("'1,$p'", None),
        ("'1,5w out'", None),
        ("'1,5p;w out'", None),
        ("'1e id'", None),
        ("'1,5d'", None),
        ("'/a/,/b/p'", None),
        ("1," + "9" * 5000 + "p", None),
    ],
)
def test_a_printed_range_of_lines_is_a_read_and_no_other_sed_program_is(
    program: str, offer: Suggestion | None
) -> None:
    assert _preferred(f"sed -n {program} a.md") == offer


@pytest.mark.req("BOA-CLS-06")
@pytest.mark.parametrize(
    "command",
    ["sed 1,5p a.md", "sed -n 1,5p", "sed -n 1,5p a b", "sed -i -n 1,5p a", "sed -n 1,5p -i"],
)
def test_another_form_of_sed_yields_nothing(command: str) -> None:
    assert alternatives(command) == Alternatives()


def test_counting_lines_is_a_read_of_one_line() -> None:
    assert _preferred("wc -l a.md") == _read(line_count=1)
    for command in ("wc a.md", "wc -c a.md", "wc -l a b", "wc -l"):
        offer = _preferred(command)
        assert offer is not None
        assert offer.tool == "bash"


@pytest.mark.req("BOA-CLS-08")
@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("ls", "/workspace"),
        ("ls src", "/workspace/src"),
        ("ls -la", "/workspace"),
        ("ls -al src", "/workspace/src"),
        ("ls -A -1 src/", "/workspace/src"),
        ("ls ..", "/"),
        ("ls /etc", "/etc"),
    ],
)
def test_a_listing_is_a_glob(command: str, path: str) -> None:
    assert _preferred(command) == Suggestion("glob", {"path": path, "pattern": "*", "limit": 80})


@pytest.mark.req("BOA-CLS-08")
@pytest.mark.parametrize("command", ["ls a b", "ls -R", "ls -lh src", "ls src -l", "ls -d src"])
def test_another_listing_stays_a_bash_call(command: str) -> None:
    assert _preferred(command) == Suggestion("bash", {"command": command, "workdir": "/workspace"})


@pytest.mark.req("BOA-CLS-09", "BOA-CLS-11", "BOA-CLS-12", "BOA-CLS-15")
@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("find src -name '*.ts'", {"path": "/w/src", "pattern": "**/*.ts"}),
        ("find . -name a.md", {"path": "/w", "pattern": "**/a.md"}),
        ("find -name '?.md'", {"path": "/w", "pattern": "**/?.md"}),
        ("find -type f -name x", {"path": "/w", "pattern": "**/x", "kind": "file"}),
        ("find /s -type d -name x", {"path": "/s", "pattern": "**/x", "kind": "directory"}),
        ("find s -type f -name x", {"path": "/w/s", "pattern": "**/x", "kind": "file"}),
    ],
)
def test_finding_by_name_is_a_glob(command: str, args: JsonObject) -> None:
    assert _preferred(command, "/w") == Suggestion("glob", {**args, "limit": 80})


@pytest.mark.req("BOA-CLS-10", "BOA-CLS-12")
@pytest.mark.parametrize(
    "command",
    [
        "find src",
        "find src -type f",
        "find src -name 'a/b'",
        "find src -name x -type f",
        "find src -type l -name x",
        "find src -iname x",
        "find src -name x -delete",
        "find a b -name x",
        "find -L -name x",
        "find '!' -name x",
        "find '(' -name x",
        "find '' -name x",
        "find src -name ''",
        "find src -name -x",
        "find src -name '[ab]'",  # a set for find, plain text for glob
        "find src -name 'a**b'",
        "find src -name '{a,b}'",
    ],
)
def test_another_search_by_name_yields_nothing(command: str) -> None:
    assert alternatives(command) == Alternatives()


@pytest.mark.req("BOA-CLS-16")
@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("pwd", "pwd"),
        ("env", "env"),
        ("cat a.md b.md", "cat a.md b.md"),
        ("cat  -n\ta.md", "cat -n a.md"),
        ('cat "a b" c', "cat 'a b' c"),
        ("cat 'a;b' c", "cat 'a;b' c"),
        ("head -5 a.md", "head -5 a.md"),
        ("tail -n +5 a.md", "tail -n +5 a.md"),
        ("wc -c a.md", "wc -c a.md"),
        ("ls -R src", "ls -R src"),
        ("basename a/b.txt", "basename a/b.txt"),
        ("dirname a/b.txt", "dirname a/b.txt"),
        ("realpath a", "realpath a"),
    ],
)
def test_a_command_of_the_hand_is_offered_as_bash_with_its_words_quoted_again(
    command: str, written: str
) -> None:
    offer = Suggestion("bash", {"command": written, "workdir": "/workspace/d"})
    assert alternatives(command, "/workspace/d") == Alternatives(preferred=offer, bash=offer)


@pytest.mark.req("BOA-CLS-16")
@pytest.mark.parametrize("command", ["pwd -P", "pwd x", "env -u A", "env cat a.md"])
def test_pwd_and_env_are_offered_only_alone(command: str) -> None:
    assert alternatives(command) == Alternatives()


@pytest.mark.req("BOA-CLS-16")
@pytest.mark.parametrize(
    ("extra", "carried"),
    [
        ({"timeout_ms": 5000}, {"timeout_ms": 5000}),
        ({"timeout_ms": 0}, {}),
        ({"timeout_ms": True}, {}),
        ({"timeout_ms": "5000"}, {}),
        ({"max_output_chars": 100, "command": "rm x"}, {}),
    ],
)
def test_only_the_time_limit_of_the_shell_call_is_carried_over(
    extra: JsonObject, carried: JsonObject
) -> None:
    offer = alternatives("cat a b", extra=extra).bash
    assert offer is not None
    assert offer.args == {"command": "cat a b", "workdir": "/workspace", **carried}


def test_beside_the_fitting_tool_the_bash_form_is_given_too() -> None:
    bash = Suggestion("bash", {"command": "cat a.md", "workdir": "/workspace"})
    assert alternatives("cat a.md") == Alternatives(preferred=_read(), bash=bash)
    assert alternatives("grep TODO src").bash is None
    assert alternatives("find -name x").bash is None
    assert alternatives("sed -n 1,2p a").bash is None


@pytest.mark.req("BOA-CLS-19")
@pytest.mark.parametrize(
    ("cwd", "extra", "directory"),
    [
        ("/workspace/docs", {}, "/workspace/docs"),
        ("/workspace/docs", {"cwd": "/srv"}, "/srv"),
        ("/workspace/docs", {"cwd": None}, "/workspace/docs"),
        ("/workspace/docs", {"cwd": "srv"}, "/workspace"),
        ("docs", {}, "/workspace"),
        ("", {}, "/workspace"),
        ("//a//b/./c/../", {}, "/a/b"),
    ],
)
def test_the_directory_is_the_calls_own_else_the_shells_else_the_workspace(
    cwd: str, extra: JsonObject, directory: str
) -> None:
    offered = alternatives("cat ../a.md", cwd, extra)
    parent = directory.rpartition("/")[0]
    assert offered.preferred == Suggestion("read", {"path": f"{parent}/a.md"})
    assert offered.bash is not None
    assert offered.bash.args["workdir"] == directory


@pytest.mark.req("BOA-CLS-17", "BOA-CLS-23")
@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "python3 x.py",
        "tee a",
        "rm a",
        "touch a",
        "sudo cat a",
        "nohup cat a",
        "xargs cat",
        "command cat a",
        "exec cat a",
        "eval 'cat a'",
        "time cat a",
        "sh -c 'cat a'",
        "bash -c 'cat a'",
        "env cat a",
        "/bin/cat a",
        "./cat a",
        "A=1 cat a",
        "CAT a",
        "awk 1 a",
        "less a",
        "echo a",
    ],
)
def test_every_other_command_yields_nothing(command: str) -> None:
    assert alternatives(command) == Alternatives()


@pytest.mark.req("BOA-CLS-24")
@pytest.mark.parametrize(
    ("command", "by_bash"),
    [
        ("cat -", False),
        ("cat -n", True),
        ("head -n -5 a", True),
        ("head -n 0 a", True),
        ("head -n 05 a", True),
        ("head -n 5 -", False),
        ("tail -n +5 a", True),
        ("tail -n 5x a", True),
        ("tail -n " + "9" * 5000 + " a", True),
        ("wc -l -", False),
        ("ls -- -x", False),
        ("cat ''", False),
    ],
)
def test_a_dash_begins_no_path_and_a_count_is_a_plain_positive_integer(
    command: str, by_bash: bool
) -> None:
    offered = alternatives(command)
    assert offered.preferred == offered.bash
    assert (offered.bash is not None) is by_bash


@pytest.mark.req("BOA-CLS-25")
@pytest.mark.parametrize(
    "command",
    [
        "wc --files0-from=/etc/hostname",
        "wc --files0-from /etc/hostname",
        "ls --color=always",
        "head --lines=5 a",
        "realpath --relative-base=/ a",
        "tail -f a",
        "tail -F a",
        "tail -fn 5 a",
        "tail -n 5 -f a",
        "tail --follow a",
        "tail --follow=name a",
        "tail --retry a",
        "tail --ret a",
    ],
)
def test_long_options_with_a_value_and_a_tail_that_waits_are_not_offered(command: str) -> None:
    assert alternatives(command) == Alternatives()
