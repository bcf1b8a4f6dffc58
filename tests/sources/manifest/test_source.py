"""A manifest's file: read, watched, and its programs looked for."""

import json
import os
from pathlib import Path

import pytest
from manifests import DEFAULTS

from holdfast.contract.json_value import JsonObject
from holdfast.contract.requirements import requirement_set
from holdfast.contract.tool import Alone
from holdfast.sources.manifest.entries import Manifest, ManifestProblem
from holdfast.sources.manifest.presence import missing_programs
from holdfast.sources.manifest.reading import LARGEST_FILE, read_manifest
from holdfast.sources.manifest.source import ManifestSource


def entry(**keys: object) -> JsonObject:
    return {"name": "t", "command": ["/bin/true"], **keys}  # pyright: ignore[reportReturnType] - JSON, by those who call it


def write(path: Path, *entries: JsonObject) -> None:
    path.write_text(json.dumps({"tools": [*entries]}), "utf-8")


@pytest.mark.req("CLI-ROO-03")
def test_a_file_that_cannot_be_read_or_parsed_says_so_before_anything_else(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    pipe, folder, large = tmp_path / "pipe", tmp_path / "folder", tmp_path / "large"
    os.mkfifo(pipe)
    folder.mkdir()
    with large.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    for missing, why in (
        (path, "No such file or directory"),
        (pipe, "it is no file"),
        (folder, "it is no file"),
        (large, "it is larger than"),
        (Path("a\0b"), "embedded null byte"),
    ):
        found = read_manifest(missing)
        assert isinstance(found, ManifestProblem)
        assert found.text.startswith("read manifest: ")
        assert why in found.text
    path.write_text('{"tools":[{"name":""},', "utf-8")
    found = read_manifest(path)
    assert isinstance(found, ManifestProblem)
    assert found.text.startswith("parse manifest: ")


@pytest.mark.req("CLI-CMD-05")
def test_a_manifests_folder_is_where_its_file_lies_whatever_the_process_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    write(tmp_path / "a" / "tools.json", entry(command=["./tools/bin/x"]))
    monkeypatch.chdir(tmp_path)
    for named in ("a/tools.json", "./a/../a/tools.json", str(tmp_path / "a" / "tools.json")):
        found = read_manifest(Path(named))
        assert isinstance(found, Manifest)
        assert found.entries[0].command == (f"{tmp_path}/a/tools/bin/x",)


def test_an_entry_becomes_a_tool_that_is_alone(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    write(
        path,
        entry(),
        entry(name="u", command=["./tools/bin/x"], requires={}, description="d"),
    )
    first, second = ManifestSource(path, DEFAULTS).tools()
    assert (first.name, first.description, first.input_schema) == ("t", None, {})
    assert first.requires == requirement_set({"fs": {"read": ["{workspace}/**"]}})
    assert first.alone == Alone(started_from=("/bin/true",), owner=str(tmp_path), seconds=30)
    assert second.description == "d"
    assert second.requires == requirement_set({})
    own = (f"{tmp_path}/tools", f"{tmp_path}/tools/bin/x")
    assert second.alone == Alone(started_from=own, owner=str(tmp_path), seconds=30)
    for tool in (first, second):
        assert (tool.ownership, tool.interrupt_behavior) == ("managed", "cancel")


@pytest.mark.parametrize(
    ("requires", "only_reads"),
    [
        (None, True),
        ({}, True),
        ({"fs": {"read": ["/srv/**"]}}, True),
        ({"fs": {"write": ["out/*"]}}, False),
        ({"net": {"hosts": ["a.example"]}}, False),
        ({"shell": [{"cmd": "git"}]}, False),
        ({"capabilities": ["memory.read"]}, False),
    ],
)
def test_a_program_that_may_only_read_is_told_as_such(
    tmp_path: Path, requires: JsonObject | None, *, only_reads: bool
) -> None:
    path = tmp_path / "tools.json"
    write(path, entry(requires=requires, timeoutSec=10))
    (tool,) = ManifestSource(path, DEFAULTS).tools()
    assert tool.read_only is only_reads
    assert tool.alone is not None
    assert tool.alone.seconds == 10


@pytest.mark.parametrize(
    ("requires", "reads"),
    [
        ({"net": {"hosts": ["a.example"]}}, True),
        ({"fs": {"write": ["out/*"]}}, True),
        ({"fs": {"read": None, "write": ["out/*"]}}, True),
        ({"fs": None, "capabilities": ["memory.read"]}, True),
        ({"fs": {"read": []}, "net": {"hosts": ["a.example"]}}, False),
        ({"fs": {"read": [], "write": ["out/*"]}}, False),
        ({"fs": {}, "net": {"hosts": []}}, False),
    ],
)
def test_an_entry_that_says_nothing_of_reading_reads_what_all_may(
    tmp_path: Path, requires: JsonObject, *, reads: bool
) -> None:
    path = tmp_path / "tools.json"
    write(path, entry(requires=requires))
    (tool,) = ManifestSource(path, DEFAULTS).tools()
    declared = requirement_set(requires)
    assert tool.requires.fs.read == (("{workspace}/**",) if reads else ())
    assert (tool.requires.fs.write, tool.requires.net) == (declared.fs.write, declared.net)


def test_a_change_is_seen_and_a_broken_one_keeps_the_tools_from_before(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    source = ManifestSource(path, DEFAULTS)
    assert source.tools() == ()
    assert source.problem is not None
    assert source.problem.startswith("read manifest: ")
    assert source.missing() == ()
    write(path, entry(), entry(name="u"))
    assert source.changed()
    assert not source.changed()
    before = source.tools()
    assert [tool.name for tool in before] == ["t", "u"]
    assert source.problem is None
    path.write_text("{", "utf-8")
    assert source.changed()
    assert source.problem is not None
    assert source.problem.startswith("parse manifest: ")
    assert source.tools() == before
    path.unlink()
    assert source.changed()
    assert source.tools() == before
    assert not source.changed()
    write(path, entry(description="new"), entry(name="u"))
    assert source.changed()
    after = source.tools()
    assert after[0].description == "new"
    assert after[1] is before[1], "what is declared as before is another tool"
    assert source.problem is None


def test_a_file_that_is_written_as_it_was_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    write(path, entry())
    source = ManifestSource(path, DEFAULTS)
    assert source.changed(), "nothing was known before"
    tools = source.tools()
    other = tmp_path / "other"
    write(other, entry())
    other.rename(path)
    assert not source.changed()
    assert source.tools() == tools


def test_a_replaced_file_of_the_same_size_and_time_is_seen(tmp_path: Path) -> None:
    path, other = tmp_path / "tools.json", tmp_path / "other"
    write(path, entry(name="a"))
    source = ManifestSource(path, DEFAULTS)
    source.tools()
    write(other, entry(name="b"))
    at = path.stat().st_mtime_ns
    os.utime(other, ns=(at, at))
    other.rename(path)
    assert source.changed()
    assert [tool.name for tool in source.tools()] == ["b"]


@pytest.mark.req("CLI-OAI-07")
def test_a_combinator_at_the_top_of_a_schema_is_warned_about(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    write(path, entry(schema={"anyOf": [{"type": "object"}]}), entry(name="u", schema={}))
    source = ManifestSource(path, DEFAULTS)
    assert [one.split(": ")[:2] for one in source.warnings] == [["t", "anyOf at the top level"]]
    assert source.tools()[0].input_schema == {"anyOf": [{"type": "object"}]}


@pytest.mark.req("CLI-ROO-11")
def test_programs_that_cannot_be_run_are_named(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    programs = tmp_path / "tools" / "bin"
    programs.mkdir(parents=True)
    for name, mode in (("fine", 0o755), ("plain", 0o644)):
        (programs / name).write_text("#!/bin/sh\n", "utf-8")
        (programs / name).chmod(mode)
    (programs / "folder").mkdir()
    names = ("fine", "plain", "folder", "none", 'q"')
    write(path, *(entry(name=name, command=[f"./tools/bin/{name}"]) for name in names))
    source = ManifestSource(path, DEFAULTS)
    assert source.problem is None
    assert [one.text for one in source.missing()] == [
        'configured tool "plain" is unavailable: it may not be executed; run: chmod +x'
        f' (program "{programs}/plain")',
        f'configured tool "folder" is unavailable: it is no file (program "{programs}/folder")',
        'configured tool "none" is unavailable: no such file or directory'
        f' (program "{programs}/none")',
        'configured tool "q\\"" is unavailable: no such file or directory'
        f' (program "{programs}/q\\"")',
    ]
    (programs / "fine").unlink()
    assert len(source.missing()) == 5, "what vanishes later is not seen"
    assert missing_programs(()) == ()
