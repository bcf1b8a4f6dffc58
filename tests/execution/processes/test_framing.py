"""What a persistent bash is told and answers: texts mean themselves, variables come back whole."""

import subprocess
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.execution.processes import framing
from holdfast.execution.processes.framing import Answer, AnswerReader, Garbled, exported, quoted
from holdfast.execution.processes.shell_state import ShellState, state_of

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=40)
NAMES = st.from_regex(r"\A[A-Za-z][A-Za-z0-9_]{0,8}\Z").filter(lambda name: name not in OWN)
OWN = {"PWD", "OLDPWD", "SHLVL", "LANG", "PATH", "IFS", "UID", "EUID", "PPID", "LC_ALL"}


def bash(text: str, environment: Mapping[str, str]) -> bytes:
    argv = ["bash", "--norc", "--noprofile", "-s"]
    told = text.encode("utf-8", "surrogateescape")
    env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **environment}
    return subprocess.run(argv, input=told, env=env, capture_output=True, check=True).stdout


@given(TEXT)
@settings(max_examples=40, deadline=None)
def test_a_quoted_text_means_itself(text: str) -> None:
    assert bash(f"printf %s {quoted(text)}\n", {}).decode() == text


@given(st.dictionaries(NAMES, TEXT, max_size=4))
@settings(max_examples=60, deadline=None)
def test_exported_variables_come_back_as_a_process_would_get_them(given: dict[str, str]) -> None:
    for way in ("POSIXLY_CORRECT=1;export -p\n", "export -p\n"):
        found = exported(bash(way, given))
        assert {name: found.get(name) for name in given} == given


def test_attributes_bytes_and_missing_values_are_understood() -> None:
    text = (
        "declare -ix N=4; declare -rx R=r; export NONE;"
        " export B=$'\\xff\\x01\\e\\n\\'\"$`\\\\';export -p"
    )
    for posix in ("", "POSIXLY_CORRECT=1;"):
        found = exported(bash(text.replace("export -p", posix + "export -p") + "\n", {}))
        assert (found["N"], found["R"], "NONE" in found) == ("4", "r", False)
        assert found["B"] == "\udcff\x01\x1b\n'\"$`\\"


@pytest.mark.parametrize("text", [b"junk", b'export A="', b"export A=x\n", b'export 1="x"\n'])
def test_what_is_no_list_of_variables_is_noticed(text: bytes) -> None:
    with pytest.raises(Garbled):
        exported(text)


GARBAGE = st.lists(
    st.sampled_from([b"x", b"", b"-", b"7", b"0", b"gone", b"-\0/\0" + b"0\0" + b"6"])
)


@given(st.data(), GARBAGE, TEXT.map(lambda cwd: cwd.replace("/", "_")), st.integers(0, 255))
def test_an_answer_is_found_in_any_pieces_and_behind_anything(
    data: st.DataObject, garbage: list[bytes], cwd: str, status: int
) -> None:
    before = b"".join(one + b"\0" for one in garbage)
    own = b'export A="1"\n\0-gone\0' + cwd.encode() + b"\0" + str(status).encode() + b"\0" + b"17\0"
    whole = before + own
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=5)))
    reader = AnswerReader(17)
    found = [
        reader.feed(whole[start:end])
        for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)
    ]
    wanted = Answer(ran=True, moved=True, cwd=cwd, status=status, variables=b'export A="1"\n')
    assert found == [None] * len(cuts) + [wanted]


@pytest.mark.parametrize(
    "said",
    [
        b"-\0/\0" + b"x\0" + b"17\0",
        b"v\0y\0/\0" + b"0\0" + b"17\0",
        b"v\0-\0/\0" + b"0\0" + b"18\0",
        b"v\0-\0/\0\0" + b"17\0",
        b"17\0",
    ],
)
def test_what_is_no_answer_is_passed_over(said: bytes) -> None:
    assert AnswerReader(17).feed(said) is None


def test_fields_that_are_too_long_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "MOST_VARIABLES", 10)
    reader = AnswerReader(1)
    assert reader.feed(b"x" * 11) is None
    wanted = Answer(ran=True, moved=False, cwd="/", status=3, variables=None)
    assert reader.feed(b"yy\0-\0/\0" + b"3\0" + b"1\0") == wanted
    reader = AnswerReader(1)
    assert reader.feed(b"v\0-\0" + b"/" * 11) is None
    assert reader.feed(b"\0" + b"3\0" + b"1\0") is None


def test_only_a_substitution_without_its_end_breaks_the_parser() -> None:
    broken = b"bash: eval: line 4: unexpected EOF while looking for matching `)'\n"
    assert framing.breaks_the_parser(b"before\n" + broken)
    assert not framing.breaks_the_parser(broken + b"after")
    assert not framing.breaks_the_parser(broken.replace(b")'", b"}'"))


VARIABLES = st.dictionaries(st.sampled_from("ABCDE"), st.sampled_from("12"))


@given(VARIABLES, VARIABLES)
def test_a_difference_leads_back_to_what_it_was_made_from(
    base: dict[str, str], now: dict[str, str]
) -> None:
    own = {"PWD": "/x", "SHLVL": "1", "_": "y", "OLDPWD": "/z"}
    state = state_of("/x", now | own, base)
    assert state.environment(base) == now
    assert set(state.env_keys()) == {
        name for name in {*base, *now} if base.get(name) != now.get(name)
    }
    assert ShellState("/x").environment(base) == base
