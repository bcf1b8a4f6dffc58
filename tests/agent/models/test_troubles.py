"""What a refusal means, how long to wait, and that no key is in it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.models.troubles import refusal, tidy, told_inside
from holdfast.contract.model import RETRYABLE

KEY = "sk-a-key-that-nobody-may-see"


@pytest.mark.parametrize(
    ("status", "trouble"),
    [
        (400, "bad_request"),
        (401, "authentication"),
        (402, "bad_request"),
        (403, "authentication"),
        (404, "bad_request"),
        (408, "timeout"),
        (413, "context_length"),
        (422, "bad_request"),
        (429, "rate_limited"),
        (500, "server_error"),
        (502, "server_error"),
        (503, "overloaded"),
        (504, "timeout"),
        (529, "overloaded"),
    ],
)
def test_a_status_has_a_meaning(status: int, trouble: str) -> None:
    problem = refusal(status, b'{"error": {"message": "why"}}', {}, KEY)
    assert (problem.trouble, problem.status) == (trouble, status)
    assert f"{status}: why" in str(problem)
    assert problem.retryable == (trouble in RETRYABLE)


@pytest.mark.parametrize(
    "said",
    [
        {"error": {"message": "too many", "code": "context_length_exceeded"}},
        {"error": {"message": "This model's maximum context length is 8192 tokens"}},
        {"type": "error", "error": {"message": "prompt is too long: 210000 tokens > 200000"}},
        {"error": {"type": "exceed_context_size_error", "message": "request (9 tokens) exceeds"}},
        {"detail": "input is too long"},
    ],
)
def test_a_request_that_does_not_fit_is_known_by_its_words(said: object) -> None:
    problem = refusal(400, json.dumps(said).encode(), {}, KEY)
    assert (problem.trouble, problem.retryable) == ("context_length", False)


def test_an_account_that_is_spent_is_not_worth_a_second_try() -> None:
    body = b'{"error": {"message": "Pay first.", "code": "insufficient_quota"}}'
    assert refusal(429, body, {}, KEY).trouble == "bad_request"
    assert told_inside({"message": "Pay first.", "code": "insufficient_quota"}, KEY).trouble == (
        "bad_request"
    )


@pytest.mark.parametrize(
    ("after", "date", "seconds"),
    [
        ("2", None, 2.0),
        ("0.5", None, 0.5),
        ("-4", None, 0.0),
        ("1e99", None, 86_400.0),
        ("nan", None, None),
        ("soon", None, None),
        ("", None, None),
        ("Wed, 18 Nov 2026 02:00:30 GMT", "Wed, 18 Nov 2026 02:00:00 GMT", 30.0),
        ("Wed, 18 Nov 2026 02:00:30 -0000", "Wed, 18 Nov 2026 02:00:00 GMT", 30.0),
        ("Wed, 18 Nov 2026 02:00:00 GMT", "Wed, 18 Nov 2026 02:00:30 GMT", 0.0),
        ("Wed, 18 Nov 2026 02:00:30 GMT", None, None),
    ],
)
def test_how_long_to_wait(after: str, date: str | None, seconds: float | None) -> None:
    headers = {"Retry-After": after, **({} if date is None else {"Date": date})}
    assert refusal(429, b"", headers, KEY).retry_after == seconds


@pytest.mark.parametrize(
    "body",
    [
        f"no JSON, but the key {KEY}".encode(),
        json.dumps({"error": f"the key {KEY} is wrong"}).encode(),
        json.dumps({"error": {"message": f"the key {KEY}\nis wrong"}}).encode(),
        json.dumps({"message": KEY}).encode(),
        json.dumps([KEY]).encode(),
        json.dumps({"error": {"message": 5, "key": KEY}}).encode(),
    ],
)
def test_no_key_and_no_second_line_are_in_a_message(body: bytes) -> None:
    told = str(refusal(401, body, {}, KEY))
    assert KEY not in told
    assert "\n" not in told
    assert "check the key" in told


@pytest.mark.parametrize("sign", ["\u200b", "\u0000", "\u202e", "\ufeff", "\u00ad"])
def test_a_key_with_signs_inside_that_nobody_sees_is_none_the_less_one(sign: str) -> None:
    hidden = f"{KEY[:3]}{sign}{KEY[3:]}"
    body = json.dumps({"error": {"message": f"the key {hidden} is wrong"}}).encode()
    told = str(refusal(401, body, {}, KEY))
    assert "the key *** is wrong" in told
    assert KEY not in told


@given(body=st.binary(max_size=400), status=st.integers(400, 599))
def test_any_body_gives_a_short_line(body: bytes, status: int) -> None:
    told = str(refusal(status, body, {}, KEY))
    assert len(told) < 700
    assert told.isprintable()


def test_a_page_is_not_shown() -> None:
    assert "no JSON" in str(refusal(502, b"<html><body>Bad gateway</body></html>", {}, ""))


def test_a_long_text_is_cut() -> None:
    assert len(tidy("x" * 10_000, "")) == 501


@pytest.mark.parametrize("error", [None, 5, {}, {"code": "x"}, "no reason"])
def test_an_error_without_a_form_is_one_of_the_server(error: object) -> None:
    problem = told_inside(error, KEY)  # pyright: ignore[reportArgumentType] - a stranger's value
    assert problem.trouble == "server_error"
