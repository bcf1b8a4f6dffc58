"""What a worker's readers make of bytes, called in place: the process around them is not asked."""

import importlib
import io
import json
import subprocess
import sys
import zlib
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdf
import pytest
import trafilatura
from execution.processes import measured
from hypothesis import given
from hypothesis import strategies as st
from pdf_texts import pdf_with
from PIL import Image
from pypdf.errors import DependencyError

from holdfast.execution.extraction import documents, pages, pictures, plain_pages, worker
from holdfast.execution.extraction.families import READERS, Answer, Unparsable

pytestmark = pytest.mark.measured

ROOT = str(Path(worker.__file__).resolve().parents[3])
BOUNDS: dict[str, Any] = {"side": 100, "max_bytes": 20_000, "pixels": 1_000_000}
ARTICLE = (
    "<title>News</title><div class=menu><a href=/1>One</a> <a href=/2>Two</a></div>"
    "<div class=content><h1>A story</h1>"
    + "".join(
        f"<p>In {year} a long sentence told what happened there, and <a href=x>more</a>.</p>"
        for year in range(1900, 1912)
    )
    + "</div><div class=footer>Imprint and cookies</div>"
)


def text_of(answer: Answer) -> str:
    return answer.content.decode()


@pytest.mark.parametrize("reader", [pages, plain_pages])
def test_texts_stay_as_they_are_and_pages_get_their_title(reader: Any) -> None:
    assert text_of(reader.parse({"kind": "text"}, b"<p>a")) == "<p>a"
    page = b"<title>The title</title><p>some words"
    assert text_of(reader.parse({"kind": "html"}, page)) == "# The title\n\nsome words"
    known = b"<title>Words</title><h1>words</h1>x"
    assert text_of(reader.parse({"kind": "html"}, known)) == "# words\n\nx"


def test_where_a_page_says_nothing_its_article_is_found() -> None:
    asked: dict[str, Any] = {"kind": "html", "url": "https://site.example/a/"}
    found = text_of(pages.parse(asked, ARTICLE.encode()))
    assert "A story" in found
    assert "[more](https://site.example/a/x)" in found
    assert "cookies" not in found
    assert "cookies" in text_of(plain_pages.parse(asked, ARTICLE.encode()))


def test_an_article_that_lost_its_code_is_not_taken() -> None:
    asked: dict[str, Any] = {"kind": "html", "url": ""}
    code = ARTICLE + "<div class=footer><pre>x = 1</pre></div>"
    assert "x = 1" in text_of(pages.parse(asked, code.encode()))


@pytest.mark.parametrize("found", [None, "short", "no headings at all, " * 30])
def test_what_trafilatura_finds_has_to_be_enough(
    monkeypatch: pytest.MonkeyPatch, found: str | None
) -> None:
    def extract(*_given: object, **_options: object) -> str | None:
        return found

    monkeypatch.setattr(trafilatura, "extract", extract)
    page = ARTICLE.replace("<p>", "<h2>s</h2><p>").encode()
    assert "cookies" in text_of(pages.parse({"kind": "html", "url": "https://a.example"}, page))


def test_a_tree_that_cannot_be_built_leaves_the_whole_page(monkeypatch: pytest.MonkeyPatch) -> None:
    assert text_of(pages.parse({"kind": "html", "url": "https://a.example"}, b"<!-- -->")) == ""
    monkeypatch.setattr(pages, "_LARGEST", 10)
    assert "cookies" in text_of(pages.parse({"kind": "html", "url": ""}, ARTICLE.encode()))


def test_pdf_pages_in_order_and_as_far_as_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    content = pdf_with("one", "two", "three")
    whole = documents.parse({"seconds": 10.0}, content)
    assert text_of(whole) == "one\n\ntwo\n\nthree"
    assert whole.facts == {"pages": 3, "read": 3, "damaged": 0}
    assert documents.parse({"seconds": 0.0}, content).facts["read"] == 0
    monkeypatch.setattr(documents, "_MOST_CHARACTERS", 4)
    assert documents.parse({"seconds": 10.0}, content).facts["read"] == 2


