"""The process: supervisor, output, exit codes."""
