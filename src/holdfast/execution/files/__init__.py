"""Files within a call's reach, opened as they were judged; every change is kept for undo."""
