# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Quantised operands on devices."""

from ._device import DeviceArray
from ._errors import Refused
from ._formats import format_named


class DeviceScaled:
    """A quantised operand on a device, packed as a kernel reads it.

    data: the elements, of the kernel's pitch: a DeviceArray or memory of others.
    scales, metadata, tensor_scale: likewise, None where the format has none.
    zeros: likewise, zero points for a kernel that dequantises; None for products, whose
        elements are less their zero points already.
    terms: what a kernel multiplies for zero points in real units, of this operand or of
        the other one; None where it has none.
    shape: rows x K or batch x rows x K, zeros of a sparse operand included.
    format, layout: as of `Scaled`. `Kernel.upload` makes one of a `Scaled`.
    scale_block: as of `Argument`, of the kernel that it was written by or packed for; 0
        where that is not known.
    """

    def __init__(self, data, scales=None, *, metadata=None, tensor_scale=None,
                 terms=None, zeros=None, shape, format, layout="plain",
                 scale_block=0):
        self.format, self.layout = format_named(format), layout
        self.scale_block = scale_block
        self.shape = tuple(int(one) for one in shape)
        if len(self.shape) not in (2, 3) or min(self.shape) < 1:
            raise Refused(f"shape {self.shape}: expected rows x K or batch x "
                          "rows x K, none of them 0")
        self.data, self.scales, self.metadata = data, scales, metadata
        self.tensor_scale, self.terms, self.zeros = tensor_scale, terms, zeros
        for name, value, wanted in (
                ("scales", scales, self.format.scale is not None),
                ("metadata", metadata, self.format.sparsity is not None),
                ("a tensor scale", tensor_scale, self.format.tensor_scale)):
            if (value is not None) != wanted:
                raise Refused(f"format '{self.format}' "
                              f"{'needs' if wanted else 'has no'} {name}")

    @property
    def batch(self):
        return self.shape[0] if len(self.shape) == 3 else 1

    @property
    def rows(self):
        return self.shape[-2]

    @property
    def k(self):
        return self.shape[-1]

    def parts(self):
        """The memory that there is, by the suffix of its role."""
        every = {"_data": self.data, "_scales": self.scales,
                 "_metadata": self.metadata, "_tensor_scale": self.tensor_scale,
                 "_terms": self.terms, "_zeros": self.zeros}
        return {suffix: one for suffix, one in every.items() if one is not None}

    def free(self):
        """Frees what is a DeviceArray."""
        for one in self.parts().values():
            if isinstance(one, DeviceArray):
                one.free()

    def __repr__(self):
        return (f"DeviceScaled({'x'.join(map(str, self.shape))} {self.format}, "
                f"layout '{self.layout}')")
