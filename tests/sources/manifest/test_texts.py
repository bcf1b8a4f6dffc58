"""The small texts of manifests: quoted names, cleaned paths, names of variables."""

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sources.manifest.blanks import trimmed
from holdfast.sources.manifest.program_path import PathFault, clean, program_path
from holdfast.sources.manifest.quoting import quoted
from holdfast.sources.manifest.variable_names import NameFault, variable_names

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.req("CLI-VLD-04")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", '"plain"'),
        ("", '""'),
        ('say "x"', r'"say \"x\""'),
        ("a\\b", r'"a\\b"'),
        ("\a\b\f\n\r\t\v", r'"\a\b\f\n\r\t\v"'),
        ("\x00\x1b\x7f", r'"\x00\x1b\x7f"'),
        ("nä ß 漢 😀", '"nä ß 漢 😀"'),
        ("\u00a0\u200b\ufeff", r'"\u00a0\u200b\ufeff"'),
        ("\U000e0001", r'"\U000e0001"'),
        ("'", '"\'"'),
    ],
)
def test_a_quoted_text_shows_what_cannot_be_seen(text: str, shown: str) -> None:
    assert quoted(text) == shown


_ESCAPE = re.compile(r"\\(?:x(..)|u(....)|U(........)|(.))", re.DOTALL)
_LETTERS = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))


def unquoted(shown: str) -> str:
    """Reads it back, by the rules of such texts and not by the code that wrote it."""

    def meant(found: re.Match[str]) -> str:
        code = found.group(1) or found.group(2) or found.group(3)
        if code is not None:
            return chr(int(code, 16))
        letter = found.group(4)
        return _LETTERS.get(letter, letter)

    assert shown[0] == shown[-1] == '"'
    return _ESCAPE.sub(meant, shown[1:-1])


@given(TEXTS)
def test_a_quoted_text_can_be_read_back_and_stays_on_its_line(text: str) -> None:
    shown = quoted(text)
    assert unquoted(shown) == text
    assert all(one == " " or unicodedata.category(one)[0] in "LMNPS" for one in shown), (
        "something of it cannot be seen"
    )
    assert re.search(r'(?<!\\)(?:\\\\)*"', shown[1:-1]) is None


SEGMENTS = st.sampled_from(["", ".", "..", "a", "b", "tools", "bin", "..x", "x."])
PATHS = st.builds("/".join, st.lists(SEGMENTS, max_size=9))


def walked(path: str) -> str:
    """Where a path leads, found out by walking it step by step through nothing."""
    at: list[str] = []
    above = 0
    for step in path.split("/"):
        if step == "..":
            if at:
                at.pop()
            elif not path.startswith("/"):
                above += 1
        elif step not in ("", "."):
            at.append(step)
    steps = "/".join([".."] * above + at)
    if path.startswith("/"):
        return "/" + steps
    return steps or "."


@pytest.mark.req("CLI-CMD-09")
@given(PATHS)
def test_a_cleaned_path_leads_where_the_path_led(path: str) -> None:
    assert clean(path) == walked(path)
    assert clean(clean(path)) == clean(path)


PREFIX = "relative command[0] must start with ./tools/bin/"


@given(PATHS, st.booleans(), st.booleans())
def test_a_program_is_below_its_folder_of_programs_or_refused(
    path: str, turned: bool, dotted: bool
) -> None:
    written = f"./{path}" if dotted else path
    written = written.replace("/", "\\") if turned else written
    if written.startswith("/"):
        assert program_path(written, "/m") == written
        return
    slashed = written.replace("\\", "/")
    leads = walked(slashed)
    names = [step for step in slashed.split("/") if step not in ("", ".")]
    right = slashed.startswith("./") and names[:2] == ["tools", "bin"]
    inside = leads.startswith("tools/bin/")
    if right and inside:
        assert program_path(written, "/m/n") == f"/m/n/{leads}"
        return
    with pytest.raises(PathFault) as refused:
        program_path(written, "/m/n")
    said = str(refused.value)
    if leads == ".." or leads.startswith("../"):
        assert said.startswith("command[0] must not start with '..' or escape tools/bin (got ")
    elif right:
        assert said.startswith("command[0] escapes ./tools/bin after normalization (got ")
        assert unquoted(said[said.index("(got ") + 5 : said.index(" -> ")]) == written
    else:
        assert said == PREFIX


GOOD_NAME = re.compile(r"[A-Z_][A-Z0-9_]*\Z")


@pytest.mark.req("CLI-ENV-04")
@given(st.lists(st.text(st.sampled_from("aZ_9 -\n\t\u017f\u0131é\x1c\u00a0=")), max_size=4))
def test_names_of_variables_are_capitals_each_once_or_refused(written: list[str]) -> None:
    meant = [one.strip(" \n\t\u00a0") for one in written]
    bad = [
        at
        for at, one in enumerate(meant)
        if not one.isascii() or GOOD_NAME.match(one.upper()) is None
    ]
    if not bad:
        assert variable_names(written) == tuple(dict.fromkeys(one.upper() for one in meant))
        return
    with pytest.raises(NameFault) as refused:
        variable_names(written)
    place, said = str(refused.value).split(": ", 1)
    assert place == f"envPassthrough[{bad[0]}]"
    if meant[bad[0]]:
        assert said == (f"invalid name {quoted(written[bad[0]])} (must match [A-Z_][A-Z0-9_]*)")
    else:
        assert said == "empty name"


def test_what_is_blank_is_the_white_space_of_unicode() -> None:
    blanks = [
        chr(code)
        for code in range(0x110000)
        if not 0xD800 <= code < 0xE000 and trimmed(chr(code)) == ""
    ]
    separators = [one for one in map(chr, range(0x10000)) if unicodedata.category(one)[0] == "Z"]
    assert blanks == sorted({*"\t\n\v\f\r\x85", *separators})
    assert json.loads(json.dumps(blanks)) == blanks
