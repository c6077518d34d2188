"""Recently used values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

_KEPT = 64
_Value = TypeVar("_Value")


class Recent(Generic[_Value]):
    """The 64 values last asked for, by their keys."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, _Value] = OrderedDict()

    def get(self, key: Hashable) -> _Value | None:
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def put(self, key: Hashable, value: _Value) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > _KEPT:
            self._values.popitem(last=False)
