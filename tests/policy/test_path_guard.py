"""A path a model wrote is under an allowed root by its text, or refused for a named reason."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.policy.path_guard import (
    SHARED_ROOT,
    PathRefusal,
    guard_folder_path,
    guard_path,
    require_path,
)

HOME = "/workspace/agents/a"
PIECES = st.sampled_from(
    ["a", "..", ".", "/", "//", " ", HOME, SHARED_ROOT, "é", "\0", ";", "\n", "-", "shared", "~"]
)
PATHS = st.one_of(st.lists(PIECES, max_size=6).map("".join), st.text(max_size=30))


def _refused(path: str, home: str = HOME) -> PathRefusal:
    guarded = guard_path(path, home)
    assert isinstance(guarded, PathRefusal), guarded
    return guarded


@pytest.mark.req("OSA-PTH-04")
@pytest.mark.parametrize(
    ("path", "resolved"),
    [
        ("notes.txt", f"{HOME}/notes.txt"),
        ("./a//b/./c/", f"{HOME}/a/b/c"),
        (".", HOME),
        ("two words.md", f"{HOME}/two words.md"),
        ("[id].tsx", f"{HOME}/[id].tsx"),
        ("~/x", f"{HOME}/~/x"),
        (HOME, HOME),
        (f"{HOME}/", f"{HOME}/"),
        (f"{HOME}/notes.txt", f"{HOME}/notes.txt"),
        (f"{HOME}//./notes.txt", f"{HOME}//./notes.txt"),
    ],
)
def test_a_relative_path_joins_the_home_and_an_absolute_one_under_it_stays_as_it_is(
    path: str, resolved: str
) -> None:
    assert guard_path(path, HOME) == resolved


@pytest.mark.req("OSA-PTH-05")
def test_the_shared_root_is_allowed_and_every_other_absolute_path_is_outside() -> None:
    assert guard_path("/workspace/shared/x", HOME) == "/workspace/shared/x"
    assert guard_path("/data/x", HOME, "/data") == "/data/x"
    for path in ("/", "/etc/passwd", "/workspace", "/workspace/shared-not/x", f"{HOME}b/x"):
        assert _refused(path).reason == "outside_roots"
    without = guard_path("/workspace/shared/x", HOME, None)
    assert isinstance(without, PathRefusal)
    assert without.explanation == f"the path is outside the allowed roots `{HOME}`"


@pytest.mark.req("OSA-PTH-06")
@pytest.mark.parametrize(
    "path", ["..", "../x", "a/../../x", "a/../b", "a..b", "x..", f"{HOME}/../b", "a;../b", "..\0"]
)
def test_two_dots_are_traversal_wherever_they_occur(path: str) -> None:
    assert _refused(path).reason == "traversal"


@pytest.mark.req("OSA-PTH-07")
@pytest.mark.parametrize("character", [*";|&$`'\"", *"<>(){}\\\n\r\t\x1b\x7f\x85", "\ud800"])
def test_a_character_a_shell_reads_is_dangerous(character: str) -> None:
    for path in (f"a{character}b", f"{HOME}/{character}", f"/etc/{character}"):
        assert _refused(path).reason == "dangerous_char"


@pytest.mark.req("OSA-PTH-02", "OSA-PTH-03")
@pytest.mark.parametrize(
    ("path", "reason", "message"),
    [
        ("", "empty", "Argument `path` rejected: the path is empty. Got ``."),
        (
            "../x",
            "traversal",
            "Argument `path` rejected: path traversal (`..`) is not allowed. Got `../x`.",
        ),
        (
            "a\0b",
            "nul",
            r"Argument `path` rejected: the path contains a NUL byte. Got `a\x00b`.",
        ),
        (
            "a;b",
            "dangerous_char",
            "Argument `path` rejected: the path contains the dangerous character `;`. Got `a;b`.",
        ),
        (
            "/etc/passwd",
            "outside_roots",
            "Argument `path` rejected: the path is outside the allowed roots"
            " `/workspace/agents/a` and `/workspace/shared`. Got `/etc/passwd`.",
        ),
    ],
)
def test_each_reason_is_told_apart_and_said(path: str, reason: str, message: str) -> None:
    refusal = _refused(path)
    assert (refusal.reason, refusal.message()) == (reason, message)


def test_a_long_or_unreadable_path_is_shown_in_short() -> None:
    message = _refused("/" + "x" * 5000).message()
    assert message.endswith(f"Got `/{'x' * 199}…`.")
    assert r"character `\n`. Got `a\nb`." in _refused("a\nb").message()
    assert r"character `\ud800`. Got `a\ud800`." in _refused("a\ud800").message()


@pytest.mark.req("OSA-PTH-01")
@pytest.mark.parametrize("path", ["", "../x", "a\0b", "a|b", "/etc/passwd"])
def test_a_tool_author_gets_a_ready_failure_with_the_reason(path: str) -> None:
    answer = require_path({"path": path}, home=HOME, tool="reader")
    assert isinstance(answer, Envelope)
    assert answer.failure is not None
    assert answer.failure.kind is FailureKind.INVALID_ARGS
    assert answer.failure.field == "path"
    assert answer.failure.message == _refused(path).message()
    assert answer.failure.expected == (
        "a path relative to `/workspace/agents/a`, or an absolute one under it or under"
        " `/workspace/shared`"
    )
    assert answer.tool == "reader"


def test_a_tool_author_gets_the_path_or_hears_that_it_is_missing_or_no_text() -> None:
    assert require_path({"path": "x"}, home=HOME) == f"{HOME}/x"
    assert require_path({"to": "/data/x"}, "to", home=HOME, shared_root="/data") == "/data/x"
    named = require_path({"to": "../x"}, "to", home=HOME, shared_root=None)
    assert isinstance(named, Envelope)
    assert named.failure is not None
    assert named.failure.field == "to"
    assert named.failure.message.startswith("Argument `to` rejected: path traversal")
    assert named.failure.expected == f"a path relative to `{HOME}`, or an absolute one under it"
    for arguments, said in (
        ({}, "Missing required argument `path`"),
        ({"path": 5}, "Got a number"),
    ):
        wrong = require_path(arguments, home=HOME)
        assert isinstance(wrong, Envelope)
        assert wrong.failure is not None
        assert said in wrong.failure.message


@pytest.mark.parametrize(
    ("path", "resolved"),
    [
        ("notes.txt", "/home/ada/project/notes.txt"),
        ("a/../b", "/home/ada/project/b"),
        ("a..b", "/home/ada/project/a..b"),
        ("it's; (1).txt", "/home/ada/project/it's; (1).txt"),
        ("/home/ada/project", "/home/ada/project"),
        ("/home/ada/project/x/../y", "/home/ada/project/y"),
        ("../project/x", "/home/ada/project/x"),
    ],
)
def test_a_host_path_may_be_any_text_that_stays_below_the_folder(path: str, resolved: str) -> None:
    assert guard_folder_path(path, "/home/ada/project/") == resolved


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "empty"),
        ("a\0b", "nul"),
        ("..", "outside_roots"),
        ("a/../../x", "outside_roots"),
        ("/home/ada", "outside_roots"),
        ("/home/ada/project-other/x", "outside_roots"),
        ("../project-other/x", "outside_roots"),
        ("/home/ada/project/../x", "outside_roots"),
    ],
)
def test_a_host_path_outside_the_folder_is_refused(path: str, reason: str) -> None:
    guarded = guard_folder_path(path, "/home/ada/project")
    assert isinstance(guarded, PathRefusal)
    assert guarded.reason == reason


def test_the_whole_disk_may_be_the_folder() -> None:
    assert guard_folder_path("etc/x", "/") == "/etc/x"
    assert guard_folder_path("/../etc", "//") == "/etc"


@pytest.mark.parametrize("root", ["", "home", "./home"])
def test_a_root_that_is_not_absolute_is_the_hosts_mistake(root: str) -> None:
    with pytest.raises(ValueError, match="a root is an absolute path"):
        guard_path("x", root)
    with pytest.raises(ValueError, match="a root is an absolute path"):
        guard_path("x", HOME, root)
    with pytest.raises(ValueError, match="a root is an absolute path"):
        guard_folder_path("x", root)


def _below(path: str, *roots: str) -> bool:
    segments = [part for part in posixpath.normpath(path).split("/") if part]
    return any(
        segments[: len(within)] == within
        for within in ([part for part in root.split("/") if part] for root in roots)
    )


@given(PATHS)
def test_whatever_the_sandbox_guard_lets_through_is_below_a_root(path: str) -> None:
    guarded = guard_path(path, HOME)
    if isinstance(guarded, PathRefusal):
        assert guarded.path == path
        return
    assert guarded.startswith("/")
    assert _below(guarded, HOME, SHARED_ROOT)
    assert ".." not in guarded
    assert "\0" not in guarded
    assert guard_path(guarded, HOME) == guarded


@given(PATHS)
def test_whatever_the_folder_guard_lets_through_is_below_the_folder(path: str) -> None:
    guarded = guard_folder_path(path, HOME)
    if not isinstance(guarded, PathRefusal):
        assert _below(guarded, HOME)
        assert guard_folder_path(guarded, HOME) == guarded
