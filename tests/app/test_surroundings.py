"""Where data goes and what counts as a secret, from the variables of a process."""

import os
from pathlib import Path

import pytest

from holdfast import Holdfast, tool
from holdfast.app.locations import NOWHERE, home_of
from holdfast.app.settings import SecretSettings, Settings
from holdfast.app.surroundings import looks_secret, surroundings_of_this_process
from holdfast.contract.failure import FailureKind


@pytest.mark.parametrize(
    ("environment", "where"),
    [
        ({"HOLDFAST_HOME": "/h", "XDG_DATA_HOME": "/x", "HOME": "/me"}, "/h/data"),
        ({"XDG_DATA_HOME": "/x", "HOME": "/me"}, "/x/holdfast"),
        ({"HOME": "/me"}, "/me/.local/share/holdfast"),
        ({"XDG_DATA_HOME": "relative", "HOME": "/me"}, "/me/.local/share/holdfast"),
        ({"HOLDFAST_HOME": "", "XDG_DATA_HOME": "", "HOME": "/me"}, "/me/.local/share/holdfast"),
    ],
)
def test_the_data_home_follows_the_variables(environment: dict[str, str], where: str) -> None:
    found = surroundings_of_this_process(Settings(), environment=environment)
    assert found.data_home == Path(where)


def test_an_unset_home_falls_back_to_the_account() -> None:
    assert home_of({}) is not None


def test_an_account_without_a_home_gets_a_place_that_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.app.locations.getuid", lambda: 987_654_321)
    found = surroundings_of_this_process(Settings(), environment={})
    assert found.data_home == NOWHERE
    with pytest.raises(OSError, match="Not a directory"):
        found.data_home.mkdir(parents=True)


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "github_token",
        "Db_Password",
        "KEY",
        "ROOT_PASSWD",
        "CLIENT_SECRET",
        "AWS_CREDENTIAL",
        "GCP_CREDENTIALS",
        "API_KEY_2",
        "PGPASSWORD",
    ],
)
def test_a_name_that_ends_in_a_secret_word_is_secret(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name",
    ["SSH_AUTH_SOCK", "KEYBOARD", "MONKEY", "MAX_TOKENS", "TOKEN_LIMIT", "KEY_PATH", "TURKEY", ""],
)
def test_other_names_are_not(name: str) -> None:
    assert not looks_secret(name)


def test_declared_variables_count_and_empty_values_do_not() -> None:
    settings = Settings(secrets=SecretSettings(variables=("DSN", "ABSENT")))
    environment = {"DSN": "postgres://me", "A_TOKEN": "", "B_TOKEN": "t0ken-value", "C": "plain"}
    found = surroundings_of_this_process(settings, environment=environment)
    assert found.secrets == ("postgres://me", "t0ken-value")


@tool
def leak() -> dict[str, str | None]:
    """Say what should not be said."""
    return {"said": os.environ.get("SOME_API_KEY")}


async def test_a_secret_of_the_environment_never_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("SOME_API_KEY", "s3cret-value")
    async with Holdfast(tools=[leak]) as hf:
        envelope = await hf.settle("leak")
    assert envelope.result == {"said": "***REDACTED***"}


async def test_without_a_place_to_write_it_down_a_call_is_not_run_unless_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").write_text("", "utf-8")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_LIMITS__TOOL__LEAK__MAX_BYTES", "10")
    monkeypatch.setenv("SOME_API_KEY", "x" * 5)
    async with Holdfast(tools=[leak]) as hf:
        failure = (await hf.settle("leak")).failure
    assert failure is not None
    assert failure.kind is FailureKind.UNAVAILABLE
    assert "one of its folders is a file: move that away" in failure.message
    monkeypatch.setenv("HOLDFAST_STORE__KIND", "none")
    async with Holdfast(tools=[leak]) as hf:
        assert (await hf.settle("leak")).ok


@pytest.mark.parametrize(
    "name",
    ["GITHUB_PAT", "DB_PASS", "MYSQL_PWD", "SECRET_KEY_BASE", "API_KEY_PROD", "SSH_PASSPHRASE"],
)
def test_other_usual_names_of_secrets_are_known(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["PWD", "OLDPWD", "PATH", "COMPASS", "MONKEY_ISLAND", "KEYS_MAX"])
def test_names_that_only_sound_alike_are_left_alone(name: str) -> None:
    assert not looks_secret(name)


def test_the_password_inside_an_address_is_a_secret_under_any_name() -> None:
    told = {"HOME": "/h", "DATABASE_URL": "postgres://app:s3cr3t-pw@db.example/main"}
    assert surroundings_of_this_process(Settings(), environment=told).secrets == ("s3cr3t-pw",)
