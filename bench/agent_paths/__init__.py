"""One agent loop per library: two turns of a model and one call of a tool."""
