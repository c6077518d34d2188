"""How a model runs: the options of a Runner."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import ClassVar

from fucina_cli.options import check_options, option

_SPEED = "Speed"

#: Marks a block in which a crash of native code is attributed to a part of the input.
Blame = Callable[[str], AbstractContextManager[None]]


def no_blame(_part: str) -> AbstractContextManager[None]:
    """No attribution, for a process without a supervisor."""
    return nullcontext()


@dataclass(frozen=True)
class Runtime:
    """How a model runs; nothing here changes an answer of an exact model."""

    PANEL: ClassVar = "Runtime"

    spec: bool = option(
        False, "Draft tokens from the conversation and the grammar, and verify several in "
        "one forward where that pays.", panel=_SPEED,
    )  # fmt: skip
    spec_ref: tuple[str, ...] = option(
        (), "Also draft from this text (repeatable); implies --spec.", "FILE", type=str,
        repeatable=True, panel=_SPEED,
    )  # fmt: skip
    draft_model: str | None = option(
        None, "Also draft with this smaller model of the same vocabulary.", "PATH", panel=_SPEED
    )
    forced_spans: bool = option(
        True, "Commit what the grammar forces without asking the model, or decode it token "
        "by token.", negative="--no-forced-spans", panel=_SPEED,
    )  # fmt: skip
    ctx: int | None = option(
        None, "Context in tokens; by default what prompt and answer need.", "N",
        within=(1, 100_000_000), unit="tokens",
        elsewhere=((0, "leave it out"), (-1, "leave it out")),
    )  # fmt: skip
    threads: int | None = option(
        None,
        "CPU threads; by default the usable cores.",
        "N",
        within=(1, 512),
        elsewhere=((0, "leave it out for all cores"), (-1, "leave it out for all cores")),
    )
    gpu_layers: int | None = option(
        None, "Layers to place on a GPU, -1 all (default).", "N", within=(-1, 10_000)
    )
    cache_type: str | None = option(
        None, "KV cache types such as q8_0 or f16,q8_0; by default what exactness asks for.", "K,V"
    )
    compile_timeout: float = option(
        10.0, "Seconds that a constraint may take to compile.", "SECONDS",
        within=(0.01, 1e6), unit="seconds",
    )  # fmt: skip
    exact: bool = option(
        True, "Settings under which a token's logits do not depend on its batch, or "
        "llama.cpp's own defaults.", negative="--no-exact",
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def drafts(self) -> str | None:
        """Name of the first option that asks for drafts, None when none does."""
        asked = {
            "spec": self.spec,
            "spec_ref": bool(self.spec_ref),
            "draft_model": self.draft_model is not None,
        }
        return next((name for name, given in asked.items() if given), None)
