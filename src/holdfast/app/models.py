"""A model by its name: from a `[model.NAME]` table, or from `kind:model` without any.

The one place that gives a model its key. What speaks with providers is loaded when a model is made.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from holdfast.agent.models import setup
from holdfast.app.model_proxy import proxy_for
from holdfast.app.model_settings import KINDS, ModelKind, ModelSettings, PriceSettings
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.spelling import advice
from holdfast.contract import vectors
from holdfast.contract.model import ChatModel

_MOST_SCRIPT_BYTES = 16 * 1024 * 1024


class _Provider(NamedTuple):
    """What is usual for a kind that is asked over HTTP."""

    form: str
    """The module that has its form."""
    url: str
    key_variable: str
    window: int
    output_limit: str = "max_tokens"


_PROVIDERS: Mapping[ModelKind, _Provider] = {
    "openai": _Provider(
        "holdfast.agent.models.openai_chat",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        128_000,
        "max_completion_tokens",
    ),
    "openai_responses": _Provider(
        "holdfast.agent.models.openai_responses",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        128_000,
    ),
    "anthropic": _Provider(
        "holdfast.agent.models.anthropic",
        "https://api.anthropic.com/v1",
        "ANTHROPIC_API_KEY",
        200_000,
    ),
}


def model_named(settings: Settings, around: Surroundings, name: str | None = None) -> ChatModel:
    """The model of this name; None: the only one that is configured. ConfigurationError."""
    chosen, found = chosen_model(settings, name)
    if found.kind == "scripted":
        return _scripted(found, chosen)
    if found.kind == "local":
        return _local(found)
    return _over_http(found, _PROVIDERS[found.kind], around, chosen)


def embedder_named(settings: Settings, around: Surroundings, name: str) -> "vectors.OpenedEmbedder":
    """Who makes vectors of texts, as `retrieval.vectors` names it; ConfigurationError."""
    if name not in settings.model and ":" not in name:
        near = advice(name, settings.model) if settings.model else "write a [model.NAME] table"
        raise ConfigurationError(f"retrieval.vectors: there is no model {name!r}; {near}")
    chosen, found = chosen_model(settings, name)
    if found.kind != "openai":
        raise ConfigurationError(
            f"retrieval.vectors: {name} is of kind {found.kind!r}, and vectors are made by one of"
            ' kind "openai"; write kind = "openai" and model = "text-embedding-3-small"'
        )
    over_http: Any = import_module("holdfast.agent.models.embeddings")
    return over_http.OpenAiEmbedder(_setup(found, _PROVIDERS[found.kind], around, chosen))


def remembered(name: str) -> str:
    """The name of a model as it means the same from any folder; ConfigurationError."""
    if "\0" in name:
        raise ConfigurationError(f"the model's name {name!r} holds a character that no name has")
    kind, colon, rest = name.partition(":")
    return f"{kind}:{Path(rest).resolve()}" if colon and kind == "scripted" else name


def key_variable_of(model: ModelSettings) -> str | None:
    """Which variable holds its key; None: it is sent none.

    The key for a provider is not for another server that speaks like it.
    """
    if model.kind not in _PROVIDERS:
        return None
    usual = _PROVIDERS[model.kind].key_variable
    return model.key_variable or (usual if model.base_url is None else None)


def counts_cost(model: ModelSettings) -> bool:
    """Whether what it costs is known: without prices a provider's tokens are no amount.

    One on this machine costs nothing, and a script says itself what it would.
    """
    return model.kind not in _PROVIDERS or model.prices is not None


def sends_in_the_clear(model: ModelSettings) -> bool:
    """Whether a key goes over a network without encryption."""
    parts = urlsplit(model.base_url or "")
    is_here = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    return parts.scheme == "http" and not is_here and key_variable_of(model) is not None


def chosen_model(settings: Settings, name: str | None) -> tuple[str, ModelSettings]:
    """What a name stands for, and what it is called; ConfigurationError."""
    models = settings.model
    if name is None:
        # The one that makes vectors of texts answers nothing.
        models = {key: one for key, one in models.items() if key != settings.retrieval.vectors}
        if len(models) == 1:
            return next(iter(models.items()))
        if models:
            names = sorted(models)
            raise ConfigurationError(
                f"several models are configured ({', '.join(names)}); name one of them with"
                f' --model {names[0]}, or model = "{names[0]}" in [agent.default]'
            )
        raise ConfigurationError(
            "no model is configured; write a [model.NAME] table into your configuration file, or"
            " name one as kind:model: anthropic:claude-sonnet-4-5 (its key is in"
            " ANTHROPIC_API_KEY), local:smollm2 (on this machine) or scripted:FILE (plays what you"
            " wrote); for a first try without a key: --model local:smollm2 --profile bare, which"
            " is slow and not clever"
        )
    if name in models:
        return name, models[name]
    kind, colon, rest = name.partition(":")
    if not colon:
        raise ConfigurationError(
            f"there is no model {name!r}; {advice(name, models)}; or name one as kind:model,"
            " for example openai:gpt-5"
        )
    return name, _short(kind, rest, name)


def _short(kind: str, rest: str, name: str) -> ModelSettings:
    if kind not in KINDS:
        raise ConfigurationError(
            f"{name}: there is no kind of model {kind!r}; {advice(kind, KINDS)}"
        )
    if not rest:
        raise ConfigurationError(f"{name}: what follows the colon is missing; write {kind}:NAME")
    if kind == "scripted":
        return ModelSettings(kind=kind, file=rest)
    return ModelSettings(kind=kind, model=rest)


def _over_http(
    model: ModelSettings, usual: _Provider, around: Surroundings, name: str
) -> ChatModel:
    over_http: Any = import_module("holdfast.agent.models.http_model")
    return over_http.HttpModel(_setup(model, usual, around, name), import_module(usual.form).FORM)


def _setup(
    model: ModelSettings, usual: _Provider, around: Surroundings, name: str
) -> "setup.ModelSetup":
    variable = key_variable_of(model)
    key = "" if variable is None else around.parent_environment.get(variable, "").strip()
    if variable is not None and not key:
        raise ConfigurationError(
            f"model {name}: it needs a key, and the environment variable {variable} is not set;"
            " set it, or name another one with key_variable"
        )
    url = (model.base_url or usual.url).rstrip("/")
    return setup.ModelSetup(
        model=model.model or "",
        url=url,
        key=key,
        headers=model.headers,
        stream=model.stream,
        window=model.window or usual.window,
        max_output_tokens=model.max_output_tokens or setup.USUAL_OUTPUT_TOKENS,
        output_limit=usual.output_limit if model.base_url is None else "max_tokens",
        temperature=model.temperature,
        cache=model.cache,
        notices_as=model.notices_as,
        prices=setup.Prices(**msgspec.structs.asdict(model.prices or PriceSettings())),
        patience=setup.Patience(
            first_byte=model.first_byte_seconds,
            idle=model.idle_seconds,
            whole=model.reply_seconds,
        ),
        extra=model.extra,
        proxy=proxy_for(url, model.proxy, around.parent_environment, name),
    )


def _local(model: ModelSettings) -> ChatModel:
    local: Any = import_module("holdfast.agent.models.local")
    if not local.has_program():
        raise ConfigurationError(f"{local.NO_PROGRAM}; {local.INSTALL_PROGRAM}")
    if model.file is None and local.packaged_weights() is None:
        raise ConfigurationError(f"{local.NO_WEIGHTS}; {local.INSTALL_WEIGHTS}")
    if model.file is None and model.model not in {None, local.PACKAGED_MODEL}:
        raise ConfigurationError(
            f"there are no weights of {model.model!r} here; write model ="
            f" {local.PACKAGED_MODEL!r}, or name a GGUF file under file"
        )
    made = local.LocalSetup(
        model=model.model or Path(model.file or local.PACKAGED_MODEL).stem,
        file=model.file,
        window=model.window or local.USUAL_WINDOW,
        max_output_tokens=model.max_output_tokens or local.USUAL_OUTPUT_TOKENS,
        temperature=model.temperature or 0.0,
        extra=model.extra,
    )
    return local.LocalModel(made)


def _scripted(model: ModelSettings, name: str) -> ChatModel:
    scripted: Any = import_module("holdfast.agent.models.scripted")
    file = Path(model.file or "")
    try:
        if file.stat().st_size > _MOST_SCRIPT_BYTES:
            raise ConfigurationError(f"model {name}: {file} is larger than a script may be")
        turns = scripted.script_in(file.read_text("utf-8"), str(file))
    except OSError as problem:
        raise ConfigurationError(
            f"model {name}: {file} cannot be read ({problem.strerror}); name a script that can"
        ) from None
    except ValueError as problem:
        raise ConfigurationError(f"model {name}: {problem}") from None
    limits = {
        key: value
        for key, value in (
            ("window", model.window),
            ("max_output_tokens", model.max_output_tokens),
        )
        if value is not None
    }
    return scripted.ScriptedModel(turns, name=model.model or file.name, **limits)
