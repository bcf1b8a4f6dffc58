"""Tools that a manifest declares: programs that read JSON and print JSON."""
