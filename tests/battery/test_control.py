"""What must run under the very laws of the battery: refusing everything is no way to pass it."""

import pytest
from battery.attempts_places import HOSTS, READS, WRITES
from battery.attempts_watched import (
    CONTROL_COMMANDS,
    CONTROL_READS,
    CONTROL_URLS,
    CONTROL_WRITES,
    WATCHED,
)
from battery.attempts_wrappers import FLAGS, UNKNOWN
from battery.kit import World, made, told
from battery.test_commands import GROUPS


async def runs(world: World, name: str, arguments: dict[str, object]) -> None:
    explanation = await told(world, name, arguments)
    assert explanation.verdict == "allow", explanation.reason
    before, asked = len(world.ran), len(world.person.asked)
    assert (await made(world, name, arguments)).ok
    assert len(world.ran) == before + 1
    assert len(world.person.asked) == asked


@pytest.mark.parametrize("command", CONTROL_COMMANDS)
async def test_ordinary_commands_where_all_but_a_few_things_are_allowed(
    all_but: World, command: str
) -> None:
    await runs(all_but, "sh", {"command": command})


@pytest.mark.parametrize("command", CONTROL_COMMANDS)
async def test_ordinary_commands_where_only_named_programs_are_allowed(
    only: World, command: str
) -> None:
    await runs(only, "sh", {"command": command})


@pytest.mark.parametrize("command", CONTROL_COMMANDS)
async def test_ordinary_commands_where_only_declared_programs_are_within_reach(
    declared: World, command: str
) -> None:
    await runs(declared, "sh", {"command": command})


@pytest.mark.parametrize("command", CONTROL_COMMANDS)
async def test_ordinary_commands_where_flags_are_denied(flags: World, command: str) -> None:
    await runs(flags, "sh", {"command": command})


@pytest.mark.parametrize("command", CONTROL_COMMANDS)
async def test_ordinary_commands_with_the_hooks_on(watched: World, command: str) -> None:
    await runs(watched, "sh", {"command": command})


@pytest.mark.parametrize("path", CONTROL_WRITES)
async def test_paths_within_reach_are_written(paths: World, path: str) -> None:
    await runs(paths, "put", {"path": path})


@pytest.mark.parametrize("path", CONTROL_READS)
async def test_paths_within_reach_are_read(paths: World, path: str) -> None:
    await runs(paths, "get", {"path": path})


@pytest.mark.parametrize("url", CONTROL_URLS)
async def test_granted_hosts_are_reached(paths: World, url: str) -> None:
    await runs(paths, "fetch", {"url": url})


def test_the_battery_does_not_shrink_in_silence() -> None:
    texts = {attempt.text for attempts in GROUPS.values() for attempt in attempts}
    others = (*FLAGS, *UNKNOWN, *WRITES, *READS, *HOSTS, *WATCHED)
    assert len(texts | {attempt.text for attempt in others}) >= 680
    assert len({*CONTROL_COMMANDS, *CONTROL_WRITES, *CONTROL_READS, *CONTROL_URLS}) >= 85
