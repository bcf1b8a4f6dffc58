"""Tables of MCP servers that name none: left out, and taken out of a person's file."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.configuration import load_configuration
from holdfast.app.server_tables import take_table_out, text_without

_TEXT = """\
# mine
[limits]
argument_bytes = 1000 # bytes

[mcp.gone]
requires = { read = [
    "/srv/**",
] }
seconds = 5
[mcp."gone".env]
A = "b"

[ mcp . stays ]
command = ["x"]
[profile.code]
"""


def test_the_sections_of_a_server_go_and_all_else_stays_as_it_is_written() -> None:
    assert text_without(_TEXT, "gone") == (
        "# mine\n[limits]\nargument_bytes = 1000 # bytes\n\n"
        '[ mcp . stays ]\ncommand = ["x"]\n[profile.code]\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "[limits]\nargument_bytes = 1",
        "[mcp.other]\nseconds = 1",
        "mcp = 3",
        "mcp.gone.seconds = 5",
        "[mcp]\ngone = { seconds = 5 }",
        '[mcp.gone]\ncommand = [\n["a"],\n]\n',
        '[mcp.gone]\nurl = """\n[limits]\n"""\n',
        "not TOML",
    ],
)
def test_what_cannot_be_taken_out_for_certain_is_left(text: str) -> None:
    assert text_without(text, "gone") is None


_KEYS = st.sampled_from(["a", "gone", '"gone"', '"x.y"', "limits"])
_HEADS = st.sampled_from(["mcp", "'mcp'", "profile", "mcp.gone"])
_VALUES = st.sampled_from(["1", "'[mcp.gone]'", '"""\n[mcp.gone]\n"""'])
_LINES = st.one_of(
    st.builds("[{}.{}]".format, _HEADS, _KEYS),
    st.builds("[mcp.{}.{}]".format, _KEYS, _KEYS),
    st.builds(
        "{} = {}".format, _KEYS, st.sampled_from(["1", "'[mcp.gone]'", '"""\n[mcp.gone]\n"""'])
    ),
    st.sampled_from(["# [mcp.gone]", "", "list = [", "[1],", "]"]),
)


@given(st.lists(_LINES, max_size=8))
def test_what_is_left_means_exactly_what_it_meant(lines: list[str]) -> None:
    text = "\n".join(lines)
    left = text_without(text, "gone")
    if left is None:
        return
    before = tomllib.loads(text)
    del before["mcp"]["gone"]
    after = tomllib.loads(left)
    assert {**after, "mcp": after.get("mcp", {})} == before


def test_a_linked_file_stays_a_link_and_keeps_its_mode(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text(_TEXT, "utf-8")
    real.chmod(0o640)
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    assert take_table_out(link, "gone")
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "gone" not in real.read_text("utf-8")
    assert not take_table_out(link, "gone")
    assert not take_table_out(tmp_path / "none.toml", "gone")


def test_a_table_without_a_server_is_left_out_and_told_of(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        "[mcp.x]\nseconds = 5\n[mcp.y]\ncommand = ['z']\n", "utf-8"
    )
    loaded = load_configuration(
        tmp_path,
        environment={"HOLDFAST_HOME": str(tmp_path)},
        overrides={"mcp.w.seconds": "3"},
    )
    assert list(loaded.settings.mcp) == ["y"]
    first, second = loaded.notices
    assert first.startswith(f"{tmp_path / 'config.toml'}: the table [mcp.x] names no server")
    assert "holdfast mcp add x" in first
    assert second.startswith("mcp.w: ")
