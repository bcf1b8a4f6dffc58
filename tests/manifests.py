"""Manifests with real programs, and sessions that have their tools."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from holdfast import Holdfast
from holdfast.app.settings import AuditSettings, SandboxSettings, Settings, Surroundings
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.rules import Rule
from holdfast.contract.shell import Confinement
from holdfast.policy.source_grants import DEFAULT_REQUIREMENTS
from holdfast.sources.manifest.source import ManifestSource
from holdfast.sources.manifest.tools import ManifestDefaults

DEFAULTS = ManifestDefaults(requires=DEFAULT_REQUIREMENTS["manifest"])
PARENT = {"PATH": os.defpath, "HOME": "/home/ada"}


class Ground:
    """A folder with a manifest, a workspace beside it, and holdfast's own places."""

    def __init__(self, folder: Path) -> None:
        self.manifest = folder / "own tools"
        self.workspace = folder / "workspace"
        self.home = folder / "home"
        for place in (self.manifest / "tools" / "bin", self.workspace, self.home):
            place.mkdir(parents=True)
        self.file = self.manifest / "tools.json"
        self.entries: list[JsonObject] = []

    def program(self, name: str, script: str, /, **keys: JsonValue) -> None:
        """Write a program, and declare it under its name unless the keys say otherwise."""
        path = self.manifest / "tools" / "bin" / name
        path.write_text(script if script.startswith("#!") else f"#!/bin/bash\n{script}\n", "utf-8")
        path.chmod(0o755)
        plain: JsonObject = {"name": name, "command": [f"./tools/bin/{name}"]}
        self.declare(**{**plain, **keys})

    def declare(self, **keys: JsonValue) -> None:
        """One more entry."""
        self.entries.append(keys)
        self.file.write_text(json.dumps({"tools": self.entries}), "utf-8")

    def source(self, defaults: ManifestDefaults = DEFAULTS) -> ManifestSource:
        """The manifest as it stands."""
        return ManifestSource(self.file, defaults)

    def opened(
        self,
        *more: object,
        parent: Mapping[str, str] = PARENT,
        confinement: Confinement | None = None,
        defaults: ManifestDefaults = DEFAULTS,
        redact: str = "",
        model_keys: tuple[str, ...] = (),
    ) -> Holdfast:
        """A session that may call every tool of the manifest."""
        tools = self.source(defaults).tools()
        rules = [
            Rule(permission=one.name, pattern="*", action="allow", scope="project", source="test")
            for one in tools
        ]
        return Holdfast(
            tools=[*tools, *more],
            workspace=self.workspace,
            rules=rules,
            settings=Settings(
                sandbox=SandboxSettings(confinement=confinement),
                audit=AuditSettings(redact=redact),
            ),
            surroundings=Surroundings(
                data_home=self.home / "data",
                state_home=self.home / "state",
                environment={"PATH": os.defpath},
                parent_environment=parent,
                model_keys=model_keys,
            ),
        )

    def records(self) -> list[JsonObject]:
        """What the audit log says, line by line."""
        folder = self.home / "state" / "audit"
        texts = (path.read_text("utf-8") for path in sorted(folder.glob("*.log")))
        return [json.loads(line) for text in texts for line in text.splitlines()]
