"""What is taken from the machine: where data is kept, and which values are secret.

Nothing is created here. Where there is no home, the data directory is a place that cannot be
written, and whatever has to write there says so.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote

from holdfast.app import fleet
from holdfast.app.environment import variables
from holdfast.app.locations import data_home, runtime_homes, state_home, user_file
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.late_pattern import late_pattern
from holdfast.record.audit_redaction import MODEL_KEYS

_LAST_WORD = late_pattern(
    r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEY|PGPASSWORD"
    r"|DSN|CONNECTION_STRING)(?:_[0-9]+)?$"
    r"|_(?:PASS|PWD|PAT)$"
    r"|(?:^|_)(?:API|SECRET|ACCESS|PRIVATE)_KEY(?:_|$)",
    re.IGNORECASE,
)
"""What the name of a variable holds when its value is a secret, as whole words."""

_SECRET_HEADER = late_pattern(
    r"auth|cookie|token|secret|key|session|pass|pwd|credential|signature|bearer|jwt|private|login",
    re.IGNORECASE,
)

_HARMLESS_HEADER = late_pattern(
    r"(?:accept(?:-.*)?|content-type|user-agent|(?:http-)?referer|origin|(?:.*-)?title"
    r"|(?:.*-)?(?:version|beta|region|environment))",
    re.IGNORECASE,
)
"""Headers that models are sent, and that are no secret under any circumstances."""

_SHORTEST_HEADER = 8
"""A shorter value, under a name that does not sound like a secret, is a word."""

_SCHEME = late_pattern(r"^(?:bearer|basic|token|apikey|digest)\s+", re.IGNORECASE)

_PASSED_ON = ("PATH", "HOME", "LANG")
"""What a program of ours needs of the environment; everything else may be a secret."""

_PASSWORD_IN_URL = late_pattern(r"[a-z][a-z0-9+.-]*://[^/\s:@]*:([^/\s@]+)@", re.IGNORECASE)
"""The password of an address such as a database's, under whatever name it stands."""

_TOKEN_OF_NATS = late_pattern(r"(?:nats|tls)://([^/\s:@]+)@")
"""What stands where a user would, where NATS knows no user."""

_PASSWORD_AS_PARAMETER = late_pattern(r"\bpassword\s*=\s*'?([^&\s']+)")
"""The other ways to write it for PostgreSQL."""


class _Unshown(dict[str, str]):
    """Variables that are looked up by name, and that no error and no log prints as a whole."""

    def __repr__(self) -> str:
        return "<the parent's environment>"

    __str__ = __repr__


def surroundings_of_this_process(
    settings: Settings, *, environment: Mapping[str, str] | None = None
) -> Surroundings:
    """Look around. Works without a home, and without a home that can be written."""
    told = variables() if environment is None else environment
    own_file = user_file(told)
    keys = [one.key_variable for one in settings.web.search if one.key_variable]
    of_models = [one.key_variable for one in settings.model.values() if one.key_variable]
    headers = settings.telemetry.headers_variable or ""
    declared = frozenset((*settings.secrets.variables, *keys, *of_models, headers))
    written = {**_written(settings), **_headers_in(told.get(headers, ""))}
    is_clustered = settings.engine.kind == "cluster"  # else nothing of it is loaded
    return Surroundings(
        data_home=data_home(told),
        config_home=None if own_file is None else own_file.parent,
        state_home=state_home(told),
        runtime_homes=runtime_homes(told),
        environment={name: told[name] for name in _PASSED_ON if name in told},
        parent_environment=_Unshown(told),
        secrets=_secrets({**told, **written}, declared, _addresses(settings)),
        search_keys={name: told[name] for name in keys if told.get(name)},
        model_keys=tuple(value for name in (*MODEL_KEYS, *of_models) if (value := told.get(name))),
        bus=fleet.bus_of(settings) if is_clustered else None,
        announces=fleet.announcing(settings) if is_clustered else None,
    )


def _written(settings: Settings) -> dict[str, str]:
    """What a configuration itself holds for servers and models, as variables of names that tell."""
    found: dict[str, str] = {}
    for name, server in settings.mcp.items():
        variables = {f"{name}_{key}": value for key, value in server.env.items()}
        headers = {
            f"{name}_{key}_SECRET": value
            for key, value in server.headers.items()
            if _SECRET_HEADER.search(key)
        }
        for key, value in {**variables, **headers}.items():
            found[f"MCP_{key}"] = _without_scheme(value)
    for name, model in settings.model.items():
        for key, value in model.headers.items():
            if _is_secret(key, value):
                found[f"MODEL_{name}_{key}_SECRET"] = _without_scheme(value)
    if settings.cluster.password:
        found["CLUSTER_PASSWORD"] = settings.cluster.password
    tokens = filter(None, map(_TOKEN_OF_NATS.match, settings.cluster.servers))
    found.update({f"CLUSTER_{number}_TOKEN": one[1] for number, one in enumerate(tokens)})
    return {key: value for key, value in found.items() if "${" not in value}


def _addresses(settings: Settings) -> tuple[str, ...]:
    """Whatever may hold a password."""
    cluster = settings.cluster
    stores = (settings.store.url or "", *(one.url for one in cluster.tenant.values()))
    return (*stores, *cluster.servers)


def _is_secret(header: str, value: str) -> bool:
    """Whether a header of a model's table may hold a secret: nobody knows all their names."""
    if _SECRET_HEADER.search(header):
        return True
    is_a_word = len(value.strip()) < _SHORTEST_HEADER
    return not is_a_word and _HARMLESS_HEADER.fullmatch(header) is None


def _without_scheme(value: str) -> str:
    """The secret of a header alone: it may stand elsewhere without the word before it."""
    return _SCHEME.sub("", value.strip()).strip()


def _headers_in(text: str) -> dict[str, str]:
    """What a collector of telemetry wants to be told, as variables of names that tell."""
    found: dict[str, str] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if _SECRET_HEADER.search(name):
            found[f"TELEMETRY_{name}_SECRET"] = _without_scheme(unquote(value))
    return found


def looks_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret."""
    return _LAST_WORD.search(name) is not None


def _secrets(
    environment: Mapping[str, str], declared: frozenset[str], addresses: tuple[str, ...]
) -> tuple[str, ...]:
    found = {
        value
        for name, value in environment.items()
        if value and (name in declared or looks_secret(name))
    }
    for value in (*environment.values(), *addresses):
        found.update(_PASSWORD_IN_URL.findall(value))
    for address in addresses:
        found.update(_PASSWORD_AS_PARAMETER.findall(address))
    # It is written with signs for signs there, and as it is elsewhere.
    found.update([unquote(one) for one in found if any(one in address for address in addresses)])
    return tuple(sorted(found))
