"""The file of pins: owner-only, whole or not at all, and the first pin of a tool stays."""

import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.app.pins import PinFile
from holdfast.sources.mcp.definitions import Definition
from holdfast.sources.mcp.pins import Pin, pin_of

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def pin(tool: str = "t", server: str = "s", description: str = "d") -> Pin:
    definition = Definition(name=tool, description=description, input_schema={"type": "object"})
    return pin_of(server, {"server": "x"}, definition, NOW)


def test_pins_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    file = PinFile(tmp_path / "state")
    assert file.load() == ()
    assert file.first([pin()]) == (pin(),)
    assert PinFile(tmp_path / "state").load() == (pin(),)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_the_first_pin_of_a_tool_stays(tmp_path: Path) -> None:
    file = PinFile(tmp_path)
    file.first([pin(description="first")])
    kept = file.first([pin(description="second"), pin("other")])
    assert [one.definition.description for one in kept] == ["first", "d"]
    assert len(file.load()) == 2


def test_accepting_replaces_one_or_all_of_a_server(tmp_path: Path) -> None:
    file = PinFile(tmp_path)
    file.first([pin("a"), pin("b"), pin("a", server="else")])
    file.accept("s", [pin("a", description="new")], all_others_go=False)
    assert [(one.server, one.tool) for one in file.load()] == [
        ("else", "a"),
        ("s", "a"),
        ("s", "b"),
    ]
    file.accept("s", [pin("c")], all_others_go=True)
    assert [(one.server, one.tool) for one in file.load()] == [("else", "a"), ("s", "c")]


def test_of_many_at_once_one_is_first(tmp_path: Path) -> None:
    def first(number: int) -> str | None:
        (kept,) = PinFile(tmp_path).first([pin(description=str(number))])
        return kept.definition.description

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(first, range(24)))) == 1


def test_a_file_that_cannot_be_read_is_no_empty_one(tmp_path: Path) -> None:
    file = PinFile(tmp_path)
    for content in (b"{", b"{}", b'[{"server": 1}]'):
        file.path.write_bytes(content)
        with pytest.raises(ValueError, match="remove it to accept every MCP tool anew"):
            file.load()
    file.path.write_bytes(b"[]")
    file.path.chmod(0o666)
    with pytest.raises(PermissionError):
        file.load()
