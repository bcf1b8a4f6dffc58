"""Which host a URL leads to: one spelling for each, and none where there is doubt."""

from ipaddress import IPv4Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.policy.addresses import address_of, ipv4_of, ipv6_of
from holdfast.policy.host_patterns import HostMatch, HostPatterns, judge_url
from holdfast.policy.hosts import Host, HostProblem, host_of, host_of_url


def _name(text: str) -> str:
    host = host_of(text)
    assert isinstance(host, Host), host
    return host.name


def _admits(pattern: str, url: str) -> bool:
    return isinstance(judge_url(HostPatterns([pattern]), url), HostMatch)


@pytest.mark.req("SPEC-CAP-11")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("https://API.Example.COM/", "api.example.com"),
        ("https://api.example.com./", "api.example.com"),
        ("HTTPS://api.example.com", "api.example.com"),
        ("https://api_v2.example.com:8443/", "api_v2.example.com"),
        ("api.example.com", "api.example.com"),
        ("api.example.com:443", "api.example.com"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://Bücher.example/", "xn--bcher-kva.example"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("https://हिन्दी.example/", "xn--j2bd4cyah0f.example"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f000001/", "127.0.0.1"),
        ("http://0x7F.1/", "127.0.0.1"),
        ("http://0177.0.0.01/", "127.0.0.1"),
        ("http://127.1/", "127.0.0.1"),
        ("http://127.0.1./", "127.0.0.1"),
        ("http://10.0xff/", "10.0.0.255"),
        ("http://0x/", "0.0.0.0"),
        ("http://[::1]/", "::1"),
        ("http://[0:0:0:0:0:0:0:1]:80/", "::1"),
        ("http://[::ffff:127.0.0.1]/", "127.0.0.1"),
        ("http://[::FFFF:7f00:1]/", "127.0.0.1"),
        ("http://[fe80::1%25eth0]/", "fe80::1"),
        ("http://[fe80::1%eth0]/", "fe80::1"),
        ("::1", "::1"),
        ("[::1]:80", "::1"),
    ],
)
def test_a_host_has_one_spelling(text: str, name: str) -> None:
    assert _name(text) == name


@pytest.mark.req("SPEC-CAP-12")
@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com@evil.test/",
        "https://api.example.com:443@evil.test/",
        "https://user:api.example.com@evil.test:81/api.example.com",
        "https://evil.test/?u=https://api.example.com/",
        "https://evil.test?api.example.com",
        "https://evil.test#api.example.com",
        "https://evil.test/#@api.example.com/",
        "https://evil.test/@api.example.com/?x=@api.example.com#@api.example.com",
    ],
)
def test_user_path_query_and_fragment_play_no_part(url: str) -> None:
    assert _name(url) == "evil.test"
    assert _admits("evil.test", url)
    assert not _admits("api.example.com", url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "not a url",
        "api",
        "//api.example.com/",
        "ftp://api.example.com/",
        "file:///etc/passwd",
        "http\u017f://api.example.com/",
        "http:/api.example.com/",
        "http:api.example.com",
        "http:///api.example.com/",
        "http://",
        "http://?x",
        "http://:80/",
        "http://user@/",
        " http://api.example.com/",
        "http://api.example.com/ x",
        "http://api.example.com/\n",
        "http://api.example.com\t/",
        "http://api.example.com/\x00",
        "http://api.example.com/\u202e",
        "http://api.example.com\\@evil.test/",
        "http://evil.test/\\",
        "http://a@b@api.example.com/",
        "http://api.example.com?@evil.test/",
        "http://api.example.com#@evil.test/",
        "http://api.example.com:80:80/",
        "http://api.example.com:0/",
        "http://api.example.com:65536/",
        "http://api.example.com:8o/",
        "http://api%2eexample.com/",
        "http://api.example.com%00.evil.test/",
        "http://a..example.com/",
        "http://.example.com/",
        "http://api.example.com../",
        "http://-a.example.com/",
        "http://a-.example.com/",
        "http://*.example.com/",
        "http://a,b/",
        "http://" + "a" * 64 + ".example.com/",
        "http://" + "a." * 127 + "com/",
        "http://api.example.com/" + "a" * 8192,
        "http://1.2.3.4.5/",
        "http://256.0.0.1/",
        "http://1.2.3.256/",
        "http://4294967296/",
        "http://1.16777216/",
        "http://08.0.0.1/",
        "http://1..2/",
        "http://a.example.1/",
        "http://99999999999999999999/",
        "http://[::1/",
        "http://::1/",
        "http://[::1]x/",
        "http://[1.2.3.4]/",
        "http://[::g]/",
        "http://[]/",
        "https://straße.example/",
        "https://\uff45xample.com/",
        "https://\u212aexample.com/",
        "https://api。example.com/",
        "https://a\u0301b.example/",
        "https://\u0301ab.example/",
        "https://☃.example/",
        "https://xn--example-.com/",
        "https://xn--99999999999.com/",
        "https://xn--strae-oqa.com/",
    ],
)
def test_a_url_in_doubt_is_refused(url: str) -> None:
    assert isinstance(host_of_url(url), HostProblem)
    assert not _admits("*", url)
    assert not _admits("api.example.com", url)


@pytest.mark.parametrize("text", ["user@host.example", "host.example/x", "a b", "", "host:1:2"])
def test_a_host_text_in_doubt_is_refused(text: str) -> None:
    assert isinstance(host_of(text), HostProblem)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["{}", "0x{:x}", "0{:o}"]))
def test_a_number_is_the_address_it_stands_for(number: int, form: str) -> None:
    address = IPv4Address(number)
    assert ipv4_of(form.format(number)) == address
    assert ipv4_of(".".join(form.format(part) for part in address.packed)) == address
    assert ipv6_of(f"::ffff:{address}") == address
    assert address_of(str(address)) == address


@settings(deadline=None)
@given(st.text(max_size=40) | st.text("http:/@.[]%a1\\?#x", max_size=30))
def test_no_text_is_too_strange_to_be_judged(text: str) -> None:
    for judged in (host_of(text), host_of_url(text), host_of_url("http://" + text)):
        assert isinstance(judged, Host | HostProblem)
        if isinstance(judged, Host):
            assert judged.name.isascii()
            assert judged.name == judged.name.lower()
            again = host_of(judged.name)
            assert isinstance(again, Host)
            assert again.name == judged.name
