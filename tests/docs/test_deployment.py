"""The files in `deploy`: what systemd takes, and what Kubernetes is told, fits itself and us."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from holdfast.app.configuration import load_configuration
from holdfast.preflight.schema import compile_validator
from holdfast.surfaces.cli.catalogue import module_of, parser_of
from holdfast.surfaces.cli.verbs import BY_NAME

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
DOCUMENTS: list[dict[str, Any]] = [
    one for path in MANIFESTS for one in yaml.safe_load_all(path.read_text("utf-8"))
]
_TEXT = {"type": "string", "minLength": 1}
_LABELS = {"type": "object", "additionalProperties": _TEXT}
_META = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "pattern": "^[a-z0-9-]{1,63}$"}, "labels": _LABELS},
    "additionalProperties": False,
}
_CONFINED = {
    "type": "object",
    "required": ["allowPrivilegeEscalation", "readOnlyRootFilesystem", "capabilities"],
    "properties": {
        "allowPrivilegeEscalation": {"const": False},
        "readOnlyRootFilesystem": {"const": True},
        "capabilities": {"const": {"drop": ["ALL"]}},
    },
    "additionalProperties": False,
}
_PROBE = {
    "type": "object",
    "required": ["httpGet"],
    "properties": {
        "httpGet": {
            "type": "object",
            "required": ["path", "port"],
            "properties": {"path": {"enum": ["/healthz", "/readyz"]}, "port": {"const": "health"}},
        },
        "periodSeconds": {"type": "integer"},
        "failureThreshold": {"type": "integer"},
    },
    "additionalProperties": False,
}
_NAMED = {"type": "array", "items": {"type": "object", "required": ["name"]}}
_CONTAINER = {
    "type": "object",
    "required": ["name", "image", "command", "args", "resources", "securityContext"],
    "properties": {
        "name": _TEXT,
        "image": _TEXT,
        "command": {"type": "array", "items": _TEXT},
        "args": {"type": "array", "items": _TEXT},
        "env": _NAMED,
        "ports": _NAMED,
        "volumeMounts": {"type": "array", "items": {"required": ["name", "mountPath"]}},
        "livenessProbe": _PROBE,
        "readinessProbe": _PROBE,
        "resources": {"type": "object", "required": ["requests", "limits"]},
        "securityContext": _CONFINED,
    },
    "additionalProperties": False,
}
_POD = {
    "type": "object",
    "required": ["containers", "securityContext", "terminationGracePeriodSeconds"],
    "properties": {
        "terminationGracePeriodSeconds": {"type": "integer", "minimum": 60},
        "automountServiceAccountToken": {"const": False},
        "securityContext": {
            "type": "object",
            "required": ["runAsNonRoot"],
            "properties": {"runAsNonRoot": {"const": True}},
        },
        "initContainers": {"type": "array", "items": _CONTAINER},
        "containers": {"type": "array", "items": _CONTAINER, "minItems": 1},
        "volumes": _NAMED,
    },
    "additionalProperties": False,
}
_SPECS: dict[str, tuple[str, dict[str, Any]]] = {
    "Deployment": (
        "apps/v1",
        {
            "type": "object",
            "required": ["replicas", "selector", "template"],
            "properties": {
                "replicas": {"type": "integer", "minimum": 1},
                "selector": {"properties": {"matchLabels": _LABELS}, "additionalProperties": False},
                "strategy": {"type": "object"},
                "template": {
                    "required": ["metadata", "spec"],
                    "properties": {
                        "metadata": {"properties": {"labels": _LABELS}},
                        "spec": _POD,
                    },
                    "additionalProperties": False,
                },
            },
            "additionalProperties": False,
        },
    ),
    "PodDisruptionBudget": ("policy/v1", {"required": ["selector"]}),
    "NetworkPolicy": ("networking.k8s.io/v1", {"required": ["podSelector", "policyTypes"]}),
}


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


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_command_of_a_unit_is_understood(unit: Path) -> None:
    (line,) = re.findall(r"^ExecStart=(.*)$", unit.read_text("utf-8"), re.MULTILINE)
    _, verb, *words = shlex.split(line)
    given = parser_of(BY_NAME[verb], module_of(BY_NAME[verb])).parse_args(words)
    assert given.workspace == "/srv/project"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: f"{one['kind']}")
def test_a_manifest_is_what_kubernetes_takes(document: dict[str, Any]) -> None:
    kind = document["kind"]
    if kind == "ConfigMap":
        schema: dict[str, Any] = {
            "required": ["apiVersion", "metadata", "data"],
            "properties": {"apiVersion": {"const": "v1"}, "metadata": _META, "data": _LABELS},
        }
    else:
        version, spec = _SPECS[kind]
        schema = {
            "required": ["apiVersion", "metadata", "spec"],
            "properties": {
                "apiVersion": {"const": version},
                "kind": {"const": kind},
                "metadata": _META,
                "spec": spec,
            },
            "additionalProperties": False,
        }
    problems = [str(one) for one in compile_validator(schema).iter_errors(document)]
    assert problems == []


def test_what_a_manifest_names_is_there_and_its_command_is_understood(tmp_path: Path) -> None:
    by_kind = {one["kind"]: one for one in DOCUMENTS}
    spec = by_kind["Deployment"]["spec"]
    pod = spec["template"]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    for selector in (
        spec["selector"],
        by_kind["PodDisruptionBudget"]["spec"]["selector"],
        by_kind["NetworkPolicy"]["spec"]["podSelector"],
    ):
        assert selector["matchLabels"].items() <= labels.items()
    volumes = {one["name"] for one in pod["volumes"]}
    containers = [*pod["initContainers"], *pod["containers"]]
    assert {mount["name"] for one in containers for mount in one["volumeMounts"]} == volumes
    (worker,) = pod["containers"]
    verb, *words = worker["args"]
    given = parser_of(BY_NAME[verb], module_of(BY_NAME[verb])).parse_args(words)
    port = int(given.health.rpartition(":")[2])
    assert worker["ports"] == [{"name": "health", "containerPort": port}]
    (ingress,) = by_kind["NetworkPolicy"]["spec"]["ingress"]
    assert ingress["ports"] == [{"protocol": "TCP", "port": port}]
    text = by_kind["ConfigMap"]["data"]["config.toml"]
    assert tomllib.loads(text)["engine"]["kind"] == "cluster"
    (tmp_path / "config.toml").write_text(text, "utf-8")
    load_configuration(tmp_path, environment={"HOLDFAST_HOME": str(tmp_path)})
