"""Whom NATS lets in and whom one believes: what is wrong is said at once, and nothing secret."""

import gc
import sys
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest
from engine.cluster.comers import NOWHERE, PASSWORD, USERS, nothing, refused, tls
from engine.cluster.fleets import until
from identities import LOCAL, Authority, Operator, credentials, nkey_user
from msgspec.structs import replace
from nats_server import running_nats

from holdfast.engine.cluster.door import NatsServers, connected
from holdfast.engine.cluster.link import linked
from holdfast.engine.cluster.streams import Streams

pytestmark = pytest.mark.anyio


async def keeps(servers: NatsServers) -> None:
    """Who came in may use it."""
    async with linked(servers) as link:
        await link.have(Streams(link.names))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"), "authority")


@pytest.fixture(scope="module")
def strict(authority: Authority) -> Generator[NatsServers]:
    """Servers that want to see a certificate, as somebody has them who has one."""
    more = tls(authority.papers("server"), f', ca_file: "{authority.file}", verify: true')
    worker = authority.papers("worker")
    with running_nats(more=more) as nats:
        yield NatsServers(
            servers=nats.urls,
            ca_file=str(authority.file),
            cert_file=str(worker.cert),
            key_file=str(worker.key),
        )


async def test_who_shows_a_certificate_that_is_vouched_for_comes_in(strict: NatsServers) -> None:
    await keeps(strict)
    written = [one.replace("nats://", "tls://") for one in strict.servers]
    await keeps(replace(strict, servers=tuple(written)))


async def test_who_gives_up_midway_leaves_nothing_open(strict: NatsServers) -> None:
    """What was left open would be complained of when it is collected, which fails a test."""
    for milliseconds in range(40):
        with anyio.move_on_after(milliseconds / 1000):
            client = await connected(strict, nothing)
            await client.close()
    gc.collect()
    await keeps(strict)


async def test_who_shows_none_is_told_to(strict: NatsServers) -> None:
    said = await refused(replace(strict, cert_file=None, key_file=None))
    assert "set cluster.cert_file and cluster.key_file" in said


async def test_who_shows_one_that_nobody_vouches_for_is_told(
    strict: NatsServers, tmp_path: Path
) -> None:
    papers = Authority(tmp_path, "stranger").papers("worker")
    said = await refused(replace(strict, cert_file=str(papers.cert), key_file=str(papers.key)))
    assert "set cluster.cert_file and cluster.key_file" in said


async def test_who_shows_one_that_is_out_of_date_is_told(
    strict: NatsServers, authority: Authority
) -> None:
    papers = authority.papers("late", days=-1)
    said = await refused(replace(strict, cert_file=str(papers.cert), key_file=str(papers.key)))
    assert "not out of date" in said


async def test_servers_that_nobody_vouches_for_are_not_believed(
    strict: NatsServers, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path, "stranger")
    said = await refused(replace(strict, ca_file=str(stranger.file)))
    assert "unable to get local issuer certificate" in said
    assert "correct cluster.ca_file" in said
    said = await refused(replace(strict, ca_file=None))
    assert "correct cluster.ca_file" in said


@pytest.mark.parametrize(
    ("days", "host", "told"),
    [(-1, LOCAL, "certificate has expired"), (1, "127.0.0.9", "not valid for")],
)
async def test_papers_of_servers_that_do_not_hold_are_not_believed(
    authority: Authority, days: int, host: str, told: str
) -> None:
    papers = authority.papers(f"server{days}{host}", days=days, host=host)
    with running_nats(more=tls(papers)) as nats:
        wrong = NatsServers(servers=nats.urls, ca_file=str(authority.file), password=PASSWORD)
        said = await refused(replace(wrong, user="worker"))
    assert told in said
    assert "the certificate of the servers" in said


async def test_a_server_that_nobody_told_us_to_believe_is_not(authority: Authority) -> None:
    with running_nats(more=tls(authority.papers("alone"))) as nats:
        said = await refused(NatsServers(servers=nats.urls))
    assert "correct cluster.ca_file" in said


async def test_two_halves_belong_together(strict: NatsServers, authority: Authority) -> None:
    key = str(authority.papers("other").key)
    locked = authority.papers("locked", passphrase=b"of-the-key")
    for wrong, told in (
        (replace(strict, key_file=key), "both are PEM, belong together"),
        (replace(strict, key_file=str(authority.file)), "both are PEM, belong together"),
        (
            replace(strict, cert_file=str(locked.cert), key_file=str(locked.key)),
            "the key has no passphrase",
        ),
        (replace(strict, cert_file=None), "set cluster.cert_file, too"),
        (replace(strict, ca_file=key), "holds no certificate"),
        (replace(strict, ca_file="/nowhere/ca.pem"), "/nowhere/ca.pem: No such file"),
        (replace(strict, key_file="/nowhere/x.key"), "cluster.key_file: /nowhere/x.key: No such"),
        (replace(strict, user="worker"), "cluster.user is set without cluster.password"),
        (replace(strict, password=PASSWORD), "cluster.password is set without cluster.user"),
    ):
        assert told in await refused(wrong)


