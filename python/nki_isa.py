"""The instructions of nki.isa on numpy, for nki_interpreter.py: each checks its call
against the documents.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import math

import numpy as np

from nki_memory import FLOATS, MOVING_COLUMNS, QUADRANT, Tensor, require


def unpack(values, dtype):
    """The four elements of each packed value, as float64 in a new last axis."""
    bits = 8 * dtype.size // 4
    codes = (values[..., None] >> (bits * np.arange(4, dtype=values.dtype))) & ((1 << bits) - 1)
    return codes.astype(np.uint8).view(dtype.element).astype(np.float64)


def pack(elements, dtype):
    """The inverse for 8-bit elements."""
    codes = np.ascontiguousarray(elements).view(np.uint8).astype(np.uint32)
    return sum(codes[..., q] << np.uint32(8 * q) for q in range(4)).astype(np.uint32)


def scale_rows(partitions):
    """Row of the scale tile for each partition: by quadrant, one for eight."""
    p = np.arange(partitions)
    return QUADRANT * (p // QUADRANT) + (p % QUADRANT) // 8


def scale_values(codes):
    """2^(byte - 127); 255 is NaN."""
    return np.where(codes == 255, np.nan, np.ldexp(1.0, codes.astype(np.int32) - 127))


# ---------------------------------------------------------------------------
# nki.isa
# ---------------------------------------------------------------------------


class Isa:
    """The instructions, as methods of one run."""

    def __init__(self, machine):
        self.machine = machine

    def _on_chip(self, tensor, name, source, psum=True):
        legal = ("sbuf", "psum") if psum else ("sbuf",)
        require(isinstance(tensor, Tensor) and tensor.memory in legal,
                f"{name} must be in {' or '.join(legal)}", source)

    def dma_copy(self, dst, src):
        source = "nki.isa.dma_copy"
        self.machine.count("dma_copy")
        for name, tensor in (("dst", dst), ("src", src)):
            require(isinstance(tensor, Tensor) and tensor.memory in ("hbm", "sbuf"),
                    f"{name} must be in hbm or sbuf", source)
        require(dst.dtype is src.dtype, f"dst {dst.dtype}, src {src.dtype}", source)
        require(dst.shape == src.shape, f"dst {dst.shape}, src {src.shape}", source)
        dst.write(src.read())

    def memset(self, dst, value):
        source = "nki.isa.memset"
        self.machine.count("memset")
        self._on_chip(dst, "dst", source)
        require(dst.dtype.element is None or value == 0, f"value {value} of packed elements",
                source)
        dst.write(np.full(dst.shape, value, dst.dtype.storage))

    def tensor_copy(self, dst, src):
        self.machine.count("tensor_copy")
        self._elementwise("nki.isa.tensor_copy", dst, src)
        dst.write(src.read().astype(np.float32).astype(dst.dtype.storage))

    def _elementwise(self, source, *tensors):
        for tensor in tensors:
            self._on_chip(tensor, "operand", source)
            require(tensor.dtype.name in FLOATS, f"operand of {tensor.dtype}", source)
            require(tensor.shape == tensors[0].shape,
                    f"tiles {tensor.shape} and {tensors[0].shape}", source)
            require(tensor.first == tensors[0].first,
                    f"partitions from {tensor.first} and from {tensors[0].first}", source)

    def _operator(self, op, source):
        functions = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum}
        require(op in functions, f"operator {op!r}", source)
        return functions[op]

    def tensor_tensor(self, dst, data1, data2, op):
        source = "nki.isa.tensor_tensor"
        self.machine.count("tensor_tensor")
        self._elementwise(source, dst, data1, data2)
        require(not (data1.memory == data2.memory == "psum"), "both inputs in psum", source)
        result = self._operator(op, source)(data1.read().astype(np.float32),
                                            data2.read().astype(np.float32))
        dst.write(result.astype(dst.dtype.storage))

    def tensor_scalar(self, dst, data, op0, operand0):
        source = "nki.isa.tensor_scalar"
        self.machine.count("tensor_scalar")
        self._elementwise(source, dst, data)
        if isinstance(operand0, Tensor):
            self._on_chip(operand0, "operand0", source)
            require(operand0.shape == (data.shape[0], 1) and operand0.first == data.first,
                    f"operand0 of shape {operand0.shape} for {data.shape}", source)
            operand0 = operand0.read().astype(np.float32)
        else:
            require(isinstance(operand0, float), f"operand0 {operand0!r}", source)
            operand0 = np.float32(operand0)
        result = self._operator(op0, source)(data.read().astype(np.float32), operand0)
        dst.write(result.astype(dst.dtype.storage))

    def activation(self, dst, op, data):
        source = "nki.isa.activation"
        self.machine.count("activation")
        self._elementwise(source, dst, data)
        x = data.read().astype(np.float64)
        if op == "gelu":
            erf = np.vectorize(math.erf, otypes=[np.float64])
            result = 0.5 * x * (1 + erf(x / math.sqrt(2)))
        else:
            require(op == "silu", f"function {op!r}", source)
            with np.errstate(over="ignore"):
                result = x / (1 + np.exp(-x))
        dst.write(result.astype(np.float32).astype(dst.dtype.storage))

    # -- block scaling ------------------------------------------------------

    def _check_scale(self, scale, data, name):
        layout = "nki.isa.quantize_mx, Layout"
        legal = ("uint8", "float8_e8m0fnu") if self.machine.revision >= "2026-07" else ("uint8",)
        require(scale.dtype.name in legal, f"{name} of {scale.dtype}",
                "nki.isa.nc_matmul_mx, Data types")
        self._on_chip(scale, name, "nki.isa.nc_matmul_mx, Memory types", psum=False)
        require(len(scale.shape) == 2 and scale.shape[1] == data.shape[1],
                f"{name} of shape {scale.shape} for data {data.shape}", layout)
        # The documents show no other sizes.
        shown = (4, data.partitions) if data.partitions == QUADRANT else (data.partitions,)
        require(scale.partitions in shown, f"{name} of {scale.partitions} partitions",
                "MXFP guide, Scale Tensor")
        require(scale.first - data.first in (0, 4, 8, 12),
                f"{name} from partition {scale.first} for data from {data.first}", layout)

    def _check_rows(self, stationary, tile_position, tile_size):
        source = "nki.isa.nc_matmul_mx, Tiling mode"
        require((tile_position is None) == (tile_size is None),
                "tile_position and tile_size go together", source)
        rows, columns = tile_size or (128, 128)
        start, column = tile_position or (0, 0)
        require(rows in (32, 64, 128) and columns == 128, f"tile_size ({rows}, {columns})",
                source)
        require(column == 0 and start % rows == 0 and 0 <= start and start + rows <= 128,
                f"tile_position ({start}, {column}) of tiles of {rows}", source)
        require(stationary.partitions <= rows, f"P = {stationary.partitions} in {rows} rows",
                source)
        # Legal by the text, but rows that a neighbour needs.
        require(tile_size is None or rows == 32 or stationary.partitions > rows // 2,
                f"P = {stationary.partitions} leaves half of {rows} rows idle", source)
        require(stationary.first == start,
                f"operands from partition {stationary.first} in rows from {start}", source)

    def _check_matmul(self, dst, stationary, moving):
        memory = "nki.isa.nc_matmul_mx, Memory types"
        size = "nki.isa.nc_matmul_mx, Tile size"
        kinds = "nki.isa.nc_matmul_mx, Data types"
        require(isinstance(dst, Tensor) and dst.memory == "psum", "dst must be in psum", memory)
        for name, tile in (("stationary", stationary), ("moving", moving)):
            self._on_chip(tile, name, memory, psum=False)
            require(tile.dtype.element is not None, f"{name} of {tile.dtype}", kinds)
            require(len(tile.shape) == 2, f"{name} of shape {tile.shape}", size)
            require(tile.partitions % 32 == 0, f"P = {tile.partitions} of {name}", size)
        require(dst.dtype.name in ("float32", "bfloat16"), f"dst of {dst.dtype}", kinds)
        require(stationary.partitions == moving.partitions
                and stationary.first == moving.first, "P of the operands differs", size)
        m, n = stationary.shape[1], moving.shape[1]
        require(m % 2 == 0 and m <= 128, f"M = {m}", size)
        limit = MOVING_COLUMNS[self.machine.revision][dst.dtype.name == "bfloat16"]
        require(n <= limit, f"N = {n}", size)
        require(dst.shape == (m, n) and dst.first == 0, f"dst of shape {dst.shape} for {m} by {n}",
                "nki.isa.nc_matmul_mx, Layout")

    def _adds(self, dst, flag, accumulate):
        """Whether the instruction adds to what is in dst."""
        source = "nki.isa.nc_matmul_mx, Parameters"
        revision, tile = self.machine.revision, dst.root
        require(flag is None or revision == "2025-12-01", "psum_accumulate_flag", source)
        require(accumulate is None or revision >= "2026-04", "accumulate", source)
        there = tile.written(dst)
        require(there.all() or not there.any(), "dst is partly written", source)
        there = bool(there.all())
        if revision == "2025-12-01":
            flag = 3 if flag is None else flag
            require(flag in (0, 1, 2, 3, 4, 6), f"psum_accumulate_flag {flag}", source)
            first = flag & 5 != 0 or flag == 6
            require(first != tile.open,
                    "first instruction of a group inside one" if first
                    else "instruction of a group that was not opened", source)
            tile.open = flag & 2 == 0
            adds = flag not in (1, 3)
        elif accumulate is None:
            adds = there
        else:
            adds = accumulate
        require(not adds or there, "adds to a PSUM tile that was never written", source)
        require(adds or not tile.unread, "overwrites a sum that was not read", source)
        return adds

    def nc_matmul_mx(self, dst, stationary, moving, stationary_scale, moving_scale,
                     tile_position=None, tile_size=None, psum_accumulate_flag=None,
                     accumulate=None):
        self.machine.count("nc_matmul_mx")
        self._check_matmul(dst, stationary, moving)
        self._check_scale(stationary_scale, stationary, "stationary_scale")
        self._check_scale(moving_scale, moving, "moving_scale")
        self._check_rows(stationary, tile_position, tile_size)
        values = []
        for tile, scale in ((stationary, stationary_scale), (moving, moving_scale)):
            rows = scale_rows(tile.partitions)
            # Only the rows that hold scales are read.
            codes = np.stack([scale[r:r + 1, 0:scale.shape[1]].read()[0]
                              for r in np.unique(rows)])
            lookup = np.searchsorted(np.unique(rows), rows)
            values.append(unpack(tile.read(), tile.dtype)
                          * scale_values(codes)[lookup][..., None])
        left = values[0].transpose(0, 2, 1).reshape(-1, values[0].shape[1])
        right = values[1].transpose(0, 2, 1).reshape(-1, values[1].shape[1])
        product = (left.T @ right).astype(np.float32)
        adds = self._adds(dst, psum_accumulate_flag, accumulate)
        if adds:
            was_open, dst.root.open = dst.root.open, False
            product = dst.read().astype(np.float32) + product
            dst.root.open = was_open
        dst.write(product.astype(dst.dtype.storage))
        dst.root.unread = True

    def quantize_mx(self, dst, src, dst_scale):
        source = "nki.isa.quantize_mx"
        self.machine.count("quantize_mx")
        for name, tile in (("src", src), ("dst", dst), ("dst_scale", dst_scale)):
            self._on_chip(tile, name, source + ", Memory types", psum=False)
        require(src.dtype.name in ("float16", "bfloat16"), f"src of {src.dtype}",
                source + ", Data types")
        require(dst.dtype.name in ("float8_e4m3fn_x4", "float8_e5m2_x4"),
                f"dst of {dst.dtype}", source + ", Data types")
        size = source + ", Tile size"
        require(len(src.shape) == 2 and src.shape[1] % 4 == 0, f"src of shape {src.shape}", size)
        require(src.partitions % 32 == 0, f"P = {src.partitions}", size)
        require(dst.shape == (src.partitions, src.shape[1] // 4) and dst.first == src.first,
                f"dst of shape {dst.shape} for src {src.shape}", size)
        self._check_scale(dst_scale, dst, "dst_scale")
        x = src.read().astype(np.float64)
        groups = x.reshape(src.partitions // 8, 8, -1, 4)
        largest = np.abs(groups).max(axis=(1, 3))
        require(np.isfinite(largest).all(), "NaN or infinity, which the documents leave open",
                source)
        emax = 8 if dst.dtype.name == "float8_e4m3fn_x4" else 15
        exponent = np.frexp(np.where(largest == 0, 1, largest))[1] - 1
        codes = np.clip(exponent - (emax - 1) + 127, 0, 254)
        codes = np.where(largest == 0, 0, codes).astype(np.uint8)
        scaled = groups / scale_values(codes)[:, None, :, None]
        # Exact in float32: 16-bit values times a power of two, within range.
        elements = scaled.astype(np.float32).astype(dst.dtype.element)
        dst.write(pack(elements.reshape(src.partitions, -1, 4), dst.dtype))
        rows = np.unique(scale_rows(src.partitions))
        for row, group in zip(rows, codes):
            dst_scale[int(row):int(row) + 1, 0:dst_scale.shape[1]].write(group[None])
