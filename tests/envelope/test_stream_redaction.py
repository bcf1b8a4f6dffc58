"""Secrets in a stream, cut anywhere."""

from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.envelope.redact import REDACTED, Redactor

SECRETS = ("hunter2hunter", "abcabcabc", "bcabcaxyz", "aaaaaa")
CUTS = st.lists(st.integers(1, 9), max_size=60)
TEXT = st.lists(
    st.sampled_from([*SECRETS, "hunter2", "abcabc", "aaa", "plain ", "\n", "x", "é"]), max_size=12
).map("".join)


def _streamed(text: str, cuts: list[int]) -> str:
    redaction = Redactor(SECRETS).stream()
    content, shown = text.encode(), b""
    for size in cuts:
        shown += redaction.feed(content[:size])
        content = content[size:]
    shown += redaction.feed(content) + redaction.rest()
    return shown.decode()


@given(TEXT, CUTS)
@example("abcabcaxyz", [9])
@example("aaaaaaa" * 3, [1] * 21)
def test_a_stream_shows_what_the_whole_text_would(text: str, cuts: list[int]) -> None:
    assert _streamed(text, cuts) == Redactor(SECRETS).text(text)


def test_no_more_is_held_back_than_may_be_a_secret() -> None:
    redaction = Redactor(SECRETS).stream()
    shown = b"".join(redaction.feed(b"aaaaaaa") for _ in range(10_000))
    assert shown == REDACTED.encode()
    assert redaction.feed(b"z" * 1000) == b"z" * 1000
    assert redaction.feed(b"the answer is 42\n") == b"the answer is 42\n"
    assert redaction.feed(b"hunter") == b""
    assert redaction.rest() == b"hunter"


def test_a_secret_that_begins_a_longer_one_waits_for_it() -> None:
    redaction = Redactor(["longsecret", "longsecret-of-all"]).stream()
    assert redaction.feed(b"a longsecret") == b"a "
    assert redaction.feed(b"-of-") == b""
    assert redaction.feed(b"all!") == f"{REDACTED}!".encode()
    assert redaction.feed(b"longsecret") == b""
    assert redaction.feed(b"-off") == f"{REDACTED}-off".encode()
