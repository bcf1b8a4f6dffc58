"""What `holdfast doctor` says of telemetry: is it on, where does it go, and can it? Nobody is
reached."""

from collections.abc import Mapping

from holdfast.app import telemetry
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings
from holdfast.surfaces.cli.looks import Finding

_NAME = "telemetry"


def check_telemetry(settings: Settings, environment: Mapping[str, str]) -> Finding:
    """Is it off, or does it work as it is configured?"""
    if not settings.telemetry.enabled:
        return Finding("OK", _NAME, "off")
    try:
        destination = telemetry.checked(settings, environment)
    except ConfigurationError as problem:
        what, _, step = str(problem).partition("; ")
        return Finding("FAIL", _NAME, what, step)
    content = "with what is said" if settings.telemetry.content else "without what is said"
    if destination.endpoint is None:
        detail = f"on, {content}: only a program with an OpenTelemetry of its own is told"
        return Finding("WARN", _NAME, detail, 'set telemetry.endpoint = "http://localhost:4318"')
    return Finding("OK", _NAME, f"on, {content}: {destination.endpoint}")
