"""Which mode the flags ask for."""

from __future__ import annotations

from fucina_cli.cli.options import Options
from fucina_cli.families.family import Family


def run_mode(family: Family, options: Options) -> int:
    """Check the flags, run the mode they choose; the exit code.

    What needs a native library is imported here and not above, so that `--help` does without.
    """
    options.check()
    from fucina_cli.cli import complete, inspect

    if options.info:
        return inspect.info(family, options)
    if options.tokenize is not None:
        return inspect.tokenize(family, options)
    if options.logits_out is not None or options.compare_logits is not None:
        return inspect.logits(family, options)
    if _wants_forward_only(options):
        return inspect.top(family, options)
    return complete.complete(family, options)


def _wants_forward_only(options: Options) -> bool:
    """Whether one forward and its top 5 is asked for: bare ids, or no token to generate."""
    if options.gen == 0:
        return True
    return options.token_ids is not None and options.gen is None and not options.constraint_flag
