"""`fucina-qwen3`: the entry point for Qwen3 models."""

from __future__ import annotations

from fucina_cli.cli.main import run
from fucina_cli.families.qwen3 import QWEN3


def main() -> None:
    """Run the command line and exit."""
    run(QWEN3)


if __name__ == "__main__":
    main()
