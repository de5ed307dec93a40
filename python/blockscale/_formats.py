# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Names of operand formats, without MLIR."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from ._errors import Refused

# Element types: how MLIR and the library spell them, their bits, their dtype.
# Narrow ones have one byte an element in numpy.
ELEMENTS = {
    "e2m1": ("f4E2M1FN", 4, ml_dtypes.float4_e2m1fn),
    "e2m3": ("f6E2M3FN", 6, ml_dtypes.float6_e2m3fn),
    "e3m2": ("f6E3M2FN", 6, ml_dtypes.float6_e3m2fn),
    "e4m3": ("f8E4M3FN", 8, ml_dtypes.float8_e4m3fn),
    "e5m2": ("f8E5M2", 8, ml_dtypes.float8_e5m2),
    "f16": ("f16", 16, np.float16),
    "bf16": ("bf16", 16, ml_dtypes.bfloat16),
    "f32": ("f32", 32, np.float32),
    "i32": ("i32", 32, np.int32),
}
# Scale types: how scale specs and the library spell them, their dtype.
SCALES = {
    "ue8m0": ("e8m0", ml_dtypes.float8_e8m0fnu),
    "ue4m3": ("e4m3fn", ml_dtypes.float8_e4m3fn),
}


@dataclass(frozen=True)
class Format:
    """Elements, and what scales them.

    element: "e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "f16" or "bf16".
    scale: "ue8m0", "ue4m3", or None for no scales.
    block: elements along K that share a scale; 0 without scales.
    tensor_scale: whether one float32 scales the whole tensor, too.
    """

    element: str
    scale: str | None = None
    block: int = 0
    tensor_scale: bool = False

    @property
    def spec(self):
        """The scale spec as MLIR spells it; empty without scales."""
        if self.scale is None:
            return ""
        prefix = "multi_float32_" if self.tensor_scale else ""
        return f"{prefix}{SCALES[self.scale][0]}_t{self.block}"

    @property
    def bits(self):
        return ELEMENTS[self.element][1]

    @property
    def dtype(self):
        return np.dtype(ELEMENTS[self.element][2])

    @property
    def scale_dtype(self):
        return np.dtype(SCALES[self.scale][1]) if self.scale else None

    def __str__(self):
        names = [name for name, one in FORMATS.items() if one == self]
        return names[0] if names else f"{self.element} '{self.spec}'"


FORMATS = {
    "nvfp4": Format("e2m1", "ue4m3", 16, True),
    "nvfp4_one_level": Format("e2m1", "ue4m3", 16),
    "mxfp4": Format("e2m1", "ue8m0", 32),
    "mxfp6_e2m3": Format("e2m3", "ue8m0", 32),
    "mxfp6_e3m2": Format("e3m2", "ue8m0", 32),
    "mxfp8": Format("e4m3", "ue8m0", 32),
    "mxfp8_e5m2": Format("e5m2", "ue8m0", 32),
    "fp8": Format("e4m3"),
    "fp8_e5m2": Format("e5m2"),
    "f16": Format("f16"),
    "bf16": Format("bf16"),
}


def format_named(name):
    """The format of a name such as "nvfp4"; a Format is its own name."""
    if isinstance(name, Format):
        return name
    if name not in FORMATS:
        raise Refused(f"no format '{name}'; there are {', '.join(FORMATS)}")
    return FORMATS[name]
