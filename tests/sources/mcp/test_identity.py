"""What a server is: another command is another server, and nothing that may be secret is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sources.mcp.definitions import Definition
from holdfast.sources.mcp.expansion import expanded
from holdfast.sources.mcp.identity import identity_of, in_words, is_same, where
from holdfast.sources.mcp.pins import fingerprint
from holdfast.sources.mcp.setup import ServerSetup


def program(*args: str, cwd: str | None = None) -> ServerSetup:
    return ServerSetup(name="s", command="c", args=args, cwd=cwd)


def address(url: str) -> ServerSetup:
    return ServerSetup(name="s", url=url)


def shown(setup: ServerSetup) -> str:
    return in_words(identity_of(setup, setup))


SECRETIVE = [
    ("--key=hush",),
    ("--token=a-${R:-eu}-hush",),
    ("--token", "a-${R:-eu}-hush"),
    ("${API_KEY:-hush}",),
    ("--config=${API_KEY:-hush}",),
    ("-c", "srv --token hush"),
    ("-c", 'srv --api-key "hush two"'),
    ("--header=Authorization: ApiKey hush",),
    ("postgres://u:pa/hush@h/db",),
    ("postgres://u:p@hush@h/db",),
    ("--pw", "hush"),
    ("--creds", "hush"),
    ("--mykey=hush",),
    ("-u", "admin:hush"),
    ("-phush",),
    ("https://h/p?k=hush",),
    ("aB3/hush9",),
    ("hush1",),
    ("HUSH",),
    ("curl evil | hush",),
    ("https://h/sk-0123456789abcdefghush/mcp",),
]


@pytest.mark.parametrize("args", SECRETIVE, ids=" ".join)
def test_what_may_be_secret_is_not_shown(args: tuple[str, ...]) -> None:
    setup = program("serve", *args)
    assert "hush" not in shown(setup).lower()
    assert "hush" not in where(setup).lower()
    assert shown(setup).startswith("c serve ")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (
            "https://u:hush@h.example:8080/api/v1/mcp?k=hush#hush",
            "https://h.example:8080/api/v1/mcp",
        ),
        ("https://h/s/sk-0123456789hush/mcp", "https://h/s/***/mcp"),
        ("https://h/${TOKEN:-hush}/mcp", "https://h/***/mcp"),
        ("https://h/mcp;token=hush", "https://h/***"),
        ("https://${HOST:-hush}/mcp", "https://***/mcp"),
        ("http://[::1]:80/mcp", "http://[::1]:80/mcp"),
        ("http://[::1", "an address that is none"),
    ],
)
def test_an_address_is_shown_by_its_host_and_plain_parts(url: str, told: str) -> None:
    assert shown(address(url)) == told


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("serve", "--verbose", "-u"), "c serve --verbose -u"),
        (("mcp-git", "--repository", "/srv/data"), "c mcp-git --repository /srv/data"),
        (("-y", "@scope/server-files@1.2"), "c -y @scope/server-files@1.2"),
        (("/home/Ann/T 2/x1.py", "--port", "8080"), "c '/home/Ann/T 2/x1.py' --port '***'"),
        (("server.py", "plain"), "c server.py plain"),
    ],
)  # fmt: skip
def test_what_is_surely_no_secret_is_shown(args: tuple[str, ...], told: str) -> None:
    assert shown(program(*args)) == told


def test_a_secret_does_not_hide_the_same_word_elsewhere() -> None:
    assert shown(program("serve", "--token", "serve")) == "c serve --token '***'"


def test_what_variables_hold_is_vouched_for_and_not_shown() -> None:
    written = program("${PLACE}")
    one, other = (
        identity_of(expanded(written, {"PLACE": place}), written) for place in ("here", "there")
    )
    assert in_words(one) == in_words(other) == "c '***'"
    assert not is_same(one, other)


def test_a_working_directory_and_a_secret_make_another_server() -> None:
    ours = identity_of(program("--key=one"), program("--key=one"))
    for another in (program("--key=two"), program("--key=one", cwd="/elsewhere")):
        assert not is_same(ours, identity_of(another, another))
    assert is_same(ours, {**ours, "server": "as an older version showed it"})


def test_what_was_seen_is_of_one_server() -> None:
    definition = Definition(name="x")
    ours, other = (identity_of(program(word), program(word)) for word in ("one", "two"))
    assert fingerprint(definition, ours) != fingerprint(definition, other)
    assert fingerprint(definition, ours) == fingerprint(Definition(name="x"), dict(ours))


@given(st.lists(st.text(max_size=8), max_size=4), st.lists(st.text(max_size=8), max_size=4))
def test_servers_are_the_same_exactly_if_their_words_are(one: list[str], other: list[str]) -> None:
    first, second = (identity_of(program(*words), program(*words)) for words in (one, other))
    assert is_same(first, second) == (one == other)
