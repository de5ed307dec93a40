# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from . import CheckReport, Format, Scaled

__all__ = ["Quantized", "check", "pack", "quantize"]

_Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

def check(source: _Paths, *, client: Any = None,
          read_scales: bool = True) -> CheckReport | dict[str, CheckReport]: ...
def pack(source: _Paths, target: str | os.PathLike[str], *, client: Any = None,
         shard_size: str = "5GB", threads: int = 1,
         **options: Any) -> dict[str, list[dict[str, Any]]]: ...

@dataclass(frozen=True)
class Quantized:
    data: Any
    scales: Any
    tensor_scale: Any
    format: Format
    def compute(self, client: Any = None) -> Scaled: ...

def quantize(values: Any, format: str | Format, *,
             rule: Literal["floor", "round_up"] | None = None) -> Quantized: ...
