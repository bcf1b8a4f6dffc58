"""Through which proxy a model is asked: as its table says, or as the environment does for all.

The environment's names and their meaning are those that other programs know: `https_proxy`,
`http_proxy`, `all_proxy` and `no_proxy`, in small letters or in capitals.
"""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from holdfast.app.problems import ConfigurationError

_TAKEN = frozenset({"http", "https"})


def proxy_for(url: str, told: str | None, environment: Mapping[str, str], name: str) -> str:
    """The proxy for a URL; empty: none. ConfigurationError for one that cannot be used.

    ``told``: what the model's table says; None: nothing, and then this machine needs none to be
    reached.
    """
    if told is not None:
        return told
    host = urlsplit(url).hostname or ""
    if _is_here(host) or _is_excepted(url, _variable(environment, "no_proxy")):
        return ""
    scheme = urlsplit(url).scheme
    found = _of_scheme(environment, scheme) or _variable(environment, "all_proxy")
    if not found:
        return ""
    proxy = found if "://" in found else f"http://{found}"
    if urlsplit(proxy).scheme not in _TAKEN:
        raise ConfigurationError(
            f"model {name}: the environment names a proxy of the kind {urlsplit(proxy).scheme},"
            ' which cannot be used for models; write proxy = "http://HOST:PORT" into its table, or'
            ' proxy = "" to go without one'
        )
    return proxy


def _of_scheme(environment: Mapping[str, str], scheme: str) -> str:
    # Where requests come in as variables, anybody can set this one: `Proxy:` is a header there.
    if scheme == "http" and "REQUEST_METHOD" in environment:
        return environment.get("http_proxy", "").strip()
    return _variable(environment, f"{scheme}_proxy")


def _variable(environment: Mapping[str, str], name: str) -> str:
    return (environment.get(name) or environment.get(name.upper()) or "").strip()


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _is_here(host: str) -> bool:
    address = _address(host)
    if address is not None:
        return address.is_loopback or address.is_unspecified
    return host == "localhost" or host.endswith(".localhost")


def _is_excepted(url: str, exceptions: str) -> bool:
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return any(_matches(one.lower(), host, port) for one in exceptions.replace(",", " ").split())


def _matches(exception: str, host: str, port: int) -> bool:
    if exception == "*":
        return True
    address = _address(host)
    if address is not None:
        try:
            return address in ip_network(exception.strip("[]"), strict=False)
        except ValueError:
            pass  # a name, or an address with a port
    name, colon, wanted = exception.rpartition(":")
    if colon and wanted.isdecimal() and "]" not in wanted:
        if wanted != str(port):
            return False
        exception = name.strip("[]")
    name = exception.removeprefix("*").removeprefix(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))
