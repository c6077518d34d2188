"""Flags, modes, printing, exit codes. No decoding logic."""
