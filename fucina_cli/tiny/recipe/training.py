"""Training: Muon and AdamW, a warm-up and a line to nothing, bfloat16 products where there are any.

Muon (Jordan et al. 2024) takes the matrices of the layers, AdamW takes the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from fucina_cli.tiny.recipe.batches import Batch
from fucina_cli.tiny.recipe.networks import Network

_MATRIX_RATE, _OTHER_RATE = 0.02, 3e-3
_WARM_UP = 50
_BETAS = (0.9, 0.98)
_CLIP = 1.0
_GIVEN_SHARE = 0.25


def train(
    network: Network,
    batches: Iterator[Batch],
    steps: int,
    report: Callable[[int, float, float], None],
) -> None:
    """Train in place for `steps` batches.

    Args:
        report: called after each step with (its number, mean loss in nats a token over what the
            network is to write, tokens a second).
    """
    matrices = [p for p in network.layers.parameters() if p.ndim == 2]
    others = [p for name, p in network.named_parameters() if p.ndim == 1 or "embedding" in name]
    optimizers: list[tuple[torch.optim.Optimizer, float]] = [
        (torch.optim.Muon(matrices, lr=_MATRIX_RATE, weight_decay=0.01), _MATRIX_RATE),
        (torch.optim.AdamW(others, lr=_OTHER_RATE, betas=_BETAS, weight_decay=0.0), _OTHER_RATE),
    ]
    network.train()
    for step in range(steps):
        began = time.perf_counter()
        batch = next(batches)
        loss, answers = losses(network, batch)
        network.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(others, _CLIP)
        for optimizer, peak in optimizers:
            optimizer.param_groups[0]["lr"] = peak * _share(step, steps)
            optimizer.step()
        rate = batch.tokens.numel() / (time.perf_counter() - began)
        report(step, answers.item(), rate)
    network.eval()


def losses(network: Network, batch: Batch) -> tuple[Tensor, Tensor]:
    """(weighted loss, loss over what is to be written), scalars in nats a token."""
    with torch.autocast("cpu", torch.bfloat16, enabled=_has_bfloat16()):
        hidden = network.hidden(batch.tokens)
        # The output head is a fifth of the work: it sees all that is to be written, and of what is
        # given, which counts little, only one token in four.
        drawn = torch.rand(batch.weights.shape) < _GIVEN_SHARE
        counts = (batch.weights == 1.0) | ((batch.weights > 0) & drawn)
        logits = network.logits(hidden[counts])
    each = F.cross_entropy(logits, batch.targets[counts], reduction="none")
    weights = batch.weights[counts]
    written = weights == 1.0
    return (each * weights).sum() / weights.sum(), each.detach()[written].mean()


def _share(step: int, steps: int) -> float:
    """Share of the peak rate: up in a line, down in a longer one."""
    return min(1.0, (step + 1) / _WARM_UP, (steps - step) / (0.8 * steps))


def _has_bfloat16() -> bool:
    """Does this CPU multiply bfloat16 matrices itself? It is 3 to 10 times as fast then."""
    return bool(torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported())
