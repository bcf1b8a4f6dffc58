"""The index of vectors: a file beside the journal, made of its events and made again any time."""
