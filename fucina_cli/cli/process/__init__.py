"""How the process runs and ends: supervisor, output, exit codes."""
