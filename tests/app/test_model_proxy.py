"""Through which proxy a model is asked: by its table, by the environment, and never to here."""

import json
from pathlib import Path

import pytest
from model_server import chat_events
from raw_http import LAST, STREAM, chunked, raw_server

from holdfast.agent.models import openai_chat
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.scripted import Turn
from holdfast.agent.models.setup import ModelSetup
from holdfast.app.model_proxy import proxy_for
from holdfast.app.model_settings import ModelSettings
from holdfast.app.models import model_named
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.chunks import UserChunk
from holdfast.contract.model import ChatModel, ModelError, ModelRequest

pytestmark = pytest.mark.anyio

_NOWHERE = Path("/nowhere")
REMOTE = "https://api.example.org/v1"
PROXY = "http://proxy.example:3128"
ASKED = ModelRequest(rows=(UserChunk("Hello"),))
ANSWER = [STREAM + chunked("".join(chat_events(Turn(text="hi"))).encode()) + LAST]


def _proxy(url: str = REMOTE, told: str | None = None, **environment: str) -> str:
    return proxy_for(url, told, environment, "m")


@pytest.mark.parametrize(
    ("url", "environment", "found"),
    [
        (REMOTE, {}, ""),
        (REMOTE, {"HTTPS_PROXY": PROXY}, PROXY),
        (REMOTE, {"https_proxy": PROXY, "HTTPS_PROXY": "http://other:1"}, PROXY),
        (REMOTE, {"HTTPS_PROXY": " "}, ""),
        (REMOTE, {"HTTP_PROXY": PROXY}, ""),
        (REMOTE, {"ALL_PROXY": PROXY}, PROXY),
        (REMOTE, {"HTTPS_PROXY": "proxy.example:3128"}, PROXY),
        (REMOTE, {"HTTPS_PROXY": "http://user:word@proxy:1"}, "http://user:word@proxy:1"),
        ("http://api.example.org/v1", {"HTTP_PROXY": PROXY}, PROXY),
        ("http://api.example.org/v1", {"HTTP_PROXY": PROXY, "REQUEST_METHOD": "GET"}, ""),
        ("http://api.example.org/v1", {"http_proxy": PROXY, "REQUEST_METHOD": "GET"}, PROXY),
    ],
)
def test_the_environment_names_a_proxy(url: str, environment: dict[str, str], found: str) -> None:
    assert _proxy(url, **environment) == found


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/v1",
        "http://127.8.8.8/v1",
        "http://[::1]:8000/v1",
        "http://0.0.0.0:8000/v1",
        "http://localhost:8000/v1",
        "http://models.localhost/v1",
    ],
)
def test_this_machine_is_not_asked_through_a_proxy(url: str) -> None:
    assert _proxy(url, HTTP_PROXY=PROXY, ALL_PROXY=PROXY) == ""


@pytest.mark.parametrize(
    ("exceptions", "url", "is_excepted"),
    [
        ("*", REMOTE, True),
        ("api.example.org", REMOTE, True),
        ("API.Example.org", REMOTE, True),
        ("example.org", REMOTE, True),
        (".example.org", REMOTE, True),
        ("*.example.org", REMOTE, True),
        ("other, example.org", REMOTE, True),
        ("other example.org", REMOTE, True),
        ("ample.org", REMOTE, False),
        ("api.example.org.evil", REMOTE, False),
        ("", REMOTE, False),
        (", .", REMOTE, False),
        ("api.example.org:443", REMOTE, True),
        ("api.example.org:8443", REMOTE, False),
        ("10.0.0.0/8", "https://10.1.2.3/v1", True),
        ("10.1.2.3", "https://10.1.2.3/v1", True),
        ("10.1.2.3:8443", "https://10.1.2.3:8443/v1", True),
        ("10.1.2.3:8444", "https://10.1.2.3:8443/v1", False),
        ("10.0.0.0/8", "https://11.1.2.3/v1", False),
        ("fd00::/8", "https://[fd00::1]/v1", True),
        ("[fd00::1]", "https://[fd00::1]/v1", True),
        ("[fd00::1]:8443", "https://[fd00::1]:8443/v1", True),
        ("example.org", "https://10.1.2.3/v1", False),
    ],
)
def test_some_hosts_are_excepted(exceptions: str, url: str, is_excepted: bool) -> None:
    assert _proxy(url, HTTPS_PROXY=PROXY, NO_PROXY=exceptions) == ("" if is_excepted else PROXY)


def test_a_table_knows_better_than_the_environment() -> None:
    assert _proxy(told="", HTTPS_PROXY=PROXY) == ""
    assert _proxy(told="http://mine:1", HTTPS_PROXY=PROXY, NO_PROXY="*") == "http://mine:1"


def test_a_proxy_that_cannot_be_used_says_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match="of the kind socks5") as caught:
        _proxy(ALL_PROXY="socks5://user:word@proxy:1080")
    assert "word" not in str(caught.value)
    assert 'proxy = "" to go without one' in str(caught.value)


def _model(settings: ModelSettings, **environment: str) -> ChatModel:
    around = Surroundings(data_home=_NOWHERE, parent_environment=environment)
    return model_named(Settings(model={"a": settings}), around, "a")


async def test_a_model_is_asked_through_the_proxy_of_the_environment() -> None:
    remote = ModelSettings(kind="openai", model="m", base_url="http://models.example/v1")
    async with raw_server(ANSWER) as (server, url):
        proxy = url.removesuffix("/v1").replace("://", "://user:word@")
        model = _model(remote, HTTP_PROXY=proxy)
        assert (await model.complete(ASKED)).text == "hi"
        await model.close()
    line, *headers = server.heads[0].decode().split("\r\n")
    assert line == "POST http://models.example/v1/chat/completions HTTP/1.1"
    assert "Proxy-Authorization: Basic dXNlcjp3b3Jk" in headers
    assert "Host: models.example" in headers
    assert json.loads(server.asked[0])["model"] == "m"


async def test_a_model_here_is_asked_directly() -> None:
    async with raw_server(ANSWER) as (server, url):
        here = ModelSettings(kind="openai", model="m", base_url=url)
        model = _model(here, HTTP_PROXY="http://127.0.0.1:9")
        assert (await model.complete(ASKED)).text == "hi"
        await model.close()
    assert server.heads[0].startswith(b"POST /v1/chat/completions HTTP/1.1")


async def test_a_proxy_that_is_not_there_is_named() -> None:
    async with raw_server() as (_, url):
        pass
    proxy = url.removesuffix("/v1").replace("://", "://user:word@")
    setup = ModelSetup(model="m", url="http://models.example/v1", proxy=proxy)
    model = HttpModel(setup, openai_chat.FORM)
    with pytest.raises(ModelError, match=r"the proxy 127\.0\.0\.1:") as caught:
        await model.complete(ASKED)
    await model.close()
    assert caught.value.trouble == "connection"
    assert "word" not in f"{caught.value}{setup!r}"


async def test_a_proxy_that_lets_nobody_through_is_told() -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    async with raw_server([refusal]) as (server, url):
        setup = ModelSetup(model="m", url=REMOTE, proxy=url.removesuffix("/v1"))
        model = HttpModel(setup, openai_chat.FORM)
        with pytest.raises(
            ModelError, match=r"api\.example\.org:443 \(it answered 407\)"
        ) as caught:
            await model.complete(ASKED)
        await model.close()
    assert (caught.value.trouble, caught.value.retryable) == ("bad_request", False)
    assert server.heads[0].startswith(b"CONNECT api.example.org:443 HTTP/1.1")
