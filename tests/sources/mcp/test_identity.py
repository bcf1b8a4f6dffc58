"""What a server is: another command is another server, and nothing secret is shown of either."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sources.mcp.expansion import expanded
from holdfast.sources.mcp.identity import identity_of, in_words, is_same, where
from holdfast.sources.mcp.setup import ServerSetup


def program(*args: str, **fields: str) -> ServerSetup:
    return ServerSetup(name="s", command="c", args=args, **fields)  # pyright: ignore[reportArgumentType] - texts alone


def shown(setup: ServerSetup) -> str:
    return in_words(identity_of(setup, setup))


@pytest.mark.parametrize(
    "setup",
    [
        ServerSetup(name="s", command="c", args=("--key=hush",), env={"K": "hush"}),
        ServerSetup(name="s", command="c", args=("--api-key", "hush")),
        ServerSetup(name="s", url="https://u:hush@h/p?k=hush", headers={"A": "hush"}),
    ],
)
def test_nothing_secret_is_shown(setup: ServerSetup) -> None:
    assert "hush" not in repr(setup)
    assert "hush" not in str(identity_of(setup, setup))


def test_a_command_is_shown_with_its_words_and_an_address_without_its_query() -> None:
    assert shown(program("serve", "--root", "a b", "--token=hush")) == (
        "c serve --root 'a b' '--token=***'"
    )
    assert where(program("x")) == "c x"
    assert shown(ServerSetup(name="s", url="https://u:hush@h/p?k=hush")) == "https://h/p"
    assert shown(ServerSetup(name="s", url="http://[::1")) == "an address that is none"


def test_what_variables_hold_is_vouched_for_and_not_shown() -> None:
    written = program("${PLACE}")
    one, other = (
        identity_of(expanded(written, {"PLACE": place}), written) for place in ("here", "there")
    )
    assert in_words(one) == in_words(other) == "c '${PLACE}'"
    assert not is_same(one, other)


def test_a_working_directory_and_a_secret_make_another_server() -> None:
    ours = identity_of(program("--key=one"), program("--key=one"))
    for another in (program("--key=two"), program("--key=one", cwd="/elsewhere")):
        assert not is_same(ours, identity_of(another, another))
    assert is_same(ours, {**ours, "server": "as an older version showed it"})


@given(st.lists(st.text(max_size=8), max_size=4), st.lists(st.text(max_size=8), max_size=4))
def test_servers_are_the_same_exactly_if_their_words_are(one: list[str], other: list[str]) -> None:
    first, second = (identity_of(program(*words), program(*words)) for words in (one, other))
    assert is_same(first, second) == (one == other)
