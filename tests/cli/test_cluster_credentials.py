"""A file of credentials, as the configuration names it: commands come in with it, or say why."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

import pytest
from command import Cli, start
from identities import Operator, credentials, nkey_user
from nats_server import running_nats
from postgres_server import running_server

_CONFIG = """
[engine]
kind = "cluster"
[store]
kind = "postgres"
url = "{store}"
[cluster]
servers = ["{nats}"]
credentials_file = "worker.creds"
"""


class Place(NamedTuple):
    """A machine of the cluster."""

    home: Path
    file: Path
    operator: Operator


@pytest.fixture(scope="module")
def store() -> Generator[str]:
    with running_server() as server, server.database() as url:
        yield url


@pytest.fixture
def place(home: Path, store: str) -> Generator[Place]:
    operator = Operator()
    file = credentials(operator.with_streams(), home / "worker.creds")
    file.chmod(0o600)
    with running_nats(more=operator.config) as nats:
        (home / "config.toml").write_text(_CONFIG.format(store=store, nats=nats.urls[0]), "utf-8")
        yield Place(home, file, operator)


def seed_in(file: Path) -> str:
    return next(line for line in file.read_text("ascii").splitlines() if line.startswith("SUA"))


def test_commands_come_in_with_a_file_that_stands_beside_the_configuration(
    cli: Cli, place: Place
) -> None:
    worked = start("worker", "--once", home=place.home)
    assert (worked.status, "nothing is due" in worked.err) == (0, True), worked.err
    status = cli("cluster", "status", "--json")
    assert json.loads(status.out)["ok"]
    doctor = cli("doctor", "--json")
    found = {one["name"]: one["status"] for one in json.loads(doctor.out)["checks"]}
    assert found["cluster"] != "FAIL"
    for answer in (worked, status, doctor):
        assert seed_in(place.file) not in answer.out + answer.err


def test_a_file_of_somebody_else_or_of_nobody_is_told(cli: Cli, place: Place) -> None:
    theirs = credentials(Operator().with_streams(), place.file).read_text("ascii")
    alone = nkey_user(place.home, "alone").file.read_text("ascii")
    for text, told in (
        (theirs, "or cluster.credentials_file"),
        (alone, "or cluster.credentials_file"),
        ("", "holds no credentials of NATS"),
        (theirs.replace("SUA", "SUB"), "holds no credentials of NATS"),
    ):
        place.file.write_text(text, "ascii")
        for words in (("worker", "--once"), ("cluster", "status"), ("cluster", "dead")):
            answer = cli(*words)
            assert answer.status == 1
            assert told in answer.err, answer.err
            assert "SUA" not in answer.err + answer.out
            assert "Traceback" not in answer.err
    place.file.unlink()
    answer = cli("cluster", "status")
    assert f"cluster.credentials_file: {place.file}: No such file" in answer.err
