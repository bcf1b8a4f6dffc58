"""Calls shaped like data being carried out: a secret and the network in one breath, an upload.

A help for people, not a boundary: which hosts a call can reach is the sandbox's matter.
"""

import re

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.rules import Use
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion
from holdfast.policy.hooks.commands import Line, doubtful_text, lines_in

_NETWORK = frozenset(
    {
        *("curl", "wget", "nc", "ncat", "netcat", "telnet", "socat", "ssh", "scp", "sftp", "rsync"),
        *("ftp", "tftp", "lftp", "aria2c", "http", "https", "xh", "dig", "nslookup", "host"),
        *("openssl", "sendmail", "mail", "mutt", "smbclient", "aws", "gsutil", "gcloud", "az"),
    }
)
_SECRET_PLACE = late_pattern(
    r"\.ssh(/|$)|id_(rsa|dsa|ecdsa|ed25519)|\.aws/|\.netrc|(^|/)\.env(\.\w+)?$|\.npmrc|\.pypirc"
    r"|\.kube/config|\.gnupg|/etc/(g?shadow|sudoers)|/proc/\w+/environ|\.git-credentials"
    r"|\.docker/config\.json|credentials(\.\w+)?$|\.pem$|\.p12$|\.pfx$|keystore|wallet\.dat"
)
_PIPES = frozenset({"nc", "ncat", "netcat", "socat"})
_SHOWS_ENVIRONMENT = frozenset({"env", "printenv", "export", "set"})
_UPLOADS = late_pattern(
    r"^(-[dFT]|--(data(-\w+)?|form(-\w+)?|upload-file|post-file|post-data|body-file|json))(=|$)"
)
_STORES_ELSEWHERE = late_pattern(
    r"(aws s3|gsutil|gcloud storage) (cp|mv|sync|rsync) .*(s3|gs)://\S+$"
)
_SOCKET = late_pattern(r"/dev/(tcp|udp)/")
_LONG_QUERY = late_pattern(r"^https?://[^\s?#]*\?[^\s#]{400,}", re.IGNORECASE)


def exfiltration_shapes(inspection: Inspection, /) -> Opinion:
    """Look for data on its way out."""
    uses = inspection.uses
    doubtful = doubtful_text(uses)
    if _SOCKET.search(doubtful) or any(_SOCKET.match(use.target) for use in uses):
        return Opinion("deny", "It opens a network connection through a redirection.")
    lines = list(lines_in(uses))
    speaks_out = [line for line in lines if line.program in _NETWORK]
    if speaks_out:
        return _of_network(speaks_out, lines, uses)
    if any(use.capability == "net.fetch" for use in uses) and _carries_much(inspection):
        return Opinion("ask", "Its address carries a lot of data.")
    return NOTHING_AGAINST_IT


def _of_network(speaks_out: list[Line], lines: list[Line], uses: tuple[Use, ...]) -> Opinion:
    words = [word for line in lines for word in (*line.operands, *line.flags)]
    redirected = [use.target for use in uses if use.kind == "path"]
    if any(_SECRET_PLACE.search(word.lstrip("@")) for word in (*words, *redirected)):
        return Opinion("deny", "It reads a place of secrets and speaks to the network.")
    if any(line.program in _SHOWS_ENVIRONMENT and not line.operands for line in lines):
        return Opinion("deny", "It sends the environment to the network.")
    for line in speaks_out:
        if any(_UPLOADS.match(flag) for flag in line.flags):
            return Opinion("ask", f"It sends data out with {line.program}.")
        if line.program in {"scp", "rsync", "sftp"} and any(":" in word for word in line.operands):
            return Opinion("ask", f"It copies files to another machine with {line.program}.")
        if _STORES_ELSEWHERE.match(line.text):
            return Opinion("ask", f"It copies files to another place with {line.program}.")
        if line.program in _PIPES and redirected:
            return Opinion("ask", "It sends a file over the network.")
    if len(lines) > len(speaks_out) and any(line.program in _PIPES for line in speaks_out):
        return Opinion("ask", "It sends what another command writes over the network.")
    return NOTHING_AGAINST_IT


def _carries_much(inspection: Inspection) -> bool:
    return any(
        isinstance(value, str) and _LONG_QUERY.match(value)
        for value in inspection.arguments.values()
    )
