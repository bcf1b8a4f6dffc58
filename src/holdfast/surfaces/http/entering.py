"""How a person comes in with a browser: a page that asks for the token, and the pass they get.

Who may come in is decided before. Nothing here is of a session.
"""

import base64
import hashlib

from starlette.responses import HTMLResponse, RedirectResponse, Response

ENTER = "/enter"
_YEAR = 365 * 24 * 3600
_WRONG = "<p class=wrong role=alert>That is not the token. It may be of an earlier start.</p>"
_STYLE = """
body { display: grid; place-items: center; min-height: 90vh; margin: 0; font: 16px/1.5 system-ui, sans-serif; }
main { box-sizing: border-box; width: 100%; max-width: 30rem; padding: 1.5rem; }
input { box-sizing: border-box; width: 100%; margin-top: .25rem; }
input, button { padding: .5rem .75rem; font: inherit; }
.wrong { color: light-dark(#b3261e, #ff8a80); }
"""  # noqa: E501 - a sheet
_HEADERS = {
    "cache-control": "no-store",
    # Under the policy of all others a browser sends the form as from nowhere, and the door is shut.
    "referrer-policy": "same-origin",
    "content-security-policy": (
        "default-src 'none'; style-src 'sha256-"
        + base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
        + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
}
_PAGE = """<!doctype html>
<html lang=en>
<meta charset=utf-8>
<meta name=viewport content="width=device-width, initial-scale=1">
<meta name=color-scheme content="light dark">
<title>holdfast</title>
<style>{style}</style>
<main>
<h1>holdfast</h1>
{wrong}<p>This console needs its token: the one that <code>holdfast serve</code> printed with its address, or was started with.</p>
<form method=post action=/enter>
<p><label>Token<br><input name=token type=password autocomplete=current-password required autofocus></label></p>
<p><button>Open the console</button></p>
</form>
</main>
</html>
"""  # noqa: E501 - a page


def enter_page(status: int, *, wrong: bool = False) -> Response:
    """The page that asks for the token."""
    page = _PAGE.format(style=_STYLE, wrong=_WRONG if wrong else "")
    return HTMLResponse(page, status, _HEADERS)


def entered(path: str, cookie: str, value: str) -> Response:
    """Into the console, with a pass; the address without the token takes its place."""
    answer = RedirectResponse("/" if path == ENTER else path, 303, {"cache-control": "no-store"})
    answer.set_cookie(cookie, value, max_age=_YEAR, path="/", httponly=True, samesite="strict")
    return answer
