# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

__all__ = ["Launch", "Watch", "watch"]

@dataclass
class Launch:
    kernel: str
    target: str = ""
    grid: tuple[int, ...] = ()
    block: int = 0
    why: str = ""
    findings: list[dict[str, Any]] = ...
    differences: dict[str, int] = ...
    counters: dict[str, Any] = ...
    seconds: float = 0.0
    @property
    def ok(self) -> bool: ...

class Watch:
    launches: list[Launch]
    def __init__(self, runtime: Any, strict: bool, compare: bool, most_bytes: int,
                 threads: int, on_launch: Callable[[Launch], object]) -> None: ...
    def stop(self) -> None: ...
    def __enter__(self) -> Watch: ...
    def __exit__(self, *_: type[BaseException] | BaseException |
                 TracebackType | None) -> None: ...
    @property
    def ok(self) -> bool: ...

def watch(*, strict: bool = True, compare: bool = True, most_bytes: int = ...,
          threads: int = 0,
          on_launch: Callable[[Launch], object] | None = None) -> Watch: ...
