"""The variables by which programs learn that there is a proxy. Pure."""

_OWN = "localhost,127.0.0.1,::1"


def proxy_environment(port: int) -> dict[str, str]:
    """For programs in a sandbox whose proxy listens on this port of their own loopback.

    Programs differ in which spelling they read. What they start on their own loopback they reach
    directly: the proxy would look for it outside.
    """
    by_http = f"http://127.0.0.1:{port}"
    upper = {
        "HTTP_PROXY": by_http,
        "HTTPS_PROXY": by_http,
        "ALL_PROXY": f"socks5h://127.0.0.1:{port}",
        "NO_PROXY": _OWN,
    }
    return upper | {name.lower(): value for name, value in upper.items()}
