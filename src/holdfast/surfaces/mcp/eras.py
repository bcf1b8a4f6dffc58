"""The two eras of the protocol, and who asks in which.

Legacy: a handshake says once what the client can. Modern: every request says it. Pure: what is read
here was decoded elsewhere, and nothing is kept.
"""

import msgspec
from msgspec import UNSET, Raw, UnsetType

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.surfaces.mcp.messages import INVALID_PARAMS, Fault, Id

MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The newest first."""
ELICITING = ("2025-11-25", "2025-06-18")
"""The legacy versions in which a person can be asked through the client."""
BATCHING = "2025-03-26"
"""The one version with batches."""
OLDEST_OVER_HTTP = "2025-03-26"
"""What a request without the header speaks."""

HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

_PREFIX = "io.modelcontextprotocol/"
VERSION_KEY = f"{_PREFIX}protocolVersion"
CAPABILITIES_KEY = f"{_PREFIX}clientCapabilities"
SERVER_KEY = f"{_PREFIX}serverInfo"
SUBSCRIPTION_KEY = f"{_PREFIX}subscriptionId"

_MOST_OF_A_NAME = 80

Token = Id | float


class _Client(msgspec.Struct, frozen=True):
    name: str = ""
    version: str = ""


class Meta(msgspec.Struct, frozen=True):
    """What a request says beside its parameters."""

    progress: Token | None = msgspec.field(default=None, name="progressToken")
    version: str | UnsetType = msgspec.field(default=UNSET, name=VERSION_KEY)
    capabilities: dict[str, Raw] | UnsetType = msgspec.field(default=UNSET, name=CAPABILITIES_KEY)
    client: _Client = msgspec.field(default=_Client(), name=f"{_PREFIX}clientInfo")


class _Params(msgspec.Struct, frozen=True):
    meta: Meta = msgspec.field(default=Meta(), name="_meta")


class _Handshake(msgspec.Struct, frozen=True):
    version: str = msgspec.field(name="protocolVersion")
    capabilities: dict[str, Raw] = {}
    client: _Client = msgspec.field(default=_Client(), name="clientInfo")


class Caller(msgspec.Struct, frozen=True):
    """Who asks: what they speak, and what they can be asked."""

    version: str
    elicits: bool = False
    """Whether a person can be asked through them, with a form."""
    name: str = ""
    """As they call themselves; nobody has checked it."""

    @property
    def modern(self) -> bool:
        """Whether they speak of an era without handshakes."""
        return self.version in MODERN


_params = msgspec.json.Decoder(_Params)
_handshake = msgspec.json.Decoder(_Handshake)


def meta_of(params: bytes) -> Meta | Fault:
    """What a request says of itself."""
    try:
        return _params.decode(params).meta
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return Fault(INVALID_PARAMS, f"Invalid params: {problem}")


def is_modern(meta: Meta) -> bool:
    """Whether a request speaks for itself, whatever it says."""
    return meta.version is not UNSET


def modern_caller(meta: Meta) -> Caller | Fault:
    """Who asks, by the request alone."""
    missing = [
        key
        for key, value in ((VERSION_KEY, meta.version), (CAPABILITIES_KEY, meta.capabilities))
        if value is UNSET
    ]
    if missing or meta.version is UNSET or meta.capabilities is UNSET:
        return Fault(INVALID_PARAMS, f"Invalid params: _meta lacks {' and '.join(missing)}")
    if meta.version not in MODERN:
        data: JsonObject = {"supported": list(MODERN), "requested": meta.version}
        return Fault(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    return Caller(
        version=meta.version, elicits=_elicits(meta.capabilities), name=_shown(meta.client)
    )


def greeted(params: bytes) -> Caller | Fault:
    """Who asks, by their handshake: in the version they want, or in the newest we share."""
    try:
        said = _handshake.decode(params)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return Fault(INVALID_PARAMS, f"Invalid params: {problem}")
    version = said.version if said.version in LEGACY else LEGACY[0]
    elicits = version in ELICITING and _elicits(said.capabilities)
    return Caller(version=version, elicits=elicits, name=_shown(said.client))


def lacks_elicitation() -> Fault:
    """The call cannot be answered without a person, and the client asks none."""
    needed: JsonObject = {"requiredCapabilities": {"elicitation": {"form": {}}}}
    return Fault(MISSING_CAPABILITY, "Missing required client capability: elicitation", needed)


def _elicits(capabilities: dict[str, Raw]) -> bool:
    """Whether forms are among what they can; an empty object means exactly that."""
    said = capabilities.get("elicitation")
    if said is None:
        return False
    try:
        modes: JsonValue = msgspec.json.decode(said)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(modes, dict) and (not modes or isinstance(modes.get("form"), dict))


def _shown(client: _Client) -> str:
    words = " ".join(f"{client.name} {client.version}".split())
    return "".join(one for one in words if one.isprintable())[:_MOST_OF_A_NAME]
