"""Which commands a profile runs: pure judgements of texts, and of where operands lead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.errors import PolicyDenied
from holdfast.contract.ports import PathProblem, PathView
from holdfast.policy.command_policies import Grounds, TextForm, WordsForm, form_of, refusal_of
from holdfast.policy.managed_bash import ManagedCommand, managed_command
from holdfast.policy.read_only import is_read_only


class Places:
    """Paths by their text alone; `link` leads out, `lost` nowhere."""

    def look(self, path: str, base: str | None, /) -> PathView | PathProblem:
        if path == "lost":
            return PathProblem("forbidden")
        written = path if path.startswith("/") else f"{base}/{path}"
        parts: list[str] = []
        for part in written.split("/"):
            if part == "..":
                parts = parts[:-1]
            elif part not in ("", "."):
                parts.append(part)
        lexical = "/" + "/".join(parts)
        return PathView(lexical, "/elsewhere" if lexical.endswith("link") else lexical)


HERE = Grounds(roots=("/ws",), facts=Places())
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(
            ["ls", "cat", "git", "status", "rm", "-rf", "a", "../b", "/etc", "|", ";", "$X", "pwd"]
        ),
        max_size=6,
    ).map(" ".join),
)


@given(command=TEXTS)
def test_a_policy_refuses_exactly_what_it_does_not_know(command: str) -> None:
    assert refusal_of("any", command, HERE) is None
    assert (refusal_of("read_only", command, HERE) is None) == is_read_only(command)
    if refusal_of("managed", command, HERE) is None:
        judged = managed_command(command)
        assert isinstance(judged, ManagedCommand)
        assert WordsForm().form(command) == judged.words
        assert not {"..", "/etc"} & set(judged.operands)


def test_operands_and_directories_stay_inside() -> None:
    for operand in ("a", "sub/../a", "/ws/a", "./a"):
        assert refusal_of("managed", f"cat {operand}", HERE) is None, operand
        assert refusal_of("managed", f"cat {operand}", HERE, "sub") is None, operand
    for operand in ("../a", "/ws-other/a", "/etc/passwd", "link", "lost", "sub/../../a"):
        assert refusal_of("managed", f"cat {operand}", HERE) is not None, operand
    assert refusal_of("managed", "cat ../a", HERE, "sub") is None
    assert refusal_of("managed", "ls", HERE, "/usr") is not None
    assert refusal_of("managed", "ls", Grounds(roots=(), facts=Places())) is not None


def test_a_session_without_a_shell_gets_words_and_nothing_else() -> None:
    assert isinstance(form_of("any"), TextForm)
    assert form_of("read_only").form("ls a | wc") == "ls a | wc"
    assert form_of("managed").form("cat 'a b'") == ("cat", "a b")
    with pytest.raises(PolicyDenied, match="pipes"):
        form_of("managed").form("cat a | wc")
