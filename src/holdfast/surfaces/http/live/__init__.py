"""What happens, as it happens: streams of one session, and of the whole home."""
