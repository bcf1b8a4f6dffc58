"""The files that a session keeps: told, read in parts, and nothing beside them."""

from pathlib import Path

import pytest
from served_home import Served, served

from holdfast.surfaces.http import files

pytestmark = pytest.mark.anyio

SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
PAGE = b"<script>alert(1)</script>"


async def with_files(home: Served) -> tuple[str, Path]:
    """A session that keeps some."""
    session = await home.begun(None)
    kept = home.folder / "data" / "sessions" / session / "artifacts"
    (kept / "deep").mkdir(parents=True)
    (kept / "chart.svg").write_bytes(SVG)
    (kept / "page.html").write_bytes(PAGE)
    (kept / "deep" / "a b.txt").write_bytes(b"0123456789")
    (kept / "data.bin").write_bytes(b"\0\1\2")
    (kept / "empty.txt").write_bytes(b"")
    secret = home.folder / "secret.txt"
    secret.write_text("a secret", "utf-8")
    (kept / "link.txt").symlink_to(secret)
    (kept / "way").symlink_to(home.folder)
    return session, kept


async def test_files_are_told_and_read(tmp_path: Path) -> None:
    async with served(tmp_path) as home:
        session, _ = await with_files(home)
        found = {
            one["name"]: (one["bytes"], one["media_type"])
            for one in (await home.get(f"/sessions/{session}/files"))["files"]
        }
        assert found == {
            "artifacts/chart.svg": (len(SVG), "image/svg+xml"),
            "artifacts/page.html": (len(PAGE), "text/plain; charset=utf-8"),
            "artifacts/deep/a b.txt": (10, "text/plain; charset=utf-8"),
            "artifacts/data.bin": (3, "application/octet-stream"),
            "artifacts/empty.txt": (0, "text/plain; charset=utf-8"),
        }
        path = f"/api/v1/sessions/{session}/files"
        for name in found:
            answer = await home.client.get(f"{path}/{name}")
            assert (answer.status_code, len(answer.content)) == (200, found[name][0])
            assert answer.headers["x-content-type-options"] == "nosniff"
        await home.get("/sessions/ses_none/files", 404)
        await home.get("/sessions/ses_none/files/artifacts/chart.svg", 404)


async def test_what_a_tool_drew_does_nothing_but_be_seen(tmp_path: Path) -> None:
    async with served(tmp_path) as home:
        session, _ = await with_files(home)
        path = f"/api/v1/sessions/{session}/files/artifacts"
        picture = await home.client.get(f"{path}/chart.svg")
        assert picture.headers["content-type"] == "image/svg+xml"
        assert "content-disposition" not in picture.headers
        policy = picture.headers["content-security-policy"]
        assert "sandbox" in policy
        assert "script" not in policy.replace("default-src 'none'", "")
        page = await home.client.get(f"{path}/page.html")
        assert not page.headers["content-type"].startswith("text/html")
        assert page.text == PAGE.decode()
        data = await home.client.get(f"{path}/data.bin")
        assert data.headers["content-disposition"] == 'attachment; filename="data.bin"'
        assert "sandbox" in data.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("given", "status", "content", "told"),
    [
        ("bytes=0-3", 206, "0123", "bytes 0-3/10"),
        ("bytes=8-", 206, "89", "bytes 8-9/10"),
        ("bytes=-3", 206, "789", "bytes 7-9/10"),
        ("bytes=-99", 206, "0123456789", "bytes 0-9/10"),
        ("bytes=5-99", 206, "56789", "bytes 5-9/10"),
        ("bytes=10-", 422, None, None),
        ("bytes=5-4", 422, None, None),
        ("bytes=-0", 422, None, None),
        ("bytes=-", 422, None, None),
        ("bytes=0-1,3-4", 422, None, None),
        ("lines=1-2", 422, None, None),
        ("bytes=" + "9" * 40 + "-", 422, None, None),
    ],
)
async def test_a_part_of_a_file_is_read(
    tmp_path: Path, given: str, status: int, content: str | None, told: str | None
) -> None:
    async with served(tmp_path) as home:
        session, _ = await with_files(home)
        path = f"/api/v1/sessions/{session}/files/artifacts/deep/a%20b.txt"
        answer = await home.client.get(path, headers={"range": given})
        assert answer.status_code == status, answer.text
        assert answer.headers.get("content-range") == told
        if content is not None:
            assert answer.text == content
        tail = await home.client.get(path, params={"tail": 4})
        assert (tail.status_code, tail.text) == (200, "6789")


async def test_a_large_file_is_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 8)
    async with served(tmp_path) as home:
        session, _ = await with_files(home)
        path = f"/api/v1/sessions/{session}/files/artifacts/deep/a%20b.txt"
        whole = await home.client.get(path)
        assert (whole.status_code, whole.json()["error"]["code"]) == (413, "too_large")
        assert "Range" in whole.text
        part = await home.client.get(path, headers={"range": "bytes=2-5"})
        assert (part.status_code, part.text) == (206, "2345")
        assert part.headers["content-range"] == "bytes 2-5/10"
        rest = await home.client.get(path, headers={"range": "bytes=1-"})
        assert (rest.status_code, rest.text) == (206, "12345678")
        assert rest.headers["content-range"] == "bytes 1-8/10"
        tail = await home.client.get(path, params={"tail": 3})
        assert (tail.status_code, tail.text) == (200, "789")


@pytest.mark.parametrize(
    "name",
    [
        "artifacts/../../../../secret.txt",
        "artifacts/%2e%2e/%2e%2e/%2e%2e/%2e%2e/secret.txt",
        "artifacts/..%2f..%2f..%2f..%2fsecret.txt",
        "artifacts/link.txt",
        "artifacts/way/secret.txt",
        "artifacts/deep",
        "artifacts/deep%00.txt",
        "artifacts//deep/a b.txt",
        "artifacts/",
        "artifacts",
        "/etc/passwd",
        "secrets/x",
        "outputs/none.txt",
        "%2e%2e",
        "artifacts/" + "x" * 5000,
    ],
)
async def test_nothing_beside_them_is_read(tmp_path: Path, name: str) -> None:
    async with served(tmp_path) as home:
        session, _ = await with_files(home)
        request = home.client.build_request("GET", "/")
        raw = f"/api/v1/sessions/{session}/files/{name.replace(' ', '%20')}"
        request.url = request.url.copy_with(raw_path=raw.encode())
        answer = await home.client.send(request)
        assert answer.status_code == 404, answer.text
        assert "a secret" not in answer.text
