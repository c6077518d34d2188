"""What two token sequences have in common at their beginning."""

from __future__ import annotations

from collections.abc import Sequence


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the longest common prefix.

    Compares slices, halving the part that differs: much faster on long lists than token by token.
    """
    if type(a) is not type(b):  # slices of different types are never equal
        a, b = list(a), list(b)
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:  # they agree before `low`, and differ somewhere before `high`
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low