async def test_a_wrong_password_is_told_at_once(caplog: pytest.LogCaptureFixture) -> None:
    with running_nats(more=USERS) as nats:
        right = NatsServers(servers=nats.urls, user="worker", password=PASSWORD)
        await keeps(right)
        said = await refused(replace(right, password=f"{PASSWORD}-of-yesterday"))
        assert "authorization violation" in said.lower()
        assert "correct cluster.user and cluster.password" in said
        assert "lets this machine in" in await refused(replace(right, user=None, password=None))
        (url,) = nats.urls
        in_url = url.replace("//", f"//worker:{PASSWORD}-of-yesterday@")
        await refused(replace(right, servers=(in_url,), user=None, password=None))
    assert caplog.records == []


async def test_one_of_several_servers_that_is_wrong_keeps_nobody_out(
    authority: Authority,
) -> None:
    late = authority.papers("tardy", days=-1)
    with (
        running_nats(more=tls(late)) as wrong,
        running_nats(more=tls(authority.papers("fine"))) as right,
    ):
        for _ in range(4):  # which of them is asked first is left to chance
            await keeps(
                NatsServers(servers=(*wrong.urls, *right.urls), ca_file=str(authority.file))
            )


async def test_a_user_with_credentials_of_an_account_comes_in(tmp_path: Path) -> None:
    operator = Operator()
    mine, other = operator.with_streams(), operator.with_streams()
    with running_nats(more=operator.config) as nats:
        file = credentials(mine, tmp_path / "worker.creds")
        servers = NatsServers(servers=nats.urls, credentials_file=str(file))
        await keeps(servers)
        stranger = Operator().with_streams()
        wrong = credentials(stranger, tmp_path / "stranger.creds")
        said = await refused(replace(servers, credentials_file=str(wrong)))
        assert "cluster.credentials_file" in said
        assert "authorization violation" in said.lower()
        # Somebody else's token with one's own key is nobody.
        mixed = file.read_text("ascii").splitlines()
        mixed[1] = credentials(other, tmp_path / "o.creds").read_text("ascii").splitlines()[1]
        wrong.write_text("\n".join(mixed) + "\n", "ascii")
        await refused(replace(servers, credentials_file=str(wrong)))


async def test_a_user_with_a_key_alone_comes_in(tmp_path: Path) -> None:
    known, stranger = nkey_user(tmp_path, "known"), nkey_user(tmp_path, "stranger")
    users = f"authorization {{ users: [ {{ nkey: {known.name} }} ] }}\n"
    with running_nats(more=users) as nats:
        servers = NatsServers(servers=nats.urls, credentials_file=str(known.file))
        await keeps(servers)
        said = await refused(replace(servers, credentials_file=str(stranger.file)))
        assert "lets this machine in" in said


async def test_credentials_that_are_taken_away_are_told_and_others_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Who rotates them exchanges the file; a moment in which it is none ends nothing."""
    operator = Operator()
    file = credentials(operator.with_streams(), tmp_path / "worker.creds")
    right = file.read_text("ascii")
    with running_nats(more=operator.config) as nats:
        returned: list[int] = []
        servers = NatsServers(servers=nats.urls, credentials_file=str(file))
        client = await connected(servers, lambda: returned.append(1))
        try:
            file.write_text("", "ascii")
            nats.nodes[0].kill()
            nats.nodes[0].start()
            await until(lambda: "holds no credentials of NATS" in caplog.text)
            file.write_text(right, "ascii")
            await until(lambda: bool(returned))
        finally:
            await client.close()


@pytest.mark.parametrize(
    "text", ["", "\n" * 9, "-----BEGIN NATS USER JWT-----\n", "SUAAAA", PASSWORD]
)
async def test_what_is_no_file_of_credentials_is_told(tmp_path: Path, text: str) -> None:
    file = tmp_path / "worker.creds"
    file.write_text(text, "ascii")
    said = await refused(NatsServers(servers=NOWHERE, credentials_file=str(file)))
    assert f"{file} holds no credentials of NATS" in said


async def test_a_key_that_cannot_sign_is_told_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = Operator()
    file = credentials(operator.with_streams(), tmp_path / "worker.creds")

    def cannot(seed: bytearray) -> None:
        raise RuntimeError(f"no {PASSWORD} in {seed!r}")

    monkeypatch.setattr("nkeys.from_seed", cannot)
    with running_nats(more=operator.config) as nats:
        said = await refused(NatsServers(servers=nats.urls, credentials_file=str(file)))
    assert said.startswith(f"cluster.credentials_file: {file} holds no key of NATS")


async def test_a_credentials_file_needs_a_package_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = credentials(Operator().with_streams(), tmp_path / "worker.creds")
    monkeypatch.setitem(sys.modules, "nkeys", None)
    said = await refused(NatsServers(servers=NOWHERE, credentials_file=str(file)))
    assert "pip install 'holdfast[cluster]'" in said


async def test_a_file_that_is_not_there_is_told() -> None:
    said = await refused(NatsServers(servers=NOWHERE, credentials_file="/nowhere/x.creds"))
    assert "cluster.credentials_file: /nowhere/x.creds: No such file" in said
