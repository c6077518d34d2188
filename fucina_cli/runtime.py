"""How a model runs: the options of a Runner."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from fucina_cli.options import check_options, option

_SPEED, _RUNTIME = "Speed", "Runtime"

#: Marks a block in which a crash of native code is attributed to a part of the input.
Blame = Callable[[str], AbstractContextManager[None]]


def no_blame(_part: str) -> AbstractContextManager[None]:
    """No attribution, for a process without a supervisor."""
    return nullcontext()


@dataclass(frozen=True)
class Runtime:
    """How a model runs; nothing here changes an answer of an exact model."""

    spec: bool = option(
        False,
        help="Draft tokens from the conversation and the grammar, and verify several in "
        "one forward where that pays.",
        panel=_SPEED,
    )
    spec_ref: tuple[str, ...] = option(
        (),
        type=str,
        repeatable=True,
        metavar="FILE",
        help="Also draft from this text (repeatable); implies --spec.",
        panel=_SPEED,
    )
    draft_model: str | None = option(
        metavar="PATH",
        help="Also draft with this smaller model of the same vocabulary.",
        panel=_SPEED,
    )
    forced_spans: bool = option(
        True,
        negative="--no-forced-spans",
        help="Commit what the grammar forces without asking the model, or decode it token "
        "by token.",
        panel=_SPEED,
    )
    ctx: int | None = option(
        metavar="N",
        help="Context in tokens; by default what prompt and answer need.",
        low=1,
        high=100_000_000,
        unit="tokens",
        panel=_RUNTIME,
    )
    threads: int | None = option(
        metavar="N",
        help="CPU threads; by default the usable cores.",
        low=1,
        high=512,
        panel=_RUNTIME,
    )
    gpu_layers: int | None = option(
        metavar="N",
        help="Layers to place on a GPU, -1 all (default).",
        low=-1,
        high=10_000,
        panel=_RUNTIME,
    )
    cache_type: str | None = option(
        metavar="K,V",
        help="KV cache types such as q8_0 or f16,q8_0; by default what exactness asks for.",
        panel=_RUNTIME,
    )
    exact: bool = option(
        True,
        negative="--no-exact",
        help="Settings under which a token's logits do not depend on its batch, or "
        "llama.cpp's own defaults.",
        panel=_RUNTIME,
    )

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
