"""Which hosts patterns admit, and that no wildcard and no resolver leads inside."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.policy.addresses import address_of, is_private
from holdfast.policy.host_patterns import (
    HostMatch,
    HostPatternProblem,
    HostPatterns,
    admits_address,
    judge_hops,
    judge_url,
)
from holdfast.policy.hosts import Host, HostProblem, host_of, redirect_target


def _admits(pattern: str, url: str) -> bool:
    return isinstance(judge_url(HostPatterns([pattern]), url), HostMatch)


def _match(patterns: list[str], url: str) -> HostMatch:
    judged = judge_url(HostPatterns(patterns), url)
    assert isinstance(judged, HostMatch), judged
    return judged


@pytest.mark.req("SPEC-CAP-10", "SPEC-CAP-13")
@pytest.mark.parametrize(
    ("pattern", "admitted", "refused"),
    [
        (
            "api.example.com",
            ["https://api.example.com/", "http://api.example.com:81/x"],
            [
                "https://example.com/",
                "https://a.api.example.com/",
                "https://xapi.example.com/",
                "https://api.example.com.evil.test/",
                "https://api-example.com/",
                "https://api.example.co/",
            ],
        ),
        (
            "*.example.com",
            ["https://a.example.com/", "https://a.b.c.example.com/"],
            [
                "https://example.com/",
                "https://evilexample.com/",
                "https://a.example.com.evil.test/",
                "https://a.example.comx/",
                "https://com/",
            ],
        ),
        ("API.example.com.", ["https://api.example.com/"], ["https://a.example.com/"]),
        ("*.Bücher.example", ["https://a.xn--bcher-kva.example/"], ["https://bücher.example/"]),
        ("*.bücher.*", ["https://a.bücher.example/"], ["https://bücher.example/"]),
        ("api-*.example.com", ["https://api-7.example.com/"], ["https://api.example.com/"]),
        ("{a,b}.example.com", ["https://b.example.com/"], ["https://c.example.com/"]),
        ("{a,*}.example.com", ["https://c.d.example.com/"], ["https://example.com/"]),
        ("*", ["https://a.test/", "http://8.8.8.8/"], []),
        ("**.example.com", ["https://a.b.example.com/"], ["https://example.com/"]),
        ("8.8.8.8", ["http://8.8.8.8/", "http://0x08080808/"], ["http://8.8.4.4/"]),
        ("*.8.8.8", ["http://8.8.8.8/"], ["http://8.8.8.4/"]),
        ("*.8", ["http://8.8.8.8/"], ["http://8.8.4.4/"]),
        ("2606:4700::1111", ["http://[2606:4700:0::1111]/"], ["http://[2606:4700::1112]/"]),
    ],
)
def test_a_pattern_is_anchored_and_a_star_reaches_only_below(
    pattern: str, admitted: list[str], refused: list[str]
) -> None:
    assert [url for url in admitted if not _admits(pattern, url)] == []
    assert [url for url in refused if _admits(pattern, url)] == []


@pytest.mark.req("SPEC-CAP-14")
@pytest.mark.parametrize(
    ("pattern", "admitted", "refused"),
    [
        ("a.test", ["http://a.test/", "https://a.test/", "http://a.test:81"], []),
        ("a.test:*", ["http://a.test:81"], []),
        ("a.test:443", ["https://a.test/", "http://a.test:443"], ["http://a.test/"]),
        ("*.a.test:81", ["http://b.a.test:81"], ["http://b.a.test/"]),
        ("*:443", ["https://a.test/"], ["http://a.test/"]),
        ("127.0.0.1:81", ["http://127.1:81/"], ["http://127.0.0.1/"]),
        ("[::1]:81", ["http://[::1]:81/"], ["http://[::1]/"]),
        ("[::1]", ["http://[::1]:81/", "http://[::1]/"], []),
    ],
)
def test_a_pattern_without_a_port_admits_every_port(
    pattern: str, admitted: list[str], refused: list[str]
) -> None:
    assert [url for url in admitted if not _admits(pattern, url)] == []
    assert [url for url in refused if _admits(pattern, url)] == []


def test_a_host_whose_port_is_not_known_needs_a_pattern_for_every_port() -> None:
    host = host_of("a.test")
    assert isinstance(host, Host)
    assert HostPatterns(["a.test"]).match(host)
    assert not HostPatterns(["a.test:443"]).match(host)


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "https://api.example.com", "a b", "a.test:0", "a.test:70000", "user@a.test"),
        *("a..test", "*..test", "a.test/x", "*.a/x", "[::g]", r"a\*b", "1.2.3.4.5", "*:1:2"),
        "a" * 5000,
    ],
)
def test_a_pattern_that_can_be_no_host_is_an_error(pattern: str) -> None:
    with pytest.raises(HostPatternProblem):
        HostPatterns([pattern])


INSIDE = [
    *("127.0.0.1", "127.255.255.255", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1"),
    *("172.31.255.255", "192.168.1.1", "100.64.0.1", "100.100.100.200", "169.254.169.254"),
    *("169.254.0.1", "192.0.0.192", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1"),
    *("255.255.255.255", "168.63.129.16", "192.0.2.1", "203.0.113.9", "::", "::1", "fe80::1"),
    *("fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "::ffff:127.0.0.1", "::127.0.0.1"),
    *("::8.8.8.8", "2002:7f00:1::", "2002:c0a8:101::1", "64:ff9b::10.0.0.1", "64:ff9b:1::1"),
    *("2001:db8::1", "2001::1", "100::1", "3fff::1"),
]
OUTSIDE = [
    *("8.8.8.8", "1.1.1.1", "172.32.0.1", "172.15.255.255", "100.128.0.1", "11.0.0.1"),
    *("169.253.0.1", "223.255.255.255", "168.63.129.17", "2606:4700::1111", "2a00::1"),
    *("2002:808:808::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"),
]


def _url(address: str) -> str:
    return f"http://[{address}]/" if ":" in address else f"http://{address}/"


@pytest.mark.req("SPEC-WEB-13")
@pytest.mark.parametrize("address", INSIDE)
def test_what_lies_inside_needs_a_grant_that_names_it(address: str) -> None:
    assert is_private(ip_address(address))
    for wild in ("*", "*:80", "*.*", "?*", "*.1", "*.169.254", "{*,a.test}"):
        assert not _admits(wild, _url(address))
    assert _admits(address, _url(address))
    # A public name whose owner points it inside is refused as well, whatever admitted the name.
    for pattern in ("*", "*.example.com", "a.example.com"):
        match = _match([pattern], "http://a.example.com/")
        assert not admits_address(match, address)
        assert admits_address(match, "8.8.8.8")
    assert admits_address(_match([address, "*"], "http://a.example.com/"), address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_what_lies_outside_needs_no_more_than_a_wildcard(address: str) -> None:
    assert not is_private(ip_address(address))
    assert _admits("*", _url(address))
    assert admits_address(_match(["*.example.com"], "http://a.example.com/"), ip_address(address))


@pytest.mark.req("SPEC-WEB-13")
@pytest.mark.parametrize(
    "name",
    ["localhost", "a.localhost", "db", "printer.local", "metadata.google.internal", "nas.lan"],
)
def test_local_names_need_a_grant_that_names_them(name: str) -> None:
    for wild in ("*", "*.localhost", "*.local", "*.google.internal", "*.lan", "d?", "l*"):
        assert not _admits(wild, f"http://{name}/")
    assert _admits(name, f"http://{name}:8080/")


def test_a_local_name_that_is_granted_may_lead_inside_and_localhost_only_to_this_machine() -> None:
    database = _match(["db"], "http://db:5432/")
    assert admits_address(database, "172.17.0.2")
    own = _match(["localhost", "dev.localhost"], "http://dev.localhost/")
    assert admits_address(own, "127.0.0.1")
    assert admits_address(own, "::1")
    assert not admits_address(own, "192.168.1.1")
    assert not admits_address(own, "169.254.169.254")


def test_an_address_is_dialled_as_itself_and_nothing_else_resolves_to_it() -> None:
    match = _match(["127.0.0.1"], "http://127.1/")
    assert admits_address(match, IPv4Address("127.0.0.1"))
    assert admits_address(match, IPv6Address("::ffff:127.0.0.1"))
    assert not admits_address(match, "127.0.0.2")
    assert not admits_address(match, "8.8.8.8")
    assert not admits_address(match, "not an address")


def test_an_address_granted_on_one_port_is_not_granted_on_another() -> None:
    patterns = ["a.example.com", "10.0.0.1:81"]
    assert admits_address(_match(patterns, "http://a.example.com:81/"), "10.0.0.1")
    assert not admits_address(_match(patterns, "http://a.example.com/"), "10.0.0.1")


@pytest.mark.parametrize(
    ("locations", "admitted"),
    [
        ([], True),
        (["/other", "?page=2", "//api.example.com/x"], True),
        (["https://b.api.example.com/"], False),
        (["/x", "https://evil.test/"], False),
        (["https://evil.test/", "https://api.example.com/"], False),
        (["//evil.test/"], False),
        (["http://127.0.0.1/"], False),
        (["http://169.254.169.254/latest/"], False),
        (["file:///etc/passwd"], False),
        (["/\t/evil.test/"], False),
        (["\\\\evil.test\\"], False),
        (["//[evil.test/"], False),
    ],
)
def test_every_hop_of_a_redirect_is_judged_anew(locations: list[str], admitted: bool) -> None:
    patterns = HostPatterns(["api.example.com"])
    judged = judge_hops(patterns, "https://api.example.com/v1", locations)
    assert isinstance(judged, HostMatch) == admitted
    assert admitted or "refused" in str(judged) or "admits" in str(judged)


def test_a_redirect_is_read_from_where_it_was_met() -> None:
    assert redirect_target("https://a.test/x/y", "z") == "https://a.test/x/z"
    assert isinstance(redirect_target("https://a.test/", "z\n"), HostProblem)


@settings(deadline=None)
@given(st.text("/:[]@?#.ab\\% \t", max_size=12))
def test_no_redirect_is_too_strange_to_be_judged(location: str) -> None:
    judged = judge_hops(HostPatterns(["a.test"]), "https://a.test/x", [location])
    assert isinstance(judged, str) or judged.host.name == "a.test"


def test_the_reason_says_what_is_wrong() -> None:
    nothing = HostPatterns([])
    assert judge_url(nothing, "https://a.test/") == "No granted host pattern admits 'a.test'."
    assert judge_url(nothing, "ftp://a.test/") == "The URL is refused: it is no http or https URL."


def test_the_order_of_patterns_and_repetitions_do_not_matter() -> None:
    assert HostPatterns(["b", "a", "B."]).atoms == HostPatterns(["a", "b"]).atoms


@settings(deadline=None)
@given(st.ip_addresses())
def test_every_address_is_judged_and_admitted_only_as_it_should_be(
    address: IPv4Address | IPv6Address,
) -> None:
    plain = address_of(str(address))
    assert plain is not None
    assert _admits("*", _url(str(address))) == (not is_private(plain))
    assert _admits(str(address), _url(str(address)))
