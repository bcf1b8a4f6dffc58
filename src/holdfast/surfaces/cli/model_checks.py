"""What `holdfast doctor` says of models: is there all that they need? No provider is asked."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from holdfast.agent.models import local
from holdfast.app.model_settings import ModelSettings
from holdfast.app.models import key_variable_of, sends_in_the_clear
from holdfast.surfaces.cli.looks import Finding


def check_models(
    models: Mapping[str, ModelSettings], environment: Mapping[str, str]
) -> Iterator[Finding]:
    """Keys, packages and files of configured models."""
    for name, model in models.items():
        if model.kind == "local":
            yield _local(f"model.{name}", model)
        elif model.kind == "scripted":
            yield _file(f"model.{name}", Path(model.file or ""))
        else:
            yield _over_http(f"model.{name}", model, environment)


def _over_http(name: str, model: ModelSettings, environment: Mapping[str, str]) -> Finding:
    variable = key_variable_of(model)
    if variable is not None and not environment.get(variable, "").strip():
        detail = f"its key is missing: the environment variable {variable} is not set"
        return Finding("WARN", name, detail, "set it, or name another one with key_variable")
    if sends_in_the_clear(model):
        detail = "its key goes over the network without encryption"
        return Finding("WARN", name, detail, "write https:// in base_url")
    where = "" if model.base_url is None else f" at {model.base_url}"
    keyless = variable is None and not model.headers
    told = "; no key is sent to it: if it wants one, name it with key_variable" if keyless else ""
    return Finding("OK", name, f"{model.model}{where}{told}; nobody was asked")


def _local(name: str, model: ModelSettings) -> Finding:
    if not local.has_program():
        return Finding("WARN", name, local.NO_PROGRAM, local.INSTALL_PROGRAM)
    if model.file is not None:
        return _file(name, Path(model.file))
    found = local.packaged_weights()
    if found is None:
        return Finding("WARN", name, local.NO_WEIGHTS, local.INSTALL_WEIGHTS)
    return Finding("OK", name, found.name)


def _file(name: str, file: Path) -> Finding:
    if file.is_file():
        return Finding("OK", name, str(file))
    return Finding("WARN", name, f"{file}: there is no such file", "correct file, or make it")
