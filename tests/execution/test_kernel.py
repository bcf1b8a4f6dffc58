"""What the kernel is told: by version, by machine, and when it refuses."""

import errno
import os
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.execution.kernel import landlock, privileges, system_calls
from holdfast.execution.kernel.landlock import READ, WRITE, Right

Call = tuple[object, ...]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """What would have been asked of the kernel."""
    made: list[Call] = []

    def pretend(*words: object) -> int:
        made.append(words)
        return os.open(os.devnull, os.O_RDONLY) if words[0] == "landlock_create_ruleset" else 0

    monkeypatch.setattr(landlock, "system_call", pretend)
    return made


@pytest.mark.parametrize(
    ("abi", "last", "size"),
    [
        *((1, Right.MAKE_SYM, 8), (2, Right.REFER, 8), (3, Right.TRUNCATE, 8)),
        *((4, Right.TRUNCATE, 16), (5, Right.IOCTL_DEV, 16), (6, Right.IOCTL_DEV, 24)),
        (7, Right.IOCTL_DEV, 24),
    ],
)
def test_every_right_of_a_version_is_handled(
    calls: list[Call], abi: int, last: Right, size: int
) -> None:
    assert landlock.handled(abi) == (last << 1) - 1
    landlock.confine_thread([("/", READ | WRITE)], abi, ports=False)
    (_, attributes, told, _), (_, _, _, rule, _), (restricted, *_) = calls
    assert isinstance(attributes, bytes)
    assert isinstance(rule, bytes)
    assert told == len(attributes) == size
    fields = struct.unpack(f"={size // 8}Q", attributes)
    assert fields == (landlock.handled(abi), 0b11, 0b11)[: size // 8]
    assert struct.unpack_from("=Q", rule)[0] == (READ | WRITE) & landlock.handled(abi)
    assert restricted == "landlock_restrict_self"


def test_ports_stay_free_where_the_network_is_its_own(calls: list[Call]) -> None:
    landlock.confine_thread([], 7, ports=True)
    attributes = calls[0][1]
    assert isinstance(attributes, bytes)
    assert struct.unpack("=3Q", attributes)[1] == 0


def test_what_is_no_directory_gets_no_rights_of_one(calls: list[Call], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    wanted = [(str(tmp_path / "file"), READ), (str(tmp_path / "file"), Right.READ_DIR)]
    landlock.confine_thread([*wanted, (str(tmp_path / "none"), READ)], 7, ports=False)
    rules = [rule for name, *rest in calls if name == "landlock_add_rule" for rule in rest[2:3]]
    assert [struct.unpack_from("=Q", rule)[0] for rule in rules if isinstance(rule, bytes)] == [
        Right.EXECUTE | Right.READ_FILE
    ]


def test_a_kernel_without_landlock_has_version_0(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> int:
        raise OSError(errno.ENOSYS, "no")

    monkeypatch.setattr(landlock, "system_call", unknown)
    assert landlock.version() == 0


def in_thread(work: Callable[[], dict[str, int]]) -> dict[str, int]:
    said: list[dict[str, int]] = []
    thread = threading.Thread(target=lambda: said.append(work()))
    thread.start()
    thread.join()
    return said[0]


def capabilities() -> dict[str, int]:
    status = Path("/proc/thread-self/status").read_text("ascii")
    lines = [line.split(":") for line in status.splitlines() if line.startswith("Cap")]
    return {name: int(value, 16) for name, value in lines}


def test_a_thread_without_capabilities_has_none_left() -> None:
    def drop() -> dict[str, int]:
        privileges.gain_nothing()
        privileges.drop_capabilities()
        return capabilities()

    dropped = in_thread(drop)
    if os.geteuid() != 0:
        dropped.pop("CapBnd")
    assert set(dropped.values()) == {0}


def test_who_may_not_drop_them_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def refuse(name: str, *words: object) -> int:
        made.append(name)
        if name == "prctl" and words[0] in (24, 28):
            raise PermissionError
        return 0

    monkeypatch.setattr(privileges, "system_call", refuse)
    privileges.drop_capabilities()
    assert made[-1] == "capset"


@pytest.fixture
def other_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    system_calls.this_machine.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    system_calls.this_machine.cache_clear()


def test_a_machine_that_is_not_known_is_an_error(other_machine: pytest.MonkeyPatch) -> None:
    other_machine.setattr("platform.machine", lambda: "s390x")
    with pytest.raises(system_calls.NoSuchMachine, match="s390x"):
        system_calls.this_machine()
    other_machine.setattr("sys.platform", "darwin")
    with pytest.raises(system_calls.NoSuchMachine, match="Linux has"):
        system_calls.this_machine()


@given(st.sampled_from(sorted(system_calls.NUMBERS["x86_64"])))
def test_no_call_has_a_number_twice(name: str) -> None:
    for machine, numbers in system_calls.NUMBERS.items():
        if name in numbers:
            same = [one for one, number in numbers.items() if number == numbers[name]]
            assert same == [name], machine
