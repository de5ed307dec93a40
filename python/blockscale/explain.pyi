# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from dataclasses import dataclass
from typing import Any, Literal

@dataclass(frozen=True)
class Answer:
    legal: bool
    text: str
    def __bool__(self) -> bool: ...

def legality(**fields: str | int | bool | None) -> Answer: ...
def layout(form: Literal["text", "json", "svg"] = "text",
           **fields: str | int | bool | None) -> Any: ...
def instructions(target: str = "",
                 format: Literal["markdown", "csv", "json"] = "json") -> Any: ...
def table(name: str, questions: str) -> str: ...
def hazards() -> str: ...
