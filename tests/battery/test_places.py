"""Paths and hosts that try to be others, the hooks off: only capabilities and one deny rule."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from battery.attempts_places import HOSTS, READS, WRITES
from battery.kit import Attempt, Law, World, assert_stopped_by, made, open_world, refused, told
from battery.worlds import PLACES, named

from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.settings import PolicySettings
from holdfast.contract.requirements import requirement_set
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.paths import Refused
from holdfast.policy.places import NOWHERE
from holdfast.policy.scope import AdmittedHost, EffectiveScope, compile_scope


@pytest.mark.parametrize("attempt", WRITES, ids=named(WRITES))
async def test_a_path_to_write(paths: World, attempt: Attempt) -> None:
    explanation = await refused(paths, "put", {"path": attempt.text})
    assert explanation.stage == "capabilities"
    assert_stopped_by(explanation, attempt)


@pytest.mark.parametrize("attempt", WRITES, ids=named(WRITES))
async def test_a_path_to_write_among_others(paths: World, attempt: Attempt) -> None:
    explanation = await refused(paths, "put_all", {"paths": ["out/a", attempt.text, "out/b"]})
    assert_stopped_by(explanation, attempt)


@pytest.mark.parametrize("attempt", READS, ids=named(READS))
async def test_a_path_to_read(paths: World, attempt: Attempt) -> None:
    explanation = await refused(paths, "get", {"path": attempt.text})
    assert explanation.verdict == "deny"
    assert_stopped_by(explanation, attempt)


@pytest.mark.parametrize("attempt", HOSTS, ids=named(HOSTS))
async def test_a_host(paths: World, attempt: Attempt) -> None:
    explanation = await refused(paths, "fetch", {"url": attempt.text})
    assert explanation.stage == "capabilities"
    assert_stopped_by(explanation, attempt)


async def test_a_link_that_is_exchanged_between_two_calls(tmp_path: Path) -> None:
    world = open_world(tmp_path, PLACES)
    swapped = world.workspace / "out" / "swapped"
    swapped.symlink_to("deep")
    assert (await told(world, "put", {"path": "out/swapped/x"})).verdict == "allow"
    swapped.unlink()
    swapped.symlink_to(tmp_path / "outside")
    await refused(world, "put", {"path": "out/swapped/x"})


async def test_a_folder_that_becomes_a_link(tmp_path: Path) -> None:
    world = open_world(tmp_path, PLACES)
    assert (await made(world, "put", {"path": "out/deep/x"})).ok
    (world.workspace / "out" / "deep").rename(world.workspace / "out" / "was")
    (world.workspace / "out" / "deep").symlink_to(tmp_path / "outside")
    await refused(world, "put", {"path": "out/deep/x"})


async def test_a_workspace_that_is_exchanged_for_a_link(tmp_path: Path) -> None:
    world = open_world(tmp_path, PLACES)
    world.workspace.rename(tmp_path / "was")
    world.workspace.symlink_to(tmp_path / "outside")
    await refused(world, "put", {"path": "out/x"})
    await refused(world, "get", {"path": "loot"})


async def test_a_hard_link_is_the_kernels_matter(tmp_path: Path) -> None:
    """By its path a hard link cannot be told from any file: the same verdict as for a file.

    Whoever can make one could read what it links to. What keeps others from it is the sandbox,
    which does not let a confined process link to what it cannot reach.
    """
    world = open_world(tmp_path, PLACES)
    os.link(tmp_path / "outside" / "loot", world.workspace / "out" / "hard")
    explanation = await told(world, "get", {"path": "out/hard"})
    assert explanation.verdict == (await told(world, "get", {"path": "out/file"})).verdict


async def test_a_hard_link_below_a_denied_place_is_denied_by_its_path(tmp_path: Path) -> None:
    world = open_world(tmp_path, PLACES)
    os.link(tmp_path / "outside" / "loot", world.workspace / "secret" / "hard")
    assert (await refused(world, "get", {"path": "secret/hard"})).stage == "rules"


CEILING = Law(
    policy=PolicySettings(ceiling=RequirementSettings(read=("src/**",), write=("out/only",)))
)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("put", {"path": "out/other"}),
        ("put", {"path": "src/a.py"}),
        ("put_all", {"paths": ["out/only", "out/other"]}),
        ("get", {"path": "out/only"}),
        ("get", {"path": "src/../out/only"}),
        ("fetch", {"url": "https://api.example.com/"}),
        ("sh", {"command": "ls"}),
        ("power", {"script": "ls"}),
    ],
    ids=str,
)
async def test_a_ceiling_is_not_reached_over(
    tmp_path: Path, tool: str, arguments: dict[str, object]
) -> None:
    explanation = await refused(open_world(tmp_path, CEILING), tool, arguments)
    assert explanation.stage == "capabilities"


STRICT = Law(policy=PolicySettings(strict=True))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("put", {"path": "out/a"}),
        ("put_all", {"paths": ["out/a"]}),
        ("get", {"path": "src/a.py"}),
        ("power", {"script": "ls"}),
    ],
    ids=str,
)
async def test_in_strict_mode_no_tool_lives_on_anothers_requirements(
    tmp_path: Path, tool: str, arguments: dict[str, object]
) -> None:
    explanation = await refused(open_world(tmp_path, STRICT), tool, arguments)
    assert explanation.stage == "capabilities"


def hosts(*patterns: str) -> EffectiveScope:
    declared = requirement_set({"net": {"hosts": patterns}})
    return EffectiveScope(compile_scope(declared, NOWHERE), DiskPaths())


HOPS = (
    ("other", ["https://evil.example/"]),
    ("second", ["/next", "https://evil.example/"]),
    ("back-and-out", ["https://x.cdn.example.com/", "https://api.example.com/", "//evil.example/"]),
    ("no-scheme", ["//evil.example/x"]),
    ("user", ["https://api.example.com@evil.example/"]),
    ("backslashes", ["\\\\evil.example/x"]),
    ("slash-backslash", ["/\\evil.example/x"]),
    ("tab", ["/\t/evil.example/"]),
    ("newline", ["https://evil.example\n.api.example.com/"]),
    ("downgrade", ["http://secure.example/"]),
    ("other-port", ["https://secure.example:444/"]),
    ("metadata", ["http://169.254.169.254/"]),
    ("decimal", ["http://2852039166/"]),
    ("loopback", ["http://[::ffff:127.0.0.1]/"]),
    ("file", ["file:///etc/passwd"]),
    ("javascript", ["javascript:alert(1)"]),
    ("data", ["data:text/html,x"]),
    ("broken", ["https://[::1"]),
    ("long", ["/" + "a" * 9000]),
)


@pytest.mark.parametrize("locations", [hop[1] for hop in HOPS], ids=[hop[0] for hop in HOPS])
def test_a_redirect_leads_nowhere_else(locations: list[str]) -> None:
    scope = hosts("api.example.com", "*.cdn.example.com", "secure.example:443")
    verdict = scope.admits_url("https://api.example.com/a/b", locations)
    assert isinstance(verdict, Refused)
    assert verdict.reason


REBOUND = (
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254",
    "100.100.100.200", "168.63.129.16", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1",
    "fe80::1%eth0", "fd00:ec2::254", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "ff02::1", "2001:0::1", "",
    "not an address", "localhost",
)  # fmt: skip


@pytest.mark.parametrize("address", REBOUND)
@pytest.mark.parametrize("url", ["https://api.example.com/", "https://x.cdn.example.com/"])
def test_a_public_name_that_resolves_inside_is_not_dialled(url: str, address: str) -> None:
    verdict = hosts("api.example.com", "*.cdn.example.com").admits_url(url)
    assert isinstance(verdict, AdmittedHost)
    assert not verdict.admits_address(address)
    assert verdict.admits_address("93.184.216.34")


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", "93.184.216.34", "fd00::1"])
def test_localhost_leads_to_this_machine_only(address: str) -> None:
    verdict = hosts("localhost").admits_url("http://localhost:8080/")
    assert isinstance(verdict, AdmittedHost)
    assert verdict.admits_address("127.0.0.1")
    assert not verdict.admits_address(address)


@pytest.mark.parametrize(
    "patterns",
    [["*"], ["**"], ["*.*"], ["*.local"], ["*.internal"], ["1*"], ["*.0.0.1"], ["{*,x}"], ["l*"]],
    ids=str,
)
def test_no_wildcard_reaches_inside(patterns: Iterable[str]) -> None:
    scope = hosts(*patterns)
    for url in (
        "http://127.0.0.1/", "http://localhost/", "http://printer.local/", "http://[::1]/",
        "http://169.254.169.254/", "http://metadata.google.internal/", "http://10.0.0.1/",
    ):  # fmt: skip
        assert isinstance(scope.admits_url(url), Refused)
