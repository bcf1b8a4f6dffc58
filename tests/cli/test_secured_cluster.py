"""A cluster as the documentation secures it, by commands: it works, and what is wrong is said.

Both servers speak TLS, and whoever comes has a role, a user and a certificate of their own.
"""

import json
import re
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from agent_scripts import asks, lines_of, says, script
from anyio.from_thread import start_blocking_portal
from command import Answered, Cli, start
from identities import LOCAL, Authority
from nats_server import running_nats
from postgres_server import PostgresServer, running_server
from tls_front import TlsFront, tls_in_front

from holdfast.engine.cluster.door import Heard, NatsServers, connected

PAGE = (Path(__file__).parents[2] / "docs" / "cluster.md").read_text("utf-8")
AS_ROOT, AS_OWNER = re.findall(r"^```sql\n(.*?)^```", PAGE, re.M | re.S)
(RIGHTS,) = re.findall(r"^```conf\n(.*?)^```", PAGE, re.M | re.S)
OWNER, WORKER = "change-this", "change-this-too"
SECRETS = (OWNER, "of-yesterday")
_CONFIG = """
[engine]
kind = "cluster"
[store]
kind = "postgres"
[cluster]
servers = ["{url}"]
namespace = "shop"
own = "shop"
user = "shop_worker"
ca_file = "{ca}"
cert_file = "{cert}"
key_file = "{key}"
"""


class Secured(NamedTuple):
    """Servers, and how they are reached."""

    folder: Path
    authority: Authority
    postgres: PostgresServer
    front: TlsFront
    nats: str

    def url(self, role: str = "shop_worker", password: str = WORKER, **more: str) -> str:
        told = {"sslmode": "verify-full", "sslrootcert": str(self.authority.file), **more}
        query = "&".join(f"{name}={value}" for name, value in told.items())
        return f"postgresql://{role}:{password}@{LOCAL}:{self.front.port}/shop?{query}"

    def within(self, role: str, password: str) -> str:
        """Behind TLS."""
        return f"postgresql://{role}:{password}@/shop?host={self.postgres.folder}"


def _execute(url: str, text: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in filter(str.strip, text.split(";")):
            connection.execute(statement.encode())


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Generator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    authority = Authority(folder, "authority")
    papers = authority.papers("server")
    tls = f'cert_file: "{papers.cert}", key_file: "{papers.key}", ca_file: "{authority.file}"'
    with (
        running_server() as postgres,
        tls_in_front(papers, f"{postgres.folder}/.s.PGSQL.5432") as front,
        running_nats(more=f"tls {{ {tls}, verify: true }}\n{RIGHTS}") as nats,
    ):
        _execute(postgres.url(), AS_ROOT)
        yield Secured(folder, authority, postgres, front, nats.urls[0])


@pytest.fixture
def told(secured: Secured, home: Path, monkeypatch: pytest.MonkeyPatch) -> Secured:
    """As this machine has them who works for the shop."""
    papers = secured.authority.papers(f"machine-{home.parent.name}")
    (home / "config.toml").write_text(
        _CONFIG.format(
            url=secured.nats, ca=secured.authority.file, cert=papers.cert, key=papers.key
        ),
        "utf-8",
    )
    monkeypatch.setenv("HOLDFAST_STORE__URL", secured.url())
    monkeypatch.setenv("HOLDFAST_CLUSTER__PASSWORD", WORKER)
    return secured


def is_clean(answer: Answered) -> None:
    said = answer.out + answer.err
    assert not any(secret in said for secret in SECRETS), said
    assert "Traceback" not in said
    assert "holdfast: unexpected" not in said


WORDS, REPLY, DONE = "words-of-a-person", "Here-I-am.", "done-by-a-tool"
KEY = "key-0f-the-model"


async def _hear(servers: NatsServers, said: list[bytes]) -> AsyncGenerator[None]:
    """All that is said in NATS, as one who may hear all of it."""

    def hear(heard: Heard) -> None:
        headers = " ".join(f"{name}={value}" for name, value in heard.headers.items())
        said.append(f"{heard.subject} {heard.reply} {headers} ".encode() + heard.body)

    client = await connected(servers, print)
    try:
        await client.subscribe(">", hear)
        await client.request("$JS.API.INFO", b"", {}, 5)
        yield
    finally:
        await client.close()


@contextmanager
def eavesdropping(secured: Secured) -> Generator[list[bytes]]:
    papers = secured.authority.papers("ear")
    servers = NatsServers(
        servers=(secured.nats,),
        user="shop_setup",
        password=OWNER,
        ca_file=str(secured.authority.file),
        cert_file=str(papers.cert),
        key_file=str(papers.key),
    )
    said: list[bytes] = []
    hearing = asynccontextmanager(_hear)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(hearing(servers, said)),
    ):
        yield said


