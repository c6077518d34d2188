"""Exit codes of programs: the commands, and beside them measurements, experiment and recipe."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from fucina_cli.cli.process import exits, output
from fucina_cli.text import reason


def end(main: Callable[[], None]) -> NoReturn:
    """Run `main`, which prints, and end the process with 0 or the exit code of `guarded`."""

    def work() -> int:
        main()
        sys.stdout.flush()
        return exits.OK

    sys.exit(guarded(work))


def guarded(work: Callable[[], int]) -> int:
    """The exit code of `work`, also where its output fails.

    130 when interrupted, 0 without a message when the output is a closed pipe, 2 and one line
    where there is no output or it can't be written.
    """
    if sys.stdout is None:
        output.error("output: standard output is closed; redirect it to a file")
        return exits.BAD_INPUT
    try:
        return work()
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        output.discard_stdout()
        return exits.OK
    except OSError as error:
        output.discard_stdout()
        output.error(f"output: {reason(error)}")
        return exits.BAD_INPUT
    except SystemExit as ended:
        if not isinstance(ended.__context__, BrokenPipeError):  # Rich exits with code 1 then
            raise
        output.discard_stdout()
        return exits.OK
