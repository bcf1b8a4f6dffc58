"""Where vaults are, by what their tables say."""

from pathlib import Path

import pytest

from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import VaultSettings
from holdfast.app.vault_places import missing_vaults, vault_path


def test_a_path_below_the_home_needs_one(tmp_path: Path) -> None:
    vault = VaultSettings(path="~/kept")
    assert vault_path("keys", vault, {"HOME": str(tmp_path)}) == tmp_path / "kept"
    with pytest.raises(ConfigurationError, match="no absolute path"):
        vault_path("keys", VaultSettings(path="kept"), {})


def test_only_what_is_no_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    vaults = {
        "there": VaultSettings(path=str(tmp_path / "there")),
        "gone": VaultSettings(path=str(tmp_path / "gone")),
        "wrong": VaultSettings(path="wrong"),
    }
    (told,) = missing_vaults(vaults, {})
    assert told.startswith("vault.gone.path:")
