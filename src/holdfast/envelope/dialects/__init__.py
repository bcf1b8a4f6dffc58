"""Wire forms of the one envelope: one file each, rendering and parsing."""
