"""How the programs beside the commands end: measurements, the experiment, the recipe."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from fucina_cli.cli import exits, output


def end(main: Callable[[], None]) -> NoReturn:
    """Run `main` and end the process as the commands do.

    130 when interrupted, nothing at all when whoever read the output has seen enough, one line and
    2 where there is no output or it can't be written.
    """
    sys.exit(_run(main))


def _run(main: Callable[[], None]) -> int:
    if sys.stdout is None:
        output.error("output: standard output is closed; redirect it to a file")
        return exits.BAD_INPUT
    try:
        main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        output.discard_stdout()
    except OSError as error:
        output.discard_stdout()
        output.error(f"output: {error.strerror or error}")
        return exits.BAD_INPUT
    except SystemExit as ended:
        if not isinstance(ended.__context__, BrokenPipeError):  # Rich makes that code 1
            raise
        output.discard_stdout()
    return exits.OK
