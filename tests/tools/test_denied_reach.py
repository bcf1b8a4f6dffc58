"""A deny counts for whatever a call comes upon: files of a walk, redirects, its processes."""

from pathlib import Path

import msgspec
import pytest
from execution.processes.ground import each
from tool_kit import answer, failure, opened, result
from web_site import Reply, Site, consenting, serving

from holdfast import Rule
from holdfast.app.settings import SandboxSettings, Settings, StoreSettings
from holdfast.contract.call import Ask
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Action
from holdfast.contract.shell import Confinement

pytestmark = pytest.mark.anyio

NEEDLE = "needle"


def rule(permission: str, pattern: str, action: Action = "deny") -> Rule:
    return Rule(
        permission=permission, pattern=pattern, action=action, scope="project", source="test"
    )


@pytest.fixture
def full(workspace: Path) -> Path:
    for name in ("open/a.txt", "secrets/b.txt", "secrets/public/c.txt", "deep/x/.env", ".env"):
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{NEEDLE} {name}\n")
    return workspace


async def found_by_grep(workspace: Path, *rules: Rule) -> tuple[list[str], object]:
    async with opened(workspace, "locked", rules=rules) as hf:
        lines = await result(hf, "grep", pattern=NEEDLE)
    return sorted(one["path"] for one in lines["matches"]), lines["left_out"]


async def test_a_search_shows_nothing_that_is_denied_and_counts_it(full: Path) -> None:
    denies = rule("fs.read", "secrets/**"), rule("fs.read", "**/.env")
    shown, left_out = await found_by_grep(full, *denies)
    assert shown == ["open/a.txt"]
    assert left_out == {"refused": 4}
    exception = rule("fs.read", "secrets/public/**", "allow")
    shown, left_out = await found_by_grep(full, *denies, exception)
    assert shown == ["open/a.txt", "secrets/public/c.txt"]
    assert left_out == {"refused": 3}
    # A rule about another tool says nothing of this one.
    assert len((await found_by_grep(full, rule("read", "**")))[0]) == 5
    async with opened(full, "locked", rules=denies) as hf:
        told = await result(hf, "glob", pattern="**", kind="file")
        assert [one["path"] for one in told["entries"]] == ["open/a.txt"]
        assert (await result(hf, "glob", pattern="secrets/*"))["entries"] == []


async def test_a_copy_of_a_directory_holds_nothing_that_is_denied(full: Path) -> None:
    async with opened(full, "host", rules=[rule("fs.read", "secrets/**")]) as hf:
        told = (await result(hf, "share_artifact", path="."))["text"]
    copies = full.parent.rglob("artifacts/**/*.txt")
    assert [path.name for path in copies] == ["a.txt"], told


async def test_what_a_rule_asks_about_is_left_alone_until_a_person_agrees(full: Path) -> None:
    asked: list[str] = []

    async def agrees(ask: Ask, /) -> Answer:
        asked.append(str(ask.prepared.arguments))
        return Answer(allowed=True, by="ada", remember="session")

    rules = [rule("fs.read", "secrets/**", "ask")]
    async with opened(full, "locked", rules=rules, approver=agrees) as hf:
        everything = await result(hf, "grep", pattern=NEEDLE, glob="*.txt")
        assert [one["path"] for one in everything["matches"]] == ["open/a.txt"]
        assert everything["left_out"] == {"refused": 2}
        assert asked == []
        for times in (1, 2):  # the second time by the answer that was remembered
            named = await result(hf, "grep", pattern=NEEDLE, path="secrets")
            assert len(named["matches"]) == 2
            assert len(asked) == 1, times


def confined(kind: str) -> Settings:
    wanted = msgspec.convert(kind, Confinement)
    return Settings(store=StoreSettings(kind="none"), sandbox=SandboxSettings(confinement=wanted))


