"""Sessions' ends as they are told to anchors."""

from holdfast.record.anchors import AnchorFiles

HASH = b"h" * 32


def restored(anchors: AnchorFiles, session_id: str, sequence: int, found: bytes) -> None:
    anchors.restoring(session_id)
    anchors.note(session_id, sequence, found)
