"""What was read is given again only as long as it is certain that it holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.asked import Arguments, canonical_path, may_be_same, may_hold
from holdfast.agent.held_answers import nobody_else
from holdfast.agent.task_state import TaskState

FILE = '{"ok": true, "result": {"kind": "file", "text": "x", "path": "a"}}'
LISTING = '{"ok": true, "result": {"kind": "listing", "path": "d", "entries": [{}]}}'
FOUND = '{"ok": true, "result": {"kind": "search", "entries": []}}'
DONE = '{"ok": true, "result": null}'
BAD = '{"ok": false, "kind": "invalid_args", "message": "no", "retryable": true}'
MISSING = '{"ok": false, "kind": "not_found", "message": "gone", "retryable": false}'
BROKEN = '{"ok": false, "kind": "execution_error", "message": "boom", "retryable": true}'
REFUSED = '{"ok": false, "kind": "rejected", "message": "no", "retryable": false}'

READS = ["read", "file_read", "sandbox_read_file"]
SEARCHES = ["glob", "grep", "file_search", "sandbox_search_files"]


def _alone() -> TaskState[str]:
    return TaskState(witness=nobody_else)


def _call(state: TaskState[str], name: str, arguments: Arguments, answer: str) -> None:
    state.held(name, arguments)
    state.record(name, arguments, answer)


@pytest.mark.req("OSA-STA-11")
@pytest.mark.parametrize("name", READS + SEARCHES)
def test_an_identical_call_that_reads_is_answered_as_before(name: str) -> None:
    state = _alone()
    for answer in (FILE, LISTING, FOUND):
        _call(state, name, {"path": "a", "limit": 1, "more": {"x": 1, "y": 2}}, answer)
        again = state.held(name, {"more": {"y": 2, "x": 1}, "limit": 1, "path": "a"})
        assert again is answer
        assert state.held(name, {"path": "a", "limit": 2}) is None
        state.begin_message()


@pytest.mark.req("OSA-STA-11")
@pytest.mark.parametrize("name", ["write", "edit", "bash", "todo", "skill", "someones_tool"])
def test_calls_that_do_more_than_read_are_never_answered_as_before(name: str) -> None:
    state = _alone()
    for _ in range(4):
        _call(state, name, {"path": "a"}, DONE)
        assert state.held(name, {"path": "a"}) is None


@pytest.mark.req("OSA-STA-12")
@pytest.mark.parametrize("name", ["write", "edit", "file_write", "sandbox_write_file"])
@pytest.mark.parametrize("answer", [DONE, BROKEN, MISSING])
def test_a_write_drops_the_read_of_its_path_and_all_searches(name: str, answer: str) -> None:
    state = _alone()
    for path in ("src/a", "src/b", "c"):
        _call(state, "read", {"path": path}, FILE)
    _call(state, "read", {"path": "src/a", "start_line": 9}, FILE)
    for search in SEARCHES:
        _call(state, search, {"pattern": "x", "path": "elsewhere"}, FOUND)
    _call(state, name, {"path": " ./src//x/../a/ ", "content": ""}, answer)
    assert state.held("read", {"path": "src/a"}) is None
    assert state.held("read", {"path": "src/a", "start_line": 9}) is None
    assert state.held("read", {"path": "src/b"}) == FILE
    assert state.held("read", {"path": "c"}) == FILE
    for search in SEARCHES:
        assert state.held(search, {"pattern": "x", "path": "elsewhere"}) is None


@pytest.mark.req("OSA-STA-12")
@pytest.mark.parametrize("name", ["bash", "shell_run", "sandbox_exec", "sandbox_process", "task"])
@pytest.mark.parametrize("answer", [DONE, BROKEN])
def test_any_command_drops_everything(name: str, answer: str) -> None:
    state = _alone()
    _call(state, "read", {"path": "a"}, FILE)
    _call(state, "glob", {"pattern": "x"}, FOUND)
    _call(state, "edit", {"path": "b"}, MISSING)
    _call(state, name, {"command": "ls"}, answer)
    assert state.held("read", {"path": "a"}) is None
    assert state.held("glob", {"pattern": "x"}) is None
    assert state.held("edit", {"path": "b"}) is None


def test_a_tool_nobody_knows_may_have_changed_everything_unless_it_never_ran() -> None:
    for answer, kept in ((DONE, None), (BROKEN, None), (REFUSED, FILE)):
        state = _alone()
        _call(state, "read", {"path": "a"}, FILE)
        _call(state, "someones_tool", {}, answer)
        assert state.held("read", {"path": "a"}) == kept


def test_a_write_that_does_not_say_where_drops_everything() -> None:
    state = _alone()
    _call(state, "read", {"path": "a"}, FILE)
    _call(state, "apply_patch", {"patch": "..."}, DONE)
    assert state.held("read", {"path": "a"}) is None


def test_a_write_drops_the_listings_of_the_folders_above_it() -> None:
    state = _alone()
    for path in (".", "src", "src/deep", "docs", "/abs"):
        _call(state, "read", {"path": path}, LISTING)
    _call(state, "write", {"path": "src/new"}, DONE)
    kept = [
        path
        for path in (".", "src", "src/deep", "docs", "/abs")
        if state.held("read", {"path": path}) is not None
    ]
    assert kept == ["src/deep", "docs"]


@pytest.mark.req("OSA-STA-13")
@pytest.mark.parametrize(
    ("name", "answer"),
    [
        *((name, BAD) for name in ("read", "glob", "edit", "bash", "someones_tool")),
        *((name, MISSING) for name in ("read", "glob", "grep", "edit", "skill", "tool_search")),
    ],
)
def test_a_failure_that_must_come_again_is_given_again_and_counted(name: str, answer: str) -> None:
    state = _alone()
    _call(state, name, {"path": "a"}, answer)
    for times in range(2, 5):
        assert state.held(name, {"path": "a"}) is answer
        state.record(name, {"path": "a"}, answer)
        assert f"{times} times" in (state.notice() or "")


@pytest.mark.req("OSA-STA-13")
@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("read", BROKEN),
        ("glob", BROKEN),
        ("read", REFUSED),
        ("bash", MISSING),
        ("read", "[TIMEOUT]"),
    ],
)
def test_a_failure_that_may_pass_is_never_given_again(name: str, answer: str) -> None:
    state = _alone()
    _call(state, name, {"path": "a"}, answer)
    assert state.held(name, {"path": "a"}) is None


@pytest.mark.req("OSA-STA-13")
def test_held_failures_are_dropped_as_held_reads_are_and_counted_anew() -> None:
    state = _alone()
    for _ in range(2):
        _call(state, "read", {"path": "a"}, MISSING)
        _call(state, "read", {"path": "b"}, MISSING)
    _call(state, "write", {"path": "a", "content": "x"}, DONE)
    assert state.held("read", {"path": "a"}) is None
    assert state.held("read", {"path": "b"}) == MISSING
    state.record("read", {"path": "a"}, MISSING)
    assert "times" not in (state.notice() or "")
    _call(state, "bash", {"command": "ls"}, DONE)
    assert state.held("read", {"path": "b"}) is None


def test_a_failure_of_another_kind_is_another_failure() -> None:
    state = _alone()
    for answer in (BAD, MISSING, BAD):
        _call(state, "read", {"path": "a"}, answer)
        assert "times" not in (state.notice() or "")


@pytest.mark.req("OSA-STA-14")
@pytest.mark.parametrize("spelled", [" a/b ", "./a/b", "././a//b/", "a/./b", "a/x/../b", "a/b///"])
def test_a_path_counts_however_it_is_spelled(spelled: str) -> None:
    assert canonical_path(spelled) == "a/b"
    state = _alone()
    _call(state, "read", {"path": "a/b"}, FILE)
    assert state.held("read", {"path": spelled}) == FILE
    _call(state, "write", {"path": spelled}, DONE)
    assert state.held("read", {"path": "a/b"}) is None


def test_without_a_witness_nothing_is_held() -> None:
    state: TaskState[str] = TaskState()
    for times in range(1, 4):
        assert state.held("read", {"path": "a"}) is None
        state.record("read", {"path": "a"}, FILE)
        assert state.held("edit", {"path": "a"}) is None
        state.record("edit", {"path": "a"}, BAD)
        if times == 2:
            assert "failed 2 times" in (state.notice() or "")


class Disk:
    """Somebody else works on these files, too."""

    def __init__(self) -> None:
        self.versions: dict[str, int] = {}

    def witness(self, _name: str, arguments: Arguments) -> str | None:
        assert not isinstance(arguments, str)
        path = arguments.get("path")
        return str(self.versions.get(path, 0)) if isinstance(path, str) else None


def test_what_somebody_else_changed_is_read_again() -> None:
    disk = Disk()
    state: TaskState[str] = TaskState(witness=disk.witness)
    _call(state, "read", {"path": "a"}, FILE)
    assert state.held("read", {"path": "a"}) == FILE
    disk.versions["a"] = 1
    assert state.held("read", {"path": "a"}) is None


def test_what_was_changed_while_it_was_read_is_read_again() -> None:
    disk = Disk()
    state: TaskState[str] = TaskState(witness=disk.witness)
    assert state.held("read", {"path": "a"}) is None
    disk.versions["a"] = 1
    state.record("read", {"path": "a"}, FILE)
    assert state.held("read", {"path": "a"}) is None


def test_what_the_witness_was_not_asked_about_before_is_not_held() -> None:
    state = _alone()
    state.record("read", {"path": "a"}, FILE)
    assert state.held("read", {"path": "a"}) is None


def test_a_search_is_not_held_where_its_witness_cannot_tell() -> None:
    state: TaskState[str] = TaskState(witness=Disk().witness)
    _call(state, "glob", {"pattern": "*"}, FOUND)
    assert state.held("glob", {"pattern": "*"}) is None


def test_a_missing_file_that_appeared_is_read_and_the_count_begins_anew() -> None:
    disk = Disk()
    state: TaskState[str] = TaskState(witness=disk.witness)
    _call(state, "read", {"path": "a"}, MISSING)
    assert state.held("read", {"path": "a"}) == MISSING
    disk.versions["a"] = 1
    _call(state, "read", {"path": "a"}, MISSING)
    assert "times" not in (state.notice() or "")


def test_only_the_most_recent_answers_are_held() -> None:
    state = _alone()
    for number in range(200):
        _call(state, "read", {"path": str(number)}, FILE)
    held = [state.held("read", {"path": str(number)}) is not None for number in range(200)]
    assert held == [False] * 136 + [True] * 64


_PATHS = st.text(alphabet="./ab ", max_size=12)


@given(_PATHS)
def test_the_canonical_form_of_a_path_is_its_own(path: str) -> None:
    once = canonical_path(path)
    assert canonical_path(once) == once
    assert "//" not in once
    assert once == once.strip()
    assert not once.endswith("/") or once == "/"
    assert "." not in once.split("/")[1:]
    assert canonical_path(f" {path} ") == once


@given(_PATHS, _PATHS)
def test_a_write_is_never_missed_because_a_path_is_spelled_otherwise(one: str, other: str) -> None:
    read, written = canonical_path(one), canonical_path(other)
    assert may_be_same(read, written) == may_be_same(written, read)
    assert may_be_same(read, read)
    joined = canonical_path(f"/work/{written}")
    if not written.startswith("/"):
        assert may_be_same(written, joined)
        assert may_hold("/work", written)
    if not written.startswith(("/", "..")):
        assert may_hold(".", written)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["read", "grep", "write", "bash", "edit"]),
            st.sampled_from(["a", "b", "./a", "/w/a", "d/x"]),
        ),
        max_size=20,
    ),
    st.integers(0, 3),
)
def test_a_read_that_is_held_is_as_fresh_as_one_that_is_run(
    calls: list[tuple[str, str]], seed: int
) -> None:
    """Files count how often they were written; what is held shows the count of now."""
    state = _alone()
    written = {"a": seed, "b": 0, "d/x": 0}
    for name, path in calls:
        file = canonical_path(path).removeprefix("/w/")
        answer = FILE if name != "read" else FILE.replace('"x"', f'"{file} {written[file]}"')
        if name == "grep":
            answer = FOUND.replace("[]", str([*written.values()]))
        held = state.held(name, {"path": path})
        assert held is None or held == answer
        state.record(name, {"path": path}, answer)
        if name in ("write", "edit"):
            written[file] += 1
        elif name == "bash":
            written = {one: count + 1 for one, count in written.items()}
