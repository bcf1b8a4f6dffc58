"""The files of the console as data: what there is, of which kind, and a mark of what it holds."""

import hashlib
import re
from importlib.resources import files

from holdfast.surfaces.console.pages import INDEX, names, page

STATIC = "/console/static/"


def test_every_file_that_another_one_names_is_there() -> None:
    there = set(names())
    index = page(INDEX)
    assert index is not None
    named = re.findall(r'(?:href|src)="([^"]+)"', index.content.decode())
    assert named
    assert {one.removeprefix(STATIC) for one in named} <= there
    for name in there:
        if not name.endswith(".js"):
            continue
        found = page(name)
        assert found is not None
        folder = name.rpartition("/")[0]
        for target in re.findall(r'from "(\.[^"]+)"', found.content.decode()):
            parts = folder.split("/") if folder else []
            for part in target.split("/"):
                if part == "..":
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            assert "/".join(parts) in there, f"{name} names {target}"


def test_a_file_has_its_kind_and_a_mark_of_what_it_holds() -> None:
    one = page("lib/dom.js")
    assert one is not None
    assert one.media_type == "text/javascript; charset=utf-8"
    assert one.etag.strip('"') == hashlib.sha256(one.content).hexdigest()[:32]
    kinds = {found.media_type.partition(";")[0] for name in names() if (found := page(name))}
    assert kinds == {"text/css", "text/html", "text/javascript", "image/svg+xml"}


def test_nothing_else_is_given_whatever_is_asked_for() -> None:
    for name in ("", ".", "lib", "../pages.py", "lib/../index.html", "/etc/passwd", "pages.py"):
        assert page(name) is None


def test_nothing_of_it_needs_what_the_strict_policy_refuses() -> None:
    refused = re.compile(
        r"\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\("
        r"|setAttribute\(\"style\"|@import|\bimport\(|<script(?![^>]* src=)|\son[a-z]+=\"|style=\""
    )
    for name in names():
        found = page(name)
        assert found is not None
        assert refused.findall(found.content.decode()) == [], name


def test_every_file_of_the_folder_is_one_of_them() -> None:
    folder = files("holdfast.surfaces.console") / "static"
    assert (folder / "app.js").is_file()
    assert "app.js" in names()
    assert len(names()) > 20
