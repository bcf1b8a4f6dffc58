"""The address of a question to a provider: its own, with what is asked behind it. Pure."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit


def address(url: str, asked: dict[str, str | int]) -> str:
    """What a configured address has behind its `?` stays, but for what is asked here."""
    parts = urlsplit(url)
    configured = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in configured if name not in asked]
    return urlunsplit(parts._replace(query=urlencode([*kept, *asked.items()]), fragment=""))
