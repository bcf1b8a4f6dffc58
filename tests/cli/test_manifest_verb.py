"""`holdfast manifest`: begin one, check it, export it."""

import json
import subprocess
from pathlib import Path

import pytest
from command import Cli

from holdfast.contract.json_value import JsonObject


def write(folder: Path, *entries: JsonObject) -> Path:
    path = folder / "tools.json"
    path.write_text(json.dumps({"tools": [*entries]}), "utf-8")
    return path


def entry(**keys: object) -> JsonObject:
    return {"name": "t", "command": ["/bin/true"], **keys}  # pyright: ignore[reportReturnType] - JSON, by those who call it


def program(folder: Path, name: str, text: str = "#!/bin/sh\n") -> Path:
    path = folder / "tools" / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


def test_a_manifest_that_was_begun_is_right_and_its_program_works(cli: Cli, tmp_path: Path) -> None:
    begun = cli("manifest", "init")
    assert begun.status == 0
    assert begun.out.splitlines() == [
        "made tools.json and tools/bin/count_lines",
        "next:",
        "  holdfast manifest check tools.json",
        "  holdfast manifest export tools.json",
        "  holdfast call count_lines path=tools.json --manifest tools.json",
    ]
    checked = cli("manifest", "check", "tools.json")
    assert checked.status == 0
    assert checked.out.splitlines()[-1] == "1 tool, no problems, no warnings"
    row = checked.out.splitlines()[1].split("  ")
    assert [cell.strip() for cell in row if cell.strip()] == [
        "count_lines", "path", f"{tmp_path}/tools/bin/count_lines", "10 s", "-",
        "read {workspace}/**",
    ]  # fmt: skip
    program = tmp_path / "tools" / "bin" / "count_lines"
    for sent, status, said in (
        ('{"path": "tools.json"}', 0, {"path": "tools.json", "lines": 19}),
        ('{"path": "none"}', 1, None),
        ('{"path": "a\\"b"}', 1, None),
    ):
        ran = subprocess.run(
            [str(program)], input=sent, capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert ran.returncode == status
        if said is not None:
            assert json.loads(ran.stdout) == said
        else:
            assert json.loads(ran.stderr).keys() == {"error", "hint"}


def test_a_folder_stands_for_the_manifest_in_it(cli: Cli, tmp_path: Path) -> None:
    cli("manifest", "init", "made")
    for what in ("check", "export"):
        by_folder, by_file = cli("manifest", what, "made"), cli("manifest", what, "made/tools.json")
        assert by_folder == by_file
        assert by_folder.status == 0
    assert str(tmp_path / "tools.json") in cli("manifest", "check", str(tmp_path)).out


def test_nothing_that_is_there_is_replaced(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    begun = cli("manifest", "init", "a b", "--json")
    assert json.loads(begun.out) == {
        "made": ["a b/tools.json", "a b/tools/bin/count_lines"],
        "next": [
            "holdfast manifest check 'a b/tools.json'",
            "holdfast manifest export 'a b/tools.json'",
            "holdfast call count_lines path=tools.json --manifest 'a b/tools.json'"
            " --workspace 'a b'",
        ],
    }
    (folder / "tools.json").write_text("mine", "utf-8")
    again = cli("manifest", "init", "a b")
    assert (again.status, again.out) == (2, "")
    assert "a b/tools.json is there already; name another folder" in again.err
    assert (folder / "tools.json").read_text("utf-8") == "mine"
    (folder / "tools.json").unlink()
    (folder / "tools.json").symlink_to("/nowhere")
    assert cli("manifest", "init", "a b").status == 2
    (folder / "tools.json").unlink()
    assert cli("manifest", "init", "a b").status == 2, "the program was there"
    assert not (folder / "tools.json").exists()


def test_where_nothing_can_be_written_that_is_said(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    refused = cli("manifest", "init", "file")
    assert refused.status == 2
    assert "it cannot be written (Not a directory); name another folder" in refused.err


def test_everything_that_is_wrong_is_said_with_its_place(cli: Cli, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        entry(),
        entry(envPassthrough=["A-B"], command=["x"]),
        {"command": ["/bin/true"]},
    )
    checked = cli("manifest", "check", str(path))
    assert checked.status == 1
    assert checked.out.splitlines() == [
        'problem: tool[1] "t": duplicate name',
        'problem: tool[1] "t": envPassthrough[0]: invalid name "A-B" (must match [A-Z_][A-Z0-9_]*)',
        'problem: tool[1] "t": relative command[0] must start with ./tools/bin/',
        "problem: tool[2]: name is required",
        "no tools, 4 problems, no warnings",
    ]
    told = json.loads(cli("manifest", "check", str(path), "--json").out)
    assert told["file"] == str(path)
    assert [(one["index"], one["name"]) for one in told["problems"]] == [
        (1, "t"), (1, "t"), (1, "t"), (2, None)
    ]  # fmt: skip


def test_what_is_wrong_with_one_entry_hides_nothing_of_the_others(cli: Cli, tmp_path: Path) -> None:
    program(tmp_path, "closed").chmod(0o644)
    program(tmp_path, "plain", "echo hi\n")
    path = write(
        tmp_path,
        entry(name="elsewhere", command=["x"]),
        entry(name="gone", command=["./tools/bin/gone"]),
        entry(name="closed", command=["./tools/bin/closed"]),
        entry(name="bash"),
        entry(name="a b", command=["./tools/bin/plain"]),
    )
    told = json.loads(cli("manifest", "check", str(path), "--json").out)
    assert [one["index"] for one in told["problems"]] == [0, 1, 2, 3]
    for one, said in zip(
        told["problems"],
        ("must start with ./tools/bin/", "no such file", "chmod +x", "this name is locked"),
        strict=True,
    ):
        assert said in one["message"]
    refuses, starts = told["warnings"]
    assert "refuse this name" in refuses
    assert "begin with #!" in starts
    assert told["tools"] == []
    exported = json.loads(cli("manifest", "export", str(path), "--json").out)
    assert "must start with ./tools/bin/" in exported["error"]


def test_what_the_format_lets_pass_and_does_not_work_is_found(cli: Cli, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        entry(name="gone", command=["./tools/bin/gone"]),
        entry(name="schema", schema={"properties": 5}),
        entry(name="climbs", requires={"fs": {"read": ["../x"]}}),
        entry(name="bash"),
        entry(name="warned", schema={"type": "objekt", "not": {}}, envPassthrough=["tz"]),
        entry(name="needs", timeoutSec=600, requires={
            "fs": {"write": ["out/**"]}, "net": {"hosts": ["a.example"]},
            "shell": [{"cmd": "git"}], "capabilities": ["memory.read"],
        }),
        entry(name="nothing", requires={}),
    )  # fmt: skip
    checked = cli("manifest", "check", str(path))
    assert checked.status == 1
    lines = checked.out.splitlines()
    problems = [line for line in lines if line.startswith("problem: ")]
    names = [line.split('"')[1] for line in problems]
    assert names == ["gone", "schema", "climbs", "bash"]
    assert 'configured tool "gone" is unavailable: no such file or directory' in problems[0]
    assert "climbs out with '..'" in problems[2]
    assert "this name is locked" in problems[3]
    warnings = [line for line in lines if line.startswith("warning: ")]
    assert len(warnings) == 2
    assert "not at the top level" in warnings[0]
    assert "there is no type 'objekt'" in warnings[1]
    rows = {line.split()[0]: line for line in lines}
    assert "600 s" in rows["needs"]
    assert "write out/**, host a.example, run git, memory.read" in rows["needs"]
    assert rows["nothing"].endswith("nothing")
    assert "TZ" in rows["warned"]
    told = json.loads(cli("manifest", "check", str(path), "--json").out)
    assert told["tools"][4]["env"] == ["TZ"]
    assert told["tools"][5]["seconds"] == 600


def test_what_a_newcomer_gets_wrong_is_warned_of(cli: Cli, tmp_path: Path) -> None:
    program(tmp_path, "x", "echo hi\n")
    path = write(
        tmp_path,
        entry(name="a b", command=["./tools/bin/x"], inputSchema={}, timeout=5),
    )
    checked = cli("manifest", "check", str(path))
    assert checked.status == 0
    assert checked.out.splitlines()[-1] == "1 tool, no problems, 4 warnings"
    for said in ('write "schema"', 'write "timeoutSec"', "refuse this name", "begin with #!"):
        assert said in checked.out
    path.write_text(json.dumps({"tools": [{"name": "t", "cmd": ["x"]}]}), "utf-8")
    told = json.loads(cli("manifest", "check", str(path), "--json").out)
    assert len(told["problems"]) == 1
    assert 'write "command"' in told["warnings"][0]


@pytest.mark.req("CLI-OAI-01", "CLI-OAI-05", "CLI-ROO-10")
def test_an_export_is_what_a_model_is_told_in_the_manifests_order(cli: Cli, tmp_path: Path) -> None:
    schema: JsonObject = {"z": 1, "type": "object", "a": {"y": 2, "b": None}}
    path = write(
        tmp_path,
        entry(name="z", schema=schema, description="d ü", timeoutSec=3, envPassthrough=["A"]),
        entry(name="a"),
        entry(name="e", schema={}, description=""),
    )
    exported = cli("manifest", "export", str(path))
    assert exported.status == 0
    assert exported.out == (
        json.dumps(
            [
                {
                    "type": "function",
                    "function": {"name": "z", "description": "d ü", "parameters": schema},
                },
                {"type": "function", "function": {"name": "a"}},
                {"type": "function", "function": {"name": "e", "parameters": {}}},
            ],
            ensure_ascii=False,
            indent=2,
        )
        + "\n"
    )


def test_what_is_no_manifest_is_not_exported(cli: Cli, tmp_path: Path) -> None:
    refused = cli("manifest", "export", "none.json", "--json")
    assert refused.status == 1
    assert json.loads(refused.out)["error"].startswith("read manifest: none.json: No such file")
    assert "read manifest: none.json" in refused.err
    path = tmp_path / "tools.json"
    path.write_text("[]", "utf-8")
    plain = cli("manifest", "export", str(path))
    assert (plain.status, plain.out) == (1, "")
    assert "parse manifest: " in plain.err
    assert json.loads(cli("manifest", "check", str(path), "--json").out)["problems"] == [
        {"index": None, "name": None, "message": "parse manifest: Expected `object`, got `array`"}
    ]
    path.write_text("{}", "utf-8")
    assert cli("manifest", "export", str(path)).out == "[]\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "what about a manifest? write: holdfast manifest init | check | export"),
        (("chekc",), "manifest does not know 'chekc'; did you mean 'check'?"),
        (("check",), "which file? write: holdfast manifest check tools.json"),
        (("export",), "which file? write: holdfast manifest export tools.json"),
        (("check", "a", "b"), "manifest check takes one path, and not also 'b'"),
    ],
)
def test_words_that_are_not_understood(cli: Cli, words: tuple[str, ...], said: str) -> None:
    answered = cli("manifest", *words)
    assert answered.status == 2
    assert said in answered.err


def test_nothing_is_started_by_looking(cli: Cli, tmp_path: Path) -> None:
    programs = tmp_path / "tools" / "bin"
    programs.mkdir(parents=True)
    program = programs / "touches"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/touched\n", "utf-8")
    program.chmod(0o755)
    path = write(tmp_path, entry(command=["./tools/bin/touches"]))
    assert cli("manifest", "check", str(path)).status == 0
    assert cli("manifest", "export", str(path)).status == 0
    assert not (tmp_path / "touched").exists()


@pytest.mark.req("CLI-RUN-24")
@pytest.mark.parametrize("is_there", [False, True])
def test_a_program_that_cannot_be_run_ends_the_start(
    cli: Cli, home: Path, tmp_path: Path, *, is_there: bool
) -> None:
    if is_there:
        program(tmp_path, "gone").chmod(0o644)
    path = write(tmp_path, entry(name="gone", command=["./tools/bin/gone"]))
    answered = cli("call", "gone", "--manifest", "tools.json")
    assert answered.status == 1
    why = "it may not be executed; run: chmod +x" if is_there else "no such file or directory"
    said = f'configured tool "gone" is unavailable: {why} (program "{tmp_path}/tools/bin/gone")'
    step = f"put the program there, or take the tool out of {path}"
    assert answered.err == f"holdfast: error: {said}\nholdfast: {step}\n"
    told = json.loads(answered.out)
    assert (told["kind"], told["retryable"]) == ("unavailable", False)
    assert told["message"] == f"{said}; {step}"
    (home / "config.toml").write_text(f'[manifest.mine]\nfile = "{path}"\n', "utf-8")
    listed = cli("tools", "--json")
    assert listed.status == 1
    error = json.loads(listed.out)
    assert error["error"] == f"error: {said}"
    assert error["next"] == f"{step}, which manifest.mine of the configuration names"
    assert error["next"] in listed.err


def test_a_manifest_that_was_handed_in_is_named_by_its_path_alone(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, {"name": ""})
    answered = cli("tools", "--manifest", str(path))
    assert answered.err.startswith(f"holdfast: {path}: tool[0]: name is required; correct it there")


def test_the_time_a_program_really_has_is_shown(cli: Cli, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        entry(name="reads", timeoutSec=10),
        entry(name="writes", requires={"fs": {"write": ["out/**"]}}),
    )
    listed = cli("tools", "--manifest", str(path), "--profile", "bare").out.splitlines()
    rows = {line.split()[0]: line for line in listed}
    assert "  read-only  10 s, " in rows["reads"]
    assert "  writes     30 s, " in rows["writes"]
    told = json.loads(cli("tools", "reads", "--manifest", str(path), "--json").out)
    assert told["seconds"] == 10
    assert told["limits"]["wall_seconds"] == 25
    less = ("--set", "limits.tool.reads.wall_seconds=3")
    assert "3 s" in cli("tools", "reads", "--manifest", str(path), *less).out
