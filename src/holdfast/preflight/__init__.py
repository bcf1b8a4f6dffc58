"""From text to checked arguments: parse, repair, check. Every repair is named, none is silent."""
