"""Where the audit log is, and what is taken out of it: what the library and the command share."""

import logging
from pathlib import Path

from holdfast.app.configuration import ConfigurationError, load_configuration
from holdfast.app.settings import AuditSettings, Surroundings
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.audit import NO_AUDIT, AuditLog
from holdfast.envelope.redact import SHORTEST_SECRET
from holdfast.record.audit_file import AuditFile
from holdfast.record.audit_redaction import Redaction

_log = logging.getLogger("holdfast")


def audit_folder(state_home: Path) -> Path:
    """Where the days are, whether or not there are any."""
    return state_home / "audit"


def audit_log(settings: AuditSettings, around: Surroundings) -> AuditLog:
    """The log of this machine; none where there is no place for state."""
    if around.state_home is None:
        return NO_AUDIT
    secrets = [one for one in around.secrets if len(one) >= SHORTEST_SECRET]
    redaction = Redaction(settings.redact, [*around.model_keys, *secrets])
    return AuditFile(audit_folder(around.state_home), redaction)


def audit_log_of_this_process() -> AuditLog:
    """The log as files and variables have it, for programs that no `Holdfast` starts.

    What is to be taken out is then not known if they cannot be read: nothing is written down.
    """
    try:
        settings = load_configuration(None).settings
    except ConfigurationError as problem:
        _log.warning("nothing is written into the audit log: %s", problem)
        return NO_AUDIT
    return audit_log(settings.audit, surroundings_of_this_process(settings))