@each("namespaces", "bubblewrap")
async def test_a_command_sees_nothing_that_is_denied(full: Path, kind: str) -> None:
    rules = [
        rule("fs.read", "secrets/**"),
        rule("fs.read", ".env"),
        rule("fs.read", "secrets/public/", "allow"),
        rule("fs.read", "missing/"),
        rule("fs.write", "open/"),
    ]
    async with opened(full, "code", rules=rules, settings=confined(kind)) as hf:
        for command in ("cat secrets/b.txt", "ls secrets", "cat secrets/*", "cat .env"):
            told = await failure(hf, "bash", command=command)
            assert told.kind is FailureKind.REJECTED, command
            assert "the project rule fs.read" in told.message.lower(), command
            assert NEEDLE not in str(told)
        told = await failure(hf, "bash", command="mv secrets elsewhere")
        assert "secrets" in told.message
        shown = await result(hf, "bash", command="cat secrets/public/c.txt; cat open/a.txt")
        assert shown["stdout"].count(NEEDLE) == 2
        told = await failure(hf, "bash", command="touch open/new")
        assert "open" in told.message
        assert (await result(hf, "bash", command="echo > fine; ls"))["exit_code"] == 0
    assert (full / "fine").exists()
    assert not (full / "missing").exists()
    assert sorted(path.name for path in (full / "secrets").iterdir()) == ["b.txt", "public"]


async def test_where_nothing_can_be_hidden_no_command_runs(full: Path) -> None:
    denies = [rule("fs.read", "secrets/**")]
    async with opened(full, "code", rules=denies, settings=confined("landlock")) as hf:
        told = await failure(hf, "bash", command="ls")
        assert told.kind is FailureKind.UNAVAILABLE
        assert "can only be hidden in a file system of its own; install bubblewrap" in told.message
        assert (await answer(hf, "read", path="open/a.txt")).ok
    async with opened(full, "code", settings=confined("landlock")) as hf:
        assert (await result(hf, "bash", command="ls"))["exit_code"] == 0


@each("namespaces", "bubblewrap", "landlock")
async def test_a_root_that_may_not_be_written_is_read_only(full: Path, kind: str) -> None:
    rules = [rule("fs.write", "**"), rule("fs.write", "open/**", "allow")]
    async with opened(full, "code", rules=rules, settings=confined(kind)) as hf:
        told = await failure(hf, "bash", command="touch new")
        assert told.kind is FailureKind.REJECTED
        assert (await result(hf, "bash", command="touch open/new"))["exit_code"] == 0
    assert not (full / "new").exists()
    assert (full / "open/new").exists()


async def test_a_link_at_a_denied_place_is_not_followed(full: Path) -> None:
    (full / "kept").symlink_to("secrets")
    async with opened(full, "code", rules=[rule("fs.read", "kept/")]) as hf:
        told = await failure(hf, "bash", command="ls")
    assert told.kind is FailureKind.UNAVAILABLE
    assert "leads through the link" in told.message


@pytest.mark.parametrize(("action", "said"), [("deny", "denies"), ("ask", "says to ask about")])
async def test_a_redirect_leads_nowhere_that_a_rule_speaks_against(
    full: Path, site: Site, action: Action, said: str
) -> None:
    with serving() as other:
        elsewhere = f"http://localhost:{other.port}/"
        other.pages["/"] = Reply(b"<p>taken away")
        site.pages["/"] = Reply(status=302, headers=(("Location", elsewhere),))
        rules = [rule("web_fetch", "localhost", action)]
        tools = [site.granting(), other.granting(f"localhost:{other.port}")]
        async with opened(full, "locked", tools=tools, rules=rules, approver=consenting) as hf:
            told = await failure(hf, "web_fetch", url=site.url())
            assert told.kind is FailureKind.REJECTED
            assert f"{said} net.fetch on 'localhost'" in told.message
            assert not other.asked
            if action == "ask":  # named outright, a person agrees to it
                got = await result(hf, "web_fetch", url=elsewhere)
                assert got["content"] == "taken away"


async def test_the_shipped_question_about_hosts_is_asked_of_each(full: Path, site: Site) -> None:
    with serving() as other:
        other.pages["/"] = Reply(b"<p>arrived")
        elsewhere = f"http://localhost:{other.port}/"
        site.pages["/"] = Reply(status=302, headers=(("Location", elsewhere),))
        tools = [site.granting(), other.granting(f"localhost:{other.port}")]
        async with opened(full, "locked", tools=tools, approver=consenting) as hf:
            told = await failure(hf, "web_fetch", url=site.url())
            assert "name 'localhost' in a call of its own" in told.message
        trusted = [rule("web_fetch", "localhost", "allow")]
        async with opened(full, "locked", tools=tools, rules=trusted, approver=consenting) as hf:
            assert (await result(hf, "web_fetch", url=site.url()))["content"] == "arrived"
