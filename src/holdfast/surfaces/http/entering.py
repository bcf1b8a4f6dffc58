"""How a person comes in with a browser: a page that asks for the token, and the pass they get.

Who may come in is decided before. Nothing here is of a session.
"""

from starlette.responses import HTMLResponse, RedirectResponse, Response

ENTER = "/enter"
_YEAR = 365 * 24 * 3600
_WRONG = "<p class=wrong role=alert>That is not the token. It may be of an earlier start.</p>"
_PAGE = """<!doctype html>
<html lang=en>
<meta charset=utf-8>
<meta name=viewport content="width=device-width, initial-scale=1">
<title>holdfast</title>
<main>
<h1>holdfast</h1>
{wrong}<p>This console needs its token. <code>holdfast serve</code> printed it, with an address that brings it along.</p>
<form method=post action=/enter>
<p><label>Token<br><input name=token type=password autocomplete=current-password required autofocus
 size=48></label></p>
<p><button>Open the console</button></p>
</form>
</main>
</html>
"""  # noqa: E501 - a page


def enter_page(status: int, *, wrong: bool = False) -> Response:
    """The page that asks for the token."""
    page = _PAGE.format(wrong=_WRONG if wrong else "")
    return HTMLResponse(page, status, {"cache-control": "no-store"})


def entered(path: str, cookie: str, value: str) -> Response:
    """Into the console, with a pass; the address without the token takes its place."""
    answer = RedirectResponse("/" if path == ENTER else path, 303, {"cache-control": "no-store"})
    answer.set_cookie(cookie, value, max_age=_YEAR, path="/", httponly=True, samesite="strict")
    return answer
