"""The command line as parsed, and what does not depend on a model checked."""

from __future__ import annotations

from dataclasses import dataclass

from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.values import RANGES, check_seed, check_temperature


@dataclass(frozen=True)
class Options:
    """One field per flag, named like it; None where the flag was not given."""

    model: str
    token_ids: str | None
    chat: str | None
    prompt: str | None
    batch: str | None
    info: bool
    tokenize: str | None
    logits_out: str | None
    compare_logits: str | None
    spec_bench: bool
    verify_batch: int | None
    json_schema: str | None
    lark: str | None
    regex: str | None
    choice: list[str] | None
    json_whitespace: bool
    gen: int | None
    stop: list[str] | None
    system: str | None
    think: bool | None
    temp: float | None
    top_k: int | None
    top_p: float | None
    min_p: float | None
    repeat_penalty: float | None
    repeat_last_n: int | None
    freq_penalty: float | None
    presence_penalty: float | None
    seed: int | None
    greedy: bool
    logit_bias: list[str] | None
    spec: bool
    spec_ref: list[str] | None
    draft_model: str | None
    forced_spans: bool
    streams: int | None
    bench: int | None
    ctx: int | None
    threads: int | None
    gpu_layers: int | None
    cache_type: str | None
    exact: bool
    json: bool
    tokens_out: str | None
    out: str | None
    resume: bool
    in_order: bool
    quiet: bool
    verbose: bool

    def check(self) -> None:
        """Raise FlagError for numbers out of range and for flags that exclude each other."""
        if not self.model:
            raise FlagError("MODEL", "the path is empty; give a .gguf file")
        numbers: dict[str, float | None] = {
            "--gen": self.gen,
            "--top-k": self.top_k,
            "--top-p": self.top_p,
            "--min-p": self.min_p,
            "--repeat-penalty": self.repeat_penalty,
            "--repeat-last-n": self.repeat_last_n,
            "--freq-penalty": self.freq_penalty,
            "--presence-penalty": self.presence_penalty,
            "--verify-batch": self.verify_batch,
            "--streams": self.streams,
            "--bench": self.bench,
            "--ctx": self.ctx,
            "--threads": self.threads,
            "--gpu-layers": self.gpu_layers,
        }
        for flag, value in numbers.items():
            RANGES[flag].check(flag, value)
        check_temperature(self.temp)
        check_seed(self.seed)
        _at_most_one(
            {
                "--json-schema": self.json_schema,
                "--lark": self.lark,
                "--regex": self.regex,
                "--choice": self.choice or None,
            },
            "one constraint governs an answer",
        )
        _at_most_one(
            {
                "--chat": self.chat,
                "--prompt": self.prompt,
                "TOKEN_IDS": self.token_ids,
                "--batch": self.batch,
            },
            "an answer starts from one of them",
        )
        _at_most_one(
            {
                "--info": self.info or None,
                "--tokenize": self.tokenize,
                "--logits-out": self.logits_out,
                "--compare-logits": self.compare_logits,
                "--spec-bench": self.spec_bench or None,
                "--verify-batch": self.verify_batch,
                "--batch": self.batch,
                "--bench": self.bench,
            },
            "they are modes of their own",
        )
        mode = self._look_only
        if mode and self.constraint_flag:
            raise FlagError(self.constraint_flag, f"constrains nothing: {mode} writes no answer")
        if mode in ("--info", "--tokenize") and self.prompt_flag:
            raise FlagError(f"{mode} and {self.prompt_flag}", "can't be given together")
        if mode in ("--logits-out", "--compare-logits") and not self.prompt_flag:
            raise FlagError(mode, "needs a prompt: --chat, --prompt or TOKEN_IDS")
        if mode and self.speculation_flag:
            raise FlagError(self.speculation_flag, f"speeds nothing up: {mode} writes no answer")
        alone = self.batch is None  # else it is about those lines that it fits
        if alone and self.json_whitespace and self.json_schema is None:
            raise FlagError("--json-whitespace", "needs --json-schema: only JSON has such a layout")
        if alone and self.system is not None and self.chat is None:
            raise FlagError("--system", "needs --chat: only a chat has a system text")
        self._check_many()
        if self.greedy and self.temp:
            raise FlagError("--greedy", f"contradicts --temp {self.temp:g}; give one of them")
        if self.quiet and self.verbose:
            raise FlagError("--quiet", "contradicts --verbose; give one of them")

    def _check_many(self) -> None:
        """What concerns several answers."""
        mode = self._look_only
        if self.batch == "":
            raise FlagError("--batch", "the path is empty; give a .jsonl file, or - for stdin")
        for flag, given in (
            ("--out", self.out is not None),
            ("--resume", self.resume),
            ("--in-order", self.in_order),
        ):
            if given and self.batch is None:
                raise FlagError(flag, "needs --batch: it is about the records of a batch")
        if self.out == "":
            raise FlagError("--out", "the path is empty; give a file")
        if self.resume and self.out is None:
            raise FlagError("--resume", "needs --out: it goes on with the file written before")
        for flag, value in (("--bench", self.bench), ("--batch", self.batch)):
            if value is not None and mode:
                raise FlagError(flag, f"does not go together with {mode}, which writes no answer")
            if value is not None and self.tokens_out is not None:
                raise FlagError("--tokens-out", f"holds the ids of one answer; {flag} has many")
        if self.streams is None or self.batch is not None:
            return
        if mode and self.streams > 1:
            raise FlagError("--streams", f"speeds nothing up: {mode} writes no answer")
        if self.bench is None and not self.prompt_flag:
            raise FlagError("--streams", "needs a prompt, --batch or --bench")
        if self.tokens_out is not None and self.streams > 1:
            raise FlagError("--tokens-out", "holds the ids of one answer; --streams has many")

    @property
    def speculation_flag(self) -> str | None:
        """Name of the first flag that asks for drafts, None when none does."""
        flags = {
            "--spec": self.spec,
            "--spec-ref": bool(self.spec_ref),
            "--draft-model": self.draft_model is not None,
        }
        return next((flag for flag, given in flags.items() if given), None)

    @property
    def _look_only(self) -> str | None:
        """The flag under which nothing is generated."""
        flags = {
            "--info": self.info,
            "--tokenize": self.tokenize is not None,
            "--logits-out": self.logits_out is not None,
            "--compare-logits": self.compare_logits is not None,
            "--spec-bench": self.spec_bench,
            "--verify-batch": self.verify_batch is not None,
            "--gen 0": self.gen == 0,
            "TOKEN_IDS without --gen": self.top_only,
        }
        return next((flag for flag, given in flags.items() if given), None)

    @property
    def top_only(self) -> bool:
        """Whether bare ids ask for what may follow them, and for no answer."""
        bare = self.gen is None and self.bench is None and not self.constraint_flag
        return self.token_ids is not None and bare and self.streams in (None, 1)

    @property
    def constraint_flag(self) -> str | None:
        """Name of the constraint flag that was given."""
        flags = {
            "--json-schema": self.json_schema,
            "--lark": self.lark,
            "--regex": self.regex,
            "--choice": self.choice or None,
        }
        return next((flag for flag, value in flags.items() if value is not None), None)

    @property
    def prompt_flag(self) -> str | None:
        """Name of the flag or argument that brings the prompt."""
        sources = {"--chat": self.chat, "--prompt": self.prompt, "TOKEN_IDS": self.token_ids}
        return next((flag for flag, value in sources.items() if value is not None), None)


def _at_most_one(given: dict[str, object], why: str) -> None:
    present = [flag for flag, value in given.items() if value is not None]
    if len(present) > 1:
        raise FlagError(" and ".join(present), f"can't be given together: {why}")
