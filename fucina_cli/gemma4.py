"""`fucina-gemma4`: the entry point for Gemma 4 models."""

from __future__ import annotations

from fucina_cli.cli.main import run
from fucina_cli.families.gemma4 import GEMMA4


def main() -> None:
    """Run the command line and exit."""
    run(GEMMA4)


if __name__ == "__main__":
    main()
