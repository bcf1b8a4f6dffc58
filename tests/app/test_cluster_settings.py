"""The table `[cluster]`: what it takes, what it refuses, and that nobody sees its secrets."""

from pathlib import Path

import pytest

from holdfast.app.agent_settings import EngineSettings
from holdfast.app.configuration import ConfigurationError, load_configuration
from holdfast.app.fleet import announcing, bus_of, check_fleet, servers_of
from holdfast.app.settings import Settings, StoreSettings
from holdfast.app.surroundings import surroundings_of_this_process

SERVER = "nats://10.0.0.1:4222"
TABLES = """
[engine]
kind = "cluster"

[store]
kind = "postgres"
url = "postgresql://holdfast:own-pw@db/holdfast"

[cluster]
servers = ["nats://fleet:url-pw@10.0.0.1:4222"]
namespace = "shop"
replicas = 3
user = "worker"
password = "user-pw"
ca_file = "ca.pem"
labels = ["gpu"]
workspaces_folder = "copies"

[cluster.tenant.other]
url = "postgresql://other:tenant-pw@db/other"
"""
SECRETS = ("own-pw", "url-pw", "user-pw", "tenant-pw")


def settings_in(folder: Path, text: str) -> Settings:
    home = folder / "home"
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "config.toml").write_text(text, "utf-8")
    return load_configuration(folder, environment={"HOLDFAST_HOME": str(home)}).settings


def test_what_stands_there_is_had(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, TABLES)
    check_fleet(settings)
    servers = servers_of(settings)
    assert (servers.namespace, servers.replicas, servers.user) == ("shop", 3, "worker")
    assert servers.ca_file == str(tmp_path / "home" / "ca.pem")
    assert settings.cluster.labels == ("gpu",)
    assert settings.cluster.workspaces_folder == str(tmp_path / "home" / "copies")
    assert settings.cluster.workspaces == "shared"
    place = bus_of(settings)
    assert place is not None
    assert place.namespace == "shop"
    assert announcing(settings) is not None


def test_secrets_are_known_as_such_and_never_shown(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, TABLES)
    around = surroundings_of_this_process(settings, environment={"HOLDFAST_HOME": str(tmp_path)})
    shown = f"{settings!r} {settings.cluster.tenant!r} {around!r}"
    for secret in SECRETS:
        assert secret in around.secrets
        assert secret not in shown


def test_a_token_in_an_address_is_a_secret_and_no_address_is_shown(tmp_path: Path) -> None:
    text = (
        '[engine]\nkind = "cluster"\n[cluster]\nservers = ["nats://t0ken-of-all@10.0.0.1:4222"]\n'
    )
    settings = settings_in(tmp_path, text)
    around = surroundings_of_this_process(settings, environment={})
    assert "t0ken-of-all" in around.secrets
    assert around.bus is not None
    assert "t0ken-of-all" not in f"{servers_of(settings)!r} {around.bus!r}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[cluster]\nserver = ["nats://x"]\n', "did you mean 'servers'?"),
        ('[cluster]\nservers = ["10.0.0.1:4222"]\n', "cluster.servers #1"),
        ('[cluster]\nnamespace = "a.b"\n', "cluster.namespace"),
        ("[cluster]\nreplicas = 9\n", "cluster.replicas"),
        ('[cluster.tenant."a.b"]\nurl = "x"\n', "cluster.tenant.a.b"),
        ('[cluster.tenant.default]\nurl = "x"\n', "another name than cluster.own"),
        ("[cluster.tenant.other]\n", "url is missing"),
        ('[engine]\nkind = "fleet"\n', "it must be one of embedded, cluster"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_do(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        settings_in(tmp_path, text)
    assert told in str(raised.value)


def test_a_project_that_is_not_trusted_changes_nothing_of_it(tmp_path: Path) -> None:
    project = tmp_path / "work"
    (project / ".holdfast").mkdir(parents=True)
    (project / ".holdfast" / "config.toml").write_text(TABLES, "utf-8")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    found = load_configuration(project, environment={"HOLDFAST_HOME": str(home)})
    assert found.settings == Settings()
    assert any("cluster.servers" in one for one in found.notices)
    assert any("engine.kind" in one for one in found.notices)


def test_without_a_cluster_there_is_nobody_to_be_told() -> None:
    assert bus_of(Settings()) is None
    assert announcing(Settings()) is None
    with pytest.raises(ConfigurationError, match="holdfast cluster up"):
        check_fleet(Settings(engine=EngineSettings(kind="cluster")))
    with pytest.raises(ConfigurationError, match=r"cluster\.servers"):
        servers_of(Settings())


def test_many_machines_share_no_file(tmp_path: Path) -> None:
    text = f'[engine]\nkind = "cluster"\n[cluster]\nservers = ["{SERVER}"]\n'
    settings = settings_in(tmp_path, text)
    assert settings.store == StoreSettings()
    with pytest.raises(ConfigurationError, match="share a PostgreSQL alone"):
        check_fleet(settings)
