"""Where the vaults of a configuration lie, and which of them are not there.

What is kept from whom because of that is not known here.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from holdfast.app.locations import home_of
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import VaultSettings


def vault_path(name: str, table: VaultSettings, environment: Mapping[str, str]) -> Path:
    """Where a vault lies; ConfigurationError."""
    path = Path(table.path)
    if table.path.startswith("~/"):
        home = home_of(environment)
        if home is None:
            raise ConfigurationError(f"vault.{name}.path: there is no home; name it in full")
        path = home / table.path[2:]
    if not path.is_absolute():
        raise ConfigurationError(
            f"vault.{name}.path: {table.path!r} is no absolute path; name it in full"
        )
    return path


def missing_vaults(
    tables: Mapping[str, VaultSettings], environment: Mapping[str, str]
) -> Iterator[str]:
    """What to say of vaults that are no directories: nobody keeps what was meant from anybody."""
    for name, table in tables.items():
        try:
            path = vault_path(name, table, environment)
        except ConfigurationError:
            continue  # said by whoever opens a session
        if not path.is_dir():
            yield (
                f"vault.{name}.path: {path} is no directory, so what you mean is not protected;"
                " correct the path, or make the directory"
            )
