"""The command with its flags, each declared once, for whichever family's entry point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from fucina_cli.cli.options import Options
from fucina_cli.families.family import Family

_MODES = "Modes (one of)"
_CONSTRAINT = "Constraint (one of)"
_GENERATION = "Generation"
_SAMPLING = "Sampling (defaults: the family's in a chat, greedy otherwise)"
_SPEED = "Speed"
_RUNTIME = "Runtime"
_OUTPUT = "Output"
_MODEL_HELP = "Path of a .gguf file; fucina-qwen3 and fucina-gemma4 also take: tiny, built in."

_EPILOG = (
    "Text values take @FILE, and - for standard input; @@ escapes a leading @. "
    "Exit codes: 0 complete, 1 bug, 2 bad input, 3 constraint not satisfied, 4 a cross-check "
    "found a difference, 130 interrupted."
)


def build(family: Family, execute: Callable[[Family, Options], int]) -> typer.Typer:
    """A Typer app with the one command of `family`; `execute` gives the exit code."""
    app = typer.Typer(
        add_completion=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.command(help=_help(family), epilog=_EPILOG)
    def command(
        model: Annotated[str, typer.Argument(metavar="MODEL", help=_MODEL_HELP)],
        token_ids: Annotated[
            str | None,
            typer.Argument(
                metavar="[TOKEN_IDS]",
                help="Comma-separated ids to start from: alone their next token's top 5, "
                "with --gen or a constraint a raw completion.",
            ),
        ] = None,
        chat: Annotated[
            str | None,
            typer.Option("--chat", metavar="MSG", help="Answer a message.", rich_help_panel=_MODES),
        ] = None,
        prompt: Annotated[
            str | None,
            typer.Option(
                "--prompt", metavar="TEXT", help="Continue a raw text.", rich_help_panel=_MODES
            ),
        ] = None,
        batch: Annotated[
            str | None,
            typer.Option(
                "--batch",
                metavar="FILE.jsonl|-",
                help="Answer each line of a file, a JSON object with its prompt and settings; "
                "one record per request.",
                rich_help_panel=_MODES,
            ),
        ] = None,
        info: Annotated[
            bool,
            typer.Option("--info", help="Describe the model file.", rich_help_panel=_MODES),
        ] = False,
        tokenize: Annotated[
            str | None,
            typer.Option(
                "--tokenize",
                metavar="FILE",
                help="Print the ids of a text file, one per line; no weights are loaded.",
                rich_help_panel=_MODES,
            ),
        ] = None,
        logits_out: Annotated[
            str | None,
            typer.Option(
                "--logits-out",
                metavar="PATH",
                help="Write the prompt's last logits as little-endian float32.",
                rich_help_panel=_MODES,
            ),
        ] = None,
        compare_logits: Annotated[
            str | None,
            typer.Option(
                "--compare-logits",
                metavar="PATH",
                help="Compare the prompt's last logits with such a file.",
                rich_help_panel=_MODES,
            ),
        ] = None,
        spec_bench: Annotated[
            bool,
            typer.Option(
                "--spec-bench",
                help="Measure what a forward of several rows costs in plain steps.",
                rich_help_panel=_MODES,
            ),
        ] = False,
        verify_batch: Annotated[
            int | None,
            typer.Option(
                "--verify-batch",
                metavar="N",
                help="Compare N steps alone with the same rows in batches, bitwise.",
                rich_help_panel=_MODES,
            ),
        ] = None,
        json_schema: Annotated[
            str | None,
            typer.Option(
                "--json-schema",
                metavar="JSON|@FILE",
                help="The answer is JSON of this schema.",
                rich_help_panel=_CONSTRAINT,
            ),
        ] = None,
        lark: Annotated[
            str | None,
            typer.Option(
                "--lark",
                metavar="GRAMMAR|@FILE",
                help="The answer is a sentence of this grammar.",
                rich_help_panel=_CONSTRAINT,
            ),
        ] = None,
        regex: Annotated[
            str | None,
            typer.Option(
                "--regex",
                metavar="PATTERN|@FILE",
                help="The whole answer matches this pattern.",
                rich_help_panel=_CONSTRAINT,
            ),
        ] = None,
        choice: Annotated[
            list[str] | None,
            typer.Option(
                "--choice",
                metavar="TEXT|@FILE",
                help="The answer is one of these (repeatable; of a file each line is one).",
                rich_help_panel=_CONSTRAINT,
            ),
        ] = None,
        json_whitespace: Annotated[
            bool,
            typer.Option(
                "--json-whitespace",
                help="Let the model put white space into JSON instead of writing it compact.",
                rich_help_panel=_CONSTRAINT,
            ),
        ] = False,
        gen: Annotated[
            int | None,
            typer.Option(
                "--gen",
                "-n",
                metavar="N",
                help="Most tokens of the answer (2048).",
                rich_help_panel=_GENERATION,
            ),
        ] = None,
        stop: Annotated[
            list[str] | None,
            typer.Option(
                "--stop",
                metavar="ID_OR_TEXT",
                help="Also stop at this token id or text (repeatable).",
                rich_help_panel=_GENERATION,
            ),
        ] = None,
        system: Annotated[
            str | None,
            typer.Option(
                "--system",
                metavar="TEXT",
                help="System text of a chat.",
                rich_help_panel=_GENERATION,
            ),
        ] = None,
        think: Annotated[
            bool | None,
            typer.Option(
                "--think/--no-think",
                help="Let the model think first, or not. Default: the template's; no with a "
                "constraint.",
                rich_help_panel=_GENERATION,
            ),
        ] = None,
        temp: Annotated[
            float | None,
            typer.Option(
                "--temp", metavar="T", help="Temperature, 0 for greedy.", rich_help_panel=_SAMPLING
            ),
        ] = None,
        top_k: Annotated[
            int | None,
            typer.Option(
                "--top-k",
                metavar="K",
                help="Keep the K likeliest, 0 off.",
                rich_help_panel=_SAMPLING,
            ),
        ] = None,
        top_p: Annotated[
            float | None,
            typer.Option(
                "--top-p",
                metavar="P",
                help="Keep the likeliest of total probability P, 1 off.",
                rich_help_panel=_SAMPLING,
            ),
        ] = None,
        min_p: Annotated[
            float | None,
            typer.Option(
                "--min-p",
                metavar="P",
                help="Keep those at least P times as likely as the likeliest, 0 off.",
                rich_help_panel=_SAMPLING,
            ),
        ] = None,
        repeat_penalty: Annotated[
            float | None,
            typer.Option(
                "--repeat-penalty",
                metavar="R",
                help="Divide the logits of recent tokens, 1 off.",
                rich_help_panel=_SAMPLING,
            ),
        ] = None,
        repeat_last_n: Annotated[
            int | None,
            typer.Option(
                "--repeat-last-n",
                metavar="N",
                help="How many recent tokens penalties see (64), -1 all, 0 none.",
                rich_help_panel=_SAMPLING,
            ),
        ] = None,
        freq_penalty: Annotated[
            float | None,
            typer.Option(
                "--freq-penalty",
                metavar="F",
                help="Subtracted for each recent occurrence, 0 off.",
                rich_help_panel=_SAMPLING,
            ),
        ] = None,
        presence_penalty: Annotated[
            float | None,
            typer.Option(
                "--presence-penalty",
                metavar="F",
                help="Subtracted once from recent tokens, 0 off.",
                rich_help_panel=_SAMPLING,
            ),
        ] = None,
        seed: Annotated[
            int | None,
            typer.Option(
                "--seed",
                metavar="S",
                help="Seed of the draws; random when not given, see --json.",
                rich_help_panel=_SAMPLING,
            ),
        ] = None,
        greedy: Annotated[
            bool,
            typer.Option("--greedy", help="Same as --temp 0.", rich_help_panel=_SAMPLING),
        ] = False,
        logit_bias: Annotated[
            list[str] | None,
            typer.Option(
                "--logit-bias",
                metavar="TOKEN=BIAS",
                help="Add to a token's logit at every step, -inf bans it; TOKEN is an id or the "
                "text of one token (repeatable).",
                rich_help_panel=_SAMPLING,
            ),
        ] = None,
        spec: Annotated[
            bool,
            typer.Option(
                "--spec",
                help="Draft tokens from the conversation and the grammar, and verify several in "
                "one forward where that pays.",
                rich_help_panel=_SPEED,
            ),
        ] = False,
        spec_ref: Annotated[
            list[str] | None,
            typer.Option(
                "--spec-ref",
                metavar="FILE",
                help="Also draft from this text (repeatable); implies --spec.",
                rich_help_panel=_SPEED,
            ),
        ] = None,
        draft_model: Annotated[
            str | None,
            typer.Option(
                "--draft-model",
                metavar="PATH",
                help="Also draft with this smaller model of the same vocabulary.",
                rich_help_panel=_SPEED,
            ),
        ] = None,
        forced_spans: Annotated[
            bool,
            typer.Option(
                "--forced-spans/--no-forced-spans",
                help="Commit what the grammar forces without asking the model, or decode it token "
                "by token.",
                rich_help_panel=_SPEED,
            ),
        ] = True,
        streams: Annotated[
            int | None,
            typer.Option(
                "--streams",
                metavar="N",
                help="N answers side by side in common forwards (seeds S, S+1, …), or N requests "
                "of a batch.",
                rich_help_panel=_SPEED,
            ),
        ] = None,
        bench: Annotated[
            int | None,
            typer.Option(
                "--bench",
                metavar="R",
                help="Measure R times: prefill and decode, or with --streams lockstep against "
                "one after another.",
                rich_help_panel=_SPEED,
            ),
        ] = None,
        ctx: Annotated[
            int | None,
            typer.Option(
                "--ctx",
                metavar="N",
                help="Context in tokens; by default what prompt and answer need.",
                rich_help_panel=_RUNTIME,
            ),
        ] = None,
        threads: Annotated[
            int | None,
            typer.Option(
                "--threads",
                metavar="N",
                help="CPU threads; by default the usable cores.",
                rich_help_panel=_RUNTIME,
            ),
        ] = None,
        gpu_layers: Annotated[
            int | None,
            typer.Option(
                "--gpu-layers",
                metavar="N",
                help="Layers to place on a GPU, -1 all (default).",
                rich_help_panel=_RUNTIME,
            ),
        ] = None,
        cache_type: Annotated[
            str | None,
            typer.Option(
                "--cache-type",
                metavar="K,V",
                help="KV cache types such as q8_0 or f16,q8_0; by default what exactness asks for.",
                rich_help_panel=_RUNTIME,
            ),
        ] = None,
        exact: Annotated[
            bool,
            typer.Option(
                "--exact/--no-exact",
                help="Settings under which a token's logits do not depend on its batch, or "
                "llama.cpp's own defaults.",
                rich_help_panel=_RUNTIME,
            ),
        ] = True,
        json: Annotated[
            bool,
            typer.Option(
                "--json", help="Print one JSON record per answer.", rich_help_panel=_OUTPUT
            ),
        ] = False,
        tokens_out: Annotated[
            str | None,
            typer.Option(
                "--tokens-out",
                metavar="PATH",
                help="Write the answer's ids to a file, one per line.",
                rich_help_panel=_OUTPUT,
            ),
        ] = None,
        out: Annotated[
            str | None,
            typer.Option(
                "--out",
                metavar="FILE",
                help="Write the records of a batch to this file.",
                rich_help_panel=_OUTPUT,
            ),
        ] = None,
        resume: Annotated[
            bool,
            typer.Option(
                "--resume",
                help="Go on with the file of --out: what it holds is not done again.",
                rich_help_panel=_OUTPUT,
            ),
        ] = False,
        in_order: Annotated[
            bool,
            typer.Option(
                "--in-order",
                help="Write the records of a batch in the order of its lines.",
                rich_help_panel=_OUTPUT,
            ),
        ] = False,
        quiet: Annotated[
            bool,
            typer.Option("--quiet", help="No notes and warnings.", rich_help_panel=_OUTPUT),
        ] = False,
        verbose: Annotated[
            bool,
            typer.Option(
                "--verbose",
                help="llama.cpp's log, timings, and tracebacks of bugs, on stderr.",
                rich_help_panel=_OUTPUT,
            ),
        ] = False,
        _version: Annotated[
            bool,
            typer.Option(
                "--version",
                help="Print the version and exit.",
                is_eager=True,
                callback=_print_version,
                rich_help_panel=_OUTPUT,
            ),
        ] = False,
    ) -> int:
        given = dict(locals())
        fields = {name: given[name] for name in Options.__dataclass_fields__}
        return execute(family, Options(**fields))

    return app


def _help(family: Family) -> str:
    if family.architectures:
        models = " and ".join(sorted(family.architectures))
        what = f"Run a {models} GGUF"
    else:
        what = "Run any chat GGUF"
    return f"{what}; its answer fits a JSON schema, regex, Lark grammar or list of choices."


def _print_version(asked: bool) -> None:
    if asked:
        import importlib.metadata  # 15 ms that only this flag needs

        typer.echo(importlib.metadata.version("fucina-cli"))
        raise typer.Exit
