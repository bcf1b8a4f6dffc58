"""One module per library: `handle(schema, arguments)` gives what a tool would see, or None."""
