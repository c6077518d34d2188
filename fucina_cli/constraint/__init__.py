"""Grammar text to compiled grammar to per-stream constraint; choices; independent validation."""
