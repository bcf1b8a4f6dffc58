"""The built-in tools, one small file each. They touch the world only through what they get."""
