"""The one place where a token is chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fucina_cli.sampling import draws, filters
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.errors import AllTokensMasked, NonFiniteLogits, require_selectable
from fucina_cli.sampling.penalties import Penalties
from fucina_cli.sampling.processor import LogitProcessor

__all__ = ["AllTokensMasked", "NonFiniteLogits", "Sampler", "SamplingConfig"]


class Sampler:
    """Chooses the tokens of one stream: process, penalties, filters, draw, commit.

    The i-th committed token of a stream uses draw i of (seed, stream) and no other. Greedy tokens
    count too, so what a draw is never depends on how the tokens before it were chosen.
    """

    def __init__(
        self,
        config: SamplingConfig,
        *,
        processor: LogitProcessor | None = None,
        stream: int = 0,
    ) -> None:
        """``processor`` belongs to this sampler alone; ``stream`` is in [0, 2**64).

        Raises:
            ValueError: ``stream`` is out of range.
        """
        if not 0 <= stream < draws.LIMIT:
            raise ValueError(f"stream must be between 0 and 2**64 - 1, got {stream}")
        self._config = config
        self._processor = processor
        self._stream = stream
        self._committed = 0
        self._penalties = Penalties(
            repeat=config.repeat_penalty,
            frequency=config.frequency_penalty,
            presence=config.presence_penalty,
            last_n=config.repeat_last_n,
        )

    @property
    def config(self) -> SamplingConfig:
        """The settings."""
        return self._config

    @property
    def processor(self) -> LogitProcessor | None:
        """The processor, for its look-aheads; only ``next`` may commit to it."""
        return self._processor

    @property
    def stream(self) -> int:
        """The stream whose draws are used."""
        return self._stream

    @property
    def committed(self) -> int:
        """Tokens committed so far, which is the index of the next draw."""
        return self._committed

    def next(self, logits: NDArray[np.float32], history: Sequence[int]) -> int:
        """Choose and commit one token.

        Args:
            logits: shape (n_vocab,), float32. The caller gives the row up: a writable contiguous
                row is changed in place. A read-only or strided row is left alone, and copied
                first if something has to change it.
            history: every token before this one, prompt and reply.

        Returns:
            The chosen id.

        Raises:
            AllTokensMasked: every logit is -inf after processing. Nothing was committed.
            NonFiniteLogits: the largest logit is NaN or +inf. Nothing was committed.
            ValueError: the row is not a non-empty float32 vector, or the history holds ids
                outside of it while penalties are on.
        """
        if logits.ndim != 1 or logits.dtype != np.float32 or logits.shape[0] == 0:
            raise ValueError(
                f"logits must be a non-empty float32 vector, got {logits.dtype} {logits.shape}"
            )
        row = self._own(logits)
        if self._processor is not None:
            self._processor.process(row, history)
        self._penalties.apply(row, history)
        token = self._select(row)
        if self._processor is not None:
            self._processor.commit(token)
        self._committed += 1
        return token

    def force(self, token: int) -> None:
        """Commit the one token that the processor leaves, without a row of logits.

        Any row would select it, so none is needed; it still is one commit and uses up one draw.
        The caller vouches that it is the only candidate (``forced_tokens`` of the processor).
        """
        if self._processor is not None:
            self._processor.commit(token)
        self._committed += 1

    def reset(self) -> None:
        """Start a new reply: re-arms the processor.

        The draw counter keeps counting, so two replies of one conversation do not repeat each
        other's draws.
        """
        if self._processor is not None:
            self._processor.reset()

    def fork(self, *, stream: int | None = None) -> Sampler:
        """An independent sampler whose processor is forked at its current state.

        Without ``stream``, or with the own one, the copy continues with the same draws: an
        identical twin. With another stream it starts at draw 0, as no token of that stream has
        been committed.

        Raises:
            ValueError: ``stream`` is out of range.
        """
        twin = stream is None or stream == self._stream
        copy = Sampler(
            self._config,
            processor=None if self._processor is None else self._processor.fork(),
            stream=self._stream if stream is None else stream,
        )
        if twin:
            copy._committed = self._committed
        return copy

    def _own(self, logits: NDArray[np.float32]) -> NDArray[np.float32]:
        """A row that may be changed, if anything is going to change it."""
        if self._processor is None and not self._penalties.active:
            return logits
        if logits.flags.writeable and logits.flags.c_contiguous:
            return logits
        return np.array(logits, dtype=np.float32, order="C")

    def _select(self, row: NDArray[np.float32]) -> int:
        config = self._config
        if config.greedy:
            # The row is masked by now: the argmax is taken among the allowed tokens.
            token = int(row.argmax())
            require_selectable(float(row[token]))
            return token
        draw = draws.uniform(config.seed, self._stream, self._committed)
        return filters.choose(row, draw, config)