def test_a_damaged_page_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    before = pypdf.PageObject.extract_text

    def fragile(page: pypdf.PageObject, *given: Any, **options: Any) -> str:
        text = before(page, *given, **options)
        if "two" in text:
            raise KeyError("/Font")
        return text

    monkeypatch.setattr(pypdf.PageObject, "extract_text", fragile)
    answer = documents.parse({"seconds": 10.0}, pdf_with("one", "two", "three"))
    assert (text_of(answer), answer.facts["damaged"]) == ("one\n\nthree", 1)


def locked(password: str) -> bytes:
    writer, made = pypdf.PdfWriter(BytesIO(pdf_with("secret"))), BytesIO()
    writer.encrypt(password, owner_password="other", algorithm="RC4-128")
    writer.write(made)
    return made.getvalue()


def test_a_protected_pdf_is_read_only_without_a_password() -> None:
    assert text_of(documents.parse({"seconds": 10.0}, locked(""))) == "secret"
    with pytest.raises(Unparsable, match="password"):
        documents.parse({"seconds": 10.0}, locked("word"))


def test_a_pdf_in_an_encryption_that_is_missing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_given: object, **_options: object) -> None:
        raise DependencyError("cryptography")

    monkeypatch.setattr(pypdf, "PdfReader", missing)
    with pytest.raises(Unparsable, match="encrypted in a way"):
        documents.parse({"seconds": 10.0}, b"")


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader_of_pdf_files(content: bytes) -> None:
    with pytest.raises(Unparsable):
        documents.parse({"seconds": 1.0}, b"%PDF-1.4\n" + content)


def drawn(
    form: str, size: tuple[int, int] = (200, 100), mode: str = "RGB", **options: Any
) -> bytes:
    made = BytesIO()
    Image.new(mode, size, None).save(made, form, **options)
    return made.getvalue()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
def test_the_facts_of_a_picture_and_a_copy(form: str) -> None:
    answer = pictures.parse(BOUNDS, drawn(form))
    facts = answer.facts
    assert (facts["format"], facts["width"], facts["height"], facts["frames"]) == (
        *(form, 200, 100, 1),
    )
    with Image.open(BytesIO(answer.content)) as copy:
        assert copy.size == (100, 50) == (facts["copy_width"], facts["copy_height"])
        assert facts["media_type"] == f"image/{(copy.format or '').lower()}"


def test_frames_are_counted_and_the_first_is_shown() -> None:
    made = BytesIO()
    rest = [Image.new("RGB", (9, 9), colour) for colour in ("red", "blue")]
    Image.new("RGB", (9, 9), "green").save(made, "GIF", save_all=True, append_images=rest)
    answer = pictures.parse(BOUNDS, made.getvalue())
    assert answer.facts["frames"] == 3
    with Image.open(BytesIO(answer.content)) as copy:
        assert copy.convert("RGB").getpixel((4, 4)) == (0, 128, 0)


def test_a_copy_has_the_right_way_up_and_nothing_hidden() -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "where I live"
    answer = pictures.parse(BOUNDS, drawn("JPEG", exif=exif.tobytes()))
    assert (answer.facts["copy_width"], answer.facts["copy_height"]) == (50, 100)
    assert b"where I live" not in answer.content


@pytest.mark.parametrize(("mode", "form"), [("RGB", "PNG"), ("RGBA", "PNG"), ("RGBA", "WEBP")])
def test_a_copy_is_within_its_bytes(mode: str, form: str) -> None:
    noise, made = Image.effect_noise((300, 300), 90).convert(mode), BytesIO()
    noise.save(made, form)
    answer = pictures.parse({**BOUNDS, "side": 300, "max_bytes": 12_000}, made.getvalue())
    assert len(answer.content) <= 12_000
    assert answer.facts["media_type"] == "image/jpeg"
    with pytest.raises(Unparsable, match="no copy"):
        pictures.parse({**BOUNDS, "max_bytes": 10}, made.getvalue())


