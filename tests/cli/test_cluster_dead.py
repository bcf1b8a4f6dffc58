"""`holdfast cluster dead`: what was given up is listed with its reason, and sent back."""

import json
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest
from command import Cli
from identities import Operator, credentials
from nats_server import NatsServers, running_nats

from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.engine.cluster import client
from holdfast.engine.cluster.dead import Dead
from holdfast.engine.cluster.door import NatsServers as Servers
from holdfast.engine.cluster.link import linked
from holdfast.engine.cluster.subjects import WakeSubject
from holdfast.testing.fake_journal import FakeJournal

AT = 1_790_000_000_000_000


@pytest.fixture(scope="module")
def nats() -> Generator[NatsServers]:
    with running_nats() as servers:
        yield servers


async def _buried(servers: Servers, *sessions: tuple[str, str]) -> None:
    journal = FakeJournal()
    async with linked(servers) as link:
        dead = Dead(link)
        await link.have(dead.streams)
        for tenant, name in sessions:
            if tenant == "one":
                created = [SessionCreated(agent_id="kit"), UserMessage(message="go")]
                await journal.create(name, created)
            to = WakeSubject(tenant, "word", "any", name)
            await dead.bury(to, await journal.session(name), "it never came to an end", 5, AT)


async def _waiting(servers: Servers, tenant: str, name: str) -> bool:
    async with linked(servers) as link:
        wake = link.names.any_wake(tenant, name)
        return await link.last(link.names.wakes, wake) is not None


def test_the_dead_are_listed_and_those_that_are_named_are_run_again(
    cli: Cli, nats: NatsServers
) -> None:
    there = ("--set", f"cluster.servers={json.dumps(nats.urls)}")
    servers = Servers(servers=nats.urls)
    buried = (("one", "ses_a"), ("one", "ses_b"), ("two", "ses_b"))
    anyio.run(_buried, servers, *buried)
    shown = cli("cluster", "dead", *there)
    assert shown.out.count("it never came to an end") == 3
    listed = json.loads(cli("cluster", "dead", "--json", *there).out)["dead"]
    assert [(one["tenant"], one["session_id"]) for one in listed] == [*buried]
    assert {one["times"] for one in listed} == {5}
    unclear = cli("cluster", "dead", "requeue", "ses_b", *there)
    assert (unclear.status, "say which with --tenant" in unclear.err) == (2, True)
    assert not anyio.run(_waiting, servers, "two", "ses_b")
    done = cli("cluster", "dead", "requeue", "ses_b", "--tenant", "two", "--json", *there)
    assert json.loads(done.out) == {"requeued": ["ses_b"], "gone": []}
    assert anyio.run(_waiting, servers, "two", "ses_b")
    assert not anyio.run(_waiting, servers, "one", "ses_a")
    answer = cli("cluster", "dead", "requeue", "--all", *there)
    assert (answer.status, answer.out) == (0, "2 sessions will be run again.\n")
    assert anyio.run(_waiting, servers, "one", "ses_a")
    assert cli("cluster", "dead", *there).out == "Nothing was given up.\n"


def test_doctor_says_what_a_cluster_lacks(
    cli: Cli, nats: NatsServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres = ("--set", "store.kind=postgres", "--set", "store.url=postgresql://x@127.0.0.1:1/x")
    fleet = ("--set", "engine.kind=cluster")
    elsewhere = ["nats://127.0.0.2:1", *nats.urls]

    def found(*words: str) -> list[tuple[str, str]]:
        checks = json.loads(cli("doctor", "--json", *fleet, *words).out)["checks"]
        return [
            (one["status"], one["next_step"] or "") for one in checks if one["name"] == "cluster"
        ]

    ((status, step),) = found(*postgres)
    assert (status, "servers = [" in step) == ("FAIL", True)
    there = ("--set", f"cluster.servers={json.dumps(elsewhere)}")
    ((status, step),) = found(*there)
    assert (status, "store.kind = 'postgres'" in step) == ("FAIL", True)
    assert [status for status, _ in found(*postgres, *there)] == ["OK", "WARN", "WARN"]
    far = "store.url=postgresql://x:p@10.0.0.9:1/x"
    for url, steps in ((f"{far}?sslmode=verify-full", 0), (f"{far}?sslmode=require", 1), (far, 1)):
        said = found(*postgres, *there, "--set", url)
        assert len([step for _, step in said if "sslmode=verify-full" in step]) == steps
    key = tmp_path / "worker.creds"
    credentials(Operator().with_streams(), key)
    named = ("--set", f"cluster.credentials_file={key}")
    key.chmod(0o644)
    assert ("WARN", f"chmod 600 {key}") in found(*postgres, *there, *named)
    key.chmod(0o600)
    assert [status for status, _ in found(*postgres, *there, *named)] == ["OK", "WARN", "WARN"]
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.3)
    gone = ("--set", 'cluster.servers=["nats://127.0.0.1:1"]')
    ((status, step),) = found(*postgres, *gone)
    assert (status, "start one" in step) == ("FAIL", True)


def test_a_cluster_that_nobody_works_in_and_a_store_that_is_gone_are_told(
    cli: Cli, nats: NatsServers
) -> None:
    words = ("store.kind=postgres", "store.url=postgresql://x:pw-of-x@127.0.0.1:1/x")
    more = ("cluster.namespace=fresh", f"cluster.servers={json.dumps(nats.urls)}")
    given = [part for one in (*words, *more) for part in ("--set", one)]
    answer = cli("cluster", "status", *given)
    assert answer.status == 1
    assert "No worker was ever connected" in answer.out
    assert "store of default  " in answer.out
    assert "pw-of-x" not in answer.out + answer.err
