"""What stands behind the tools of the managed profile: where an agent stands, by its journal."""
