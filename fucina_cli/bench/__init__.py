"""Measurements you can run: ``python -m fucina_cli.bench.NAME``."""