@pytest.mark.timeout(60)
def test_the_whole_way_with_no_more_rights_than_documented(
    cli: Cli, told: Secured, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = {"HOLDFAST_STORE__URL": told.url("shop_owner", OWNER)}
    assert start("sessions", home=home, variables=owner).status == 0
    _execute(told.within("shop_owner", OWNER), AS_OWNER)
    early = cli("worker", "--once")
    assert early.status == 1
    assert "no shop-wakes" in early.err
    assert "holdfast worker --once, as a user who may" in early.err
    setup = {"HOLDFAST_CLUSTER__USER": "shop_setup", "HOLDFAST_CLUSTER__PASSWORD": OWNER}
    made = start("worker", "--once", home=home, variables=setup)
    assert (made.status, "nothing is due" in made.err) == (0, True), made.err
    monkeypatch.setenv("SHOP_API_KEY", KEY)
    tools = tmp_path / "shop.py"
    tools.write_text(
        "import os\nfrom holdfast import tool\n@tool\ndef wrap(what: str) -> str:\n"
        f'    """Wrap it."""\n    return f"{DONE} {{what}} {{os.environ[\'SHOP_API_KEY\']}}"\n',
        "utf-8",
    )
    more = ("--from", str(tools))
    with eavesdropping(told) as said:
        begun = cli("run", "x", "--json", *more, "--model", script(tmp_path, says("Hello.")))
        session = str(lines_of(begun)[-1]["session_id"])
        script(tmp_path, asks("wrap", what=WORDS), says(REPLY))
        assert cli("sessions", "send", session, WORDS).status == 0
        worked = start("worker", "--once", "--json", *more, home=home)
        assert [one["response"] for one in lines_of(worked)] == [REPLY], worked.err
    shown = cli("sessions", "show", session, "--json").out
    assert DONE in shown
    assert KEY not in shown
    everything = b"\n".join(said)
    assert f"shop.wake.shop.word.any.{session} ".encode() in everything
    for word in (WORDS, REPLY, DONE, KEY, WORKER, OWNER, "postgresql:", str(tmp_path)):
        assert word.encode() not in everything
    status = cli("cluster", "status", "--json")
    assert json.loads(status.out)["ok"], status.out
    assert cli("cluster", "dead").out == "Nothing was given up.\n"
    doctor = cli("doctor", "--json")
    checks = {one["name"]: one["status"] for one in json.loads(doctor.out)["checks"]}
    assert checks["cluster"] in {"OK", "WARN"}
    for answer in (early, made, begun, worked, status, doctor):
        is_clean(answer)


WRONG_NATS: list[tuple[Mapping[str, str], str]] = [
    ({"HOLDFAST_CLUSTER__PASSWORD": "of-yesterday"}, "correct cluster.user and cluster.password"),
    ({"HOLDFAST_CLUSTER__CA_FILE": "{stranger}"}, "correct cluster.ca_file"),
    ({"HOLDFAST_CLUSTER__SERVERS": '["{plain}"]'}, "it does not speak TLS"),
    (
        {"HOLDFAST_CLUSTER__CERT_FILE": "{late}", "HOLDFAST_CLUSTER__KEY_FILE": "{late_key}"},
        "not out of date",
    ),
    ({"HOLDFAST_CLUSTER__SERVERS": '["{expired}"]'}, "certificate has expired"),
]


@pytest.fixture(scope="module")
def wrong(secured: Secured) -> Generator[Mapping[str, str]]:
    """What may stand where the right one should."""
    late = secured.authority.papers("late", days=-1)
    expired = secured.authority.papers("expired", days=-1)
    tls = f'tls {{ cert_file: "{expired.cert}", key_file: "{expired.key}" }}\n'
    with running_nats() as plain, running_nats(more=tls) as out_of_date:
        yield {
            "stranger": str(Authority(secured.folder, "stranger").file),
            "plain": plain.urls[0].replace("//", "//shop_worker:of-yesterday@"),
            "expired": out_of_date.urls[0],
            "late": str(late.cert),
            "late_key": str(late.key),
        }


@pytest.mark.parametrize(("variables", "said"), WRONG_NATS)
def test_what_is_wrong_with_nats_is_said_at_once(
    cli: Cli,
    told: Secured,
    wrong: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
    variables: Mapping[str, str],
    said: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format_map(wrong))
    monkeypatch.setenv("HOLDFAST_STORE__URL", told.postgres.url())
    begun = time.monotonic()
    for words, status in (
        (("worker", "--once"), 1),
        (("cluster", "status", "--json"), 1),
        (("cluster", "dead"), 1),
    ):
        answer = cli(*words)
        assert answer.status == status, answer
        assert said in answer.err, answer.err
        is_clean(answer)
    (check,) = (
        one
        for one in json.loads(cli("doctor", "--json").out)["checks"]
        if one["name"] == "cluster" and one["status"] == "FAIL"
    )
    assert said in f"{check['detail']} {check['next_step']}"
    assert time.monotonic() - begun < 15


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"sslrootcert": "{stranger}"}, "certificate verify failed"),
        ({"password": "of-yesterday"}, "correct user and password of the URL"),
        ({"sslrootcert": "/nowhere/ca.pem"}, "correct sslmode, sslrootcert"),
        ({"role": "office_worker"}, "correct user and password of the URL"),
    ],
)
def test_what_is_wrong_with_postgres_is_said_at_once(
    cli: Cli,
    told: Secured,
    wrong: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
    more: Mapping[str, str],
    said: str,
) -> None:
    values = {name: one.format_map(wrong) for name, one in more.items()}
    monkeypatch.setenv("HOLDFAST_STORE__URL", told.url(**values))
    for words in (("worker", "--once"), ("cluster", "status")):
        answer = cli(*words)
        assert answer.status == 1
        assert said in answer.err + answer.out, answer
        is_clean(answer)


@pytest.mark.parametrize(("mode", "heard"), [("verify-full", False), ("prefer", True)])
def test_a_postgres_without_tls_is_told_nothing_where_tls_is_asked_for(
    cli: Cli, told: Secured, monkeypatch: pytest.MonkeyPatch, mode: str, heard: bool
) -> None:
    with tls_in_front(None, "") as front:
        url = told.url(sslmode=mode).replace(f":{told.front.port}/", f":{front.port}/")
        monkeypatch.setenv("HOLDFAST_STORE__URL", url)
        answer = cli("worker", "--once")
        assert answer.status == 1
        is_clean(answer)
        assert (b"shop_worker" in front.heard) is heard
    if not heard:
        assert "correct sslmode" in answer.err
