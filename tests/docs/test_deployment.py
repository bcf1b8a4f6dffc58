"""The files in `deploy`: what systemd takes, and what Kubernetes is told, fits itself and us."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from argparse import Namespace
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from holdfast.app.configuration import load_configuration
from holdfast.surfaces.cli.amounts import seconds_in
from holdfast.surfaces.cli.catalogue import module_of, parser_of
from holdfast.surfaces.cli.serving_words import address_in
from holdfast.surfaces.cli.verbs import BY_NAME

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
DOCUMENTS: list[dict[str, Any]] = [
    one for path in MANIFESTS for one in yaml.safe_load_all(path.read_text("utf-8"))
]
OLDEST, NEWEST = "1.25", "1.37"
"""Of Kubernetes: everything in the files is in all between them."""
DEPLOYMENTS = {one["metadata"]["name"]: one for one in DOCUMENTS if one["kind"] == "Deployment"}
SECTIONS = {
    "Unit": {"Description", "After", "Wants"},
    "Service": {
        *("User", "Environment", "EnvironmentFile", "WorkingDirectory", "ExecStart"),
        *("Restart", "RestartSec", "KillMode", "TimeoutStopSec", "UMask", "Delegate"),
        *("StateDirectory", "StateDirectoryMode"),
    },
    "Install": {"WantedBy"},
}


def _parsed(command: list[str]) -> Namespace:
    """As the command itself takes it."""
    program, verb, *words = command
    assert program == "/opt/holdfast/bin/holdfast"
    return parser_of(BY_NAME[verb], module_of(BY_NAME[verb])).parse_args(words)


def _unit(path: Path, instance: str = "1") -> ConfigParser:
    read = ConfigParser(interpolation=None, strict=True)
    read.optionxform = str  # type: ignore[assignment, method-assign] - as the module says it is done
    read.read_string(path.read_text("utf-8").replace("%i", instance))
    return read


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_takes_a_unit(unit: Path, tmp_path: Path) -> None:
    program = str(Path(sys.executable).with_name("holdfast"))
    name = unit.name.replace("@", "@1")
    text = unit.read_text("utf-8").replace("/opt/holdfast/bin/holdfast", program)
    (tmp_path / name).write_text(text, "utf-8")
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(tmp_path / name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line for line in checked.stderr.splitlines() if name in line] == []


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_says_what_is_known_and_its_command_is_understood(path: Path) -> None:
    unit = _unit(path)
    for section in unit.sections():
        assert set(unit[section]) <= SECTIONS[section], section
    service = unit["Service"]
    given = _parsed(shlex.split(service["ExecStart"]))
    assert given.workspace == service["WorkingDirectory"]
    assert service["KillMode"] == "mixed"  # the signal is for holdfast, which ends its own
    stop = service["TimeoutStopSec"]
    if "worker" in path.name:
        assert address_in(given.health) == ("127.0.0.1", 9321)
        assert seconds_in(given.drain) < seconds_in(stop.removesuffix("in"))
    else:
        assert (given.cluster, int(stop) > 15) == (True, True)


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda one: f"{one['kind']}-{one['metadata']['name']}"
)
def test_a_manifest_is_what_kubernetes_takes(document: dict[str, Any], version: str) -> None:
    assert kubernetes_validate.validate(document, version, strict=True) == version


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("terminationGracePeriodSeconds: 900", "terminationGracePeriodSecond: 900"),
        ("periodSeconds: 10", "periodSeconds: ten"),
        ("containerPort: 9321", "port: 9321"),
    ],
)
def test_a_mistake_deep_inside_is_noticed(right: str, wrong: str) -> None:
    text = (DEPLOY / "kubernetes" / "worker.yaml").read_text("utf-8")
    assert right in text
    documents = list(yaml.safe_load_all(text.replace(right, wrong)))
    with pytest.raises(kubernetes_validate.ValidationError):
        [kubernetes_validate.validate(one, NEWEST, strict=True) for one in documents]


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_pod_is_confined_and_what_it_names_is_there(name: str) -> None:
    deployment = DEPLOYMENTS[name]["spec"]
    pod = deployment["template"]["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"].items() <= labels.items()
    for kind, where in (("PodDisruptionBudget", "selector"), ("NetworkPolicy", "podSelector")):
        (found,) = [one for one in DOCUMENTS if _is(one, kind, name)]
        assert found["spec"][where]["matchLabels"] == labels
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    volumes = {one["name"] for one in pod["volumes"]}
    containers = [*pod["initContainers"], *pod["containers"]]
    assert {mount["name"] for one in containers for mount in one["volumeMounts"]} == volumes
    for one in containers:
        assert one["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"requests", "limits"} == set(one["resources"])
    maps = {one["metadata"]["name"] for one in DOCUMENTS if one["kind"] == "ConfigMap"}
    assert {one["configMap"]["name"] for one in pod["volumes"] if "configMap" in one} <= maps
    written = yaml.safe_dump(deployment)
    assert "postgresql://" not in written, "a password would stand in a file"


def _is(document: dict[str, Any], kind: str, name: str) -> bool:
    return (document["kind"], document["metadata"]["name"]) == (kind, name)


def test_a_worker_is_asked_at_its_port_and_ends_in_order_before_it_is_killed() -> None:
    pod = DEPLOYMENTS["holdfast-worker"]["spec"]["template"]["spec"]
    (worker,) = pod["containers"]
    given = _parsed([*worker["command"], *worker["args"]])
    host, port = address_in(given.health)
    assert (host, worker["ports"]) == ("0.0.0.0", [{"name": "health", "containerPort": port}])
    assert worker["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "health"}
    assert worker["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "health"}
    assert seconds_in(given.drain) + 30 <= pod["terminationGracePeriodSeconds"]
    assert given.workspace in {one["mountPath"] for one in worker["volumeMounts"]}
    (ingress,) = _named("NetworkPolicy", "holdfast-worker")["spec"]["ingress"]
    assert ingress["ports"] == [{"protocol": "TCP", "port": port}]


def test_a_console_is_behind_a_token_and_its_service_finds_it() -> None:
    pod = DEPLOYMENTS["holdfast-console"]["spec"]["template"]["spec"]
    (console,) = pod["containers"]
    given = _parsed([*console["command"], *console["args"]])
    host, port = address_in(given.port)
    assert (given.cluster, host, bool(given.expose)) == (True, "0.0.0.0", True)
    assert console["ports"] == [{"name": "console", "containerPort": port}]
    token = {one["name"]: one for one in console["env"]}["HOLDFAST_SERVE_TOKEN"]
    assert token["valueFrom"] == {"secretKeyRef": {"name": "holdfast-console", "key": "token"}}
    service = _named("Service", "holdfast-console")["spec"]
    assert service["selector"].items() <= _labels("holdfast-console").items()
    assert [one["targetPort"] for one in service["ports"]] == ["console"]
    (ingress,) = _named("NetworkPolicy", "holdfast-console")["spec"]["ingress"]
    assert ingress["ports"] == [{"protocol": "TCP", "port": port}]


def _named(kind: str, name: str) -> dict[str, Any]:
    (found,) = [one for one in DOCUMENTS if _is(one, kind, name)]
    return found


def _labels(name: str) -> dict[str, str]:
    return DEPLOYMENTS[name]["spec"]["template"]["metadata"]["labels"]


def test_what_the_first_container_makes_is_a_home_that_can_be_read(tmp_path: Path) -> None:
    """Its shell is run as it stands, in folders of this test."""
    text = _named("ConfigMap", "holdfast-config")["data"]["config.toml"]
    assert tomllib.loads(text)["engine"]["kind"] == "cluster"
    (tmp_path / "config").mkdir()
    (tmp_path / "key").mkdir()
    (tmp_path / "home").mkdir(mode=0o777)
    (tmp_path / "config" / "config.toml").write_text(text, "utf-8")
    (tmp_path / "key" / "journal.key").write_bytes(b"k" * 32)
    for name in DEPLOYMENTS:
        pod = DEPLOYMENTS[name]["spec"]["template"]["spec"]
        (first,) = pod["initContainers"]
        command = " ".join(first["args"])
        for mount in first["volumeMounts"]:
            command = re.sub(
                re.escape(mount["mountPath"]) + r"(?=[/;]|$)",
                str(tmp_path / mount["name"]),
                command,
            )
        subprocess.run([*first["command"], command], check=True)
        made = tmp_path / "home" / "state" / "journal.key"
        assert (made.read_bytes(), made.stat().st_mode & 0o777) == (b"k" * 32, 0o600)
        load_configuration(tmp_path, environment={"HOLDFAST_HOME": str(tmp_path / "home")})
        shutil.rmtree(tmp_path / "home" / "state")
