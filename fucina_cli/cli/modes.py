"""Which mode the flags ask for."""

from __future__ import annotations

from fucina_cli.cli.options import Options
from fucina_cli.families.family import Family


def run_mode(family: Family, options: Options) -> int:
    """Check the flags, run the mode they choose; the exit code.

    What a mode needs is imported with it: `--help` does without any native library, and a
    completion without the tables of the looking modes.
    """
    options.check()
    if options.spec_bench or options.verify_batch is not None:
        from fucina_cli.cli import measure

        return measure.run(family, options)
    if options.batch is not None:
        from fucina_cli.cli import batch

        return batch.run(family, options)
    if options.bench is not None:
        from fucina_cli.cli import bench

        return bench.run(family, options)
    if _looks(options):
        from fucina_cli.cli import inspect

        return inspect.run(family, options)
    if options.streams is not None and options.streams > 1:
        from fucina_cli.cli import streams

        return streams.run(family, options)
    from fucina_cli.cli import complete

    return complete.run(family, options)


def _looks(options: Options) -> bool:
    """Whether the run looks at the file, ids or logits instead of writing an answer."""
    return (
        options.info
        or options.tokenize is not None
        or options.logits_out is not None
        or options.compare_logits is not None
        or _wants_forward_only(options)
    )


def _wants_forward_only(options: Options) -> bool:
    """Whether one forward and its top 5 is asked for: bare ids, or no token to generate."""
    return options.gen == 0 or options.top_only
