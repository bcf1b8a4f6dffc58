"""What can be called instead of a shell command, and the menu of calls that read first."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonValue
from holdfast.contract.managed.crowding import Pressure
from holdfast.contract.managed.shell_views import CommandPreview, ShellPosture
from holdfast.contract.steps import Step
from holdfast.runtime.managed.instead import NOTHING_INSTEAD, instead_of
from holdfast.runtime.managed.read_first import read_first

COMMAND = CommandPreview(command_id="c", command="make", cwd="/ws", updated_at="now")
READ = Step(tool="read", args={"path": "/ws/a"}, rationale="It answers it.")


@given(
    preferred=st.none() | st.just(READ),
    busy=st.booleans(),
    has_run=st.booleans(),
    pressure=st.none() | st.sampled_from(["low", "moderate", "high"]),
    in_describe=st.booleans(),
)
def test_the_menu_has_its_order_and_nothing_twice(
    preferred: Step | None, busy: bool, has_run: bool, pressure: Any, in_describe: bool
) -> None:
    posture = ShellPosture(
        status="active", busy=busy, cwd="/ws/src", last_command_preview=COMMAND if has_run else None
    )
    level = None if pressure is None else Pressure(level=pressure)
    found = read_first(posture, level, preferred, in_describe=in_describe)
    wanted = {
        "read": preferred is not None,
        "shell_describe": not in_describe,
        "bash": True,
        "shell_read_last_output": busy or has_run,
        "session_describe_context": pressure in {"moderate", "high"},
    }
    assert [one.tool for one in found] == [name for name, there in wanted.items() if there]
    assert all(one.rationale for one in found)
    bash = next(one for one in found if one.tool == "bash")
    assert bash.args == {"command": "pwd", "workdir": "/ws/src"}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("shell_open", {"command": "cat a"}),
        ("bash", {"command": "cat a"}),
        ("shell_run", {"commands": "cat a"}),
        ("shell_run", {"command": ["cat", "a"]}),
        ("shell_run", "cat a"),
        ("shell_run", None),
        ("shell_exec", {"command": "cat a > b"}),
    ],
)
def test_nothing_stands_for_what_is_no_reading_command(tool: str, arguments: JsonValue) -> None:
    assert instead_of(tool, arguments, "/ws", "/ws") == NOTHING_INSTEAD


@pytest.mark.parametrize(
    ("own", "shell", "directory"),
    [
        (None, "/ws/src", "/ws/src"),
        ("/ws/docs", "/ws/src", "/ws/docs"),
        ("docs", "/ws/src", "/ws"),
        ("", "/ws/src", "/ws/src"),
        (7, "src", "/ws"),
    ],
)
def test_a_directory_that_is_not_absolute_is_the_workspace(
    own: Any, shell: str, directory: str
) -> None:
    found = instead_of("shell_run", {"command": "cat a", "cwd": own}, shell, "/ws")
    assert found.first_class is not None
    assert found.first_class.args == {"path": f"{directory}/a"}
    assert found.bash is not None
    assert found.bash.args == {"command": "cat a", "workdir": directory}


def test_where_only_bash_reads_the_same_nothing_is_first_class() -> None:
    found = instead_of("shell_exec", {"command": "wc -c a", "timeout_ms": 5000}, "/ws", "/ws")
    assert found.first_class is None
    assert found.bash is not None
    assert found.bash.args == {"command": "wc -c a", "workdir": "/ws", "timeout_ms": 5000}


@given(st.text(max_size=30), st.text(max_size=10))
def test_whatever_is_sent_a_step_is_bash_or_first_class_and_says_why(
    command: str, directory: str
) -> None:
    found = instead_of("shell_run", {"command": command, "cwd": directory}, "/ws", "/ws")
    if found.bash is not None:
        assert (found.bash.tool, bool(found.bash.rationale)) == ("bash", True)
    if found.first_class is not None:
        assert found.first_class.tool in {"read", "glob", "grep"}
        assert str(found.first_class.args["path"]).startswith("/")
