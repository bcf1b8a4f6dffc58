"""Parsing in processes of their own: what a hostile file does is told, and nothing more."""

import os
import signal
import sys
import time
import zlib
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import anyio
import pypdf
import pytest
from pdf_texts import pdf_with
from PIL import Image
from pypdf.generic import NameObject, StreamObject

from holdfast.contract.errors import Unavailable
from holdfast.contract.extraction import Document, PictureBounds, Unreadable
from holdfast.execution.extraction import parsers
from holdfast.execution.extraction.parsers import MissingPackages, Parsers

pytestmark = pytest.mark.anyio

PAGE = Document(content=b"<p>a <a href=b>c</a>", kind="html", url="https://site.example/x/")


@pytest.fixture
async def reading() -> AsyncGenerator[Parsers]:
    made = Parsers()
    made.open()
    yield made
    await made.close()


def number_of_ready(made: Parsers) -> list[int]:
    return [one.process.pid for one in made._ready.values()]  # pyright: ignore[reportPrivateUsage] - they are what is tested


def acting(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Instead of a worker something else is started."""
    monkeypatch.setattr(parsers, "_BOOT", code.replace("{", "{{").replace("}", "}}"))


async def test_one_is_kept_ready_confined_and_used_once(reading: Parsers) -> None:
    first = await reading.text(PAGE)
    assert first.text == "a [c](https://site.example/x/b)"
    (ready,) = number_of_ready(reading)
    status = Path(f"/proc/{ready}/status")
    await becomes(lambda: "Seccomp:\t2" in status.read_text("ascii"))
    assert "NoNewPrivs:\t1" in status.read_text("ascii")
    assert await reading.text(PAGE) == first
    (other,) = number_of_ready(reading)
    assert other != ready
    await becomes(lambda: not Path(f"/proc/{ready}").exists())
    await reading.close()
    await becomes(lambda: not Path(f"/proc/{other}").exists())
    assert not number_of_ready(reading)


async def test_one_that_waited_too_long_is_replaced(reading: Parsers) -> None:
    first = await reading.text(PAGE)
    (ready,) = number_of_ready(reading)
    os.kill(ready, signal.SIGALRM)
    assert await reading.text(PAGE) == first


async def test_what_has_ended_keeps_none_ready() -> None:
    made = Parsers()
    await made.text(PAGE)
    assert not number_of_ready(made)


async def test_all_kinds_are_read(reading: Parsers) -> None:
    pdf = await reading.text(Document(content=pdf_with("words"), kind="pdf"))
    assert (pdf.text, pdf.note) == ("words", None)
    made = BytesIO()
    Image.new("RGBA", (3000, 30), "red").save(made, "PNG")
    picture = await reading.picture(made.getvalue(), PictureBounds())
    assert (picture.format, picture.width, picture.height, picture.mode) == (
        *("PNG", 3000, 30, "RGBA"),
    )
    assert (picture.copy_width, picture.media_type) == (1568, "image/png")
    assert picture.content.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("facts", "note"),
    [
        ({"pages": 9, "read": 4, "damaged": 0}, "Only the first 4 of 9 pages were read"),
        ({"pages": 9, "read": 9, "damaged": 2}, "2 of 9 pages are damaged and left out."),
    ],
)
async def test_what_is_missing_in_a_pdf_is_noted(
    monkeypatch: pytest.MonkeyPatch, facts: dict[str, int], note: str
) -> None:
    acting(monkeypatch, ANSWERING.format(facts=facts, content=b"text"))
    read = await Parsers().text(Document(content=b"", kind="pdf"))
    assert read.note is not None
    assert note in read.note


ANSWERING = """
import sys, json, struct
head = json.dumps({facts!r}).encode()
sys.stdout.buffer.write(struct.pack("=IQ", len(head), len({content!r})) + head + {content!r})
"""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os; os.kill(os.getpid(), 11)", "was ended by SIGSEGV"),
        ("import os; os.kill(os.getpid(), 40)", "broke"),
        ("raise SystemExit(3)", "broke"),
        ("print('not an answer, and long enough to be one')", "broke"),
        ("import sys; sys.stdout.buffer.write(b'\\0' * 5)", "broke"),
        ("import sys; sys.stdout.buffer.write(b'\\1' + b'\\0' * 11 + b'{')", "broke"),
        ("import sys; sys.stdout.buffer.write(b'\\xff' * 12)", "broke"),
    ],
)
async def test_a_worker_that_breaks_is_a_failure_that_says_so(
    monkeypatch: pytest.MonkeyPatch, code: str, words: str
) -> None:
    acting(monkeypatch, code)
    with pytest.raises(Unreadable, match=words):
        await Parsers().text(PAGE)


async def test_an_answer_that_is_no_picture_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    acting(monkeypatch, ANSWERING.format(facts={"format": 3}, content=b""))
    with pytest.raises(Unreadable, match="its answer is none"):
        await Parsers().picture(b"", PictureBounds())


async def test_what_is_missing_here_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    acting(monkeypatch, ANSWERING.format(facts={"missing": "images"}, content=b""))
    with pytest.raises(MissingPackages, match=r"pip install 'holdfast\[images\]'"):
        await Parsers().picture(b"", PictureBounds())


async def test_without_a_python_there_is_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(Unavailable, match="No parser can be started"):
        await Parsers().text(PAGE)


async def test_one_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    acting(monkeypatch, "import time; time.sleep(60)")
    with pytest.raises(Unreadable, match=r"ended after 0\.2 s"):
        await Parsers(0.2).text(PAGE)


async def test_who_stops_waiting_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = tmp_path / "pid"
    acting(
        monkeypatch,
        f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(60)",
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Parsers().text, PAGE)
        await becomes(lambda: told.exists() and bool(told.read_text("ascii")))
        tasks.cancel_scope.cancel()
    # Stopped while it was being started, it is killed, and reaped a moment later.
    await becomes(lambda: not (Path("/proc") / told.read_text("ascii")).exists())


def nested_pdf() -> bytes:
    """Arrays within arrays, where the pages should be."""
    deep = b"[" * 200_000
    return (
        b"%PDF-1.4\n1 0 obj << /Type /Catalog /Pages "
        + deep
        + b" >> endobj\ntrailer << /Root 1 0 R >>"
    )


def looping_pdf() -> bytes:
    """Pages whose only child are they themselves."""
    return (
        b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
        b"2 0 obj\n<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>\nendobj\n"
        b"trailer\n<< /Root 1 0 R >>\n"
    )


def bomb_pdf() -> bytes:
    """A page whose words unpack to hundreds of megabytes."""
    writer, made = pypdf.PdfWriter(BytesIO(pdf_with("x"))), BytesIO()
    engine = zlib.compressobj(1)
    packed = b"".join(engine.compress(b" " * (1 << 20)) for _ in range(150)) + engine.flush()
    stream = StreamObject()
    stream[NameObject("/Filter")] = NameObject("/FlateDecode")
    stream._data = packed  # pyright: ignore[reportPrivateUsage] - as it is read from a file
    added = writer._add_object(stream)  # pyright: ignore[reportPrivateUsage] - there is no other way
    writer.pages[0][NameObject("/Contents")] = added
    writer.write(made)
    return made.getvalue()


@pytest.mark.parametrize("make", [nested_pdf, looping_pdf, bomb_pdf])
async def test_a_hostile_pdf_costs_its_reader_and_nobody_else(
    reading: Parsers, make: Callable[[], bytes]
) -> None:
    began = time.monotonic()
    with suppress(Unreadable):
        read = await reading.text(Document(content=make(), kind="pdf"))
        assert len(read.text) < 10_000_000
    assert time.monotonic() - began < parsers.SECONDS + 2
    assert (await reading.text(PAGE)).text


async def test_a_page_of_nothing_but_tags_has_an_end(reading: Parsers) -> None:
    page = b"<div><table><tr><td><a href=x>" * 20_000
    read = await reading.text(Document(content=page, kind="html"))
    assert len(read.text) < len(page)


async def becomes(true: Callable[[], bool]) -> None:
    with anyio.fail_after(15):
        while not true():
            await anyio.sleep(0.01)
