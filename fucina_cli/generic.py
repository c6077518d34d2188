"""`fucina-run`: the entry point for any other chat model."""

from __future__ import annotations

from fucina_cli.cli.main import run
from fucina_cli.families.generic import GENERIC


def main() -> None:
    """Run the command line and exit."""
    run(GENERIC)


if __name__ == "__main__":
    main()
