"""Requests as tools word them, and what redirects make of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.errors import InvalidArguments, PolicyDenied
from holdfast.execution.network.web_request import (
    WebRequest,
    WebUrl,
    first_request,
    read_url,
    redirected,
)


def _first(url: str, method: str = "GET", **headers: str) -> WebRequest:
    return first_request(url, method, headers, None)


@pytest.mark.parametrize(
    ("url", "shown", "place"),
    [
        ("http://a.example", "http://a.example/", "a.example:80"),
        ("HTTPS://a.example?q=1#part", "https://a.example/?q=1", "a.example:443"),
        ("https://a.example:443/x", "https://a.example/x", "a.example:443"),
        ("https://a.example:8443/x", "https://a.example:8443/x", "a.example:8443"),
        ("http://[::1]:81/x", "http://[::1]:81/x", "[::1]:81"),
        ("http://a.example/ü?ö", "http://a.example/%C3%BC?%C3%B6", "a.example:80"),
        ("http://a.example/%41/..//x", "http://a.example/%41/..//x", "a.example:80"),
        ('http://a.example/"<>{}|^`', "http://a.example/%22%3C%3E%7B%7D%7C%5E%60", "a.example:80"),
        ("http://a.example/@b.example", "http://a.example/@b.example", "a.example:80"),
        ("http://bücher.example/", "http://bücher.example/", "bücher.example:80"),
    ],
)
def test_a_url_is_read(url: str, shown: str, place: str) -> None:
    request = _first(url)
    assert (str(request.url), request.url.place) == (shown, place)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a.example",
        "//a.example/",
        "ftp://a.example/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http:a.example",
        "http:///x",
        "http://",
        "http://:80/",
        "http://user@a.example/",
        "http://user:secret@a.example/",
        "http://a.example@b.example/",
        "http://a.example:0/",
        "http://a.example:99999/",
        "http://a.example:/",
        "http://a.example:80:80/",
        "http://::1/",
        "http://[::1/",
        "http://[::1%25lo]/",
        "http://a%2eexample/",
        "http://a.example\\b.example/",
        "http://a.example/a b",
        "http://a.example/a\tb",
        "http://a.example/a\r\nX: y",
        "http://a.example/\0",
        "http://a.example/\ud800",
        " http://a.example/",
        "http://a.example/" + "x" * 8192,
    ],
)
def test_what_is_no_plain_web_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        _first(url)
    assert refused.value.field == "url"


@pytest.mark.parametrize("method", ["", "GE T", "GET\r\n", "CONNECT", "connect", "ü"])
def test_what_is_no_method_is_refused(method: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        _first("http://a.example/", method)
    assert refused.value.field == "method"


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"X": "a\r\nY: b"}, "line breaks"),
        ({"X": "a\nb"}, "line breaks"),
        ({"X": "a\0"}, "line breaks"),
        ({"X: y": "a"}, "a name that is none"),
        ({"": "a"}, "a name that is none"),
        ({"X\r\nY": "a"}, "a name that is none"),
        ({"Host": "b.example"}, "not for a tool"),
        ({"content-length": "0"}, "not for a tool"),
        ({"Transfer-Encoding": "chunked"}, "not for a tool"),
        ({"CONNECTION": "keep-alive"}, "not for a tool"),
        ({"Proxy-Authorization": "x"}, "not for a tool"),
        ({"TE": "trailers"}, "not for a tool"),
        ({"Upgrade": "h2c"}, "not for a tool"),
        ({"Accept": "a", "ACCEPT": "b"}, "given twice"),
    ],
)
def test_what_is_no_header_of_a_tool_is_refused(headers: dict[str, str], why: str) -> None:
    with pytest.raises(InvalidArguments, match=why) as refused:
        first_request("http://a.example/", "GET", headers, None)
    assert refused.value.field == "headers"


HEADERS = {
    "Authorization": "Bearer x",
    "Cookie": "a=b",
    "X-Api-Key": "x",
    "Accept": "text/html",
    "Content-Type": "text/plain",
}


def _posted(url: str, method: str = "POST") -> WebRequest:
    return first_request(url, method, HEADERS, b"body")


@pytest.mark.parametrize(
    ("method", "status", "onward"),
    [
        ("GET", 301, "GET"),
        ("POST", 301, "GET"),
        ("POST", 302, "GET"),
        ("PUT", 302, "PUT"),
        ("PUT", 303, "GET"),
        ("HEAD", 303, "HEAD"),
        ("POST", 307, "POST"),
        ("POST", 308, "POST"),
        ("DELETE", 301, "DELETE"),
    ],
)
def test_a_redirect_changes_the_method_as_browsers_do(
    method: str, status: int, onward: str
) -> None:
    request = redirected(_posted("http://a.example/x/y", method), status, "../z")
    assert request is not None
    assert (request.method, str(request.url)) == (onward, "http://a.example/z")
    kept = onward == method
    assert (request.body == b"body", "Content-Type" in dict(request.headers)) == (kept, kept)
    assert dict(request.headers)["Authorization"] == "Bearer x"


@pytest.mark.parametrize(
    "location",
    [
        "http://b.example/",
        "http://a.example:81/",
        "https://a.example/",
        "//b.example/",
        "http://sub.a.example/",
        "http://a.example.b.example/",
    ],
)
@pytest.mark.req("SPEC-WEB-12")
def test_another_origin_gets_no_credentials_and_none_come_back(location: str) -> None:
    request = redirected(_posted("http://a.example/"), 307, location)
    assert request is not None
    assert dict(request.headers) == {"Accept": "text/html", "Content-Type": "text/plain"}
    assert request.body == b"body"
    if request.url.scheme == "http":
        back = redirected(request, 307, "http://a.example/")
        assert back is not None
        assert "Authorization" not in dict(back.headers)


@pytest.mark.parametrize("location", ["http://A.example./x", "/x", "x", "?y", "//a.example:80/"])
def test_the_same_origin_keeps_them(location: str) -> None:
    request = redirected(_posted("http://a.example/"), 308, location)
    assert request is not None
    assert dict(request.headers) == HEADERS


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("http://a.example/", "in the open"),
        ("ftp://a.example/", "does not begin with"),
        ("file:///etc/passwd", "does not begin with"),
        ("javascript:alert(1)", "does not begin with"),
        ("https://user@b.example/", "credentials"),
        ("https://[b.example/", "it is no URL"),
        ("https:\\\\b.example", "backslashes"),
        ("https://b.example/\r\nX: y", "control"),
        ("/" + "x" * 9000, "longer than"),
    ],
)
def test_a_redirect_that_leads_astray_is_not_followed(location: str, why: str) -> None:
    with pytest.raises(PolicyDenied, match=why) as refused:
        redirected(_posted("https://a.example/"), 302, location)
    assert set(refused.value.extras) == {"target", "requirement"}
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("status", [200, 201, 300, 304, 305, 306, 404])
def test_other_answers_are_no_redirects(status: int) -> None:
    assert redirected(_posted("http://a.example/"), status, "http://b.example/") is None
    assert redirected(_posted("http://a.example/"), 302, None) is None


_PIECES = st.sampled_from(
    [
        *(
            "http",
            "https",
            "://",
            ":",
            "/",
            "//",
            "?",
            "#",
            "@",
            "[",
            "]",
            "::1",
            "80",
            "%41",
            "\\",
        ),
        *("a.example", "\r\n", "\t", " ", "ü", "..", "0x7f.1"),
    ]
)


@given(st.lists(_PIECES | st.text(max_size=4), max_size=10).map("".join))
def test_a_url_reads_the_same_again_or_is_refused(text: str) -> None:
    try:
        url = _first(text).url
    except InvalidArguments:
        return
    assert url.target.isascii()
    assert url.target.isprintable()
    assert url.target.startswith("/")
    assert not set(url.host) & set("@/\\?#%\r\n\0 ")
    assert read_url(str(url)) == url


@given(st.lists(_PIECES | st.text(max_size=4), max_size=10).map("".join))
def test_wherever_a_redirect_leads_it_is_to_a_plain_url_or_refused(location: str) -> None:
    try:
        request = redirected(_posted("https://a.example/x"), 302, location)
    except PolicyDenied:
        return
    assert request is not None
    assert request.url.scheme == "https"
    assert read_url(str(request.url)) == request.url
    if request.url.origin != ("https", "a.example", 443):
        assert not {"Authorization", "Cookie", "X-Api-Key"} & set(dict(request.headers))


def test_an_address_is_shown_in_brackets() -> None:
    assert str(WebUrl("http", "::1", 80, "/")) == "http://[::1]/"
