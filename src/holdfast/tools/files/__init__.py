"""What the file tools of all profiles share: one core per ability, whatever its names are."""
