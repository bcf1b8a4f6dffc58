"""Running what was permitted: the only room that touches the world on behalf of a tool."""
