"""What a manifest's text gives: its entries, or exactly what is wrong with it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.sources.manifest.entries import (
    Manifest,
    ManifestEntry,
    ManifestProblem,
    load_manifest,
    look_through,
)

FOLDER = "/srv/m"
TRUE: list[JsonValue] = ["/bin/true"]


def loaded(*entries: JsonValue, **root: JsonValue) -> tuple[ManifestEntry, ...]:
    found = load_manifest(json.dumps({"tools": [*entries], **root}).encode(), FOLDER)
    assert isinstance(found, Manifest), found
    return found.entries


def refused(*entries: JsonValue) -> str:
    found = load_manifest(json.dumps({"tools": [*entries]}).encode(), FOLDER)
    assert isinstance(found, ManifestProblem)
    return found.text


def entry(**keys: JsonValue) -> JsonObject:
    return {"name": "t", "command": TRUE, **keys}


GET_TIME: JsonObject = {
    "name": "get_time",
    "description": "Get current time for an IANA timezone",
    "schema": {
        "type": "object",
        "properties": {
            "timezone": {"type": "string", "description": "IANA timezone, e.g. Europe/Helsinki"},
            "tz": {"type": "string", "description": "Alias for timezone (deprecated)"},
        },
        "required": ["timezone"],
        "additionalProperties": False,
    },
    "command": ["./tools/bin/get_time"],
    "timeoutSec": 5,
    "envPassthrough": ["TZ", "OAI_HTTP_TIMEOUT"],
}


@pytest.mark.req("CLI-ROO-01", "CLI-SCM-01", "CLI-DSC-01")
def test_every_key_of_an_entry_arrives() -> None:
    (found,) = loaded(GET_TIME)
    assert found == ManifestEntry(
        name="get_time",
        description="Get current time for an IANA timezone",
        schema=GET_TIME["schema"],  # pyright: ignore[reportArgumentType] - it is an object above
        command=("/srv/m/tools/bin/get_time",),
        timeout_seconds=5,
        passed=("TZ", "OAI_HTTP_TIMEOUT"),
    )
    (bare,) = loaded({"name": "x", "command": ["/bin/true"]})
    assert (bare.description, bare.schema, bare.timeout_seconds) == (None, None, None)
    (null,) = loaded(
        entry(description=None, schema=None, timeoutSec=None, envPassthrough=None, requires=None)
    )
    assert null == ManifestEntry(name="t", command=("/bin/true",))


@pytest.mark.req("CLI-EXM-02", "CLI-CMD-06")
def test_a_program_of_windows_loads_like_any_other() -> None:
    described = {key: GET_TIME[key] for key in ("name", "schema", "timeoutSec")}
    (found,) = loaded({**described, "command": ["./tools/bin/get_time.exe"]})
    assert found.command == ("/srv/m/tools/bin/get_time.exe",)


@pytest.mark.req("CLI-ROO-02")
@pytest.mark.parametrize("text", ["{}", '{"tools":null}', '{"tools":[]}', ' {"a":1}\n'])
def test_no_tools_are_no_error(text: str) -> None:
    assert load_manifest(text.encode(), FOLDER) == Manifest(folder=FOLDER)


@pytest.mark.req("CLI-ROO-04", "CLI-ROO-05")
@pytest.mark.parametrize(
    "text",
    [
        "", " ", "{", "{} {}", "{}x", "\ufeff{}", "// x\n{}", '{"tools":[],}', "[]", "null", "1",
        '"x"', "{'tools':[]}", '{"tools":{}}', '{"tools":"x"}', '{"tools":["x"]}',
        '{"tools":[[]]}', '{"tools":[{"name":1,"command":["/x"]}]}',
        '{"tools":[{"name":"x","command":"/x"}]}', '{"tools":[{"name":"x","command":["/x",1]}]}',
        '{"tools":[{"name":"x","command":{}}]}',
        '{"tools":[{"name":"x","command":["/x"],"timeoutSec":"5"}]}',
        '{"tools":[{"name":"x","command":["/x"],"timeoutSec":5.0}]}',
        '{"tools":[{"name":"x","command":["/x"],"timeoutSec":1e2}]}',
        '{"tools":[{"name":"x","command":["/x"],"timeoutSec":false}]}',
        '{"tools":[{"name":"x","command":["/x"],"timeoutSec":NaN}]}',
        '{"tools":[{"name":"x","command":["/x"],"timeoutSec":9223372036854775808}]}',
        '{"tools":[{"name":"x","command":["/x"],"envPassthrough":"TZ"}]}',
        '{"tools":[{"name":"x","command":["/x"],"envPassthrough":[1]}]}',
        '{"tools":[{"name":"x","command":["/x"],"description":1}]}',
        '{"tools":[{"name":"x\n","command":["/x"]}]}', '{"x":NaN}', '{"x":Infinity}',
        '{"tools":[{"name":"\\ud800","command":["/x"]}]}',
        # Wrong types come before everything that is wrong with entries.
        '{"tools":[{"name":""},{"name":5}]}',
        '{"a":' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)  # fmt: skip
def test_what_is_no_manifest_cannot_be_parsed(text: str) -> None:
    found = load_manifest(text.encode(), FOLDER)
    assert isinstance(found, ManifestProblem)
    assert found.text.startswith("parse manifest: ")
    assert len(found.text) > len("parse manifest: ")
    assert found.index is None


def test_bytes_that_are_no_text_cannot_be_parsed() -> None:
    found = load_manifest(b'{"tools":[{"name":"\xff","command":["/x"]}]}', FOLDER)
    assert isinstance(found, ManifestProblem)
    assert found.text.startswith("parse manifest: ")


@pytest.mark.req("CLI-ROO-06", "CLI-ROO-07", "CLI-ROO-08")
def test_other_keys_are_passed_over_and_the_last_of_a_key_counts() -> None:
    (found,) = loaded({**entry(), "Name": "X", "retries": 2, "TIMEOUTSEC": "x"}, version=3)
    assert found == ManifestEntry(name="t", command=("/bin/true",))
    assert refused({"Name": "x", "command": TRUE}) == "tool[0]: name is required"
    twice = b'{"tools":[{"name":"a","name":"b","command":["/x"]}],"tools":[{"name":"a",' + (
        b'"name":"c","command":[],"command":["/y"]}]}'
    )
    found = load_manifest(twice, FOLDER)
    assert isinstance(found, Manifest)
    assert found.entries == (ManifestEntry(name="c", command=("/y",)),)


@pytest.mark.req("CLI-ERR-01", "CLI-NAM-01", "CLI-ROO-09")
@pytest.mark.parametrize(
    "nameless",
    [{"command": TRUE}, {"name": "", "command": TRUE}, {"name": None}, None, {"name": " \t\n"}],
)
def test_a_name_is_required(nameless: JsonValue) -> None:
    assert refused(nameless) == "tool[0]: name is required"
    assert refused(entry(), entry(name="u"), nameless) == "tool[2]: name is required"


@pytest.mark.req("CLI-ERR-02", "CLI-NAM-02", "CLI-NAM-03")
def test_a_name_is_given_once_and_case_tells_names_apart() -> None:
    names = [found.name for found in loaded(entry(name="x"), entry(name="X"), entry(name="nä"))]
    assert names == ["x", "X", "nä"]
    assert refused(entry(name="a"), entry(name="x"), entry(name="x")) == (
        'tool[2] "x": duplicate name'
    )


@pytest.mark.req("CLI-ERR-03", "CLI-CMD-01", "CLI-CMD-02")
@pytest.mark.parametrize("command", [[], None])
def test_a_command_has_a_program(command: JsonValue) -> None:
    said = 'tool[0] "t": command must have at least program name'
    assert refused(entry(command=command)) == said
    assert refused({"name": "t"}) == said


@pytest.mark.req("CLI-CMD-03", "CLI-CMD-10")
def test_fixed_arguments_stay_as_they_are_written() -> None:
    fixed = ["--flag", "a b", "", "$HOME", "..", "./x", "\\"]
    (first, second) = loaded(
        entry(command=["./tools/bin/x", *fixed]), entry(name="u", command=["./tools/bin/x"])
    )
    assert first.command == ("/srv/m/tools/bin/x", *fixed)
    assert second.command == ("/srv/m/tools/bin/x",)


@pytest.mark.req("CLI-CMD-05", "CLI-CMD-09", "CLI-ROO-11")
@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("./tools/bin/x", "x"),
        ("././tools/bin/x", "x"),
        ("./tools//bin///x", "x"),
        (".\\tools\\bin\\x", "x"),
        ("./tools/bin/sub/x", "sub/x"),
        ("./tools/bin/../bin/x", "x"),
        ("./tools/bin/a/../x", "x"),
        ("./tools/bin/..x", "..x"),
        ("./tools/bin/x/", "x"),
        ("./tools/bin/a b", "a b"),
    ],
)
def test_a_relative_program_is_meant_from_the_manifests_folder(written: str, means: str) -> None:
    (found,) = loaded(entry(command=[written]))
    assert found.command == (f"/srv/m/tools/bin/{means}",)


@pytest.mark.req("CLI-CMD-07", "CLI-CMD-08", "CLI-ERR-13")
@pytest.mark.parametrize("written", ["/bin/true", "/no/such/program", "/a/../b//c/.", "/"])
def test_an_absolute_program_is_taken_as_it_is_written(written: str) -> None:
    (found,) = loaded(entry(command=[written]))
    assert found.command == (written,)


@pytest.mark.req("CLI-ERR-04", "CLI-ERR-05", "CLI-CMD-04")
@pytest.mark.parametrize(
    "written",
    [
        "echo", "bin/x", "./tools/x", "./tools/binx/y", "~/bin/x", "./TOOLS/bin/x", "sh -c id",
        "", ".", "./", "tools", "./tools", "C:\\tools\\bin\\x.exe", "tools/bin/../hack",
        "tools/bin/x", "a/../tools/bin/x", "./a/../tools/bin/x",
        "\\tools\\bin\\x", " ./tools/bin/x",
    ],
)  # fmt: skip
def test_any_other_relative_program_is_refused(written: str) -> None:
    assert refused(entry(command=[written])) == (
        'tool[0] "t": relative command[0] must start with ./tools/bin/'
    )


@pytest.mark.req("CLI-ERR-06", "CLI-ERR-07", "CLI-ERR-08")
@pytest.mark.parametrize(
    ("written", "got", "becomes"),
    [
        ("./tools/bin/../hack", "./tools/bin/../hack", "./tools/hack"),
        ("./tools/bin/../../hack", "./tools/bin/../../hack", "hack"),
        ("./tools/bin/../../toolsx", "./tools/bin/../../toolsx", "toolsx"),
        ("./tools/bin", "./tools/bin", "./tools/bin"),
        ("./tools/bin/", "./tools/bin/", "./tools/bin"),
        ("./tools/bin/..", "./tools/bin/..", "./tools"),
        ("./tools/bin/../..", "./tools/bin/../..", "."),
        ("./tools/bin/../binary/x", "./tools/bin/../binary/x", "./tools/binary/x"),
        ("./tools/bin/a/b/../../../x", "./tools/bin/a/b/../../../x", "./tools/x"),
        (".\\tools\\bin\\..\\x", ".\\\\tools\\\\bin\\\\..\\\\x", "./tools/x"),
        ('./tools/bin/../"', './tools/bin/../\\"', './tools/\\"'),
    ],
)
def test_a_program_must_not_leave_its_folder(written: str, got: str, becomes: str) -> None:
    assert refused(entry(command=[written])) == (
        'tool[0] "t": command[0] escapes ./tools/bin after normalization'
        f' (got "{got}" -> "{becomes}")'
    )


@pytest.mark.req("CLI-ERR-09")
@pytest.mark.parametrize("written", ["..", "../x", "a/../../x", "./tools/bin/../../../x", "./.."])
def test_a_program_must_not_begin_above_the_manifest(written: str) -> None:
    assert refused(entry(command=[written])) == (
        f'tool[0] "t": command[0] must not start with \'..\' or escape tools/bin (got "{written}")'
    )


@pytest.mark.req("CLI-ENV-01", "CLI-ENV-02", "CLI-ENV-03", "CLI-ENV-05")
def test_names_of_variables_are_put_into_capitals_and_kept_once() -> None:
    (found,) = loaded(entry(envPassthrough=["tz", "Oai_Http_Timeout", " TZ\n", "_", "A1", "a1"]))
    assert found.passed == ("TZ", "OAI_HTTP_TIMEOUT", "_", "A1")


@pytest.mark.req("CLI-ERR-10", "CLI-ERR-11", "CLI-ENV-03")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("OAI-API-KEY", "OAI-API-KEY"), ("1BAD", "1BAD"), ("A=B", "A=B"), ("A B", "A B"),
        ("${HOME}", "${HOME}"), ("A.B", "A.B"), (" 1x ", " 1x "), ("A\nB", r"A\nB"),
        ("\u017fECRET", "\u017fECRET"), ("\u0131D", "\u0131D"), ("É", "É"),
        ('A"', r"A\""), ("\x1cTZ", r"\x1cTZ"),
    ],
)  # fmt: skip
def test_a_name_that_is_none_is_quoted_as_it_is_written(name: str, shown: str) -> None:
    assert refused(entry(envPassthrough=["X", name, "-"])) == (
        f'tool[0] "t": envPassthrough[1]: invalid name "{shown}" (must match [A-Z_][A-Z0-9_]*)'
    )


@pytest.mark.req("CLI-ERR-12")
@pytest.mark.parametrize("name", ["", " ", "\n\t"])
def test_a_blank_name_is_empty(name: str) -> None:
    assert refused(entry(envPassthrough=["A", name])) == (
        'tool[0] "t": envPassthrough[1]: empty name'
    )


@pytest.mark.req("CLI-SCM-03")
@pytest.mark.parametrize("schema", [True, [], "x", 0])
def test_a_schema_is_an_object(schema: JsonValue) -> None:
    assert refused(entry(schema=schema)) == 'tool[0] "t": schema must be an object'


@pytest.mark.req("CLI-SCM-02")
def test_a_schema_stays_as_it_is_written() -> None:
    text = (
        b'{"tools":[{"name":"t","command":["/x"],"schema":{"z":1,"x-weird":[1,{"y":null}],"a":'
        b'{"maximum":123456789012345678901234567890,"minimum":1.0},"$defs":{"a":{}}}}]}'
    )
    found = load_manifest(text, FOLDER)
    assert isinstance(found, Manifest)
    assert json.dumps(found.entries[0].schema, separators=(",", ":")).encode() in text


@pytest.mark.req("CLI-VLD-01", "CLI-VLD-02", "CLI-VLD-03")
def test_the_first_failure_counts_entries_in_order_and_checks_in_theirs() -> None:
    worst: JsonObject = {
        "name": "t", "command": ["x"], "envPassthrough": ["-"], "schema": 1, "requires": 1
    }  # fmt: skip
    fixes: list[tuple[str, JsonObject]] = [
        ("duplicate name", {"name": "u"}),
        ("envPassthrough[0]: invalid name", {"envPassthrough": []}),
        ("relative command[0] must start", {"command": ["/x"]}),
        ("schema must be an object", {"schema": {}}),
        ("requires must be an object", {"requires": {}}),
    ]
    for said, fix in fixes:
        text = refused(entry(), worst, entry(name=""))
        assert text.startswith(f'tool[1] "{worst["name"]}": {said}')
        worst |= fix
    assert refused(entry(), worst, {}) == "tool[2]: name is required"
    no_program: JsonObject = {"name": "u", "command": [], "envPassthrough": ["-"]}
    assert refused(entry(), no_program).startswith('tool[1] "u": command must have')


def test_somebody_who_checks_is_told_everything() -> None:
    worst: JsonObject = {"name": "t", "command": ["x"], "envPassthrough": ["-"], "schema": 1}
    found = look_through(json.dumps({"tools": [entry(), worst, {}]}).encode(), FOLDER)
    problems = found.problems
    assert [(one.index, one.name) for one in problems] == [(1, "t")] * 4 + [(2, None)]
    assert problems[-1].text == "tool[2]: name is required"
    assert [(at, one.name) for at, one in found.entries.items()] == [(0, "t")]


def test_what_cannot_be_called_is_told_after_everything_else() -> None:
    unnamed: JsonObject = {"command": ["/bin/true"]}
    entries = [entry(name="a\n"), unnamed, entry(name="fine")]
    found = look_through(json.dumps({"tools": entries}).encode(), FOLDER)
    assert [one.index for one in found.problems] == [1, 0]
    assert [*found.entries] == [2]
    assert refused(*entries) == "tool[1]: name is required"


@pytest.mark.req("CLI-ROO-10")
@given(st.lists(st.text("abcXYZ_é", min_size=1, max_size=3), unique=True, max_size=6))
def test_entries_keep_their_order(names: list[str]) -> None:
    assert [one.name for one in loaded(*[entry(name=name) for name in names])] == names
