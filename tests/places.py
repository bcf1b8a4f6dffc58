"""A home and a project of a test's own; the developer's configuration is never read."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from holdfast.app.configuration import Configuration, load_configuration


class Places(NamedTuple):
    home: Path
    project: Path

    @property
    def user_file(self) -> Path:
        return self.home / "config.toml"

    @property
    def project_file(self) -> Path:
        return self.project / ".holdfast" / "config.toml"

    @property
    def environment(self) -> dict[str, str]:
        return {"HOLDFAST_HOME": str(self.home)}

    def load(
        self,
        *,
        user: str | None = None,
        project: str | None = None,
        variables: Mapping[str, str] | None = None,
        overrides: Mapping[str, str] | None = None,
    ) -> Configuration:
        for path, text in ((self.user_file, user), (self.project_file, project)):
            if text is not None:
                path.write_text(text, "utf-8")
        return load_configuration(
            self.project,
            environment={**self.environment, **(variables or {})},
            overrides=overrides or {},
        )


def make_places(folder: Path) -> Places:
    made = Places(folder / "home", folder / "project")
    made.home.mkdir()
    (made.project / ".holdfast").mkdir(parents=True)
    return made
