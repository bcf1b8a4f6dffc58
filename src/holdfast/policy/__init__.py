"""What may run, why, and who said so. The only room that makes a Permit."""