def test_a_bomb_is_refused_by_what_it_declares() -> None:
    bomb = bytearray(drawn("PNG", (10, 10)))
    bomb[16:24] = (60_000).to_bytes(4) + (60_000).to_bytes(4)
    bomb[29:33] = zlib.crc32(bomb[12:29]).to_bytes(4)
    with pytest.raises(Unparsable, match="60000 x 60000"):
        pictures.parse(BOUNDS, bytes(bomb))
    with pytest.raises(Unparsable, match="2000 x 1000 pixels, more than the 1,000,000"):
        pictures.parse(BOUNDS, drawn("BMP", (2000, 1000)))


def test_a_picture_that_is_too_much_for_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object) -> None:
        raise MemoryError

    monkeypatch.setattr(pictures, "_copy", full)
    with pytest.raises(Unparsable, match="memory"):
        pictures.parse(BOUNDS, drawn("PNG"))


@given(st.sampled_from(["PNG", "JPEG", "GIF", "WEBP", "BMP"]), st.integers(0, 400), st.binary())
def test_no_bytes_break_the_reader_of_pictures(form: str, place: int, noise: bytes) -> None:
    content = drawn(form, (20, 20))
    broken = content[: place % len(content)] + noise
    with suppress(Unparsable):
        assert pictures.parse(BOUNDS, broken).content


@pytest.mark.parametrize("family", sorted(READERS))
def test_every_reader_can_be_warmed_up(family: str) -> None:
    reader = READERS[family]  # pyright: ignore[reportArgumentType] - it is one of its keys
    for name in filter(None, (reader.module, reader.without)):
        importlib.import_module(name).warm_up()


MAIN = (
    "import sys; sys.path.append({root!r});"
    " import holdfast.execution.extraction.worker as w;"
    " w.limit = w.confine_thread = lambda *_: None; w.main({family!r})"
)
"""A worker that keeps what it has, so that it can write down what of it ran."""


def run(family: str, *, hides: str = "", asked: bytes = b"") -> tuple[dict[str, Any], bytes]:
    plain = MAIN.format(root=ROOT, family=family)
    plain = f"import sys; sys.modules[{hides!r}] = None; {plain}" if hides else plain
    code = measured.boot(plain).format() if measured.runs() else plain
    ended = subprocess.run(
        [sys.executable, "-I", "-c", code], input=asked, capture_output=True, timeout=15, check=True
    )
    answers = io.BytesIO(ended.stdout)
    head = answers.read(worker.HEAD.size)
    if not head:
        return {}, b""
    length, size = worker.HEAD.unpack(head)
    return json.loads(answers.read(length)), answers.read(size)


def job(facts: dict[str, Any], content: bytes) -> bytes:
    return worker.packed(facts, content) + content


def test_a_worker_does_one_job_and_ends() -> None:
    asked = job({"kind": "html", "url": ""}, b"<p>hello")
    assert run("pages", asked=asked + asked) == ({}, b"hello")
    assert run("pages") == ({}, b"")


@pytest.mark.parametrize(
    ("family", "hides", "facts"),
    [("documents", "pypdf", {"missing": "web"}), ("pictures", "PIL", {"missing": "images"})],
)
def test_what_is_not_installed_is_told(family: str, hides: str, facts: dict[str, str]) -> None:
    assert run(family, hides=hides) == (facts, b"")


@pytest.mark.parametrize("hides", ["trafilatura", "lxml.html"])
def test_pages_are_read_without_the_packages_for_them(hides: str) -> None:
    asked = job({"kind": "html", "url": ""}, b"<p>hello")
    assert run("pages", hides=hides, asked=asked) == ({}, b"hello")


def test_a_reader_that_is_itself_broken_is_no_missing_package() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        run("pages", hides="holdfast.execution.extraction.plain_html")


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Unparsable("it is torn"), "it is torn"),
        (MemoryError(), "it takes more memory than there is for it"),
        (RecursionError(), "it is nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_an_answer(problem: Exception, words: str) -> None:
    def parse(_asked: object, _content: bytes) -> Answer:
        raise problem

    answered = worker._answered(parse, {}, b"")  # pyright: ignore[reportPrivateUsage] - its process is not asked here
    assert answered.facts == {"unparsable": words}
