"""The `[telemetry]` table: who may switch it on, where it goes, and what of it is secret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import Places

from holdfast import ConfigurationError
from holdfast.app.settings import Settings, TelemetrySettings
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.app.telemetry import destination_of, headers_in
from holdfast.record.telemetry.door import Destination

WHOLE = """
[telemetry]
enabled = true
endpoint = "https://collector.example.com/otlp/"
headers_variable = "COLLECTOR_HEADERS"
service_name = "my agent"
content = true
"""


def test_it_is_off_unless_a_person_switches_it_on(places: Places) -> None:
    assert places.load().settings.telemetry == TelemetrySettings()
    assert TelemetrySettings().enabled is False
    assert places.load(user=WHOLE).settings.telemetry == TelemetrySettings(
        enabled=True,
        endpoint="https://collector.example.com/otlp/",
        headers_variable="COLLECTOR_HEADERS",
        service_name="my agent",
        content=True,
    )


def test_a_project_that_is_not_trusted_has_no_say_in_it(places: Places) -> None:
    loaded = places.load(project=WHOLE)
    assert loaded.settings == Settings()
    assert [one.partition(": not taken")[0] for one in loaded.notices] == [
        f"{places.project_file}: telemetry.{key}"
        for key in ("enabled", "endpoint", "headers_variable", "service_name", "content")
    ]


def test_a_project_that_is_not_trusted_does_not_turn_the_persons_around(places: Places) -> None:
    user = '[telemetry]\nenabled = true\nendpoint = "http://localhost:4318"\n'
    project = '[telemetry]\nendpoint = "http://evil.example.com"\ncontent = true\n'
    found = places.load(user=user, project=project).settings.telemetry
    assert (found.endpoint, found.content) == ("http://localhost:4318", False)


def test_it_can_be_switched_on_by_the_environment(places: Places) -> None:
    loaded = places.load(variables={"HOLDFAST_TELEMETRY__ENABLED": "true"})
    assert loaded.settings.telemetry.enabled is True


@pytest.mark.parametrize(
    ("endpoint", "says"),
    [
        ("localhost:4318", "no address"),
        ("grpc://localhost:4317", "no address"),
        ("http://", "no address"),
        ("http://[::1", "no address"),
        ("http://host:99999", "no address"),
        ("http://a host", "no address"),
        ("http://host\\n", "no address"),
        ("http://ada:sesame@host", "password"),
        ("http://host?key=sesame", "more than an address"),
        ("http://host#sesame", "more than an address"),
        ("http://host/v1/traces", "one kind"),
        ("http://host/v1/metrics/", "one kind"),
    ],
)
def test_an_address_that_is_none_is_refused_and_not_shown(
    places: Places, endpoint: str, says: str
) -> None:
    with pytest.raises(ConfigurationError, match=says) as refused:
        places.load(user=f'[telemetry]\nendpoint = "{endpoint}"\n')
    told = str(refused.value)
    assert told.startswith(f"{places.user_file}: telemetry.endpoint: ")
    assert 'write endpoint = "http://localhost:4318"' in told
    assert "sesame" not in told


def test_an_address_that_a_program_hands_in_is_looked_at_too() -> None:
    with pytest.raises(ConfigurationError, match="no address"):
        destination_of(TelemetrySettings(endpoint="nowhere"), {})


def test_headers_come_from_the_environment_alone_and_are_not_shown() -> None:
    settings = TelemetrySettings(endpoint="http://localhost:4318", headers_variable="KEYS")
    given_one = "Authorization=Bearer%20sesame-open, x-scope=a=b,"
    found = destination_of(settings, {"KEYS": given_one})
    assert found == Destination(
        endpoint="http://localhost:4318",
        headers=(("Authorization", "Bearer sesame-open"), ("x-scope", "a=b")),
    )
    assert "sesame" not in repr(found)


@pytest.mark.parametrize("environment", [{}, {"KEYS": ""}])
def test_a_variable_that_is_not_set_is_named(environment: dict[str, str]) -> None:
    settings = TelemetrySettings(endpoint="http://localhost:4318", headers_variable="KEYS")
    with pytest.raises(ConfigurationError, match="KEYS is not set; set it where"):
        destination_of(settings, environment)


def test_headers_for_nobody_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"set telemetry\.endpoint, or take it out"):
        destination_of(TelemetrySettings(headers_variable="KEYS"), {"KEYS": "a=b"})


@pytest.mark.parametrize("text", ["sesame", "=sesame", "a b=sesame", "a=sesame%0d%0aX: y", "a=é"])
def test_what_are_no_headers_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(ConfigurationError, match="write name=value") as refused:
        headers_in(text, "KEYS")
    assert "sesame" not in str(refused.value)


@given(st.text(alphabet="aZ-=,% \r\n\té\x00", max_size=30))
def test_any_text_is_headers_that_can_be_sent_or_refused(text: str) -> None:
    try:
        found = headers_in(text, "KEYS")
    except ConfigurationError:
        return
    for name, value in found:
        assert name
        assert value.isascii()
        assert not {"\r", "\n", "\0", ":", " "} & {*name}
        assert not {"\r", "\n", "\0"} & {*value}


def test_what_the_collector_is_told_is_a_secret() -> None:
    told = {"KEYS": "authorization=Bearer%20open-sesame-1,x-tenant=seven,api-key=k-9182736"}
    settings = Settings(telemetry=TelemetrySettings(headers_variable="KEYS"))
    found = surroundings_of_this_process(settings, environment={**told, "HOME": "/nowhere"})
    assert {"open-sesame-1", "k-9182736", told["KEYS"]} <= {*found.secrets}
    assert "seven" not in found.secrets
